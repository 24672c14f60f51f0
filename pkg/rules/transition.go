package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/union"
)

// Transition returns the rule that holds exactly for the changes u allows; ok
// is false when it allows all. The rule reads oldSelf, so it only may stand
// where old and new union object can be correlated.
func Transition(u *union.Union) (r Rule, ok bool) {
	switch {
	case u.Change == union.Clear && u.Discriminator != "":
		return clearOnChange(u), true
	case u.Change == union.Clear && len(u.Members) > 1:
		return clearOnSet(u), true
	case !u.Guarded():
		return Rule{}, false
	case u.Discriminator != "":
		return restrictDiscriminator(u), true
	}
	return restrictMember(u), true
}

// clearOnChange demands, when the discriminator changed, that no member carried
// over remains but the selected one.
func clearOnChange(u *union.Union) Rule {
	o, old := self(u), oldSelf(u)
	left := func(i int) expr {
		return and(old.present(i), o.present(i), not(o.isSelected(i)))
	}
	var remaining []expr
	for i := range u.Members {
		remaining = append(remaining, left(i))
	}
	holds := []expr{eq(old.selection(), o.selection()), not(or(remaining...))}
	if u.Deduce {
		// A member that stands alone beside an unset discriminator is selected.
		holds = append(holds, and(not(o.typeSet()), atMostOneOf(o.members())))
	}
	r := rule(u, or(holds...), ReasonInvalid, u.Discriminator,
		fmt.Sprintf("when %s changes, the members it leaves behind must be cleared", u.Discriminator)).enforces(union.NotCleared)
	to := cond(o.typeSet(), add(literal(" to '"), o.discriminator(), literal("'")), literal(" to unset"))
	from := cond(old.typeSet(), add(literal(" from '"), old.discriminator(), literal("'")), zero)
	change := add(literal(labelled(u, u.Discriminator+" changed")), from, to)
	if u.Deduce {
		// The selection changes without the discriminator, too.
		change = cond(or(old.typeSet(), o.typeSet()), change, literal(labelled(u, "the members set changed")))
	}
	r.MessageExpression = explained(u, add(change, literal(": clear "), presentNames(o, left)))
	return r
}

// clearOnSet demands, when a member is newly set, that no member carried over
// remains.
func clearOnSet(u *union.Union) Rule {
	o, old := self(u), oldSelf(u)
	carriedOver := func(i int) expr { return and(old.present(i), o.present(i)) }
	newlySet := func(i int) expr { return and(not(old.present(i)), o.present(i)) }
	var carried, added []expr
	for i := range u.Members {
		carried = append(carried, carriedOver(i))
		added = append(added, newlySet(i))
	}
	r := rule(u, or(not(or(added...)), not(or(carried...))), ReasonInvalid, "",
		"when one of "+names(u)+" is newly set, the one set before must be cleared").enforces(union.NotCleared)
	r.MessageExpression = labelledExpr(u, presentNames(o, newlySet), literal(" is newly set: clear "), presentNames(o, carriedOver))
	return r
}

// restrictDiscriminator is Forbid and the table, by the discriminator's value.
func restrictDiscriminator(u *union.Union) Rule {
	o, old := self(u), oldSelf(u)
	allowed := []expr{not(old.hasType()), eq(old.discriminator(), zero), and(o.hasType(), eq(o.discriminator(), old.discriminator()))}
	from, to := old.discriminator(), o.isOneOf
	if u.Deduce {
		allowed = []expr{eq(old.selection(), zero), eq(o.selection(), old.selection())}
		from, to = old.selection(), func(values []string) expr { return inList(o.selection(), values) }
	}
	for _, value := range sortedKeys(u.Allowed) {
		if row := u.Allowed[value]; len(row) > 0 {
			allowed = append(allowed, and(eq(from, literal(value)), to(row)))
		}
	}
	message := u.Discriminator + " may not be changed or unset once set"
	if u.Change == union.AllowedChanges {
		message = u.Discriminator + " may not change like this; " + table(u)
	}
	r := rule(u, or(allowed...), ReasonForbidden, u.Discriminator, message).enforces(union.NotAllowed)
	isSet, now := o.typeSet(), o.discriminator()
	if u.Deduce {
		isSet, now = ne(o.selection(), zero), o.selection()
	}
	change := []expr{literal(labelled(u, plain(u.Discriminator)+" may not change from '")), from,
		cond(isSet, add(literal("' to '"), now, literal("'")), literal("' to unset"))}
	if u.Change == union.AllowedChanges {
		change = append(change, literal("; "+table(u)))
	}
	r.MessageExpression = explained(u, add(change...))
	return r
}

