package product

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Change clears and sets the discriminator or members of a union in a union object.
type Change struct {
	// At is the path of the union object.
	At    yamltext.ObjectPath
	Union *union.Union
	// Clear are the names to clear, and Put the values to set, by name. Callers must not modify the
	// values.
	Clear []string
	Put   map[string]any

	text  string
	plain bool // new keys in flow style have no quotes if the surrounding keys have none
}

// String returns a description of the change for messages.
func (c Change) String() string { return c.text }

// Apply makes the change in an object.
func (c Change) Apply(object map[string]any) {
	at, _ := c.At.Lookup(object)
	o := at.(map[string]any)
	for _, name := range c.Clear {
		c.Union.Remove(o, name)
	}
	for name, v := range c.Put {
		c.Union.Put(o, name, runtime.DeepCopyJSONValue(v))
	}
}

// changeOf returns a normalization of a union object as a change. before is the old object.
func changeOf(at yamltext.ObjectPath, u *union.Union, n union.Normalization, before map[string]any) Change {
	c := Change{At: at, Union: u, Clear: u.NamesOf(n.Clear), Put: map[string]any{}}
	var l []string
	for _, name := range c.Clear {
		l = append(l, name+" is cleared")
	}
	for _, name := range u.NamesOf(n.Keep) {
		c.Put[name] = u.Value(before, name)
		l = append(l, name+" is kept")
	}
	if n.Value != "" {
		c.Put[u.Discriminator] = u.Type.Value(n.Value)
		l = append(l, fmt.Sprintf("%s is set to %s", u.Discriminator, u.Type.Quoted(n.Value)))
	}
	c.text = strings.Join(l, ", ")
	return c
}

// ChangeProblem is a union object that violates its union and that normalizing leaves unchanged.
type ChangeProblem struct {
	At    yamltext.ObjectPath
	Union *union.Union
	// Violations are the violations that normalizing could not resolve.
	Violations []union.Violation
	// Moved is the list whose old item cannot be identified, so that the members to clear are
	// unknown; nil for other problems.
	Moved yamltext.ObjectPath
	// Keys identify the object if it is an item of a list with keys.
	Keys []string

	old *union.State
	new union.State
}

// String returns a description of the problem for messages.
func (p ChangeProblem) String() string {
	if p.Moved != nil {
		return fmt.Sprintf("the items of %s have no keys and may have moved, so that the earlier state is unknown: %s", p.Moved, p.Union.Describe(p.new))
	}
	var l []string
	for _, v := range p.Violations {
		l = append(l, p.Union.DescribeViolation(v, p.old, p.new))
	}
	return strings.Join(l, "; ")
}

// NormalizeOptions select how objects are normalized.
type NormalizeOptions struct {
	// Algorithm applies to all unions; zero selects the suitable one for each union.
	Algorithm union.Algorithm
	// CarriedOver undoes nothing that the client wrote: members are cleared only if the union
	// switches and their values are unchanged; see [union.Union.Normalize].
	CarriedOver bool
	// Merged is for objects that are merged from other objects, without an old object; see
	// [union.Union.NormalizeMerged]. The other options then have no effect.
	Merged bool
}

// PlanChanges returns the normalization of an object of a kind, as unstructured JSON, that replaces old;
// if old is nil, the object is created. Unions below a cleared member are left out, as they
// disappear with the member. The problems are union objects that stay unchanged.
//
// PlanChanges reads both objects as the API server does, with defaults.
//
// Items of lists with keys are compared with the old item of the same keys, and values of maps with
// the old value of the same key. Other items are compared by index, if they differ from the old
// items only in the union; otherwise only changes that do not depend on the old item are made.
// Items of sets stay unchanged: a changed item is another item.
func PlanChanges(k union.Kind, old, new map[string]any, opts NormalizeOptions) ([]Change, []ChangeProblem) {
	p := planner{opts: opts, written: runtime.DeepCopyJSON(new)}
	new = defaulted(k, new)
	if old != nil {
		old = defaulted(k, old)
	}
	// Outer unions come first, because cleared members have no unions.
	objects := slices.Clone(k.Objects)
	slices.SortStableFunc(objects, func(a, b union.Instances) int { return len(a.Path) - len(b.Path) })
	for _, o := range objects {
		p.object, p.sharing = o, union.Sharing(o.Unions)
		done := len(p.changes)
		unionWalk{Instances: o, Items: p.items, Union: p.unions}.Visit(new, old)
		if len(p.changes) > done {
			ApplyChanges(new, p.changes[done:])
			ApplyChanges(p.written, p.changes[done:])
			p.withDefaults(k, done)
		}
	}
	return p.changes, p.problems
}

// defaulted returns a copy of an object with the defaults of its kind.
func defaulted(k union.Kind, object map[string]any) map[string]any {
	object = runtime.DeepCopyJSON(object)
	if k.Default != nil {
		k.Default(object)
	}
	return object
}

// withDefaults turns the changes from an index on that clear a member which a default sets again, or
// for a discriminator that is not in its enum, into problems.
func (p *planner) withDefaults(k union.Kind, from int) {
	result := defaulted(k, p.written)
	changes := p.changes[from:]
	p.changes = slices.Clip(p.changes[:from])
	for _, c := range changes {
		at, _ := c.At.Lookup(result)
		s := c.Union.StateOf(at.(map[string]any))
		l := c.Union.Violations(s)
		switch {
		case c.Union.Enumerated && s.Value != "" && !slices.Contains(c.Union.Values, s.Value):
			// The schema rejects the object, and nobody knows which member was meant.
			l = []union.Violation{{Condition: union.Unmapped, Member: -1}}
		case len(l) == 0 || !slices.ContainsFunc(c.Union.NamesOf(s.Set()), func(name string) bool { return slices.Contains(c.Clear, name) }):
			p.changes = append(p.changes, c)
			continue
		}
		p.problems = append(p.problems, ChangeProblem{At: c.At, Union: c.Union, Violations: l, Keys: p.object.ItemKeys(), new: s})
	}
}

