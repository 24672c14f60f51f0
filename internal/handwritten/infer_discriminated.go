package handwritten

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/union"
)

// group has the conditions that compare one string property with literals. They are evaluated
// together.
type group struct {
	*candidateObject
	discriminator int
	values        []value
	conditions    []*condition // the conditions that compare no other property
	// asked are the slots of the possible members, in order of appearance.
	asked  []int
	tables map[string]*table // by members
}

// table has the meaning of the conditions that read only the discriminator and certain members, by
// value of the discriminator.
type table struct {
	*group
	conditions []*condition
	rows       []row
}

// row is the meaning of conditions for a single value of the discriminator.
type row struct {
	accepts bool // the conditions accept an object
	// may has the members that may be set, and must the members that must be set.
	may, must map[int]bool
}

// memberRole is a reason to consider a property a member.
type memberRole int

const (
	// selecting: the property may be set only with values that conditions mention together with it.
	selecting memberRole = iota
	// belonging: like selecting, but members may share values, and some accepted values must
	// exclude the property. This rules out a oneOf that allows all properties alongside the
	// required properties.
	belonging
	// demanding: the property must be set with certain values.
	demanding
	// excluding: the property may not be set with certain values of an enum, or must be set with
	// some, and belongs to the others.
	excluding
)

// maxFree is the maximum number of values that leave a property free while others require it. A
// declaration with more is longer to read than the rule.
const maxFree = 4

// discriminated finds the unions whose discriminator the conditions compare with literals. Each
// discriminator has at most one union. A union in which members share values may precede it, and
// fallbacks of both kinds may follow.
func (o *candidateObject) discriminated(conditions []*condition) []*candidate {
	var l []*candidate
	var seen []int
	for _, c := range conditions {
		d, ok := c.discriminator()
		if !ok || d < 0 || slices.Contains(seen, d) {
			continue
		}
		seen = append(seen, d)
		g := &group{candidateObject: o, discriminator: d, tables: map[string]*table{}}
		if !g.collect(conditions) {
			continue
		}
		if members, within := g.members(belonging, true); sharing(members) && len(members) <= maxMembers {
			together := g.candidate(members, within)
			together.tentative = true
			l = append(l, together)
		}
		if found := g.find(); found != nil {
			l = append(l, found)
		}
		for _, shared := range []bool{true, false} {
			members, within := g.members(excluding, shared)
			if len(members) == 0 || len(members) > maxMembers || shared && !sharing(members) {
				continue
			}
			fallback := g.candidate(members, within)
			fallback.fallback, fallback.tentative = true, true
			l = append(l, fallback)
		}
	}
	return l
}

// collect selects the conditions of the group. It reports whether they are within bounds.
func (g *group) collect(conditions []*condition) bool {
	var about []*condition
	for _, c := range conditions {
		switch d, ok := c.discriminator(); {
		case !ok || d >= 0 && d != g.discriminator:
			continue
		case d == g.discriminator:
			about = append(about, c)
			for _, slot := range c.slots {
				if slot != d && g.may[slot] && !slices.Contains(g.asked, slot) {
					g.asked = append(g.asked, slot)
				}
			}
		}
		g.conditions = append(g.conditions, c)
	}
	g.values = g.candidateObject.values(g.discriminator, about)
	return len(g.values) <= maxValues
}

func (g *group) find() *candidate {
	members, within := g.members(selecting, false)
	if len(members) == 0 {
		// Nothing forbids members, but the conditions that require them may be meant for a union: if
		// there are two, or if the one member is named like its value.
		members, within = g.members(demanding, false)
		boolean := g.typeOf(g.discriminator) == union.BooleanValue
		if len(members) == 0 || len(members) == 1 && !boolean && !g.namesake(members[0]) {
			return nil
		}
		if boolean && len(members) <= maxMembers {
			found := g.candidate(members, within)
			found.tentative = true
			return found
		}
	}
	if len(members) > maxMembers {
		return nil
	}
	return g.candidate(members, within)
}

// namesake reports whether a member has the name of the only value that requires it, and the
// discriminator has an enum.
func (g *group) namesake(r reading) bool {
	return len(r.selected) == 1 && len(g.property(g.discriminator).Enum) > 0 && plainName(g.names[r.slot]) == plainName(r.selected[0])
}

// plainName returns a name in lower case, without punctuation.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, strings.ToLower(name))
}

// reading is the meaning of conditions for one property.
type reading struct {
	slot int
	// selected are the values with which the property is a member.
	selected []string
	optional []string // selected values that do not require the property
}

