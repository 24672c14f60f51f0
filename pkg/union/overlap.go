package union

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Shares reports whether two unions of an object have a property in common.
func (u *Union) Shares(other *Union) bool {
	return slices.ContainsFunc(u.Names(), func(name string) bool { return other.nameAt(u.Path(name).String()) != "" })
}

// nameAt returns the name of the discriminator or member at a path, or "".
func (u *Union) nameAt(path string) string {
	for _, name := range u.Names() {
		if u.Path(name).String() == path {
			return name
		}
	}
	return ""
}

// emptiness returns the Empty of the member at a path, or -1 for the discriminator.
func (u *Union) emptiness(path string) Emptiness {
	if i := slices.Index(u.MemberNames(), u.nameAt(path)); i >= 0 {
		return u.Members[i].Empty
	}
	return -1
}

// Sharing returns the indices of the unions of an object that depend on each other: they share
// properties with one another, or with other unions that do. The groups are in the order of the
// unions. A union that shares nothing is a group by itself.
func Sharing(unions []*Union) [][]int {
	first := make([]int, len(unions)) // an earlier union of the group, or the union itself
	root := func(i int) int {
		for first[i] != i {
			i = first[i]
		}
		return i
	}
	owner := map[string]int{} // by path
	for i, u := range unions {
		first[i] = i
		for _, name := range u.Names() {
			path := u.Path(name).String()
			if j, ok := owner[path]; ok {
				a, b := root(i), root(j)
				first[max(a, b)] = min(a, b)
			} else {
				owner[path] = i
			}
		}
	}
	groups := map[int][]int{}
	var l [][]int
	for i := range unions {
		groups[root(i)] = append(groups[root(i)], i)
	}
	for i := range unions {
		if root(i) == i {
			l = append(l, groups[i])
		}
	}
	return l
}

// overlaps reports a discriminator that two unions of the object share, and unions with common
// properties that contradict each other. Other properties may be in several unions.
// owners has the earlier unions of the object by the paths of their properties.
func (r *resolver) overlaps(owners map[string][]*resolver) {
	var sharing []*resolver
	for _, name := range r.u.Names() {
		path := r.u.Path(name).String()
		for _, o := range owners[path] {
			if !slices.Contains(sharing, o) {
				sharing = append(sharing, o)
			}
		}
		defer func() { owners[path] = append(owners[path], r) }()
	}
	for _, o := range sharing {
		if w := r.d.discriminator(); w.Text != "" && o.u.Discriminator != "" && r.u.Path(w.Text).Equal(o.u.Path(o.u.Discriminator)) {
			r.errorf(w.Pos, codes.DiscriminatorShared, "declare one union, or use different properties", "%q is the discriminator of two unions", w.Text)
			r.diags[len(r.diags)-1].Related = []diag.Related{{Pos: o.d.Pos, Message: "the other union"}}
		}
	}
	for _, o := range sharing {
		if !r.diags.HasErrors() && !o.diags.HasErrors() {
			contradict(r, o)
		}
	}
}

// contradictions reports unions that contradict each other although no two of them do.
func contradictions(resolvers []*resolver) {
	var valid []*resolver
	var unions []*Union
	for _, r := range slices.Backward(resolvers) {
		if !r.diags.HasErrors() {
			valid, unions = append(valid, r), append(unions, r.u)
		}
	}
	for _, group := range Sharing(unions) {
		var l []*resolver
		for _, i := range group {
			l = append(l, valid[i])
		}
		if len(l) > 2 {
			contradict(l...)
		}
	}
}

// contradict reports a member or a value of one of several unions that no object may have under all
// of them. The error is at the first union of a minimal set that allows none.
func contradict(resolvers ...*resolver) {
	c := logic.New()
	var sides []*side
	owners := map[string][]*side{} // by path, with one side for each way to read the property
	for _, r := range resolvers {
		s := newSide(c, r)
		var linked []*side
		for _, name := range r.u.Names() {
			path := r.u.Path(name).String()
			for _, o := range owners[path] {
				if !slices.Contains(linked, o) {
					linked = append(linked, o)
					o.link(c, s)
					s.link(c, o)
				}
			}
			if !slices.ContainsFunc(owners[path], func(o *side) bool { return o.u.emptiness(path) == r.u.emptiness(path) }) {
				owners[path] = append(owners[path], s)
			}
		}
		sides = append(sides, s)
	}
	possible := func(formulas ...logic.Lit) logic.Model {
		m, err := c.Satisfy(context.Background(), formulas...)
		if err != nil {
			return func(logic.Lit) bool { return false } // undecided, so no error
		}
		return m
	}
	for _, s := range sides {
		for _, target := range s.targets() {
			if possible(s.ok, target.when) == nil || possible(append(allOk(sides), target.when)...) != nil {
				continue
			}
			core := sides
			for _, o := range append(without(sides, s), s) { // s last: the message describes its state
				if rest := without(core, o); len(rest) > 1 && possible(append(allOk(rest), target.when)...) == nil {
					core = rest
				}
			}
			s.never(target, core, possible)
			return
		}
	}
}

// allOk returns the formulas that no clause of the unions is broken.
func allOk(sides []*side) (l []logic.Lit) {
	for _, s := range sides {
		l = append(l, s.ok)
	}
	return l
}

// without returns the sides except for one.
func without(sides []*side, s *side) []*side {
	return slices.DeleteFunc(slices.Clone(sides), func(o *side) bool { return o == s })
}

