package product

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/union"
)

// together normalizes unions that share properties. It normalizes one after the other until nothing
// changes. If the result violates one of them, all stay unchanged.
func (p *planner) together(at yamltext.ObjectPath, unions []*union.Union, object map[string]any, old former) {
	first := planner{opts: p.opts, object: p.object}
	for _, u := range unions {
		first.union(at, u, object, old)
	}
	if len(first.changes) == 0 {
		p.problems = append(p.problems, first.problems...)
		return
	}
	changes, ok := p.stable(at, unions, object, old)
	if ok {
		p.changes = append(p.changes, changes...)
		return
	}
	before, _ := old.Value.(map[string]any)
	for _, u := range unions {
		was, new := state(u, before), u.StateOf(object)
		if violations := u.Judge(was, new); len(violations) > 0 {
			p.problems = append(p.problems, ChangeProblem{At: at, Union: u, Violations: violations, Keys: p.object.ItemKeys(), old: was, new: new})
		}
	}
}

// stable returns the changes after which no union changes the object any more. ok is false if there
// is no such state, or if it violates a union.
func (p *planner) stable(at yamltext.ObjectPath, unions []*union.Union, object map[string]any, old former) (changes []Change, ok bool) {
	before, _ := old.Value.(map[string]any)
	work := runtime.DeepCopyJSON(object)
	for range 2*len(unions) + 1 {
		done := len(changes)
		for _, u := range unions {
			next := planner{opts: p.opts, object: p.object}
			if cleared(u, changes) {
				// The members go with their discriminator, unless its absence selects them.
				next.found(at, u, p.withoutMembers(u, work, before), before, nil, nil, union.State{})
			} else {
				next.union(at, u, work, old)
			}
			for _, c := range next.changes {
				changes = append(changes, c)
				c.At = nil
				ApplyChanges(work, []Change{c})
			}
		}
		if len(changes) == done {
			return changes, !repeated(changes) && !slices.ContainsFunc(unions, func(u *union.Union) bool { return p.worse(u, before, object, work) })
		}
	}
	return nil, false
}

// repeated reports whether two changes clear or set the same property.
func repeated(changes []Change) bool {
	seen := map[string]bool{}
	for _, c := range changes {
		for _, name := range slices.AppendSeq(slices.Clone(c.Clear), maps.Keys(c.Put)) {
			path := c.Union.Path(name).String()
			if seen[path] {
				return true
			}
			seen[path] = true
		}
	}
	return false
}

// cleared reports whether another union has cleared the discriminator.
func cleared(u *union.Union, changes []Change) bool {
	if u.Discriminator == "" {
		return false
	}
	path := u.Path(u.Discriminator)
	return slices.ContainsFunc(changes, func(c Change) bool {
		return slices.ContainsFunc(c.Clear, func(name string) bool { return c.Union.Path(name).Equal(path) })
	})
}

// withoutMembers clears all members that an unset discriminator does not select or, with CarriedOver,
// those of them with the values of the old object.
func (p *planner) withoutMembers(u *union.Union, object, before map[string]any) (n union.Normalization) {
	keep := u.MembersOf(u.Unset)
	for _, i := range u.StateOf(object).Set() {
		if !slices.Contains(keep, i) && (!p.opts.CarriedOver || carriedOver(u, i, object, before)) {
			n.Clear = append(n.Clear, i)
		}
	}
	return n
}

// worse reports whether a normalized object violates a union. Merged objects may keep their
// violations, which are left to validation.
func (p *planner) worse(u *union.Union, before, object, normalized map[string]any) bool {
	if !p.opts.Merged {
		return len(u.Judge(state(u, before), u.StateOf(normalized))) > 0
	}
	had := u.Violations(u.StateOf(object))
	return slices.ContainsFunc(u.Violations(u.StateOf(normalized)), func(v union.Violation) bool { return !slices.Contains(had, v) })
}

// state returns the state of a union in an object, or nil if there is no object.
func state(u *union.Union, object map[string]any) *union.State {
	if object == nil {
		return nil
	}
	s := u.StateOf(object)
	return &s
}
