package sample

import (
	"context"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/schemapath"
)

// demands returns the rules on a schema and on its ancestors that read its values, with paths from
// the schema.
func (n *Schema) demands() []*Test { return slices.Concat(n.Rules(), n.inherited()) }

// inherited returns the rules on ancestors that read values of the schema, with paths from the schema. A
// rule that reads other values, too, cannot be evaluated.
func (n *Schema) inherited() []*Test {
	if n.parent == nil {
		return nil
	}
	if !n.inherits {
		n.inherits = true
		for _, t := range n.parent.demands() {
			if below := t.below(n); below != nil {
				n.above = append(n.above, below)
			}
		}
	}
	return n.above
}

// below returns the test for the values of a child of its schema, or nil if it reads none.
func (t *Test) below(child *Schema) *Test {
	if t.Broken != nil || t.Changing() {
		return nil
	}
	key, isProperty := child.step.Property()
	isList, alone := child.step == schemapath.Items, true
	var paths [][]string
	for _, path := range t.Paths {
		switch {
		case len(path) == 0 && !isProperty: // the variables of macros have no paths
			paths, alone = append(paths, nil), alone && isList
			for name := range child.Props.Properties {
				paths = append(paths, []string{name})
			}
		case len(path) > 0 && isProperty && path[0] == key:
			paths = append(paths, path[1:])
		case len(path) > 0 && !isProperty && !isList && (key == "" || path[0] == key):
			key = path[0]
			paths = append(paths, path[1:])
		default:
			alone = false
		}
	}
	if len(paths) == 0 {
		return nil
	}
	rule := *t.Rule
	rule.Paths = paths
	below := &Test{Rule: &rule, Text: t.Text, At: t.At, Validation: t.Validation}
	if alone && t.ask != nil {
		below.ask = func(ctx context.Context, value, _ any) (bool, string, error) {
			if isList {
				return t.ask(ctx, []any{value}, nil)
			}
			return t.ask(ctx, map[string]any{key: value}, nil)
		}
	}
	return below
}

// preferred returns the first value that n accepts and that satisfies the most rules on ancestors that
// read nothing else.
func (g *Source) preferred(n *Schema) (any, error) {
	var best any
	least := 0
	v, err := g.search(n, g.raw(n), func(v any) bool {
		rejecting := len(g.rejecting(n.inherited(), v))
		if best == nil || rejecting < least {
			best, least = v, rejecting
		}
		return rejecting == 0
	})
	if best != nil {
		return best, nil
	}
	return v, err
}

// rejecting returns the tests that do not hold on the creation of a value.
func (g *Source) rejecting(tests []*Test, v any) []*Test {
	return slices.DeleteFunc(slices.Clone(tests), func(t *Test) bool { said, _ := t.Evaluate(g.ctx, v, nil); return said == Holds })
}

// Unmet returns the rules of a schema that reject the value which satisfies the most of them, among the
// values to try that its keywords accept. There are none if the schema has a valid value, or none without rules.
func (g *Source) Unmet(n *Schema) (unmet []*Test) {
	if _, err := g.First(n); err == nil {
		return nil
	}
	found := false
	_, _ = g.search(n.unruled(), g.raw(n), func(v any) bool {
		var l []*Test
		for _, t := range n.Rules() {
			if said, _ := g.answer(t, v); said != Holds {
				l = append(l, t)
			}
		}
		if !found || len(l) < len(unmet) {
			unmet, found = l, true
		}
		return false
	})
	return unmet
}

// needed reports whether a rule rejects every object of the schema without an optional property.
func (g *Source) needed(n *Schema, name string) bool {
	return slices.ContainsFunc(n.demands(), func(t *Test) bool {
		if len(t.Paths) == 0 || slices.ContainsFunc(t.Paths, func(path []string) bool { return len(path) == 0 || path[0] != name }) {
			return false
		}
		said, _ := t.Evaluate(g.ctx, map[string]any{}, nil)
		return said != Holds
	})
}

// Wanted returns scalars that rules on ancestors of a schema may require, and that the schema accepts. There
// are none for composite values.
func (g *Source) Wanted(n *Schema) (l []any) {
	if Composite(n.Props) {
		return nil
	}
	for _, v := range wanted(n, n.inherited()) {
		if v, err := g.Accept(n, v); err == nil && !slices.Contains(l, v) {
			l = append(l, v)
		}
	}
	return l
}

// wanted returns values of a scalar schema that rules may require: their literals, values next to these, and
// strings that match their patterns. The schema need not accept them.
func wanted(n *Schema, rules []*Test) (l []any) {
	lengths := lengthsOf(n, rules)
	for _, t := range rules {
		if !slices.ContainsFunc(t.Paths, func(path []string) bool { return len(path) == 0 }) {
			continue // it reads only parts of the value
		}
		for _, p := range t.Patterns {
			for _, length := range lengths {
				for _, text := range matching(p, length) {
					l = append(l, text)
				}
			}
		}
		l = append(l, t.Literals...)
	}
	for _, length := range lengths[1:] {
		l = append(l, length.filled(""))
	}
	for _, literal := range l {
		switch v := literal.(type) {
		case int64:
			l = append(l, v+1, v-1)
		case string:
			// A literal may be a prefix or suffix, a bound of numbers with a unit, or a host.
			for _, length := range lengths {
				if missing := length.missing(v); missing > 0 {
					l = append(l, length.filled(v), strings.Repeat("a", missing)+v)
				}
			}
			switch {
			case v != "" && v[0] >= '0' && v[0] <= '9':
				l = append(l, "1"+v, "9"+v[1:])
			case strings.Contains(v, "."):
				l = append(l, "https://"+v)
			}
			if len(v) == 1 { // a separator of parts, perhaps of as many as the rule says
				for _, n := range sizesOf(rules) {
					l = append(l, strings.TrimSuffix(strings.Repeat("a"+v, n), v))
				}
			}
		}
	}
	return l
}

// sizesOf returns the sizes of lists and maps that rules may require, apart from 0 and 1.
func sizesOf(rules []*Test) (l []int) {
	for _, t := range rules {
		for _, literal := range t.Literals {
			if n, ok := literal.(int64); ok && n > 0 && n < maxSized && len(l) < 2*maxNumbers {
				l = append(l, int(n), int(n)+1)
			}
		}
	}
	slices.Sort(l)
	return slices.DeleteFunc(slices.Compact(l), func(n int) bool { return n < 2 })
}