type planner struct {
	opts     NormalizeOptions
	written  map[string]any // the new object without defaults, with the changes
	object   union.Instances
	sharing  [][]int // the unions of object, by shared properties
	changes  []Change
	problems []ChangeProblem
}

// items returns, for each item of a list, the old item to compare the item with.
func (p *planner) items(items []any, old former, keys []string, rest schemapath.Path, at yamltext.ObjectPath) []former {
	before, _ := old.Value.([]any)
	if keys != nil && old.Moved == nil {
		return byKeys(items, old, keys)
	}
	l := make([]former, len(items))
	still := old.Moved == nil && len(items) == len(before)
	for i := 0; still && i < len(items); i++ {
		still = reflect.DeepEqual(p.stripped(rest, items[i]), p.stripped(rest, before[i]))
	}
	for i := range items {
		switch {
		case old.Moved != nil:
			l[i].Moved = old.Moved
		case still:
			l[i].Value = before[i]
		case len(before) > 0:
			l[i].Moved = at
		}
	}
	return l
}

// stripped returns a value without the properties that the unions read, in the objects at a path.
func (p *planner) stripped(path schemapath.Path, v any) any {
	if len(path) == 0 {
		object, ok := v.(map[string]any)
		if !ok {
			return v
		}
		for _, u := range p.object.Unions {
			object = u.Omit(object)
		}
		return object
	}
	name, isProperty := path[0].Property()
	switch v := v.(type) {
	case map[string]any:
		v = maps.Clone(v)
		for key := range v {
			if !isProperty || key == name {
				v[key] = p.stripped(path[1:], v[key])
			}
		}
		return v
	case []any:
		v = slices.Clone(v)
		for i := range v {
			v[i] = p.stripped(path[1:], v[i])
		}
		return v
	}
	return v
}

// unions normalizes the unions of an object, unless the object is unchanged.
func (p *planner) unions(at yamltext.ObjectPath, object map[string]any, old former) {
	before, _ := old.Value.(map[string]any)
	there, _ := at.Lookup(p.written)
	written, ok := there.(map[string]any)
	if !ok || before != nil && reflect.DeepEqual(before, object) {
		return
	}
	if p.opts.Merged {
		// Ignore the default of a discriminator: it must not clear a member that somebody wrote.
		for _, u := range p.object.Unions {
			if u.Discriminator != "" && u.Value(written, u.Discriminator) == nil {
				u.Remove(object, u.Discriminator)
			}
		}
	}
	for _, group := range p.sharing {
		if len(group) == 1 {
			p.union(at, p.object.Unions[group[0]], object, old)
			continue
		}
		var unions []*union.Union
		for _, i := range group {
			unions = append(unions, p.object.Unions[i])
		}
		p.together(at, unions, object, old)
	}
}

// carriedOver reports whether member i has the value of the old object.
func carriedOver(u *union.Union, i int, object, before map[string]any) bool {
	name := u.Members[i].Name
	return before != nil && reflect.DeepEqual(u.Value(object, name), u.Value(before, name))
}

// union normalizes one union of an object.
func (p *planner) union(at yamltext.ObjectPath, u *union.Union, object map[string]any, old former) {
	before, _ := old.Value.(map[string]any)
	new := u.StateOf(object)
	if p.opts.Merged {
		n, violations := u.NormalizeMerged(new)
		p.found(at, u, n, before, violations, nil, new)
		return
	}
	was := state(u, before)
	var carried func(int) bool
	if p.opts.CarriedOver {
		carried = func(i int) bool { return carriedOver(u, i, object, before) }
	}
	a := p.opts.Algorithm.OrDefault(u)
	n, violations := u.Normalize(a, was, new, carried)
	if old.Moved != nil && len(u.Violations(new)) == 0 {
		return // valid for any old item
	}
	// The members that a discriminator clears do not depend on the old item.
	if old.Moved != nil && (len(violations) > 0 || a != union.KEP2022 || u.Discriminator == "" || new.Value == "" && u.Deduce) {
		p.problems = append(p.problems, ChangeProblem{At: at, Union: u, Violations: u.Violations(new), Moved: old.Moved, new: new})
		return
	}
	p.found(at, u, n, before, violations, was, new)
}

// found records the change to a union object, or its violations as a problem.
func (p *planner) found(at yamltext.ObjectPath, u *union.Union, n union.Normalization, before map[string]any, violations []union.Violation, was *union.State, new union.State) {
	if p.object.Set && !n.IsZero() || n.Value != "" && slices.Contains(p.object.ItemKeys(), u.Discriminator) {
		n, violations = union.Normalization{}, u.Violations(new) // a changed key or item of a set would be another item
	}
	if len(violations) > 0 {
		p.problems = append(p.problems, ChangeProblem{At: at, Union: u, Violations: violations, Keys: p.object.ItemKeys(), old: was, new: new})
		return
	}
	if n.IsZero() {
		return
	}
	p.changes = append(p.changes, changeOf(at, u, n, before))
}

// ApplyChanges makes planned changes in the object, as unstructured JSON, for which they were planned.
func ApplyChanges(object map[string]any, changes []Change) {
	for _, c := range changes {
		c.Apply(object)
	}
}

// NormalizeObject normalizes an object of a kind in place; see [PlanChanges].
func NormalizeObject(k union.Kind, old, new map[string]any, opts NormalizeOptions) ([]Change, []ChangeProblem) {
	changes, problems := PlanChanges(k, old, new, opts)
	ApplyChanges(new, changes)
	return changes, problems
}
