package handwritten

import (
	"cmp"
	"maps"
	"slices"

	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/union"
)

// plain finds the unions without a discriminator: sets of properties of which at most one may be
// set, or at least one must be set.
func (o *candidateObject) plain(conditions []*condition) []*candidate {
	g := graph{}
	var demands []*condition // conditions that require one of their properties
	var about []*condition
	for _, c := range conditions {
		if d, ok := c.discriminator(); !ok || d >= 0 || slices.ContainsFunc(c.slots, func(s int) bool { return !o.may[s] }) {
			continue
		}
		about = append(about, c)
		says := o.plainMeaningOf(c)
		for _, p := range says.apart {
			g.connect(p[0], p[1])
		}
		if says.one && len(c.slots) > 1 {
			demands = append(demands, c)
		}
	}
	l := o.grouped(about)
	var cliques [][]int
	add := func(slots []int, cardinality union.Cardinality) {
		var within []*condition
		for _, c := range about {
			if !slices.ContainsFunc(c.slots, func(s int) bool { return !slices.Contains(slots, s) }) {
				within = append(within, c)
			}
		}
		u := &union.Union{Cardinality: cardinality, Change: union.Allow}
		for _, s := range slots {
			m := o.member(s)
			m.Empty = o.emptiness(s, within)
			u.Members = append(u.Members, m)
		}
		if len(within) > 0 && len(slots) <= maxMembers {
			l = append(l, &candidate{candidateObject: o, union: u, within: within})
		}
	}
	for _, slots := range g.cliques() {
		cliques = append(cliques, slots)
		cardinality := union.AtMostOne
		if slices.ContainsFunc(demands, func(c *condition) bool { return sameSet(c.slots, slots) }) {
			cardinality = union.ExactlyOne
		}
		add(slots, cardinality)
	}
	for i, c := range demands {
		overlaps := func(slots []int) bool {
			return slices.ContainsFunc(slots, func(s int) bool { return slices.Contains(c.slots, s) })
		}
		others := slices.Delete(slices.Clone(demands), i, i+1)
		if slices.ContainsFunc(cliques, overlaps) || slices.ContainsFunc(others, func(d *condition) bool { return overlaps(d.slots) && !sameSet(c.slots, d.slots) }) {
			continue
		}
		add(c.slots, union.AtLeastOne)
	}
	// Other unions may share properties with these.
	for i, c := range demands {
		same := func(d *condition) bool { return sameSet(c.slots, d.slots) }
		if slices.ContainsFunc(demands[:i], same) || slices.ContainsFunc(l, func(k *candidate) bool { return k.has(c.slots) }) {
			continue
		}
		cardinality := union.ExactlyOne
		for j, a := range c.slots {
			if slices.ContainsFunc(c.slots[j+1:], func(b int) bool { return !g[a][b] }) {
				cardinality = union.AtLeastOne
			}
		}
		n := len(l)
		add(c.slots, cardinality)
		for _, k := range l[n:] {
			k.tentative, k.fallback = true, true
		}
	}
	return l
}

// has reports whether the members of the union are the properties with the given slots.
func (c *candidate) has(slots []int) bool {
	return len(c.union.Members) == len(slots) && !slices.ContainsFunc(slots, func(s int) bool { return !slices.Contains(c.union.MemberNames(), c.names[s]) })
}

// plainMeaning is the meaning of a condition without a discriminator.
type plainMeaning struct {
	apart [][2]int // two properties that may be set alone, but not together
	one   bool     // one property must be set, and each suffices
}

func (o *candidateObject) plainMeaningOf(c *condition) plainMeaning {
	within, s := []*condition{c}, plainMeaning{}
	var full, set, single, pairs []logic.Lit
	for i, slot := range c.slots {
		full, set = append(full, o.full(slot)), append(set, o.set(slot, within))
		for j := range i {
			pairs = append(pairs, o.space.And(set[i], set[j]))
		}
	}
	count := o.space.AtLeast(3, set)
	for _, f := range full {
		single = append(single, o.space.And(f, count[2].Not()))
	}
	given := holding(within)
	s.one = !o.possible(c.holds, count[1].Not()) && !slices.Contains(o.possibilities(given, single), false)
	alone, together := o.possibilities(given, full), o.possibilities(given, pairs)
	// A chain of != accepts three properties, but no two.
	chain := s.one && !o.possible(c.holds, count[2], count[3].Not())
	for i, a := range c.slots {
		for j, b := range c.slots[:i] {
			if alone[i] && alone[j] && (chain || !together[i*(i-1)/2+j]) {
				s.apart = append(s.apart, [2]int{b, a})
			}
		}
	}
	return s
}

// emptiness returns whether empty values of a property count as unset: all conditions that read the
// property treat them so, and one tests for them. The schema determines the kind of emptiness.
func (o *candidateObject) emptiness(slot int, within []*condition) union.Emptiness {
	asked := false
	for _, c := range within {
		if slices.Contains(c.slots, slot) && !c.loose[slot] {
			return union.PresentWhenEmpty
		}
		asked = asked || c.loose[slot]
	}
	if asked {
		return union.EmptyString
	}
	return union.PresentWhenEmpty
}

// graph connects properties that may not be set together.
type graph map[int]map[int]bool

func (g graph) connect(a, b int) {
	for _, p := range [][2]int{{a, b}, {b, a}} {
		if g[p[0]] == nil {
			g[p[0]] = map[int]bool{}
		}
		g[p[0]][p[1]] = true
	}
}

// cliques splits the graph into fully connected sets, large sets first. Properties without a set
// are left out. Each set is sorted.
func (g graph) cliques() [][]int {
	left := slices.SortedFunc(maps.Keys(g), func(a, b int) int {
		return cmp.Or(len(g[b])-len(g[a]), a-b)
	})
	var l [][]int
	for len(left) > 0 {
		clique := left[:1:1]
		for _, v := range left[1:] {
			if !slices.ContainsFunc(clique, func(w int) bool { return !g[v][w] }) {
				clique = append(clique, v)
			}
		}
		left = slices.DeleteFunc(slices.Clone(left), func(v int) bool { return slices.Contains(clique, v) })
		if slices.Sort(clique); len(clique) > 1 {
			l = append(l, clique)
		}
	}
	return l
}

func sameSet(a, b []int) bool {
	return len(a) == len(b) && !slices.ContainsFunc(a, func(s int) bool { return !slices.Contains(b, s) })
}
