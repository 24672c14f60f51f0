package rules

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

// Static returns rules in the given encoding that hold exactly for the states u allows. The result
// is empty if every state is allowed. For a union that ratchets, Static is [Ratcheting] with a zero
// Comparison.
func Static(u *union.Union, enc Encoding) []Rule { return effective(static(u, enc)) }

func static(u *union.Union, enc Encoding) []Rule {
	switch {
	case u.Ratchet:
		return Ratcheting(u, enc, Comparison{})
	case u.Relates() && (enc == Paired || enc == Fine):
		return ruled(self(u).relations(2 * len(u.Members)))
	case enc == Paired:
		return paired(u)
	case enc != Fine:
		return ruled(self(u).grouped(int(enc)))
	case u.Discriminator != "":
		return fineDiscriminated(u)
	}
	return finePlain(u)
}

// effective returns the rules that can fail: all values of a boolean may be mapped.
func effective(l []Rule) []Rule {
	return slices.DeleteFunc(l, func(r Rule) bool { return r.Rule == cel.True.String() })
}

// longestPair is the largest number of members for which paired uses a chain instead of a sum.
const longestPair = 3

// paired returns the rules of [Paired]: with a discriminator, a rule for each member and the rules
// on the whole union; without one, the compact rule with a fixed message.
func paired(u *union.Union) []Rule {
	o := self(u)
	var l []Rule
	if u.Discriminator == "" {
		o.brief = true
		l = ruled(o.grouped(1))
		for i := range l {
			// A sum costs twice as much as a chain, but is shorter and easier to read.
			if counts := l[i].Conditions[0] != union.Required; counts && len(o.u.Members) > longestPair && u.Cardinality != union.AtLeastOne && !u.OfItems() {
				compare := map[union.Cardinality]func(a, b cel.Expr) cel.Expr{union.AtMostOne: cel.Expr.Le, union.ExactlyOne: cel.Expr.Eq}[u.Cardinality]
				l[i].Rule = compare(count(o.members()), cel.Int(1)).String()
			}
		}
		return l
	}
	for i := range u.Members {
		l = append(l, o.pair(i).Rule)
	}
	return append(l, ruled(o.onWhole(1))...)
}

// fineDiscriminated returns the rules of [Fine] for a union with a discriminator: forbidden and
// required for each member, then the rules on the whole union.
func fineDiscriminated(u *union.Union) []Rule {
	o := self(u)
	var l []Rule
	for i, m := range u.Members {
		l = append(l, o.forbidden(i).Rule)
		if required := m.Required(); len(required) > 0 {
			l = append(l, rule(u, cel.If(o.isOneOf(required), o.present(i), cel.True), ReasonRequired, m.Name,
				requiredWhen(u, m), union.Required))
		}
	}
	return append(l, ruled(o.onWhole(1))...)
}

// mustSelect reports whether a rule has to require the discriminator. The schema's own check is
// better for stored objects, because the API server ratchets it.
func mustSelect(u *union.Union) bool {
	return u.Cardinality == union.ExactlyOne && !u.DiscriminatorRequired
}

// forbidden returns the rule that member i is set only when it is selected.
func (o variable) forbidden(i int) statement {
	m := o.u.Members[i]
	holds := cel.If(o.present(i), o.isSelected(i), cel.True)
	if o.u.Deduce {
		holds = cel.If(cel.And(o.present(i), o.typeSet()), o.selects(i), cel.True)
	}
	return state(o.u, holds, ReasonForbidden, m.Name, onlyWhenSelected(o.u, m), union.Forbidden)
}

