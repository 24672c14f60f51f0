package explain

import (
	"fmt"
	"slices"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/union"
)

// onUpdate describes the constraints on updates in sentences.
func (s *unionPlan) onUpdate() []string {
	l := s.onChange()
	switch {
	case s.Deduce && s.fallback() != "":
		l = append(l, fmt.Sprintf("%s defaults to %s when it is left out: no member is deduced then.", plain(s.Discriminator), quoted(s.Type, s.fallback())))
	case s.Deduce:
		l = append(l, fmt.Sprintf("%s may be left out: the one member set then counts as selected, for changes too.", plain(s.Discriminator)))
	}
	if s.Guarded() {
		l = append(l, s.onRemoval()...)
	}
	return append(l, s.onStored())
}

func (s *unionPlan) onChange() []string {
	d := plain(s.Discriminator)
	emitted := slices.ContainsFunc(s.plan.Rules, func(r compile.RulePlan) bool { return r.Kind == compile.Transition })
	switch {
	case s.Cardinality == union.AtLeastOne:
		return []string{"Any change is allowed that leaves one or more members set."}
	case s.Change == union.Clear && d != "" && len(s.Members) == 0:
		return []string{fmt.Sprintf("%s may change: no value has a member.", d)}
	case s.Change == union.Clear && emitted && slices.ContainsFunc(s.Classes(), func(c union.Class) bool { return len(c.Members) > 1 }):
		return []string{fmt.Sprintf("%s may change. The update must clear the members of its old value that the new one does not select; an error on %s says so when one remains.", d, d)}
	case s.Change == union.Clear && d != "" && emitted:
		return []string{fmt.Sprintf("%s may change. The update must clear the member of its old value; otherwise the API server reports an error on %s.", d, d)}
	case s.Change == union.Clear && d != "":
		return []string{fmt.Sprintf("%s may change. A member that stays set is rejected, because %s does not select it; no rule mentions the change.", d, d)}
	case s.Change == union.Clear && emitted:
		return []string{"Another member may be set. The same update must clear the previous one; otherwise the API server reports an error."}
	case s.Change == union.Clear:
		return []string{"Another member may be set. If the previous one stays set, the update is rejected for having too many; no rule mentions the change."}
	case s.Change == union.Allow:
		return []string{"Any change is allowed: only the new state matters."}
	case s.Change == union.Forbid && d != "":
		return []string{fmt.Sprintf("Once set, %s may be neither changed nor unset.", d)}
	case s.Change == union.Forbid:
		return []string{"Once a member is set, it may be neither replaced nor unset."}
	case d != "":
		return []string{fmt.Sprintf("Once set, %s may change only as listed below.", d)}
	}
	return []string{"Once a member is set, it may be replaced or unset only as listed below."}
}

// onRemoval describes whether the union can be removed together with its object.
func (s *unionPlan) onRemoval() []string {
	var l []string
	for i, r := range s.plan.Rules {
		if r.Kind == compile.Guard {
			if names := links(r.Place.Path, s.plan.Place.Path); len(names) > 0 {
				removed := plain(objectPath(r.Place.Path).Child(names[0]).String())
				l = append(l, fmt.Sprintf("Removing %s does not bypass these rules: %s.", removed, plain(s.rules[i].Message)))
			}
		}
	}
	for i, step := range s.plan.Place.Path {
		if _, ok := step.Property(); ok {
			continue
		}
		entries := "the object"
		if p := objectPath(s.plan.Place.Path[:i]); p != nil {
			entries = plain(p.String())
		}
		l = append(l, fmt.Sprintf("An entry of %s can be removed and added again, which the rules of the union do not prevent.", entries))
	}
	return l
}

// onStored describes the updates of stored objects that violate the union.
func (s *unionPlan) onStored() string {
	switch {
	case s.Ratchet && s.Discriminator != "":
		return fmt.Sprintf("An object that already violates the union can be updated as long as %s and the set of members present stay the same.", plain(s.Discriminator))
	case s.Ratchet:
		return "An object that already violates the union can be updated as long as the set of members present stays the same."
	case s.path == nil:
		return "An object that already violates the union cannot be updated, /status included, until it is fixed."
	}
	if s.unnamed != nil && !s.plan.Unmatched {
		return fmt.Sprintf("If %s already violates the union, an update that changes anything in it must fix it, and so must every update while %s has fields that the schema does not name.",
			plain(s.path.String()), plain(s.unnamed.String()))
	}
	in := "it"
	if s.plan.Unmatched {
		in = "it, or in a surrounding list without keys,"
	}
	return fmt.Sprintf("If %s already violates the union, an update that changes anything in %s must fix it; before Kubernetes 1.33, the API server may require this of every update.", plain(s.path.String()), in)
}
