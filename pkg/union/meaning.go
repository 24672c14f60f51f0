package union

import "slices"

// State is all that a union sees of an object. Two objects with equal states
// are the same to it.
type State struct {
	// Value is the discriminator's value; "" is unset, whether the property is
	// absent, null or "".
	Value string
	// Present tells for each member, by its index in Union.Members, whether it
	// is present.
	Present []bool
}

// Equal reports whether s and t are the same state.
func (s State) Equal(t State) bool {
	return s.Value == t.Value && slices.Equal(s.Present, t.Present)
}

// count returns how many members are present.
func (s State) count() int {
	n := 0
	for _, p := range s.Present {
		if p {
			n++
		}
	}
	return n
}

// StateOf returns the state of a union object, given as unstructured JSON: a
// map[string]any or, of a union of items, a []any.
func (u *Union) StateOf(object any) State {
	s := State{Present: make([]bool, len(u.Members))}
	fields, _ := object.(map[string]any)
	if u.Discriminator != "" {
		s.Value, _ = u.In(fields, u.Discriminator).(string)
	}
	for i, m := range u.Members {
		if m.Item != nil {
			s.Present[i] = item(object, m.Item) != nil
		} else {
			s.Present[i] = m.present(u.In(fields, m.Name))
		}
	}
	return s
}

// In returns what a union object has as its discriminator or member of a name; nil
// where there is nothing, or null.
func (u *Union) In(object map[string]any, name string) any {
	v, _ := u.Lookup(object, name)
	return v
}

// present reports whether a member with value v is set: not null and, for
// members in emptyIsUnset, not empty.
func (m Member) present(v any) bool {
	if v == nil || m.Empty == PresentWhenEmpty {
		return v != nil
	}
	switch v := v.(type) {
	case string:
		return v != ""
	case []any:
		return len(v) > 0
	case map[string]any:
		if m.Empty == EmptyCollection {
			return len(v) > 0
		}
		return slices.ContainsFunc(m.Fields, func(f string) bool { return v[f] != nil })
	}
	return true
}

// Condition names one condition of a union's meaning.
type Condition string

// Conditions on a state; the first four are those of a discriminated union.
const (
	// Forbidden: a member is present that the discriminator does not select.
	Forbidden Condition = "forbidden"
	// Required: a selected member is absent and not optional.
	Required Condition = "required"
	// Selected: the discriminator must be set.
	Selected Condition = "selected"
	// Unmapped: the discriminator's value maps to no member.
	Unmapped Condition = "unmapped"
	// TooMany: more than one member is present.
	TooMany Condition = "tooMany"
	// TooFew: no member is present.
	TooFew Condition = "tooFew"
)

// Conditions on a change of state.
const (
	// NotCleared: a change left members set that it had to clear.
	NotCleared Condition = "notCleared"
	// NotAllowed: the change is forbidden, by Forbid or by a table.
	NotAllowed Condition = "notAllowed"
)

// Violation is a condition that a state, or a change, breaks.
type Violation struct {
	Condition Condition
	// Member is the index of the member at fault, -1 when it is no single one.
	Member int
}

// Violations returns the conditions that state s breaks, those of the
// discriminator first, then by member. A state that breaks none is legal.
func (u *Union) Violations(s State) []Violation {
	var l []Violation
	add := func(c Condition, member int) { l = append(l, Violation{c, member}) }
	if u.Discriminator == "" {
		n := s.count()
		if u.Cardinality != AtLeastOne && n > 1 {
			add(TooMany, -1)
		}
		if u.Cardinality != AtMostOne && n == 0 {
			add(TooFew, -1)
		}
		return l
	}
	if u.Cardinality == ExactlyOne && s.Value == "" {
		add(Selected, -1)
	}
	if u.ForbidUnmapped && s.Value != "" && len(u.MembersOf(s.Value)) == 0 {
		add(Unmapped, -1)
	}
	if u.Deduce && s.Value == "" {
		if s.count() > 1 {
			add(TooMany, -1)
		}
		return l
	}
	for i, m := range u.Members {
		switch selected := slices.Contains(m.Values, s.Value); {
		case s.Present[i] && !selected:
			add(Forbidden, i)
		case !s.Present[i] && selected && !slices.Contains(m.Optional, s.Value):
			add(Required, i)
		}
	}
	return l
}