// onWhole returns the rules on the whole union instead of a member: selected, unmapped and, with
// deduction, at most one member while the discriminator is unset.
func (o variable) onWhole(groups int) []statement {
	u := o.u
	var l []statement
	if mustSelect(u) {
		l = append(l, state(u, o.typeSet(), ReasonRequired, u.Discriminator, mustBeSet(u), union.Selected))
	}
	if u.ForbidUnmapped {
		l = append(l, state(u, o.mapped(), ReasonInvalid, u.Discriminator, mustBeMapped(u), union.Unmapped))
	}
	if u.Deduce && len(u.Members) > 1 {
		for _, p := range pairs(len(u.Members), groups) {
			l = append(l, state(u, cel.Or(o.typeSet(), o.atMostOne(p)), ReasonInvalid, "", oneWhileUnset(u), union.TooMany))
		}
	}
	return l
}

// finePlain returns the rules of [Fine] without a discriminator: a rule per member, and one that
// requires a member. The rule of a member excludes it together with half of the others, such that
// each pair is excluded once. A rule against all others would cost about twice as much.
func finePlain(u *union.Union) []Rule {
	o := self(u)
	u = o.u
	var l []Rule
	n := len(u.Members)
	if u.Cardinality != union.AtLeastOne {
		for i := range u.Members {
			// Member i excludes the half of the members before it, with the last one before the
			// first.
			others := (n - 1) / 2
			if n%2 == 0 && i >= n/2 {
				others++
			}
			var before []int
			for k := 1; k <= others; k++ {
				before = append(before, (i-k+n)%n)
			}
			if len(before) > 0 {
				l = append(l, rule(u, cel.Not(cel.And(o.present(i), o.any(before))), ReasonForbidden, o.position(i), cardinalityMessage(u), union.TooMany))
			}
		}
	}
	if u.Cardinality != union.AtMostOne {
		l = append(l, rule(u, o.any(indices(n)), ReasonRequired, "", cardinalityMessage(u), union.TooFew))
	}
	return append(l, ruled(o.complete(true))...)
}

// isSelected tests whether the discriminator can be read and selects member i.
func (o variable) isSelected(i int) cel.Expr { return o.isOneOf(o.u.Members[i].Values) }

// presentNames is a CEL string: the comma-separated names of the given members that are present. It
// avoids join(), because the API server's estimator assumes that its result is unbounded.
func presentNames(o variable, among []int) cel.Expr {
	l := cel.Each(among, func(i int) cel.Expr {
		return cel.Paren(cel.If(o.present(i), cel.String(", "+o.u.Members[i].Name), empty))
	})
	return cel.Paren(cel.Add(l...)).Call("substring", cel.Int(2))
}

// maxExplained limits the number of members that a messageExpression nests, and maxExplanation its
// length. CEL limits the depth and the size of expressions. Larger unions have only the fixed
// message.
const (
	maxExplained   = 80
	maxExplanation = 40_000
)

// explained returns e as a messageExpression, or "" if it is too big.
func explained(members int, e cel.Expr) string {
	if text := e.String(); members <= maxExplained && len(text) <= maxExplanation {
		return text
	}
	return ""
}

// statement is a rule with its condition, which may become part of a larger rule.
type statement struct {
	Rule
	holds cel.Expr
}

func state(u *union.Union, holds cel.Expr, reason Reason, at, message string, conditions ...union.Condition) statement {
	return statement{rule(u, holds, reason, at, message, conditions...), holds}
}

// situation is a way to violate a statement, with its condition for a property or the whole union, and
// the generated message. when holds in this situation, unless an earlier one does.
type situation struct {
	when      cel.Expr
	property  string
	condition union.Condition
	message   cel.Expr
}

// tell gives a statement a message for each situation. When the statement fails, at least one of them
// occurs. Unless compute is set, only declared messages are told apart. members is the number of members
// that the expression nests.
func (s *statement) tell(u *union.Union, members int, compute bool, situations ...situation) {
	first := u.Text(situations[0].property, situations[0].condition)
	some, alike := false, true
	for i, c := range situations {
		text := u.Text(c.property, c.condition)
		alike = alike && text == first
		if text != "" {
			some, situations[i].message = true, cel.String(text)
		}
	}
	switch {
	case some && alike:
		s.Message = first
		return
	case !some && !compute:
		return
	}
	// The last situation needs no test.
	e := situations[len(situations)-1].message
	for _, c := range slices.Backward(situations[:len(situations)-1]) {
		e = cel.If(c.when, c.message, e)
	}
	s.MessageExpression = explained(members, e)
}

