package crdpatch

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// replace takes out of base the hand-written rules that give way to those of
// unions which say so. p.file is base, then and afterwards.
func (p *patcher) replace(base undone) (undone, bool) {
	var edits []yamltext.Edit
	expected := map[int]intended{}
	for i, d := range p.file.Docs {
		var value any
		for _, m := range p.crds(d) {
			external := p.externals(i, m)
			if !replaces(m.node) && !slices.ContainsFunc(external, func(e union.External) bool { return replaces(e.Value) }) {
				continue
			}
			manifest, ok := p.input(d, m, external, &value)
			if !ok {
				continue // reported when it is compiled
			}
			opts := p.opts.or(p.asRecorded[m.key(i)])
			removals, diags := compile.Replaced(manifest, compile.Options{KubeVersion: opts.KubeVersion, Encoding: opts.Encoding})
			for _, d := range diags {
				p.report(d)
			}
			for _, r := range removals {
				w := &writer{patcher: p, text: textOf{p.file, d}, aliased: yamltext.Aliased(d.Root)}
				schema := schemaIn(m.in(value), r.Version, r.Steps)
				p.touched = append(p.touched, replacementOf(i, m, r, schema))
				cuts, err := w.take(r, schema)
				if err != nil {
					p.report(diag.Diagnostic{Code: diag.Unproved, Pos: p.pos(r.Node), Path: r.Place.String(),
						Message: fmt.Sprintf("cannot take the hand-written rules out: %v", err),
						Hint:    "delete them yourself, or write the schema in plain block style"})
				}
				edits = append(edits, cuts...)
				expected[i] = intended{value, false}
			}
		}
	}
	if p.diags.HasErrors() {
		return undone{}, false
	}
	if len(edits) == 0 {
		return base, true
	}
	text, err := yamltext.Apply(base.text, edits)
	if err == nil {
		_, err = equals(p.file, text, expected)
	}
	if err != nil {
		p.unproved(err)
		return undone{}, false
	}
	before, position := p.file, base.position
	if p.back = nil; !p.parse(text) {
		return undone{}, false
	}
	after := p.file
	base.text = text
	base.position = func(line, col int) (int, int, bool) {
		at, _ := unapplied(edits, after.Offset(line, col), false)
		return position(before.Position(at))
	}
	return base, true
}

// anchored reports whether an alias refers to n, or to something below it.
func (w *writer) anchored(n *yaml.Node) bool {
	return w.aliased[n] || slices.ContainsFunc(n.Content, w.anchored)
}

// replaces reports whether a declaration at n or below replaces hand-written rules.
func replaces(n *yaml.Node) bool {
	seen := map[*yaml.Node]bool{}
	var visit func(n *yaml.Node) bool
	visit = func(n *yaml.Node) bool {
		if n = yamltext.Resolve(n); n == nil || seen[n] {
			return false
		}
		seen[n] = true
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 && c.Value == "handWrittenRules" || visit(c) {
				return true
			}
		}
		return false
	}
	return visit(n)
}

// take plans to take constraints out of a schema, and takes them out of its value.
func (w *writer) take(r compile.Removal, value map[string]any) ([]yamltext.Edit, error) {
	if w.aliased[r.Node] {
		return nil, fmt.Errorf("the schema is shared through an anchor")
	}
	var cuts []yamltext.Edit
	var whole []int // entries of the schema
	items := map[string][]int{}
	for _, c := range r.Constraints {
		if slices.Contains(listKeys, c.Key) {
			items[c.Key] = append(items[c.Key], c.Index)
			continue
		}
		whole = append(whole, indexOf(r.Node, c.Key))
		delete(value, c.Key)
	}
	for _, key := range listKeys {
		taken := items[key]
		if len(taken) == 0 {
			continue
		}
		at := indexOf(r.Node, key)
		if at < 0 {
			return nil, fmt.Errorf("its %s is shared through an alias or merge key", key)
		}
		l := r.Node.Content[at*2+1]
		present, _ := value[key].([]any)
		if l.Kind != yaml.SequenceNode || w.aliased[l] || len(l.Content) != len(present) {
			return nil, fmt.Errorf("its %s is shared through an alias", key)
		}
		if len(taken) == len(present) {
			whole = append(whole, at)
			delete(value, key)
			continue
		}
		slices.Sort(taken)
		var kept []any
		for i, v := range present {
			if !slices.Contains(taken, i) {
				kept = append(kept, v)
			}
		}
		value[key] = kept
		more, err := w.cutAll(l, taken)
		if err != nil {
			return nil, err
		}
		cuts = append(cuts, more...)
	}
	slices.Sort(whole)
	if len(whole) > 0 && whole[0] < 0 {
		return nil, fmt.Errorf("they are shared through an alias or merge key")
	}
	more, err := w.cutAll(r.Node, whole)
	return append(cuts, more...), err
}

// cutAll plans to take entries of a collection out, given in ascending order.
func (w *writer) cutAll(n *yaml.Node, indices []int) ([]yamltext.Edit, error) {
	x := &restorer{patcher: w.patcher, text: w.text}
	if _, err := x.cutRuns(n, indices); err != nil {
		return nil, err
	}
	per := 1
	if n.Kind == yaml.MappingNode {
		per = 2
	}
	for _, i := range indices {
		if slices.ContainsFunc(n.Content[i*per:(i+1)*per], w.anchored) {
			return nil, errors.New("an anchor in them is used elsewhere")
		}
	}
	return x.edits, nil
}
