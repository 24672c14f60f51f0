package rules

import (
	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

// Ratcheting returns the static rules of a union that ratchets. They also hold if the state is
// unchanged. The rules are only allowed where old and new union object can be correlated. [Fine] is
// replaced by [Compact], because each of its rules would repeat the comparison with the old state.
//
// Each condition has two rules. One compares the states; it reads a plain oldSelf, so the server
// skips it if there is no old union object. The other one has optionalOldSelf, calls only
// hasValue(), and covers objects without an old one. Before Kubernetes 1.37 (cel-go 0.29), other
// reads of an optional oldSelf treat null as present and never find escaped names.
//
// With c.Parts, several rules share the comparison. Each rule holds if the state is legal or if its
// part of the state is unchanged. If several parts changed, several rules fail with the same
// message.
func Ratcheting(u *union.Union, enc Encoding, c Comparison) []Rule {
	var l []Rule
	for _, s := range self(u).grouped(max(int(enc), 1)) {
		for _, part := range split(unchanged(u, c), c.Parts) {
			r := s.Rule
			r.Rule = cel.Or(cel.And(part...), s.holds).String()
			l = append(l, r)
		}
		r := s.Rule
		r.Rule = cel.Or(cel.Var("oldSelf").Call("hasValue"), s.holds).String()
		r.OptionalOldSelf = true
		l = append(l, r)
	}
	return effective(l)
}

// unchanged returns conditions that all hold if and only if the state is unchanged.
func unchanged(u *union.Union, c Comparison) []cel.Expr {
	o, old := self(u).wholly(), oldSelf(u).wholly()
	same := cel.Each(indices(len(u.Members)), func(i int) cel.Expr { return o.present(i).Eq(old.present(i)) })
	if u.Discriminator == "" {
		return same
	}
	return append([]cel.Expr{o.sameValue(old, c)}, same...)
}
