package verify

import (
	"context"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Resolve checks the declarations of one union object like [union.Resolve]. In addition, it reports
// unions that contradict each other: no object may have a member or value of one of them that this
// union allows.
func Resolve(declarations []*union.Declaration, schema *apiextensionsv1.JSONSchemaProps, resource bool) ([]*union.Union, diag.List) {
	unions, diags := union.Resolve(declarations, schema, resource)
	check := func(l []int) {
		core, message := contradiction(schema, unions, l)
		if len(core) == 0 {
			return
		}
		first, related := declarations[core[0]], "the other union"
		if len(core) > 2 {
			related = "another union"
		}
		d := diag.New(codes.Contradiction, first.Pos, "%s", message).At(first.Path).Hinted("change one of the unions")
		for _, i := range core[1:] {
			d.Related = append(d.Related, diag.Related{Pos: declarations[i].Pos, Message: related})
		}
		diags, unions[core[0]] = append(diags, d), nil
	}
	for _, group := range sharing(unions) {
		for i, first := range group {
			for _, second := range group[:i] {
				if unions[first] != nil && unions[second] != nil && unions[first].Shares(unions[second]) {
					check([]int{first, second})
				}
			}
		}
	}
	// Unions may contradict each other although no two of them do.
	for _, group := range sharing(unions) {
		if len(group) > 2 {
			slices.Reverse(group)
			check(group)
		}
	}
	return unions, diags
}

// sharing is [union.Sharing] for the unions that are not nil.
func sharing(unions []*union.Union) [][]int {
	var valid []*union.Union
	var at []int
	for i, u := range unions {
		if u != nil {
			valid, at = append(valid, u), append(at, i)
		}
	}
	groups := union.Sharing(valid)
	for _, group := range groups {
		for k := range group {
			group[k] = at[group[k]]
		}
	}
	return groups
}

// claimant is a union in a search for contradictions.
type claimant struct {
	symbolic
	index  int
	breaks []broken
	ok     logic.Lit // no condition is broken
}

// okExcept returns the formulas that a state breaks none of the conditions, except for one.
func (c *claimant) okExcept(except int) (l []logic.Lit) {
	for i, b := range c.breaks {
		if i != except {
			l = append(l, b.when.Not())
		}
	}
	return l
}

// allOK returns the formulas that a state breaks no condition of the unions.
func allOK(l []*claimant) (ok []logic.Lit) {
	for _, c := range l {
		ok = append(ok, c.ok)
	}
	return ok
}

// without returns the unions except for one.
func without(l []*claimant, c *claimant) []*claimant {
	return slices.DeleteFunc(slices.Clone(l), func(o *claimant) bool { return o == c })
}

// contradiction returns a minimal set of unions that together never allow a member or a value of one
// of them, and the message about it. Both are empty if there is none. indices are the unions to
// consider.
func contradiction(schema *apiextensionsv1.JSONSchemaProps, unions []*union.Union, indices []int) (core []int, message string) {
	var paths []schemapath.Path
	for _, i := range indices {
		for _, name := range unions[i].Names() {
			paths = append(paths, unions[i].Path(name))
		}
	}
	s := formula.New(optional(schema, paths))
	var all []*claimant
	for _, i := range indices {
		c := &claimant{symbolic: newSymbolic(s, unions[i], s.New), index: i}
		c.breaks = c.violations()
		c.ok = s.Or(conditions(c.breaks)...).Not()
		all = append(all, c)
	}
	s.Close()
	possible := func(formulas ...logic.Lit) bool {
		m, err := s.Satisfy(context.Background(), formulas...)
		return m != nil || err != nil // undecided, so no error
	}
	for _, c := range all {
		for _, target := range c.targets() {
			if !possible(c.ok, target.when) || possible(append(allOK(all), target.when)...) {
				continue
			}
			minimal := all
			for _, o := range append(without(all, c), c) { // c last: the message describes its state
				if rest := without(minimal, o); len(rest) > 1 && !possible(append(allOK(rest), target.when)...) {
					minimal = rest
				}
			}
			for _, o := range minimal {
				core = append(core, o.index)
			}
			return core, c.message(target, minimal)
		}
	}
	return nil, ""
}

// message returns the message about a member or value of c that no object may have under all unions.
func (c *claimant) message(target target, all []*claimant) string {
	others := without(all, c)
	holds := []logic.Lit{c.ok, target.when}
	var states []logic.Lit
	for _, o := range append([]*claimant{c}, others...) {
		states = append(states, o.present...)
		if o.discriminator != nil {
			states = append(states, o.unset.Not())
		}
	}
	satisfy := func(l []logic.Lit) logic.Model {
		m, _ := c.space.Satisfy(context.Background(), l...)
		return m
	}
prefer:
	for _, o := range others { // an example that breaks a single condition
		for k := range o.breaks {
			if l := slices.Concat(holds, allOK(without(others, o)), o.okExcept(k)); satisfy(l) != nil {
				holds = l
				break prefer
			}
		}
	}
	for _, set := range states { // and has as little as possible
		if l := append(slices.Clone(holds), set.Not()); satisfy(l) != nil {
			holds = l
		}
	}
	example := satisfy(holds)
	if example == nil {
		return target.subject + ", because unions of the object contradict each other"
	}
	var violations []string
	for _, o := range others {
		is := o.state(example)
		for _, v := range o.u.Violations(is) {
			violations = append(violations, o.u.DescribeViolation(v, nil, is))
		}
	}
	number := "two"
	if len(all) > 2 {
		number = fmt.Sprint(len(all))
	}
	return fmt.Sprintf("%s, because %s unions of the object contradict each other: where %s, %s",
		target.subject, number, c.u.Describe(c.state(example)), english.List(violations, "and"))
}

// target is a part of a state that a union should allow.
type target struct {
	subject string // of the message, with its verb
	when    logic.Lit
}

// targets returns the members and values of the union.
func (c *claimant) targets() (l []target) {
	for i, m := range c.u.Members {
		l = append(l, target{fmt.Sprintf("%q may never be set", m.Name), c.present[i]})
	}
	if c.discriminator != nil {
		values := slices.Concat(c.u.MemberValues(), c.u.Values)
		slices.Sort(values)
		for _, v := range slices.Compact(values) {
			if v != "" {
				l = append(l, target{fmt.Sprintf("%s may never be %s", c.u.Discriminator, c.u.Type.Quoted(v)), c.isOneOf([]string{v})})
			}
		}
	}
	return l
}

// optional returns a schema with the properties at some paths, all of which may be absent. Other
// keywords stay: with minLength: 1, a member is never empty, and so never unset by emptyIsUnset.
func optional(s *apiextensionsv1.JSONSchemaProps, paths []schemapath.Path) *apiextensionsv1.JSONSchemaProps {
	out := *s
	out.Required, out.Default, out.Properties = nil, nil, nil
	below := map[string][]schemapath.Path{}
	for _, p := range paths {
		if len(p) == 0 {
			continue
		}
		if name, ok := p[0].Property(); ok {
			below[name] = append(below[name], p[1:])
		}
	}
	for name, rest := range below {
		if p, ok := s.Properties[name]; ok {
			if out.Properties == nil {
				out.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
			}
			out.Properties[name] = *optional(&p, rest)
		}
	}
	return &out
}
