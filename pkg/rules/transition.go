package rules

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/union"
)

// Transition returns the rules that hold exactly for the changes u allows; it is
// empty when u allows all. The rules read oldSelf, so they only may stand where
// old and new union object can be correlated.
func Transition(u *union.Union, c Comparison) []Rule {
	switch {
	case u.Change == union.Clear && u.Discriminator != "":
		return []Rule{clearOnChange(u, c)}
	case u.Change == union.Clear && len(u.Members) > 1:
		return []Rule{clearOnSet(u)}
	case !u.Guarded():
		return nil
	case u.Discriminator != "":
		return []Rule{restrictDiscriminator(u, c)}
	}
	return restrictMember(u, c)
}

// clearOnChange demands, when the discriminator changed, that no member carried
// over remains but the selected one.
func clearOnChange(u *union.Union, c Comparison) Rule {
	o, old := self(u), oldSelf(u)
	left := func(i int) expr {
		return and(old.present(i), o.present(i), not(o.isSelected(i)))
	}
	all := indices(len(u.Members))
	var remaining []expr
	for _, i := range all {
		remaining = append(remaining, left(i))
	}
	holds := []expr{c.same(old.selection(), o.selection()), not(or(remaining...))}
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
	r.MessageExpression = explained(u, add(change, literal(": clear "), presentNames(o, all, left)))
	return r
}

// clearOnSet demands, when a member is newly set, that no member carried over
// remains.
func clearOnSet(u *union.Union) Rule {
	o, old := self(u), oldSelf(u)
	carriedOver := func(i int) expr { return and(old.present(i), o.present(i)) }
	newlySet := func(i int) expr { return and(not(old.present(i)), o.present(i)) }
	all := indices(len(u.Members))
	var carried, added []expr
	for _, i := range all {
		carried = append(carried, carriedOver(i))
		added = append(added, newlySet(i))
	}
	r := rule(u, or(not(or(added...)), not(or(carried...))), ReasonInvalid, "",
		"when one of "+names(u)+" is newly set, the one set before must be cleared").enforces(union.NotCleared)
	r.MessageExpression = labelledExpr(u, presentNames(o, all, newlySet), literal(" is newly set: clear "), presentNames(o, all, carriedOver))
	return r
}

// restrictDiscriminator is Forbid and the table, by the discriminator's value.
func restrictDiscriminator(u *union.Union, c Comparison) Rule {
	o, old := self(u), oldSelf(u)
	wasSet, from, to := old.typeSet(), old.discriminator(), o.isOneOf
	allowed := []expr{and(o.hasType(), c.same(o.discriminator(), old.discriminator()))}
	if u.Deduce {
		wasSet, from, to = ne(old.selection(), zero), old.selection(), func(values []string) expr { return inList(o.selection(), values) }
		allowed = []expr{c.same(o.selection(), old.selection())}
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
	r := rule(u, cond(wasSet, or(allowed...), yes), ReasonForbidden, u.Discriminator, message).enforces(union.NotAllowed)
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
func restrictMember(u *union.Union, c Comparison) []Rule {
	o, old := self(u), oldSelf(u)
	message := "the member set may not be switched or unset"
	if u.Change == union.AllowedChanges {
		message = "the member set may not change like this; " + table(u)
	}
	change := cond(or(o.members()...), add(literal("replaced by "), presentNames(o, indices(len(u.Members)), o.present)), literal("unset"))
	says := []expr{presentNames(old, indices(len(u.Members)), old.present), literal(" may not be "), change}
	if u.Change == union.AllowedChanges {
		says = append(says, literal("; "+table(u)))
	}
	var l []Rule
	for _, g := range split(indices(len(u.Members)), c.Parts) {
		var holds expr
		if len(g) == 1 && len(u.Members) > 1 {
			// The member was not the only one, or it stays or changes as it may.
			holds = cond(old.present(g[0]), or(append(o.next(g[0]), old.presentAmong(others(g[0], len(u.Members)))...)...), yes)
		} else {
			var allowed []expr
			for _, i := range g {
				allowed = append(allowed, or(append([]expr{not(old.present(i))}, o.next(i)...)...))
			}
			holds = or(not(exactlyOneOf(old.members())), and(allowed...))
		}
		r := rule(u, holds, ReasonForbidden, "", message).enforces(union.NotAllowed)
		r.MessageExpression = labelledExpr(u, says...)
		l = append(l, r)
	}
	return l
}

// next are the conditions, one of which must hold when member i was the one set.
func (o object) next(i int) []expr {
	u := o.u
	row := u.Allowed[u.Members[i].Name]
	var rest, targets []expr
	for j, n := range u.Members {
		switch {
		case slices.Contains(row, n.Name):
			targets = append(targets, o.present(j))
		case j != i:
			rest = append(rest, o.present(j))
		}
	}
	next := []expr{o.present(i)}
	switch {
	case slices.Contains(row, ""):
		next = append(next, not(or(rest...)))
	case len(targets) > 0:
		next = append(next, and(or(targets...), not(or(rest...))))
	}
	return next
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
