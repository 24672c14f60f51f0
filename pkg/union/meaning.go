package union

import "slices"

// State is the part of an object that a union depends on. Two objects with equal states are
// equivalent for the union.
type State struct {
	// Value is the text of the discriminator's value; "" is unset, whether the property is
	// absent, null or "". It is never "" if the union has a value for an unset discriminator.
	Value string
	// Present tells which members are present, by their indices in Union.Members.
	Present []bool
}

// Equal reports whether s and t are the same state.
func (s State) Equal(t State) bool {
	return s.Value == t.Value && slices.Equal(s.Present, t.Present)
}

// Set returns the indices of the present members. The caller owns the result.
func (s State) Set() []int {
	var l []int
	for i, p := range s.Present {
		if p {
			l = append(l, i)
		}
	}
	return l
}

// StateOf returns the state of a union object, given as unstructured JSON: a map[string]any or, if
// the members are list items, a []any.
func (u *Union) StateOf(object any) State {
	s := State{Present: make([]bool, len(u.Members))}
	fields, _ := object.(map[string]any)
	if u.Discriminator != "" {
		s.Value = u.ValueOf(u.Value(fields, u.Discriminator))
	}
	for i, m := range u.Members {
		if m.Item != nil {
			s.Present[i] = item(object, m.Item) != nil
		} else {
			s.Present[i] = m.present(u.Value(fields, m.Name))
		}
	}
	return s
}

