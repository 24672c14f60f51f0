package rules

import (
	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

// Ratcheting returns the static rules of a union that ratchets: each holds, too,
// when the state is what it was. They are only allowed where old and new union
// object can be correlated. They are never fine, since the comparison with the
// old state would be repeated in every rule.
//
// Each condition is two rules. One compares the states; it reads a plain oldSelf,
// so the server skips it where there is no old union object. There the other
// applies, which has optionalOldSelf and asks it for nothing but whether there is
// a value: before Kubernetes 1.37 (cel-go 0.29) what is read through an optional
// oldSelf treats null as present and never finds an escaped name.
//
// With c.Parts the comparison is spread: a rule for each part of it says that
// the state is legal or this part of it is what it was. When several parts
// changed, several rules fail, with one and the same message.
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

// unchanged are conditions that all hold when the state is what it was.
func unchanged(u *union.Union, c Comparison) []cel.Expr {
	o, old := self(u), oldSelf(u)
	same := cel.Each(indices(len(u.Members)), func(i int) cel.Expr { return o.present(i).Eq(old.present(i)) })
	if u.Discriminator == "" {
		return same
	}
	return append([]cel.Expr{c.same(o.value(), old.value())}, same...)
}
