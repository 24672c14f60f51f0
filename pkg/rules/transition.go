package rules

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

// Transition returns rules that hold exactly for the changes u allows. The result is empty if u
// allows all changes. The rules read oldSelf, so they are only allowed where old and new union
// object can be correlated.
func Transition(u *union.Union, c Comparison) []Rule { return effective(transition(u, c)) }

func transition(u *union.Union, c Comparison) []Rule {
	switch {
	case u.Change == union.Clear && len(u.Members) == 0:
		return nil
	case u.Change == union.Clear && u.Discriminator != "":
		return []Rule{clearOnChange(u, c)}
	case u.Change == union.Clear && len(u.Groups()) > 1:
		return []Rule{clearOnSet(u)}
	case !u.Guarded():
		return nil
	case u.Discriminator != "":
		return restrictDiscriminator(u, c)
	}
	return restrictMember(u, c)
}

// clearOnChange requires that a change of the discriminator clears the members of the old value,
// unless the new value selects them, too.
func clearOnChange(u *union.Union, c Comparison) Rule {
	o, old := self(u), oldSelf(u)
	var left []cel.Expr
	for _, g := range alike(u) {
		values := u.Members[g[0]].Values
		was := []cel.Expr{cel.Paren(cel.Or(o.presentAmong(g)...)), old.inList(old.discriminator(), values)}
		if u.Unset != "" {
			was[1] = old.isInList(values)
		}
		if len(g) == 1 {
			was[0] = o.present(g[0])
		}
		if len(values) > 1 {
			was = append(was, cel.Not(o.isInList(values)))
		}
		left = append(left, cel.And(was...))
	}
	changed := []cel.Expr{cel.Not(old.hasType()), cel.And(o.hasType(), c.same(o.discriminator(), old.discriminator()))}
	if u.Unset != "" {
		changed = []cel.Expr{o.sameValue(old, c)}
	}
	if u.Deduce {
		// While the discriminator is unset, the only member set is the selected one.
		changed = append(changed, cel.Not(o.typeSet()))
	}
	message := fmt.Sprintf("when %s changes, the member of its old value must be cleared", u.Discriminator)
	if u.SharesValues() {
		message = fmt.Sprintf("when %s changes, the members of its old value must be cleared, unless they belong to the new one, too", u.Discriminator)
	}
	return rule(u, cel.Or(append(changed, cel.Not(cel.Or(left...)))...), ReasonInvalid, u.Discriminator, message, union.NotCleared)
}

// alike groups the members that have the same values.
func alike(u *union.Union) [][]int {
	var l [][]int
	for i, m := range u.Members {
		at := slices.IndexFunc(l, func(g []int) bool { return slices.Equal(u.Members[g[0]].Values, m.Values) })
		if at < 0 {
			l, at = append(l, nil), len(l)
		}
		l[at] = append(l[at], i)
	}
	return l
}

// clearOnSet requires, when a member is newly set, that no member set before remains.
func clearOnSet(u *union.Union) Rule {
	o, old := self(u), oldSelf(u)
	u = o.u
	all := indices(len(u.Members))
	carried := cel.Each(all, func(i int) cel.Expr { return cel.And(old.present(i), o.present(i)) })
	added := cel.Each(all, func(i int) cel.Expr { return cel.And(cel.Not(old.present(i)), o.present(i)) })
	return rule(u, cel.Or(cel.Not(cel.Or(added...)), cel.Not(cel.Or(carried...))), ReasonInvalid, "",
		"when one of "+names(u)+" is newly set, the one set before must be cleared", union.NotCleared)
}

