package rules

import (
	"github.com/unioncel/unioncel/pkg/union"
)

// Ratcheting returns the static rules of a union that ratchets: each holds, too,
// when the state is what it was. They have optionalOldSelf and may stand only
// where old and new union object can be correlated. They are never fine, since
// the comparison with the old state would be repeated in every rule.
//
// With c.Parts the comparison is spread: a rule for each part of it says that
// the state is legal or this part of it is what it was. When several parts
// changed, several rules fail, with one and the same message.
func Ratcheting(u *union.Union, enc Encoding, c Comparison) []Rule {
	var l []Rule
	for _, s := range grouped(u, max(int(enc), 1)) {
		for _, part := range split(unchanged(u, c), c.Parts) {
			r := s.Rule
			r.Rule = or(and(append([]expr{atom("oldSelf.hasValue()")}, part...)...), s.holds).text
			r.OptionalOldSelf = true
			l = append(l, r)
		}
	}
	return l
}

// unchanged are conditions that all hold when the state is what it was in the
// optional oldSelf.
func unchanged(u *union.Union, c Comparison) []expr {
	o, old := self(u), object{u, atom("oldSelf.value()")}
	var same []expr
	if u.Discriminator != "" {
		same = append(same, c.same(o.value(), old.value()))
	}
	for i := range u.Members {
		same = append(same, eq(o.present(i), old.present(i)))
	}
	return same
}
