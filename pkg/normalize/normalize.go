package normalize

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/resource"
	"github.com/unioncel/unioncel/pkg/kinds"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Change is what normalizing does to one union object.
type Change struct {
	// At is where the union object is.
	At    resource.Path
	Union *union.Union
	union.Normalization
	// Kept are the values of the members in Keep, as the old object has them. They are
	// not to be changed.
	Kept map[string]any
}

// String says in words what the change does.
func (c Change) String() string {
	var l []string
	name := func(i int) string { return c.Union.Members[i].Name }
	for _, i := range c.Clear {
		l = append(l, name(i)+" is cleared")
	}
	for _, i := range c.Keep {
		l = append(l, name(i)+" is kept")
	}
	if c.Value != "" {
		l = append(l, fmt.Sprintf("%s is set to '%s'", c.Union.Discriminator, c.Value))
	}
	return strings.Join(l, ", ")
}

// at is where the discriminator or member of a name is.
func (c Change) at(name string) resource.Path { return c.At.Below(c.Union.Path(name).Properties()...) }

// Problem is a union object that normalizing leaves alone, though it is not as the union
// wants it.
type Problem struct {
	At    resource.Path
	Union *union.Union
	// Violations are what the object would break at best.
	Violations []union.Violation
	// Moved is the list in which the old item cannot be found, without which it cannot be
	// told what to clear; nil when that is not the problem.
	Moved resource.Path
	// Keys tell the object apart from others, when it is an item of a list with keys.
	Keys []string

	old *union.State
	new union.State
}

// String says in words what the problem is.
func (p Problem) String() string {
	if p.Moved != nil {
		return fmt.Sprintf("the items of %s have no keys and may have moved, so that it cannot be told what was set before: %s", p.Moved, p.Union.Describe(p.new))
	}
	var l []string
	for _, v := range p.Violations {
		l = append(l, p.Union.DescribeViolation(v, p.old, p.new))
	}
	return strings.Join(l, "; ")
}

// Options say how objects are normalized.
type Options struct {
	// Algorithm is that for all unions; zero is for each the one that suits it.
	Algorithm union.Algorithm
	// CarriedOver undoes nothing that the client wrote: members are cleared only if the union
	// switches and the old object has them as the new one does; see [union.Union.Normalize].
	CarriedOver bool
	// Merged is for objects that are merged from others, with no old object; see
	// [union.Union.NormalizeMerged]. The other options do not matter then.
	Merged bool
}

// Plan returns what normalizing does to an object of a kind, as unstructured JSON, that
// replaces old; with old nil it is created. Unions below a member that is cleared are
// left out, as they go with it. The problems are unions that are left alone.
//
// Items of lists with keys are compared with the old item of their keys, values of maps
// with the old value of their key. Other items are compared by their index, if no item
// differs from the old one in anything but the union; otherwise only what does not depend
// on the old item is done. Items of sets are left alone: one that changes is another item.
func Plan(k kinds.Kind, old, new map[string]any, opts Options) ([]Change, []Problem) {
	p := planner{opts: opts}
	new = runtime.DeepCopyJSON(new)
	// Outer unions first, for what they clear has no unions.
	objects := slices.Clone(k.Objects)
	slices.SortStableFunc(objects, func(a, b kinds.Object) int { return len(a.Path) - len(b.Path) })
	for _, o := range objects {
		p.object = o
		done := len(p.changes)
		p.walk(o.Path, 0, nil, new, pair{value: old})
		Apply(new, p.changes[done:])
	}
	return p.changes, p.problems
}

// pair is what an object is compared with.
type pair struct {
	value any
	// moved is the list in which it cannot be found; nil when it is known.
	moved resource.Path
}

type planner struct {
	opts     Options
	object   kinds.Object
	changes  []Change
	problems []Problem
}

// walk goes along what is left of a path to the union objects in a value. list is how
// many lists are behind it.
func (p *planner) walk(path schemapath.Path, list int, at resource.Path, v any, old pair) {
	if len(path) == 0 {
		if object, ok := v.(map[string]any); ok {
			p.unions(at, object, old)
		}
		return
	}
	step, rest := path[0], path[1:]
	if name, ok := step.Property(); ok {
		if object, ok := v.(map[string]any); ok && object[name] != nil {
			p.walk(rest, list, at.To(name), object[name], old.at(name))
		}
		return
	}
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			p.walk(rest, list, at.To(key), v[key], old.at(key))
		}
	case []any:
		var keys []string
		if list < len(p.object.Keys) {
			keys = p.object.Keys[list]
		}
		for i, before := range p.items(rest, list, at, v, old, keys) {
			p.walk(rest, list+1, at.To(i), v[i], before)
		}
	}
}

// at is what a key of an object is compared with.
func (o pair) at(key string) pair {
	object, _ := o.value.(map[string]any)
	return pair{object[key], o.moved}
}