// restrictDiscriminator enforces Forbid or the transition table on the discriminator. If c.Parts
// splits the table, one more rule covers the values without a row.
func restrictDiscriminator(u *union.Union, c Comparison) []Rule {
	o, old := self(u), oldSelf(u)
	from, now, to := old.discriminator(), o.discriminator(), o.isOneOf
	same := cel.And(o.hasType(), c.same(now, from))
	if u.Deduce || u.Unset != "" {
		from, now = old.selection(), o.selection()
		to = func(values []string) cel.Expr { return o.inList(now, values) }
		same = c.same(now, from)
	}
	wasSet, isSet := old.typeSet(), o.typeSet()
	if u.Deduce {
		wasSet, isSet = from.Ne(empty), now.Ne(empty)
	}
	message, told := u.Discriminator+" may not be changed or unset once set", ""
	if u.Unset != "" {
		message = u.Discriminator + " may not be changed"
	}
	if u.Change == union.AllowedChanges {
		told = table(u)
		message = u.Discriminator + " may not change like this" + told
	}
	quote := ""
	if u.Type == union.StringValue {
		quote = "'"
	}
	become, unset := cel.Add(cel.String(quote+" to "+quote), o.text(now)), cel.String(quote+" to unset")
	if quote != "" {
		become = cel.Add(become, cel.String(quote))
	}
	if isSet != cel.True {
		become = cel.If(isSet, become, unset)
	}
	change := []cel.Expr{cel.String(labelled(u, plain(u.Discriminator)+" may not change from "+quote)), old.text(from), become}
	if told != "" {
		change = append(change, cel.String(told))
	}
	demand := func(when cel.Expr, rows []row) Rule {
		allowed := []cel.Expr{same}
		for _, r := range rows {
			allowed = append(allowed, cel.And(o.inList(from, r.from), to(r.to)))
		}
		holds := cel.Or(allowed...)
		if when != cel.True {
			holds = cel.If(when, holds, cel.True)
		}
		r := rule(u, holds, ReasonForbidden, u.Discriminator, message, union.NotAllowed)
		if u.Text(u.Discriminator, union.NotAllowed) == "" && u.Type != union.IntegerValue { // the text of an integer has no bound
			r.MessageExpression = explained(len(u.Members), cel.Add(change...))
		}
		return r
	}
	rows := rowsOf(u)
	if c.Parts <= 1 || len(rows) == 0 {
		return []Rule{demand(wasSet, rows)}
	}
	var l []Rule
	var all []string
	for _, part := range split(rows, c.Parts) {
		var values []string
		for _, r := range part {
			values = append(values, r.from...)
		}
		all = append(all, values...)
		l = append(l, demand(cel.And(wasSet, o.inList(from, values)), part))
	}
	return append(l, demand(cel.And(wasSet, cel.Not(cel.Paren(o.inList(from, all)))), nil))
}

// row is a part of the transition table: each value of from may change to each value of to.
type row struct{ from, to []string }

// rowsOf returns the transition table. Values that may change to the same values, or to each other,
// share a row.
func rowsOf(u *union.Union) []row {
	var l []row
	at := map[string]int{}
	for _, from := range slices.Sorted(maps.Keys(u.Allowed)) {
		to := u.Allowed[from]
		if len(to) == 0 {
			continue
		}
		// An unchanged value is always allowed.
		with := slices.Sorted(slices.Values(append(slices.Clone(to), from)))
		with = slices.Compact(with)
		key := fmt.Sprintf("%q", with)
		i, ok := at[key]
		if !ok {
			at[key] = len(l)
			l = append(l, row{[]string{from}, to})
			continue
		}
		l[i] = row{append(l[i].from, from), with}
	}
	return l
}

// restrictMember enforces Forbid or the transition table on the set member of a union without a
// discriminator.
func restrictMember(u *union.Union, c Comparison) []Rule {
	o, old := self(u), oldSelf(u)
	u = o.u
	message := "the member set may not be switched or unset"
	if u.Change == union.AllowedChanges {
		message = "the member set may not change like this" + table(u)
	}
	rows := rowsOf(u)
	var l []Rule
	for _, g := range split(indices(len(u.Members)), c.Parts) {
		// The old object may have no member, or several. Its single member stays or changes as
		// allowed.
		holds := cel.Or(cel.Not(old.exactlyOne()), o.nextOf(g, rows))
		if len(g) == 1 && len(u.Members) > 1 {
			i := g[0]
			may := append([]cel.Expr{o.present(i)}, o.become(i, rows)...)
			holds = cel.If(old.present(i), cel.Or(append(may, old.any(others(i, len(u.Members))))...), cel.True)
		}
		l = append(l, rule(u, holds, ReasonForbidden, "", message, union.NotAllowed))
	}
	return l
}

// nextOf is the condition that each of the members that was set stays set or changes as allowed.
func (o variable) nextOf(members []int, rows []row) cel.Expr {
	old := o.old()
	stays := func(i int) cel.Expr { return cel.Or(cel.Not(old.present(i)), o.present(i)) }
	var l []cel.Expr
	seen := map[int]bool{}
	for _, i := range members {
		if seen[i] {
			continue
		}
		become := o.become(i, rows)
		var alike []cel.Expr
		for _, j := range members {
			if j == i || len(become) > 0 && rowOf(rows, o.u.Members[j].Name) == rowOf(rows, o.u.Members[i].Name) {
				seen[j] = true
				alike = append(alike, stays(j))
			}
		}
		if len(alike) == 1 {
			l = append(l, cel.Or(append(alike, become...)...))
		} else {
			l = append(l, cel.Or(append(become, cel.And(alike...))...))
		}
	}
	return cel.And(l...)
}