// Selection is what state s has selected: the discriminator's value, or without
// a discriminator the name of the one member present; "" when nothing is.
// With Deduce an unset discriminator has the first value of the one member
// present.
func (u *Union) Selection(s State) string {
	if s.Value != "" {
		return s.Value
	}
	if u.Discriminator != "" && !u.Deduce || s.count() != 1 {
		return ""
	}
	m := u.Members[slices.Index(s.Present, true)]
	if u.Discriminator == "" {
		return m.Name
	}
	return m.Values[0]
}

// ChangeViolations returns the conditions that an update from state old to
// state new breaks, when both union objects exist.
func (u *Union) ChangeViolations(old, new State) []Violation {
	ok := true
	broken := NotAllowed
	switch u.Change {
	case Clear:
		broken, ok = NotCleared, !u.leavesBehind(old, new)
	case Forbid, AllowedChanges:
		ok = u.changeAllowed(old, new)
	}
	if ok {
		return nil
	}
	return []Violation{{broken, -1}}
}

// leavesBehind reports whether a change left a member set: with a
// discriminator, one of its old value, which the new one does not select and which
// is not deduced either; without one, a member that was there when another was set.
func (u *Union) leavesBehind(old, new State) bool {
	if u.Discriminator != "" {
		return !(u.Deduce && new.Value == "") && slices.ContainsFunc(u.MembersOf(old.Value), func(i int) bool {
			return new.Present[i] && !slices.Contains(u.Members[i].Values, new.Value)
		})
	}
	return slices.ContainsFunc(u.indices(), func(i int) bool { return new.Present[i] && !old.Present[i] }) &&
		slices.ContainsFunc(u.indices(), func(i int) bool { return old.Present[i] && new.Present[i] })
}

// changeAllowed reports whether Forbid, or the table, allows the change.
func (u *Union) changeAllowed(old, new State) bool {
	from := u.Selection(old)
	if from == "" {
		return true
	}
	row := u.Allowed[from]
	if u.Discriminator != "" {
		to := u.Selection(new)
		return to == from || slices.Contains(row, to)
	}
	// Without a discriminator a second member beside the first is for the static
	// rules to judge; here the first has not changed.
	if new.Present[slices.Index(u.MemberNames(), from)] {
		return true
	}
	if new.count() == 0 {
		return slices.Contains(row, "")
	}
	return !slices.ContainsFunc(u.indices(), func(i int) bool {
		return new.Present[i] && !slices.Contains(row, u.Members[i].Name)
	})
}

func (u *Union) indices() []int {
	l := make([]int, len(u.Members))
	for i := range l {
		l[i] = i
	}
	return l
}

// Guarded reports whether some state must not be removed together with its
// object: without a removal guard on the way to the union object, deleting it
// and adding it again would get around Forbid or the table.
func (u *Union) Guarded() bool { return u.Change == Forbid || u.Change == AllowedChanges }

// Removable reports whether an update may remove the whole union object when
// its state was old.
func (u *Union) Removable(old State) bool {
	from := u.Selection(old)
	return !u.Guarded() || from == "" || slices.Contains(u.Allowed[from], "")
}

// Exempt reports whether an update from old to new is exempt from the static
// conditions, because the union ratchets and its state is as it was.
func (u *Union) Exempt(old, new State) bool { return u.Ratchet && old.Equal(new) }

// Judge returns what an update from old to new breaks; with old nil it judges a
// creation (of the whole object or of the union object alone).
func (u *Union) Judge(old *State, new State) []Violation {
	if old == nil {
		return u.Violations(new)
	}
	var l []Violation
	if !u.Exempt(*old, new) {
		l = u.Violations(new)
	}
	return append(l, u.ChangeViolations(*old, new)...)
}