// items returns what the items of a list are compared with.
func (p *planner) items(rest schemapath.Path, list int, at resource.Path, items []any, old pair, keys []string) []pair {
	l := make([]pair, len(items))
	before, _ := old.value.([]any)
	if old.moved != nil {
		for i := range l {
			l[i].moved = old.moved
		}
		return l
	}
	if keys != nil {
		for i, item := range items {
			// It is mostly where it was, and to look there first keeps long lists cheap.
			at := i
			if i >= len(before) || !kinds.SameItem(keys, item, before[i]) {
				at = slices.IndexFunc(before, func(o any) bool { return kinds.SameItem(keys, item, o) })
			}
			if at >= 0 {
				l[i] = pair{value: before[at]}
			}
		}
		return l
	}
	still := len(items) == len(before)
	for i := range items {
		still = still && reflect.DeepEqual(p.without(rest, items[i]), p.without(rest, before[i]))
	}
	for i := range items {
		switch {
		case still:
			l[i] = pair{value: before[i]}
		case len(before) > 0:
			l[i].moved = at
		}
	}
	return l
}

// without is a value without what the unions read in the objects along a path.
func (p *planner) without(path schemapath.Path, v any) any {
	if len(path) == 0 {
		object, ok := v.(map[string]any)
		if !ok {
			return v
		}
		for _, u := range p.object.Unions {
			object = u.Without(object)
		}
		return object
	}
	name, isProperty := path[0].Property()
	switch v := v.(type) {
	case map[string]any:
		v = maps.Clone(v)
		for key := range v {
			if !isProperty || key == name {
				v[key] = p.without(path[1:], v[key])
			}
		}
		return v
	case []any:
		v = slices.Clone(v)
		for i := range v {
			v[i] = p.without(path[1:], v[i])
		}
		return v
	}
	return v
}

// unions normalizes the unions of an object, unless the object is as it was.
func (p *planner) unions(at resource.Path, object map[string]any, old pair) {
	before, _ := old.value.(map[string]any)
	if before != nil && reflect.DeepEqual(before, object) {
		return
	}
	for _, u := range p.object.Unions {
		if p.opts.Merged {
			// A default is what nobody wrote: it clears nothing that somebody did.
			new := u.StateOf(object)
			n, violations := u.NormalizeMerged(new)
			p.found(at, u, n, before, violations, nil, new)
			continue
		}
		new := p.object.StateOf(u, object)
		var was *union.State
		if before != nil {
			s := p.object.StateOf(u, before)
			was = &s
		}
		var carried func(int) bool
		if p.opts.CarriedOver {
			carried = func(i int) bool {
				name := u.Members[i].Name
				return before != nil && reflect.DeepEqual(u.In(object, name), u.In(before, name))
			}
		}
		a := p.opts.Algorithm.For(u)
		n, violations := u.Normalize(a, was, new, carried)
		if old.moved != nil && len(u.Violations(new)) == 0 {
			continue // whatever it was
		}
		// What a discriminator clears does not depend on the old item.
		if old.moved != nil && (len(violations) > 0 || a != union.KEP2022 || u.Discriminator == "" || new.Value == "" && u.Deduce) {
			p.problems = append(p.problems, Problem{At: at, Union: u, Violations: u.Violations(new), Moved: old.moved, new: new})
			continue
		}
		p.found(at, u, n, before, violations, was, new)
	}
}

// found notes what is done to a union object, or else what is wrong with it.
func (p *planner) found(at resource.Path, u *union.Union, n union.Normalization, before map[string]any, violations []union.Violation, was *union.State, new union.State) {
	if p.object.Set && !n.IsZero() || n.Value != "" && slices.Contains(p.object.ItemKeys(), u.Discriminator) {
		n, violations = union.Normalization{}, u.Violations(new) // or it would be another item
	}
	if len(violations) > 0 {
		p.problems = append(p.problems, Problem{At: at, Union: u, Violations: violations, Keys: p.object.ItemKeys(), old: was, new: new})
		return
	}
	if n.IsZero() {
		return
	}
	c := Change{At: at, Union: u, Normalization: n, Kept: map[string]any{}}
	for _, i := range n.Keep {
		c.Kept[u.Members[i].Name] = u.In(before, u.Members[i].Name)
	}
	p.changes = append(p.changes, c)
}

// Apply makes the changes in an object, as unstructured JSON, for which they were
// planned.
func Apply(object map[string]any, changes []Change) {
	for _, c := range changes {
		at, _ := c.At.In(object)
		o := at.(map[string]any)
		for _, i := range c.Clear {
			c.Union.Remove(o, c.Union.Members[i].Name)
		}
		for name, v := range c.Kept {
			c.Union.Put(o, name, runtime.DeepCopyJSONValue(v))
		}
		if c.Value != "" {
			c.Union.Put(o, c.Union.Discriminator, c.Value)
		}
	}
}

// Object normalizes an object of a kind in place; see Plan.
func Object(k kinds.Kind, old, new map[string]any, opts Options) ([]Change, []Problem) {
	changes, problems := Plan(k, old, new, opts)
	Apply(new, changes)
	return changes, problems
}
