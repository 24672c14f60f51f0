package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/union"
)

// Static returns the rules that hold exactly for the states u allows, in the
// given encoding. A union that ratchets is always encoded compactly, in a rule
// with optionalOldSelf. The result is empty when every state is allowed.
func Static(u *union.Union, enc Encoding) []Rule {
	switch {
	case u.Ratchet || enc == Compact:
		return compact(u)
	case u.Discriminator != "":
		return fineDiscriminated(u)
	}
	return finePlain(u)
}

// fineDiscriminated is: forbidden and required per member, then selected,
// unmapped and, when the discriminator may be deduced, at most one.
func fineDiscriminated(u *union.Union) []Rule {
	o := self(u)
	var l []Rule
	for i, m := range u.Members {
		allowed := and(o.hasType(), o.selects(i))
		when := alternatives(m.Values)
		if u.Deduce {
			allowed = or(not(o.hasType()), eq(o.discriminator(), zero), o.selects(i))
			when = showAll(m.Values) + " or unset"
		}
		l = append(l, rule(u, or(not(o.present(i)), allowed), ReasonForbidden, m.Name,
			onlyWhen(u, m, when)).enforces(union.Forbidden))
		if m.Optional {
			continue
		}
		l = append(l, rule(u, or(not(o.hasType()), noneOf(o.discriminator(), m.Values), o.present(i)), ReasonRequired, m.Name,
			requiredWhen(u, m)).enforces(union.Required))
	}
	if u.Cardinality == union.ExactlyOne && !u.Implied.Selected {
		l = append(l, rule(u, o.typeSet(), ReasonRequired, u.Discriminator, mustBeSet(u)).enforces(union.Selected))
	}
	if u.ForbidUnmapped && !u.Implied.Unmapped {
		l = append(l, rule(u, o.mapped(), ReasonInvalid, u.Discriminator,
			mustBeMapped(u)).enforces(union.Unmapped))
	}
	if u.Deduce && len(u.Members) > 1 {
		l = append(l, rule(u, or(o.typeSet(), atMostOneOf(o.members())), ReasonInvalid, "",
			oneWhileUnset(u)).enforces(union.TooMany))
	}
	return l
}

// finePlain is, without a discriminator: each pair of members excluded by the
// rule of one of them, and one rule against having none. Spreading the pairs
// evenly keeps every rule at about half the cost of testing a member against
// all others.
func finePlain(u *union.Union) []Rule {
	o := self(u)
	var l []Rule
	n := len(u.Members)
	if u.Cardinality != union.AtLeastOne {
		for i, m := range u.Members {
			// Member i is tested against the half before it, in a circle.
			others := (n - 1) / 2
			if n%2 == 0 && i >= n/2 {
				others++
			}
			var before []expr
			for k := 1; k <= others; k++ {
				before = append(before, o.present((i-k+n)%n))
			}
			if len(before) > 0 {
				l = append(l, rule(u, not(and(o.present(i), or(before...))), ReasonForbidden, m.Name, cardinalityMessage(u)).enforces(union.TooMany))
			}
		}
	}
	if u.Cardinality != union.AtMostOne {
		l = append(l, rule(u, or(o.members()...), ReasonRequired, "", cardinalityMessage(u)).enforces(union.TooFew))
	}
	return l
}

// compact is one rule for all static conditions, with a messageExpression that
// names what is wrong.
func compact(u *union.Union) []Rule {
	o := self(u)
	var holds, explain expr
	var message string
	var conditions []union.Condition
	switch {
	case u.Discriminator != "":
		holds, explain, conditions = o.compactDiscriminated()
		message = fmt.Sprintf("only the member that %s selects may be set, and it must be set unless it is optional", u.Discriminator)
	case u.Cardinality == union.AtLeastOne:
		holds, conditions = or(o.members()...), []union.Condition{union.TooFew}
	case u.Cardinality == union.ExactlyOne:
		holds, conditions = exactlyOneOf(o.members()), []union.Condition{union.TooFew, union.TooMany}
	case len(u.Members) == 1:
		return nil
	default:
		holds, conditions = atMostOneOf(o.members()), []union.Condition{union.TooMany}
	}
	if message == "" {
		message = cardinalityMessage(u)
		if u.Cardinality != union.AtLeastOne {
			found := presentNames(o, func(i int) expr { return o.present(i) })
			explain = add(literal(labelled(u, message)+", found: "), found)
			if u.Cardinality == union.ExactlyOne {
				explain = cond(or(o.members()...), explain, literal(labelled(u, message)))
			}
		}
	}
	r := rule(u, holds, ReasonInvalid, "", message)
	r.MessageExpression = explained(u, explain)
	r.Conditions = conditions
	if u.Ratchet {
		r.Rule = or(and(atom("oldSelf.hasValue()"), unchanged(u)), holds).text
		r.OptionalOldSelf = true
	}
	return []Rule{r}
}