// Value returns the value of the named discriminator or member in a union object; nil if it is
// absent or null.
func (u *Union) Value(object map[string]any, name string) any {
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
	case bool:
		return v
	case int:
		return v != 0
	case int64:
		return v != 0
	case float64:
		return v != 0
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

// Condition names a way in which an object or an update may violate a union.
type Condition string

// Conditions on a state. The first four need a discriminator or, except for Selected and Unmapped,
// presence relations; Required also applies to groups.
const (
	// Forbidden: a member is present that the discriminator does not select, or that another
	// member forbids.
	Forbidden Condition = "forbidden"
	// Required: a selected member is absent and not optional, or a member is absent that another
	// one requires. Without a discriminator, another member of its group selects it.
	Required Condition = "required"
	// Selected: the discriminator is unset.
	Selected Condition = "selected"
	// Unmapped: the discriminator's value maps to no member.
	Unmapped Condition = "unmapped"
	// TooMany: more than one member, or members of more than one group, are present.
	TooMany Condition = "tooMany"
	// TooFew: no member is present.
	TooFew Condition = "tooFew"
)

// Conditions on a change of state.
const (
	// NotCleared: a change left members set that it must clear.
	NotCleared Condition = "notCleared"
	// NotAllowed: the change is forbidden by Forbid or by allowedChanges.
	NotAllowed Condition = "notAllowed"
)

// Violation is a condition that a state or a change violates.
type Violation struct {
	Condition Condition
	// Member is the index of the member at fault, or -1 if the violation is not about one
	// member.
	Member int
}

// Clause is a condition with the expression that holds when the condition is violated.
type Clause struct {
	Violation
	When Expr
}

// Clauses are the conditions of one union.
type Clauses []Clause

// Broken returns the conditions that an update from state old to state new violates.
func (l Clauses) Broken(old, new State) []Violation {
	var broken []Violation
	for i := range l {
		if l[i].When.Holds(old, new) {
			broken = append(broken, l[i].Violation)
		}
	}
	return broken
}

// Conditions returns the conditions on a state: first the discriminator's, then each member's. With
// Changes and Removes they define the meaning of the union: all other representations are tested
// against them or translated from them.
func (u *Union) Conditions() Clauses {
	var l Clauses
	add := func(c Condition, member int, when Expr) { l = append(l, Clause{Violation{c, member}, when}) }
	s := at{Union: u}
	unset := s.is("")
	if u.Relates() {
		for _, r := range u.Relations() {
			l = append(l, r.clause(s))
		}
		return l
	}
	if u.Discriminator == "" {
		if u.Cardinality != AtLeastOne {
			add(TooMany, -1, s.several(2))
		}
		if u.Cardinality != AtMostOne {
			add(TooFew, -1, not(s.several(1)))
		}
		return append(l, u.incomplete()...)
	}
	if u.Cardinality == ExactlyOne {
		add(Selected, -1, unset)
	}
	if u.ForbidUnmapped {
		add(Unmapped, -1, and(not(unset), not(s.is(u.MemberValues()...))))
	}
	unlessDeduced := func(e ...Expr) Expr { return and(e...) }
	if u.Deduce {
		add(TooMany, -1, and(unset, s.several(2)))
		unlessDeduced = func(e ...Expr) Expr { return and(append(e, not(unset))...) }
	}
	for i, m := range u.Members {
		add(Forbidden, i, unlessDeduced(s.set(i), not(s.is(m.Values...))))
		if required := m.Required(); len(required) > 0 {
			add(Required, i, unlessDeduced(not(s.set(i)), s.is(required...)))
		}
	}
	return l
}

// Changes returns the conditions on an update if both union objects exist. The expressions name
// values, and the values in the union; a discriminator with any other value may not change.
func (u *Union) Changes(values ...string) Clauses {
	switch u.Change {
	case Clear:
		return Clauses{{Violation{NotCleared, -1}, u.leavesBehind()}}
	case Forbid, AllowedChanges:
		return Clauses{{Violation{NotAllowed, -1}, not(u.changeAllowed(values))}}
	}
	return nil
}

// Violations returns the conditions that state s violates, in the order of [Union.Conditions]. A
// state that violates none is legal.
func (u *Union) Violations(s State) []Violation { return u.Conditions().Broken(s, s) }

// Selection returns the discriminator's value in state s or, without a discriminator, the
// name of the single present member or group; "" if there is none. With Deduce an unset discriminator
// has the first value of the single present member.
func (u *Union) Selection(s State) string {
	l := at{Union: u}.selection(u.named([]string{s.Value}))
	return l[slices.IndexFunc(l, func(c choice) bool { return c.when.Holds(s, s) })].name
}

// ChangeViolations returns the conditions that an update from state old to state new
// violates, if both union objects exist.
func (u *Union) ChangeViolations(old, new State) []Violation {
	return u.Changes().Broken(old, new)
}

// leavesBehind returns the condition that a change did not clear all members that it must clear.
// With a discriminator, these are the members of the old value that the new value does not select;
// with Deduce, unsetting the discriminator clears nothing. Without a discriminator, these are the
// groups that were present before another group was set.
func (u *Union) leavesBehind() Expr {
	was, is := at{u, true}, at{u, false}
	var left, set, kept []Expr
	for i, m := range u.Members {
		behind := []Expr{was.is(m.Values...), is.set(i), not(is.is(m.Values...))}
		if u.Deduce {
			behind = append(behind, not(is.is("")))
		}
		left = append(left, and(behind...))
	}
	if u.Discriminator != "" {
		return or(left...)
	}
	before := was.setGroups()
	for i, g := range is.setGroups() {
		set, kept = append(set, and(g.when, not(before[i].when))), append(kept, and(g.when, before[i].when))
	}
	return and(or(set...), or(kept...))
}

// named returns the values that a union names, and others, sorted and without duplicates.
func (u *Union) named(others []string) []string {
	l := slices.Concat(u.MemberValues(), u.Values, others)
	for from, row := range u.Allowed {
		l = append(append(l, from), row...)
	}
	slices.Sort(l)
	return slices.DeleteFunc(slices.Compact(l), func(v string) bool { return v == "" })
}

// changeAllowed returns the condition that Forbid or allowedChanges permits the change.
func (u *Union) changeAllowed(values []string) Expr {
	was, is := at{u, true}, at{u, false}
	if u.Discriminator != "" {
		values = u.named(values)
	}
	from, to := was.selection(values), is.selection(values)
	allowed := []Expr{from[0].when}
	if u.Discriminator != "" {
		known := []Expr{from[0].when}
		for i, f := range from[1:] {
			known = append(known, f.when)
			targets := []Expr{to[i+1].when}
			for _, w := range u.Allowed[f.name] {
				targets = append(targets, to[slices.IndexFunc(to, func(c choice) bool { return c.name == w })].when)
			}
			allowed = append(allowed, and(f.when, or(targets...)))
		}
		return or(append(allowed, and(not(or(known...)), Expr{Op: Same}))...)
	}
	// A second group alongside the first is left to Conditions: the first has not changed.
	none, groups := not(is.several(1)), is.setGroups()
	for i, g := range groups {
		to := []Expr{g.when}
		if row := u.Allowed[g.name]; len(row) > 0 {
			var others []Expr
			for _, other := range groups {
				if !slices.Contains(row, other.name) {
					others = append(others, other.when)
				}
			}
			if to = append(to, and(not(none), not(or(others...)))); slices.Contains(row, "") {
				to = append(to, none)
			}
		}
		allowed = append(allowed, and(from[i+1].when, or(to...)))
	}
	return or(allowed...)
}

// Removes returns the condition for removing the whole union object in an update. It refers to the
// old state, and names values as [Union.Changes] does.
func (u *Union) Removes(values ...string) Expr {
	if !u.Guarded() {
		return and()
	}
	var l []Expr
	for _, from := range (at{u, true}).selection(u.named(values)) {
		if from.name == "" || slices.Contains(u.Allowed[from.name], "") {
			l = append(l, from.when)
		}
	}
	return or(l...)
}

// Exclusive reports whether members exclude each other. Normalization skips other unions.
func (u *Union) Exclusive() bool { return u.Cardinality != AtLeastOne && !u.Relates() }

func (u *Union) indices() []int {
	l := make([]int, len(u.Members))
	for i := range l {
		l[i] = i
	}
	return l
}

// Guarded reports whether the union needs removal guards: without them, a client could bypass
// Forbid or allowedChanges by removing the union object and adding it again.
func (u *Union) Guarded() bool { return u.Change == Forbid || u.Change == AllowedChanges }

// Removable reports whether an update may remove the whole union object in state old.
func (u *Union) Removable(old State) bool { return u.Removes().Holds(old, old) }

// Exempts returns the condition for skipping Conditions in an update: the union ratchets and its
// state is unchanged.
func (u *Union) Exempts() Expr {
	if !u.Ratchet {
		return or()
	}
	var same []Expr
	if u.Discriminator != "" {
		same = append(same, Expr{Op: Same})
	}
	was, is := at{u, true}, at{u, false}
	for i := range u.Members {
		same = append(same, or(and(was.set(i), is.set(i)), and(not(was.set(i)), not(is.set(i)))))
	}
	return and(same...)
}

// Judge returns the conditions that an update from old to new violates. If old is nil, it validates
// the creation of the whole resource or of the union object alone. If the union ratchets, it skips
// the conditions on an unchanged state.
func (u *Union) Judge(old *State, new State) []Violation {
	if old == nil {
		return u.Violations(new)
	}
	var l []Violation
	if !u.Exempts().Holds(*old, new) {
		l = u.Violations(new)
	}
	return append(l, u.ChangeViolations(*old, new)...)
}
