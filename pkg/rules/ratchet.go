package rules

import (
	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

// Ratcheting returns the static rules of a union that ratchets: each also holds when the state is
// unchanged. The rules are only allowed where old and new union object can be correlated. They are
// never fine, since each rule would repeat the comparison with the old state.
//
// Each condition has two rules. One compares the states; it reads a plain oldSelf, so the server
// skips it where there is no old union object. The other covers that case: it has optionalOldSelf
// and calls only hasValue(). Before Kubernetes 1.37 (cel-go 0.29), fields read through an optional
// oldSelf treat null as present, and escaped names are never found.
//
// With c.Parts the comparison is spread over several rules. Each says that the state is legal or
// that its part of the state is unchanged. When several parts changed, several rules fail, all
// with the same message.
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
	return l
}

// unchanged returns conditions that all hold when the state is unchanged.
func unchanged(u *union.Union, c Comparison) []cel.Expr {
	o, old := self(u), oldSelf(u)
	same := cel.Each(indices(len(u.Members)), func(i int) cel.Expr { return o.present(i).Eq(old.present(i)) })
	if u.Discriminator == "" {
		return same
	}
	return append([]cel.Expr{c.same(o.value(), old.value())}, same...)
}
