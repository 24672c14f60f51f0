package infer

import (
	"slices"
	"strings"

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
	asked []int
	// says has the sayings of each condition, by value.
	says map[*condition][]saying
}

// saying is the meaning of a condition for a single value of the discriminator.
type saying struct {
	accepts bool // the condition accepts an object
	// may has the members that may be set, and must the members that must be set.
	may, must map[int]bool
}

// sense is a reason to consider a property a member.
type sense int

const (
	// selecting: the property may be set only with values that conditions mention together with it.
	selecting sense = iota
	// belonging: like selecting, but members may share values, and some accepted values must
	// exclude the property. This rules out a oneOf that allows all properties alongside the
	// required properties.
	belonging
	// demanding: the property must be set with certain values.
	demanding
	// excluding: the property may not be set with certain values of an enum, and belongs to the
	// others.
	excluding
)

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
		g := &group{candidateObject: o, discriminator: d, says: map[*condition][]saying{}}
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
	// partial reports whether only some of the selected values require the property.
	partial bool
}

// members returns the properties that are members in one sense, and the conditions that read only
// these properties. It repeats the search after it has left out properties, because this leaves out
// their conditions, too. If values may not be shared, a value that selects several members excludes
// them.
func (g *group) members(how sense, shared bool) ([]reading, []*condition) {
	slots := slices.Clone(g.asked)
	for {
		w := g.narrowed(slots)
		var l []reading
		for _, slot := range slots {
			if r, ok := w.read(slot, how); ok {
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
			return l, w.conditions
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

// valueScope has the conditions of a group that read only the discriminator and certain members.
type valueScope struct {
	*group
	conditions []*condition
	reading    map[int][]*condition // by slot
	refused    []bool               // by value: a condition accepts no object
}

func (g *group) narrowed(slots []int) *valueScope {
	w := &valueScope{group: g, reading: map[int][]*condition{}, refused: make([]bool, len(g.values))}
	in := map[int]bool{g.discriminator: true}
	for _, s := range slots {
		in[s] = true
	}
	for _, c := range g.conditions {
		if slices.ContainsFunc(c.slots, func(s int) bool { return !in[s] }) {
			continue
		}
		w.conditions = append(w.conditions, c)
		for _, s := range c.slots {
			w.reading[s] = append(w.reading[s], c)
		}
		for i, s := range g.say(c) {
			w.refused[i] = w.refused[i] || !s.accepts
		}
	}
	return w
}

// read returns the values with which a property may be set. ok reports whether it is a member.
func (w *valueScope) read(slot int, how sense) (r reading, ok bool) {
	r.slot = slot
	var may, must, all, mentioned []string
	for _, c := range w.reading[slot] {
		mentioned = append(mentioned, c.texts[w.discriminator]...)
	}
	open, elsewhere := false, false // some value is unmentioned; the property may be set with such a value
	excluded := false               // an accepted value excludes the property
	for i, v := range w.values {
		isMay, isMust := !w.refused[i], false
		for _, c := range w.reading[slot] {
			s := w.say(c)[i]
			isMay = isMay && s.may[slot]
			isMust = isMust || s.must[slot]
		}
		excluded = excluded || v.text != "" && !w.refused[i] && !isMay
		switch {
		case v.text == "":
		case v.text == other:
			if open, elsewhere = true, isMay; isMust {
				return r, false
			}
		default:
			all = append(all, v.text)
			if isMay {
				may = append(may, v.text)
			}
			if isMay && isMust {
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
		if r.selected = must; w.typeOf(w.discriminator) == union.BooleanValue {
			r.selected = may // the member is optional for the other value
		}
	case excluding:
		restricted = !open && len(may) < len(all)
	}
	for _, v := range r.selected {
		// "unless type is A" does not single out B, even if the enum has no C.
		restricted = restricted && (how == excluding || slices.Contains(mentioned, v))
	}
	r.partial = len(must) > 0 && len(must) < len(r.selected)
	r.optional = slices.DeleteFunc(slices.Clone(r.selected), func(v string) bool { return slices.Contains(must, v) })
	return r, restricted && len(r.selected) > 0
}

// say returns the meaning of a condition by value.
func (g *group) say(c *condition) []saying {
	if l, ok := g.says[c]; ok {
		return l
	}
	l := make([]saying, len(g.values))
	g.says[c] = l
	t := c.table(g.candidateObject, g.discriminator)
	if !g.affords(t, len(g.values)) {
		// Beyond the bounds, everything counts as allowed.
		allowed := map[int]bool{}
		for _, slot := range c.slots {
			allowed[slot] = true
		}
		for i := range l {
			l[i] = saying{accepts: true, may: allowed}
		}
		return l
	}
	for i, v := range g.values {
		s := saying{may: map[int]bool{}, must: map[int]bool{}}
		spare := map[int]bool{}
		t.each(v, func(object []value) {
			if !c.accepts(object) {
				return
			}
			s.accepts = true
			for _, slot := range c.slots {
				if c.isSet(slot, object[slot]) {
					s.may[slot] = true
				} else {
					spare[slot] = true
				}
			}
		})
		for _, slot := range c.slots {
			s.must[slot] = s.accepts && !spare[slot]
		}
		l[i] = s
	}
	return l
}

// candidate returns the union that the conditions describe.
func (g *group) candidate(members []reading, within []*condition) *candidate {
	u := &union.Union{Discriminator: g.names[g.discriminator], Type: g.typeOf(g.discriminator), Change: union.Allow}
	slices.SortStableFunc(members, func(a, b reading) int { return g.order(a) - g.order(b) })
	for _, r := range members {
		u.Members = append(u.Members, union.Member{Name: g.names[r.slot], Values: r.selected, Optional: r.optional, Empty: g.emptiness(r.slot, within)})
	}
	// accepted evaluates all conditions on an object with some members.
	object := make([]value, len(g.names))
	accepted := func(v value, slots ...int) bool {
		object[g.discriminator] = v
		for _, slot := range slots {
			object[slot] = full
			defer func() { object[slot] = absent }()
		}
		return !slices.ContainsFunc(within, func(c *condition) bool { return !c.accepts(object) })
	}
	implicit := union.DefaultCardinality(u.Discriminator, g.schema)
	unset, refused := 0, 0      // the number of ways to leave the discriminator unset, and of rejected ways
	unmapped, forbidden := 0, 0 // the same for values without a member
	free := len(members)        // the number of members that may be set without a discriminator
	for _, v := range g.values {
		switch {
		case v.text == "":
			unset++
			alone := 0
			for _, r := range members {
				if accepted(v, r.slot) {
					alone++
				}
			}
			if alone == 0 && !accepted(v) {
				refused++
			}
			free = min(free, alone)
		case len(u.MembersOf(v.text)) == 0:
			unmapped++
			if !accepted(v) {
				forbidden++
			}
		}
	}
	switch {
	case unset > 0 && refused > 0 && implicit == union.AtMostOne:
		u.Cardinality = union.ExactlyOne
	case unset > 0 && refused < unset && implicit == union.ExactlyOne:
		u.Cardinality = union.AtMostOne
	}
	u.ForbidUnmapped = unmapped > 0 && forbidden == unmapped
	u.Deduce = unset > 0 && free == len(members) && u.Cardinality == 0 && g.mayLack(g.discriminator) && u.Type == union.StringValue
	meant := g.unsetValue(u, members, accepted)
	if meant != "" && !u.Deduce {
		u.Unset, u.Cardinality = meant, 0
	}
	c := &candidate{candidateObject: g.candidateObject, union: u, within: within}
	c.vary(members, implicit)
	return c
}

// unsetValue returns the value of u that an unset discriminator means, or "": the conditions accept the
// same members with both.
func (g *group) unsetValue(u *union.Union, members []reading, accepted func(v value, slots ...int) bool) string {
	alike := func(a, b value) bool {
		var selected []int
		for _, r := range members {
			if slices.Contains(r.selected, b.text) {
				selected = append(selected, r.slot)
			}
			if accepted(a, r.slot) != accepted(b, r.slot) {
				return false
			}
		}
		return accepted(a) == accepted(b) && accepted(a, selected...) == accepted(b, selected...)
	}
	for _, v := range g.values {
		if len(u.MembersOf(v.text)) == 0 {
			continue
		}
		unset, differs := false, false
		for _, w := range g.values {
			if w.text == "" {
				unset, differs = true, differs || !alike(w, v)
			}
		}
		if unset && !differs {
			return v.text
		}
	}
	return ""
}

// order returns the position of the first value that selects the member.
func (g *group) order(r reading) int {
	return slices.IndexFunc(g.values, func(v value) bool { return v.text == r.selected[0] })
}

// vary adds variants of the union that differ where the conditions are ambiguous.
func (c *candidate) vary(members []reading, implicit union.Cardinality) {
	add := func(change func(u *union.Union)) {
		u := *c.union
		u.Members = slices.Clone(u.Members)
		change(&u)
		c.others = append(c.others, &u)
	}
	if c.mayLack(c.slots[c.union.Discriminator]) {
		add(func(u *union.Union) { u.Deduce, u.Unset = !u.Deduce, "" })
	}
	// The default cardinality depends on the discriminator. The variant has the other cardinality.
	explicit := union.ExactlyOne
	if implicit == union.ExactlyOne {
		explicit = union.AtMostOne
	}
	if c.union.Cardinality != 0 {
		explicit = 0
	}
	add(func(u *union.Union) { u.Cardinality, u.Deduce, u.Unset = explicit, false, "" })
	add(func(u *union.Union) { u.ForbidUnmapped = !u.ForbidUnmapped })
	whole := func(m union.Member) bool {
		return slices.ContainsFunc(members, func(r reading) bool { return c.names[r.slot] == m.Name && r.partial })
	}
	if slices.ContainsFunc(c.union.Members, whole) && len(members) > 1 {
		add(func(u *union.Union) { u.Members = slices.DeleteFunc(u.Members, whole) })
	}
}