// rowOf returns the index of the row of a member, or -1 if it has none.
func rowOf(rows []row, name string) int {
	return slices.IndexFunc(rows, func(r row) bool { return slices.Contains(r.from, name) })
}

// become is the condition that member i, which was set, changed as allowed. It is nil if the member
// may not change.
func (o variable) become(i int, rows []row) []cel.Expr {
	u := o.u
	at := rowOf(rows, u.Members[i].Name)
	if at < 0 {
		return nil
	}
	r := rows[at]
	var rest, targets []int
	for j, n := range u.Members {
		switch {
		case slices.Contains(r.to, n.Name):
			targets = append(targets, j)
		case len(r.from) > 1 || j != i:
			rest = append(rest, j)
		}
	}
	if slices.Contains(r.to, "") {
		return []cel.Expr{cel.Not(o.any(rest))}
	}
	if len(targets) == 0 {
		return nil
	}
	return []cel.Expr{cel.And(o.any(targets), cel.Not(o.any(rest)))}
}

// RemovalGuard returns the rule for an ancestor of the union object: the property links[0] may not
// be removed while the union is in a state that may not be unset. links are the properties from the
// ancestor to the union object. ok is false if the union is not guarded or if every state may be
// unset.
func RemovalGuard(u *union.Union, links []string) (r Rule, ok bool) {
	if !u.Guarded() || len(links) == 0 {
		return Rule{}, false
	}
	at := cel.Var("oldSelf")
	var pinned []cel.Expr
	for _, link := range links {
		at = at.Field(link)
		pinned = append(pinned, cel.Has(at))
	}
	old := variableOf(u, at)
	u = old.u
	var may []string // selections that may be unset
	for _, value := range slices.Sorted(maps.Keys(u.Allowed)) {
		if slices.Contains(u.Allowed[value], "") {
			may = append(may, value)
		}
	}
	path := strings.Join(links, ".")
	var message string
	switch {
	case u.Discriminator == "":
		var set []int
		var kept []string
		for i, m := range u.Members {
			if !slices.Contains(may, m.Name) {
				set = append(set, i)
				kept = append(kept, old.namesOf(i)...)
			}
		}
		if len(set) == 0 {
			return Rule{}, false
		}
		pinned = append(pinned, old.exactlyOne())
		if len(set) < len(u.Members) {
			pinned = append(pinned, old.any(set))
		}
		message = fmt.Sprintf("%s may not be removed while %s", links[0], isSet(u, path, kept))
	default:
		what := path + "." + u.Discriminator
		if u.Deduce {
			what += " or a member"
		}
		message = fmt.Sprintf("%s may not be removed while %s is set", links[0], what)
		if u.Unset != "" {
			message = links[0] + " may not be removed"
			break // it always has a value
		}
		if len(may) > 0 {
			message += ", unless it is " + alternatives(u, may)
		}
		may = append([]string{""}, may...)
		if u.Deduce {
			pinned = append(pinned, cel.Not(old.inList(old.selection(), may)))
		} else {
			pinned = append(pinned, old.hasType(), old.noneOf(old.discriminator(), may))
		}
	}
	r = rule(u, cel.Or(cel.Not(cel.And(pinned...)), cel.Has(cel.Var("self").Field(links[0]))), ReasonRequired, links[0], message)
	return r, len(effective([]Rule{r})) > 0
}

// namesOf returns the name of member i, or the names of the members of a group.
func (o variable) namesOf(i int) []string {
	if o.whole == nil {
		return []string{o.u.Members[i].Name}
	}
	return o.whole.NamesOf(o.groups[i].Members)
}

// isSet says that one of the members of the object at path is set.
func isSet(u *union.Union, path string, members []string) string {
	switch {
	case len(members) > maxNamed:
		return "one of the members of " + path + " is set"
	case u.OfItems() && !strings.Contains(path, "."):
		return "it has " + strings.Join(members, " or ")
	case u.OfItems():
		return path + " has " + strings.Join(members, " or ")
	}
	return path + "." + strings.Join(members, " or "+path+".") + " is set"
}

// maxTable is the maximum length of a transition table in messages.
const maxTable = 200

// table describes the allowed changes for messages. It is "" if the description is too long.
func table(u *union.Union) string {
	var l []string
	for _, r := range rowsOf(u) {
		to := make([]string, len(r.to))
		for i, v := range r.to {
			if to[i] = show(u, v); v == "" {
				to[i] = "unset"
			}
		}
		l = append(l, alternatives(u, r.from)+" to "+strings.Join(to, ", "))
	}
	told := "; allowed are " + strings.Join(l, "; ")
	switch {
	case len(l) == 0:
		return "; no change is allowed"
	case len(told) > maxTable:
		return ""
	}
	return told
}