// members returns the properties that are members in one role, and the conditions that read only
// these properties. It repeats the search after it has left out properties, because this leaves out
// their conditions, too. If values may not be shared, a value that selects several members excludes
// them.
func (g *group) members(how memberRole, shared bool) ([]reading, []*condition) {
	slots := slices.Clone(g.asked)
	for {
		t := g.table(slots)
		var l []reading
		for _, slot := range slots {
			if r, ok := t.read(slot, how); ok {
				l = append(l, r)
			}
		}
		if !shared {
			taken := selections(l)
			l = slices.DeleteFunc(l, func(r reading) bool {
				return slices.ContainsFunc(r.selected, func(v string) bool { return taken[v] > 1 })
			})
		}
		if len(l) == len(slots) {
			return l, t.conditions
		}
		slots = nil
		for _, r := range l {
			slots = append(slots, r.slot)
		}
	}
}

// selections counts the members that each value selects.
func selections(l []reading) map[string]int {
	n := map[string]int{}
	for _, r := range l {
		for _, v := range r.selected {
			n[v]++
		}
	}
	return n
}

// sharing reports whether some value selects several members.
func sharing(l []reading) bool {
	for _, n := range selections(l) {
		if n > 1 {
			return true
		}
	}
	return false
}

// table asks which of the members may be set, and which must be set, with each value.
func (g *group) table(slots []int) *table {
	key := fmt.Sprint(slots)
	if t, ok := g.tables[key]; ok {
		return t
	}
	t := &table{group: g}
	g.tables[key] = t
	for _, c := range g.conditions {
		if !slices.ContainsFunc(c.slots, func(s int) bool { return s != g.discriminator && !slices.Contains(slots, s) }) {
			t.conditions = append(t.conditions, c)
		}
	}
	var states []logic.Lit
	for _, slot := range slots {
		set := g.set(slot, t.conditions)
		states = append(states, set, set.Not())
	}
	for _, v := range g.values {
		r := row{may: map[int]bool{}, must: map[int]bool{}}
		possible := g.possibilities(append(holding(t.conditions), g.is(g.discriminator, v)), states)
		for i, slot := range slots {
			may, spare := possible[2*i], possible[2*i+1]
			r.accepts, r.may[slot], r.must[slot] = may || spare, may, may && !spare
		}
		t.rows = append(t.rows, r)
	}
	return t
}

// read returns the values with which a property may be set. ok reports whether it is a member.
func (t *table) read(slot int, how memberRole) (r reading, ok bool) {
	r.slot = slot
	var may, must, all, mentioned []string
	for _, c := range t.conditions {
		if slices.Contains(c.slots, slot) {
			mentioned = append(mentioned, c.texts[t.discriminator]...)
		}
	}
	open, elsewhere := false, false // some value is unmentioned; the property may be set with such a value
	excluded := false               // an accepted value excludes the property
	for i, v := range t.values {
		row := t.rows[i]
		excluded = excluded || v.text != "" && row.accepts && !row.may[slot]
		switch {
		case v.text == "":
		case v.text == other:
			if open, elsewhere = true, row.may[slot]; row.must[slot] {
				return r, false
			}
		default:
			all = append(all, v.text)
			if row.may[slot] {
				may = append(may, v.text)
			}
			if row.must[slot] {
				must = append(must, v.text)
			}
		}
	}
	restricted := !elsewhere && (open || len(may) < len(all) || len(all) == 1 && len(must) == 1)
	r.selected = may
	switch how {
	case belonging:
		restricted = restricted && excluded
	case demanding:
		restricted = len(must) > 0 && (elsewhere || len(must) < len(all))
		if r.selected = must; t.typeOf(t.discriminator) == union.BooleanValue {
			r.selected = may // the member is optional for the other value
		}
	case excluding:
		restricted = !open && (len(may) < len(all) || len(must) > 0 && len(must) < len(all) && len(all)-len(must) <= maxFree)
	}
	for _, v := range r.selected {
		// "unless type is A" does not single out B, even if the enum has no C.
		restricted = restricted && (how == excluding || slices.Contains(mentioned, v))
	}
	r.optional = slices.DeleteFunc(slices.Clone(r.selected), func(v string) bool { return slices.Contains(must, v) })
	return r, restricted && len(r.selected) > 0
}

// candidate returns the union with members that differs least from the conditions.
func (g *group) candidate(members []reading, within []*condition) *candidate {
	slices.SortStableFunc(members, func(a, b reading) int { return g.order(a) - g.order(b) })
	u := &union.Union{Discriminator: g.names[g.discriminator], Type: g.typeOf(g.discriminator), Change: union.Allow}
	for _, r := range members {
		u.Members = append(u.Members, union.Member{Name: g.names[r.slot], Values: r.selected, Optional: r.optional, Empty: g.emptiness(r.slot, within)})
	}
	states, unset := g.states(members, within)
	difference := map[*union.Union]int{}
	l := slices.DeleteFunc(g.variants(u, unset), func(u *union.Union) bool {
		resolved := g.resolve(u)
		if resolved == nil {
			return true
		}
		for _, s := range states {
			if s.Value == "" {
				s.Value = resolved.Unset
			}
			switch accepts := len(resolved.Violations(s.State)) == 0; {
			case accepts && !s.accepted:
				difference[u] += 3 // rather reject too much,
			case !accepts && s.accepted && s.Value != resolved.Unset:
				return true // but no value that conditions accept
			case !accepts && s.accepted:
				difference[u] += 2
			}
		}
		return false
	})
	slices.SortStableFunc(l, func(a, b *union.Union) int { return difference[a] - difference[b] })
	partial := func(m union.Member) bool { return len(m.Optional) > 0 && len(m.Optional) < len(m.Values) }
	if len(members) > 1 && slices.ContainsFunc(u.Members, partial) {
		without := *u
		without.Members = slices.DeleteFunc(slices.Clone(u.Members), partial)
		l = append(l, &without)
	}
	if len(l) == 0 {
		l = []*union.Union{u} // it may not be declared
	}
	return &candidate{candidateObject: g.candidateObject, union: l[0], others: l[1:min(len(l), maxVariants)], within: within}
}