func ruled(l []statement) []Rule {
	var rules []Rule
	for _, s := range l {
		rules = append(rules, s.Rule)
	}
	return rules
}

// rule returns the rule that enforces conditions of the union, at a property or the union object. message
// is the generated message.
func rule(u *union.Union, holds cel.Expr, reason Reason, at, message string, conditions ...union.Condition) Rule {
	r := Rule{Rule: holds.String(), Message: cmp.Or(declared(u, at, conditions), labelled(u, plain(message))), Reason: reason, Conditions: conditions}
	if at != "" && !u.OfItems() {
		r.FieldPath = fieldPath(u.Path(at))
	}
	return r
}

// The messages of the conditions, the same in every encoding.

func onlyWhen(u *union.Union, m union.Member, values string) string {
	return fmt.Sprintf("%s may only be set when %s is %s", m.Name, u.Discriminator, values)
}

func onlyWhenSelected(u *union.Union, m union.Member) string {
	if u.Deduce {
		return onlyWhen(u, m, showAll(u, m.Values)+" or unset")
	}
	return onlyWhen(u, m, alternatives(u, m.Values))
}

func onlyAndRequiredWhen(u *union.Union, m union.Member) string {
	message := requiredWhen(u, m)
	if len(m.Optional) > 0 {
		message += ", optional when it is " + alternatives(u, m.Optional)
	}
	message += ", and forbidden "
	if u.Deduce {
		return fmt.Sprintf("%swhen %s has another value", message, u.Discriminator)
	}
	return message + "otherwise"
}

func requiredWhen(u *union.Union, m union.Member) string {
	return fmt.Sprintf("%s is required when %s is %s", m.Name, u.Discriminator, alternatives(u, m.Required()))
}

func mustBeMapped(u *union.Union) string {
	return fmt.Sprintf("%s must be %s", u.Discriminator, alternatives(u, u.MemberValues()))
}

func oneWhileUnset(u *union.Union) string {
	return fmt.Sprintf("at most one of %s may be set while %s is unset", names(u), u.Discriminator)
}

func cardinalityMessage(u *union.Union) string {
	switch u.Cardinality {
	case union.ExactlyOne:
		return "exactly one of " + names(u) + " must be set"
	case union.AtLeastOne:
		return "at least one of " + names(u) + " must be set"
	}
	return "at most one of " + names(u) + " may be set"
}

func names(u *union.Union) string { return enumerated(u.MemberNames()) }

func mustBeSet(u *union.Union) string {
	if u.ForbidUnmapped {
		return fmt.Sprintf("%s must be set to %s", u.Discriminator, alternatives(u, u.MemberValues()))
	}
	return u.Discriminator + " must be set"
}

// onlySelected returns the message of a rule for several members. If whole is set, the message
// includes the conditions on the whole union.
func onlySelected(u *union.Union, members []int, whole bool) string {
	one, it, is := "member", "it", "it is"
	if u.Overlaps(members) {
		one, it, is = "members", "they", "they are"
	}
	message := fmt.Sprintf("only the %s that %s selects may be set, and %s must be set", one, u.Discriminator, it)
	if slices.ContainsFunc(members, func(i int) bool { return len(u.Members[i].Optional) > 0 }) {
		message += " unless " + is + " optional"
	}
	switch {
	case whole && mustSelect(u):
		message += "; " + mustBeSet(u)
	case whole && u.ForbidUnmapped:
		message += "; " + mustBeMapped(u)
	}
	return message
}