// never reports a member or a value of s that no object may have under all unions of core.
func (s *side) never(target target, core []*side, possible func(...logic.Lit) logic.Model) {
	others := without(core, s)
	example := possible(s.ok, target.when)
prefer:
	for _, o := range others { // an example that breaks a single clause
		rest := append(allOk(without(core, o)), s.ok)
		for k := range o.clauses {
			if m := possible(append(append(o.but(k), rest...), target.when)...); m != nil {
				example = m
				break prefer
			}
		}
	}
	var said []string
	for _, o := range others {
		for _, v := range o.u.Violations(o.state(example)) {
			said = append(said, o.u.DescribeViolation(v, nil, o.state(example)))
		}
	}
	number, related := "two", "the other union"
	if len(core) > 2 {
		number, related = fmt.Sprint(len(core)), "another union"
	}
	r := core[0]
	r.errorf(r.d.Pos, codes.Contradiction, "change one of the unions", "%s, because %s unions of the object contradict each other: where %s, %s",
		target.never, number, s.u.Describe(s.state(example)), english.List(said, "and"))
	for _, o := range core[1:] {
		r.diags[len(r.diags)-1].Related = append(r.diags[len(r.diags)-1].Related, diag.Related{Pos: o.d.Pos, Message: related})
	}
}

// side is the state of a union as formulas.
type side struct {
	*resolver
	set     []logic.Lit // by member
	value   map[string]logic.Lit
	given   logic.Lit // the discriminator is set
	clauses Clauses
	broken  []logic.Lit // by clause
	ok      logic.Lit   // no clause is broken
}

func newSide(c *logic.Circuit, r *resolver) *side {
	s := &side{resolver: r, value: map[string]logic.Lit{}, clauses: r.u.Conditions()}
	for range r.u.Members {
		s.set = append(s.set, c.Var())
	}
	var values []string
	if r.u.Unset == "" {
		values = append(values, "")
	}
	if r.u.Discriminator != "" {
		values = append(values, r.u.named(nil)...)
		if _, p := Property(r.schema, r.u.Discriminator); p != nil && len(EnumStrings(p)) == 0 {
			values = append(values, AnotherValue)
		}
	}
	var all []logic.Lit
	for _, v := range values {
		s.value[v] = c.Var()
		all = append(all, s.value[v])
	}
	if len(all) == 1 {
		c.Require(all[0])
	} else {
		counts := c.AtLeast(2, all)
		c.Require(counts[1])
		c.Require(counts[2].Not())
	}
	if r.u.Unset == "" {
		s.given = s.value[""].Not()
	} else {
		s.given = c.Var()
		c.Require(c.Or(s.given, s.value[r.u.Unset]))
	}
	for i := range s.clauses {
		s.broken = append(s.broken, s.formula(c, s.clauses[i].When))
	}
	s.ok = c.And(s.but(-1)...)
	return s
}

// formula translates an expression on a state.
func (s *side) formula(c *logic.Circuit, e Expr) logic.Lit {
	return Formula(e, c, func(atom Expr) logic.Lit {
		if atom.Op == Set {
			return s.set[atom.N]
		}
		var is []logic.Lit
		for _, v := range atom.Values {
			if l, ok := s.value[v]; ok {
				is = append(is, l)
			}
		}
		return c.Or(is...)
	})
}

// but returns the formulas that a state breaks none of the clauses, except for one.
func (s *side) but(except int) (l []logic.Lit) {
	for i, b := range s.broken {
		if i != except {
			l = append(l, b.Not())
		}
	}
	return l
}

// link relates the properties of s that o has, too. A property that is unset for one union because
// it is empty may be set for the other.
func (s *side) link(c *logic.Circuit, o *side) {
	for i, m := range s.u.Members {
		name := o.u.nameAt(s.u.Path(m.Name).String())
		j := slices.Index(o.u.MemberNames(), name)
		switch {
		case name == "":
		case j < 0: // the discriminator of o
			set := []logic.Lit{o.given.Not(), s.set[i]}
			if zero := o.u.Type.Text(m.Empty.Scalar()); zero != "" { // a value that is unset as a member
				c.Require(c.Implies(s.set[i], o.formula(c, at{Union: o.u}.is(zero)).Not()))
				if _, ok := o.value[zero]; !ok {
					zero = AnotherValue
				}
				set = append(set, o.formula(c, at{Union: o.u}.is(zero)))
			}
			c.RequireAny(set...)
			if m.Empty != PresentWhenEmpty || !o.maybeEmpty() {
				c.Require(c.Implies(s.set[i], o.given))
			}
		case m.Empty == o.u.Members[j].Empty, m.Empty != PresentWhenEmpty:
			c.Require(c.Implies(s.set[i], o.set[j]))
		}
	}
}

// maybeEmpty reports whether the schema lets the discriminator be "".
func (r *resolver) maybeEmpty() bool {
	_, p := Property(r.schema, r.u.Discriminator)
	return p == nil || canBeEmpty(p)
}

// target is a part of a state that a union should allow.
type target struct {
	never string // says that no object has it
	when  logic.Lit
}

// targets returns the members and values of the union.
func (s *side) targets() (l []target) {
	for i, m := range s.u.Members {
		l = append(l, target{fmt.Sprintf("%q may never be set", m.Name), s.set[i]})
	}
	for _, v := range slices.Sorted(maps.Keys(s.value)) {
		if v != "" && v != AnotherValue {
			l = append(l, target{fmt.Sprintf("%s may never be %s", s.u.Discriminator, s.u.Type.Quoted(v)), s.value[v]})
		}
	}
	return l
}

// state returns the state of the union in a model.
func (s *side) state(m logic.Model) State {
	st := State{}
	for v, is := range s.value {
		if m(is) {
			st.Value = v
		}
	}
	for _, is := range s.set {
		st.Present = append(st.Present, m(is))
	}
	return st
}