// maxVariants bounds the variants of a union that are compared.
const maxVariants = 5

// variants returns the declarations with the members of a union, the shortest ones first. unset are the
// values that an unset discriminator may mean.
func (g *group) variants(u *union.Union, unset []string) (l []*union.Union) {
	explicit := union.ExactlyOne
	if union.DefaultCardinality(u.Discriminator, g.schema) == union.ExactlyOne {
		explicit = union.AtMostOne
	}
	meanings := []union.Union{{}, {Cardinality: explicit}, {Deduce: true}}
	for _, v := range unset {
		meanings = append(meanings, union.Union{Unset: v})
	}
	for _, m := range meanings {
		for _, forbid := range []bool{false, true} {
			variant := *u
			variant.Cardinality, variant.Deduce, variant.Unset, variant.ForbidUnmapped = m.Cardinality, m.Deduce, m.Unset, forbid
			l = append(l, &variant)
		}
	}
	return l
}

// judgedState is a state with the verdict of conditions.
type judgedState struct {
	union.State
	accepted bool
}

// states returns the states in which variants of a union differ: of an unset discriminator, and of values
// without a member. It also returns the values that accept the same members as an unset discriminator.
func (g *group) states(members []reading, within []*condition) (l []judgedState, unset []string) {
	judge := func(v value, present func(r reading) bool) bool {
		s := judgedState{State: union.State{Value: v.text}}
		holds := append(holding(within), g.is(g.discriminator, v))
		for _, r := range members {
			s.Present = append(s.Present, present(r))
			holds = append(holds, g.set(r.slot, within).If(present(r)))
		}
		s.accepted = g.possible(holds...)
		l = append(l, s)
		return s.accepted
	}
	none := func(reading) bool { return false }
	taken := selections(members)
	for _, v := range g.values {
		if v.text != "" && taken[v.text] > 0 {
			continue
		}
		judge(v, none)
		if v.text != "" {
			continue
		}
		alone := map[int]bool{}
		for _, r := range members {
			alone[r.slot] = judge(v, func(other reading) bool { return other.slot == r.slot })
		}
		for _, w := range g.values {
			selected := func(r reading) bool { return slices.Contains(r.selected, w.text) }
			if taken[w.text] > 0 && !slices.ContainsFunc(members, func(r reading) bool { return alone[r.slot] && !selected(r) }) && judge(v, selected) {
				unset = append(unset, w.text)
			}
		}
	}
	return l, unset
}

// order returns the position of the first value that selects the member.
func (g *group) order(r reading) int {
	return slices.IndexFunc(g.values, func(v value) bool { return v.text == r.selected[0] })
}

// value is a value of a discriminator: absent, or a text that represents a value of any type. The text
// is "" for an empty string.
type value struct {
	set  bool
	text string
}

// other is the text of a value that no rule mentions.
const other = "\x00"

// maxValues is the maximum number of values of a discriminator.
const maxValues = 512

// is returns the formula that a discriminator has a value.
func (o *candidateObject) is(slot int, v value) logic.Lit {
	p := o.places[slot]
	switch {
	case !v.set:
		return p.Present().Not()
	case v.text != other:
		return p.Equals(o.typeOf(slot).Value(v.text))
	}
	l := []logic.Lit{p.Present()}
	for _, fact := range p.Constants() {
		l = append(l, fact.Lit.Not())
	}
	return o.space.And(l...)
}

// values returns the values of a discriminator that conditions distinguish and that the schema allows:
// absent; the values of the enum or, without an enum, "", the values in conditions, and one other
// value.
func (o *candidateObject) values(d int, conditions []*condition) []value {
	l := []value{{}}
	texts := union.EnumStrings(new(o.property(d)))
	if len(texts) == 0 {
		for _, c := range conditions {
			texts = append(texts, c.texts[d]...)
		}
		if texts = append(texts, other); o.typeOf(d) == union.StringValue {
			l = append(l, value{set: true})
		}
	}
	for _, text := range texts {
		if v := (value{true, text}); !slices.Contains(l, v) && len(l) <= maxValues {
			l = append(l, v)
		}
	}
	return slices.DeleteFunc(l, func(v value) bool { return !o.possible(o.is(d, v)) })
}
