package rules

import (
	"slices"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

// grouped returns the static rules for the members split into the given number of groups.
func (o variable) grouped(groups int) []statement {
	u := o.u
	if u.Relates() {
		return o.relations(groups)
	}
	if u.Discriminator == "" {
		return append(o.groupedPlain(groups), o.complete(false)...)
	}
	if len(u.Members) == 0 {
		return o.onWhole(groups)
	}
	var l []statement
	parts := split(indices(len(u.Members)), groups)
	for _, g := range parts {
		l = append(l, o.group(g, len(parts) == 1))
	}
	if len(parts) > 1 {
		l = append(l, o.onWhole(groups)...)
	}
	return l
}

// group returns the rule for the members g of a union with a discriminator. If whole is set, g is
// all members, and the rule includes the conditions on the whole union.
func (o variable) group(g []int, whole bool) statement {
	u := o.u
	if len(g) == 1 && !whole {
		return o.pair(g[0])
	}
	conditions := []union.Condition{union.Forbidden, union.Required}
	var situations []situation
	say := func(when cel.Expr, property string, c union.Condition, message string) {
		if when == cel.False {
			return
		}
		situations = append(situations, situation{when, property, c, cel.String(labelled(u, message))})
	}
	switch {
	case u.Deduce:
		conditions = append(conditions, union.TooMany)
		say(cel.Not(o.typeSet()), "", union.TooMany, oneWhileUnset(u))
	case whole && mustSelect(u):
		conditions = append(conditions, union.Selected)
		say(cel.Not(o.typeSet()), u.Discriminator, union.Selected, mustBeSet(u))
	}
	for _, i := range g {
		m := u.Members[i]
		say(cel.And(o.present(i), cel.Not(o.isSelected(i))), m.Name, union.Forbidden, onlyWhen(u, m, alternatives(u, m.Values)))
		if required := m.Required(); len(required) > 0 {
			say(cel.And(o.isOneOf(required), cel.Not(o.present(i))), m.Name, union.Required, requiredWhen(u, m))
		}
	}
	if whole && u.ForbidUnmapped {
		conditions = append(conditions, union.Unmapped)
		say(cel.Not(o.mapped()), u.Discriminator, union.Unmapped, mustBeMapped(u))
	}
	s := state(u, o.groupHolds(g, whole), ReasonInvalid, "",
		onlySelected(u, g, whole), conditions...)
	if len(situations) > 0 {
		s.tell(u, len(u.Members), true, situations...)
	}
	return s
}

// pair returns the rule that member i is set if and only if the discriminator selects it.
func (o variable) pair(i int) statement {
	m := o.u.Members[i]
	if len(m.Required()) == 0 {
		return o.forbidden(i)
	}
	among := o.isInList
	is := o.present(i).Eq(cel.Paren(among(m.Values)))
	switch {
	case among(m.Values) == cel.True:
		is = cel.If(among(m.Required()), o.present(i), cel.True)
	case o.u.Deduce:
		is = o.groupHolds([]int{i}, false)
	case len(m.Optional) > 0:
		is = cel.If(o.present(i), among(m.Values), cel.Not(among(m.Required())))
	}
	s := state(o.u, is, ReasonInvalid, m.Name, onlyAndRequiredWhen(o.u, m), union.Forbidden, union.Required)
	s.tell(o.u, 1, false,
		situation{o.present(i), m.Name, union.Forbidden, cel.String(labelled(o.u, onlyWhenSelected(o.u, m)))},
		situation{cel.True, m.Name, union.Required, cel.String(labelled(o.u, requiredWhen(o.u, m)))})
	return s
}

// groupHolds tests the presence of members first, which is cheap. Each branch compares the
// discriminator once, and the estimator charges only the most expensive branch. Members that share
// values need a test each.
func (o variable) groupHolds(g []int, whole bool) cel.Expr {
	if o.u.Overlaps(g) {
		var l []cel.Expr
		for _, i := range g {
			l = append(l, o.pair(i).holds)
		}
		if whole {
			for _, s := range o.onWhole(1) {
				l = append(l, s.holds)
			}
		}
		return cel.And(l...)
	}
	e := o.noneHolds(g, whole)
	if len(g) > maxExplained {
		// More members cannot be nested.
		l := []cel.Expr{cel.Or(cel.Or(o.presentAmong(g)...), e)}
		for _, m := range g {
			l = append(l, o.forbidden(m).holds)
		}
		if whole && o.u.Deduce {
			l = append(l, cel.Or(o.typeSet(), o.atMostOne(pair{group: g, within: true})))
		}
		return cel.And(l...)
	}
	long := len(g) > chained
	for i, m := range slices.Backward(g) {
		then := o.isSelected(m)
		if o.u.Deduce {
			then = cel.Or(cel.Not(o.hasType()), o.discriminator().Eq(empty), o.selects(m))
		}
		if rest := g[i+1:]; len(rest) > 0 && !long {
			then = cel.And(then, cel.Not(cel.Or(o.presentAmong(rest)...)))
		}
		e = cel.If(o.present(m), then, e)
	}
	if long {
		e = cel.And(count(o.presentAmong(g)).Le(cel.Int(1)), e)
	}
	return e
}

// noneHolds is the condition under which an object may have none of the members g.
func (o variable) noneHolds(g []int, whole bool) cel.Expr {
	u := o.u
	var must, may []string
	for _, i := range g {
		must = append(must, u.Members[i].Required()...)
		may = append(may, u.Members[i].Optional...)
	}
	set := whole && mustSelect(u)
	must, may = u.Accepted(must), u.Accepted(may)
	if !set && u.Unset == "" {
		may = append(may, "")
	}
	holds, unset := o.noneOf(o.discriminator(), must), cel.True
	if set || slices.Contains(must, "") {
		unset = cel.False
	}
	switch {
	case whole && u.ForbidUnmapped:
		holds = cel.False
		if !slices.Contains(may, "") {
			unset = cel.False
		}
		if len(may) > 0 {
			holds = o.oneOf(o.discriminator(), may)
		}
	case set:
		holds = cel.And(o.filled(), holds)
	}
	switch {
	case holds == cel.False && unset == cel.False, holds == cel.True && unset == cel.True:
		return holds
	case holds == cel.False:
		return cel.Not(o.hasType())
	case unset == cel.False:
		return cel.And(o.hasType(), holds)
	}
	return cel.If(o.hasType(), holds, unset)
}

func (o variable) groupedPlain(groups int) []statement {
	u := o.u
	message, all := cardinalityMessage(u), indices(len(u.Members))
	if u.Cardinality == union.AtLeastOne {
		return []statement{state(u, o.any(all), ReasonInvalid, "", message, union.TooFew)}
	}
	nested := len(u.Members)
	if o.brief {
		nested = 1
	}
	found := func(g []int) cel.Expr {
		if o.brief {
			return cel.String(labelled(u, message))
		}
		return cel.Add(cel.String(labelled(u, message)+", found: "), presentNames(o, g))
	}
	parts := pairs(len(all), groups)
	if u.Cardinality == union.ExactlyOne && len(parts) <= 1 {
		s := state(u, o.exactlyOne(), ReasonInvalid, "", message, union.TooFew, union.TooMany)
		s.tell(u, nested, !o.brief, situation{o.any(all), "", union.TooMany, found(all)},
			situation{cel.True, "", union.TooFew, cel.String(labelled(u, message))})
		return []statement{s}
	}
	var l []statement
	for _, p := range parts {
		s := state(u, o.atMostOne(p), ReasonInvalid, "", message, union.TooMany)
		s.tell(u, nested, !o.brief, situation{cel.True, "", union.TooMany, found(p.all())})
		l = append(l, s)
	}
	if u.Cardinality == union.ExactlyOne {
		l = append(l, state(u, o.any(all), ReasonRequired, "", message, union.TooFew))
	}
	return l
}

// atMostOne tests that no two members that p excludes are present.
func (o variable) atMostOne(p pair) cel.Expr {
	apart := o.any(p.others)
	switch {
	case !p.within:
		return cel.Not(cel.And(o.any(p.group), apart))
	case o.u.OfItems() && len(p.others) == 0:
		return o.macro(cel.Expr.Filter, p.group).Call("size").Le(cel.Int(1))
	}
	if len(p.group) > chained {
		e := atMostOneOf(o.presentAmong(p.group))
		if len(p.others) > 0 {
			e = cel.And(e, cel.Not(cel.And(o.any(p.group), apart)))
		}
		return e
	}
	// The other members count as one more condition of the chain.
	conditions := o.presentAmong(p.group)
	if len(p.others) > 0 {
		conditions = append(conditions, apart)
	}
	return atMostOneOf(conditions)
}

// pair excludes each member of group together with a member of others. If within is set, it also
// excludes any two members of group.
type pair struct {
	group, others []int
	within        bool
}

func (p pair) all() []int { return slices.Sorted(slices.Values(slices.Concat(p.group, p.others))) }

// pairs splits n members into groups. The result excludes any two members exactly once. One or two
// groups result in a single pair of all members; fewer than two members result in no pair.
func pairs(n, groups int) []pair {
	if n < 2 {
		return nil
	}
	parts := split(indices(n), groups)
	k := len(parts)
	if k < 3 {
		return []pair{{group: indices(n), within: true}}
	}
	var l []pair
	for i := range parts {
		for step := 1; 2*step <= k; step++ {
			if 2*step == k && i >= step {
				continue // the pair of opposite groups exists already
			}
			l = append(l, pair{parts[i], parts[(i+step)%k], step == 1 && len(parts[i]) > 1})
		}
	}
	return l
}

// split cuts a list into k parts of about the same length, or into single elements if there are
// fewer than k.
func split[T any](l []T, k int) [][]T {
	k = min(max(k, 1), len(l))
	var parts [][]T
	for i := range k {
		parts = append(parts, l[i*len(l)/k:(i+1)*len(l)/k])
	}
	return parts
}

func indices(n int) []int {
	l := make([]int, n)
	for i := range l {
		l[i] = i
	}
	return l
}

// others returns all indices below n except i.
func others(i, n int) []int { return slices.Delete(indices(n), i, i+1) }