func (o object) compactDiscriminated() (holds, explain expr, conditions []union.Condition) {
	u := o.u
	conditions = []union.Condition{union.Forbidden, union.Required}
	var match []expr
	var cases [][2]expr
	for i, m := range u.Members {
		selected := o.selects(i)
		if m.Optional {
			match = append(match, or(not(o.present(i)), selected))
		} else {
			match = append(match, eq(selected, o.present(i)))
		}
		cases = append(cases, [2]expr{and(o.present(i), not(o.isSelected(i))),
			literal(labelled(u, onlyWhen(u, m, alternatives(m.Values))))})
		if !m.Optional {
			cases = append(cases, [2]expr{and(o.isSelected(i), not(o.present(i))),
				literal(labelled(u, requiredWhen(u, m)))})
		}
	}
	if u.ForbidUnmapped && !u.Implied.Unmapped {
		conditions = append(conditions, union.Unmapped)
		mapped := u.MemberValues()
		if u.Cardinality != union.ExactlyOne && !u.Deduce {
			mapped = append(mapped, "") // below it is only known to be there
		}
		match = append(match, oneOf(o.discriminator(), mapped))
		cases = append(cases, [2]expr{not(o.mapped()), literal(labelled(u, mustBeMapped(u)))})
	}
	when, otherwise := o.hasType(), not(or(o.members()...))
	switch {
	case u.Cardinality == union.ExactlyOne:
		conditions = append(conditions, union.Selected)
		cases = slices.Insert(cases, 0, [2]expr{not(o.typeSet()), literal(labelled(u, mustBeSet(u)))})
		when, otherwise = o.typeSet(), no
	case u.Deduce:
		conditions = append(conditions, union.TooMany)
		when, otherwise = o.typeSet(), atMostOneOf(o.members())
		cases = slices.Insert(cases, 0, [2]expr{not(o.typeSet()),
			literal(labelled(u, oneWhileUnset(u)))})
	}
	holds = cond(when, and(match...), otherwise)
	if otherwise == no {
		holds = and(when, and(match...))
	}
	// One case is true when the rule fails; the last needs no test.
	explain = cases[len(cases)-1][1]
	for _, c := range slices.Backward(cases[:len(cases)-1]) {
		explain = cond(c[0], c[1], explain)
	}
	return holds, explain, conditions
}

// isSelected tests whether the discriminator can be read and selects member i.
func (o object) isSelected(i int) expr { return o.isOneOf(o.u.Members[i].Values) }

// mapped tests whether the discriminator is unset or selects a member.
func (o object) mapped() expr {
	return o.isOneOf(append([]string{""}, o.u.MemberValues()...))
}

// isOneOf tests whether the discriminator is one of values; "" is unset.
func (o object) isOneOf(values []string) expr {
	is := oneOf(o.discriminator(), values)
	if slices.Contains(values, "") {
		return or(not(o.hasType()), is)
	}
	return and(o.hasType(), is)
}

// unchanged tests whether the state is what it was in the optional oldSelf.
func unchanged(u *union.Union) expr {
	o, old := self(u), object{u, atom("oldSelf.value()")}
	var same []expr
	if u.Discriminator != "" {
		same = append(same, eq(o.value(), old.value()))
	}
	for i := range u.Members {
		same = append(same, eq(o.present(i), old.present(i)))
	}
	return and(same...)
}

// presentNames is a CEL string: the names, joined, of the members for which
// test holds.
//
// It avoids join(), whose result the API server's estimator takes for unbounded.
func presentNames(o object, test func(i int) expr) expr {
	l := make([]expr, len(o.u.Members))
	for i, m := range o.u.Members {
		l[i] = paren(cond(test(i), literal(", "+m.Name), zero))
	}
	return expr{paren(add(l...)).text + ".substring(2)", precAtom}
}

// maxExplained is the number of members, and maxExplanation the length, up to
// which a message is computed. CEL limits the depth and the size of expressions;
// beyond, the fixed message has to do.
const (
	maxExplained   = 80
	maxExplanation = 40_000
)

// explained is e as a messageExpression, empty when it is too big for one.
func explained(u *union.Union, e expr) string {
	if len(u.Members) > maxExplained || len(e.text) > maxExplanation {
		return ""
	}
	return e.text
}

func rule(u *union.Union, holds expr, reason Reason, at, message string) Rule {
	r := Rule{Rule: holds.text, Message: labelled(u, plain(message)), Reason: reason}
	if at != "" {
		r.FieldPath = fieldPath(at)
	}
	return r
}

func (r Rule) enforces(c union.Condition) Rule {
	r.Conditions = []union.Condition{c}
	return r
}

// The messages of the conditions, the same in every encoding.

func onlyWhen(u *union.Union, m union.Member, values string) string {
	return fmt.Sprintf("%s may only be set when %s is %s", m.Name, u.Discriminator, values)
}

func requiredWhen(u *union.Union, m union.Member) string {
	return fmt.Sprintf("%s is required when %s is %s", m.Name, u.Discriminator, alternatives(m.Values))
}

func mustBeMapped(u *union.Union) string {
	return fmt.Sprintf("%s must be %s", u.Discriminator, alternatives(u.MemberValues()))
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

func names(u *union.Union) string { return strings.Join(u.MemberNames(), ", ") }

func mustBeSet(u *union.Union) string {
	if u.Implied.Unmapped || u.ForbidUnmapped {
		return fmt.Sprintf("%s must be set to %s", u.Discriminator, alternatives(u.MemberValues()))
	}
	return fmt.Sprintf("%s must be set, for example to %s", u.Discriminator, alternatives(u.MemberValues()))
}