// restrictMember is Forbid and the table, without a discriminator: by the one
// member that was set.
func restrictMember(u *union.Union) Rule {
	o, old := self(u), oldSelf(u)
	allowed := []expr{}
	for i, m := range u.Members {
		row := u.Allowed[m.Name]
		var others, targets []expr
		for j, n := range u.Members {
			switch {
			case slices.Contains(row, n.Name):
				targets = append(targets, o.present(j))
			case j != i:
				others = append(others, o.present(j))
			}
		}
		next := []expr{o.present(i)}
		switch {
		case slices.Contains(row, ""):
			next = append(next, not(or(others...)))
		case len(targets) > 0:
			next = append(next, and(or(targets...), not(or(others...))))
		}
		allowed = append(allowed, or(append([]expr{not(old.present(i))}, next...)...))
	}
	notOne := not(exactlyOneOf(old.members()))
	message := "the member set may not be switched or unset"
	if u.Change == union.AllowedChanges {
		message = "the member set may not change like this; " + table(u)
	}
	r := rule(u, or(notOne, and(allowed...)), ReasonForbidden, "", message).enforces(union.NotAllowed)
	change := cond(or(o.members()...), add(literal("replaced by "), presentNames(o, o.present)), literal("unset"))
	l := []expr{presentNames(old, old.present), literal(" may not be "), change}
	if u.Change == union.AllowedChanges {
		l = append(l, literal("; "+table(u)))
	}
	r.MessageExpression = labelledExpr(u, l...)
	return r
}

// RemovalGuard returns the rule for the ancestor from which links, property by
// property, lead to the union object: the first link may not be removed while
// the union is in a state that may not be unset. ok is false when the union is
// not guarded or every state may be unset.
func RemovalGuard(u *union.Union, links []string) (r Rule, ok bool) {
	if !u.Guarded() || len(links) == 0 {
		return Rule{}, false
	}
	at := atom("oldSelf")
	var pinned []expr
	for _, link := range links {
		at = field(at, link)
		pinned = append(pinned, has(at))
	}
	old := object{u, at}
	var may []string // selections that may be unset
	for _, value := range sortedKeys(u.Allowed) {
		if slices.Contains(u.Allowed[value], "") {
			may = append(may, value)
		}
	}
	path := strings.Join(links, ".")
	var message string
	switch {
	case u.Discriminator == "":
		var set []expr
		var kept []string
		for i, m := range u.Members {
			if !slices.Contains(may, m.Name) {
				set = append(set, old.present(i))
				kept = append(kept, path+"."+m.Name)
			}
		}
		if len(set) == 0 {
			return Rule{}, false
		}
		pinned = append(pinned, exactlyOneOf(old.members()))
		if len(set) < len(u.Members) {
			pinned = append(pinned, or(set...))
		}
		message = fmt.Sprintf("%s may not be removed while %s is set", links[0], strings.Join(kept, " or "))
	default:
		what := path + "." + u.Discriminator
		if u.Deduce {
			what += " or a member"
		}
		message = fmt.Sprintf("%s may not be removed while %s is set", links[0], what)
		if len(may) > 0 {
			message += ", unless it is " + alternatives(may)
		}
		may = append([]string{""}, may...)
		if u.Deduce {
			pinned = append(pinned, not(inList(old.selection(), may)))
		} else {
			pinned = append(pinned, old.hasType(), noneOf(old.discriminator(), may))
		}
	}
	r = rule(u, or(not(and(pinned...)), has(field(atom("self"), links[0]))), ReasonRequired, links[0], message)
	return r, true
}

// labelledExpr is a messageExpression: the parts one after the other.
func labelledExpr(u *union.Union, parts ...expr) string {
	if label := labelled(u, ""); label != "" {
		parts = append([]expr{literal(label)}, parts...)
	}
	return explained(u, add(parts...))
}

// table says for messages which changes the transition table allows.
func table(u *union.Union) string {
	var l []string
	for _, from := range sortedKeys(u.Allowed) {
		if row := u.Allowed[from]; len(row) > 0 {
			to := make([]string, len(row))
			for i, v := range row {
				if to[i] = show(v); v == "" {
					to[i] = "unset"
				}
			}
			l = append(l, show(from)+" to "+strings.Join(to, ", "))
		}
	}
	if len(l) == 0 {
		return "no change is allowed"
	}
	return "allowed are " + strings.Join(l, "; ")
}

func sortedKeys(m map[string][]string) []string {
	l := make([]string, 0, len(m))
	for k := range m {
		l = append(l, k)
	}
	slices.Sort(l)
	return l
}
