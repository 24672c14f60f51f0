package policy

import (
	"maps"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

// The variables in the expressions of a union.
var (
	set          = cel.Var("set")    // the names of the members that are set
	had          = cel.Var("had")    // the names of the members that were set before
	added        = cel.Var("added")  // the names in set that are not in had
	one          = cel.Var("one")    // a list of one name: the member that decides
	memberName   = cel.Var("m")      // the name of a member
	memberValues = cel.Var("values") // some of the values that select the member
)

// writer writes the patches for one union of one object. Their effect is [union.Union.Normalize].
type writer struct {
	u        *union.Union
	opts     Options
	nullable bool
	new, old cel.Expr
	exists   cel.Expr // whether the request has the object
	at       pointer
}

// value returns the text of the discriminator's value. If it is unset, the result is the value that this
// means, or "".
func (w writer) value(object cel.Expr) cel.Expr {
	unset := cel.String(w.u.Unset)
	optional := read(object, w.u, w.u.Discriminator)
	if w.u.Type != union.StringValue {
		return cel.Paren(cel.If(isSet(optional), cel.Func("string", orNull(optional)), unset))
	}
	v := optional.OrValue(emptyString)
	if w.nullable || w.u.Unset != "" {
		return nonNull(v, unset)
	}
	return v
}

// typed converts the text of a value to the type of the discriminator.
func (w writer) typed(text cel.Expr) cel.Expr {
	switch w.u.Type {
	case union.BooleanValue:
		return cel.Func("bool", text)
	case union.IntegerValue:
		return cel.Func("int", text)
	}
	return text
}

// path returns the JSON pointer to the discriminator or member with the given name.
func (w writer) path(name string) cel.Expr {
	return w.at.properties(w.u.Path(name).Properties()).expr()
}

func (w writer) patches() cel.Expr {
	valueSet := w.value(w.new).Ne(emptyString)
	switch {
	case w.u.Discriminator == "":
		return w.respectAdded()
	case w.opts.setsValue(w.u):
		return cel.If(cel.And(valueSet, w.changed()), w.respectValue(), w.respectAdded())
	case w.u.Deduce:
		return cel.If(valueSet, w.respectValue(), w.respectAdded())
	}
	return w.respectValue()
}

// changed is the condition that the value of the discriminator changed.
func (w writer) changed() cel.Expr { return w.value(w.new).Ne(w.value(w.old)) }

// direct reports whether all members are properties of the union object itself.
func (w writer) direct() bool {
	return !slices.ContainsFunc(w.u.Members, func(m union.Member) bool { _, below := w.u.Paths[m.Name]; return below })
}

// simple reports whether all members are properties of the union object, are set unless they are
// null, and have names that need no escaping in a JSON pointer.
func (w writer) simple() bool {
	return w.direct() && !slices.ContainsFunc(w.u.Members, func(m union.Member) bool {
		return m.Empty != union.PresentWhenEmpty || strings.ContainsAny(m.Name, "~/")
	})
}

// member has the expressions for one member.
type member struct {
	name     string
	values   cel.Expr // the values that select the member, or a part of them
	new, old cel.Expr // optional values
	was      cel.Expr // the old value; the member must exist in the old object
	isSet    cel.Expr
	isUnset  cel.Expr
	wasSet   cel.Expr
	path     cel.Expr
}

// members returns the members for which the function values returns any.
func (w writer) members(values func(union.Member) []string) []member {
	var l []member
	for _, m := range w.u.Members {
		if v := values(m); len(v) > 0 {
			set, old := present(w.new, w.u, m), read(w.old, w.u, m.Name)
			l = append(l, member{
				name: m.Name, values: cel.Strings(v...), new: read(w.new, w.u, m.Name), old: old, was: old.Call("value"),
				isSet: set, isUnset: cel.Not(set), wasSet: present(w.old, w.u, m), path: w.path(m.Name),
			})
		}
	}
	return l
}

// anyMember returns the member with the name memberName and the values memberValues. It requires
// simple members.
func (w writer) anyMember() member {
	new, old := w.new.OptionalAt(memberName), w.old.OptionalAt(memberName)
	return member{
		values: memberValues, new: new, old: old, was: w.old.Index(memberName), path: w.at.element(memberName).expr(),
		isSet: isSet(new), isUnset: orNull(new).Eq(cel.Null), wasSet: isSet(old),
	}
}

// all tests whether a condition holds for all members with values.
func (w writer) all(of func(union.Member) []string, holds func(member) cel.Expr) cel.Expr {
	members := w.members(of)
	if len(members) > 0 && w.simple() {
		return w.table(of).AllEntries(memberName, memberValues, holds(w.anyMember()))
	}
	return cel.And(cel.Each(members, holds)...)
}

// list returns the patches of the members with values whose condition holds.
func (w writer) list(of func(union.Member) []string, condition, patch func(member) cel.Expr) cel.Expr {
	if w.simple() {
		m := w.anyMember()
		return w.table(of).TransformList(memberName, memberValues, condition(m), patch(m))
	}
	return cel.Add(cel.Each(w.members(of), func(m member) cel.Expr { return listIf(condition(m), patch(m)) })...)
}

// listIf is a list of the item if the condition holds, and otherwise empty.
func listIf(condition, item cel.Expr) cel.Expr { return cel.If(condition, cel.List(item), emptyList) }

// guarded returns the patches if all conditions hold, and otherwise an empty list.
func guarded(conditions []cel.Expr, patches ...cel.Expr) cel.Expr {
	if c := cel.And(conditions...); c != cel.True {
		return cel.If(c, cel.Add(patches...), emptyList)
	}
	return cel.Add(patches...)
}

// where returns the condition if it applies to the union, and otherwise true.
func where(applies bool, condition cel.Expr) cel.Expr {
	if applies {
		return condition
	}
	return cel.True
}

func valuesOf(m union.Member) []string { return m.Values }

func removal(path cel.Expr) cel.Expr { return patch("remove", path) }

func addition(path, value cel.Expr) cel.Expr {
	return patch("add", path, cel.Var("value").Entry(value))
}

func patch(op string, path cel.Expr, more ...cel.MapEntry) cel.Expr {
	return cel.Struct("JSONPatch", append([]cel.MapEntry{cel.Var("op").Entry(cel.String(op)), cel.Var("path").Entry(path)}, more...)...)
}

// respectValue clears the members that the discriminator does not select. With Unselected, it
// restores required members that the request left out.
func (w writer) respectValue() cel.Expr {
	value := w.value(w.new)
	selected := func(m member) cel.Expr { return value.In(m.values) }
	conditions := []cel.Expr{
		where(w.keeps() && w.u.Unset != "", w.exists), // without the object, there is nothing to keep
		where(w.u.Cardinality == union.ExactlyOne, value.Ne(emptyString)),
		where(!w.opts.setsValue(w.u), w.switched()), // otherwise patches tests the change of the value
		w.all(union.Member.Required, func(m member) cel.Expr {
			if w.keeps() {
				return cel.Or(cel.Not(selected(m)), m.isSet, m.wasSet)
			}
			return cel.Or(cel.Not(selected(m)), m.isSet)
		}),
		where(!w.opts.Unselected, w.all(valuesOf, func(m member) cel.Expr { return cel.Or(selected(m), m.isUnset, equal(m.new, m.old)) })),
		where(w.u.ForbidUnmapped, value.In(cel.Strings(append([]string{""}, w.u.MemberValues()...)...))),
		where(w.u.Guarded(), w.allowedValue(value)),
	}
	clear := w.list(valuesOf, func(m member) cel.Expr { return cel.And(m.isSet, cel.Not(selected(m))) }, func(m member) cel.Expr { return removal(m.path) })
	return guarded(conditions, append([]cel.Expr{clear}, w.kept()...)...)
}

// keeps reports whether the policy restores required members that the request left out.
func (w writer) keeps() bool { return w.opts.Unselected && !w.opts.setsValue(w.u) }

// switched tests whether the request changed the discriminator or, with Unselected, the set of
// members.
func (w writer) switched() cel.Expr {
	if w.opts.Unselected {
		return cel.Or(w.changed(), w.set(w.new).Ne(w.set(w.old)))
	}
	return w.changed()
}

// allowedValue is allowed for a new object with a discriminator. It declares had if necessary.
func (w writer) allowedValue(to cel.Expr) cel.Expr {
	if w.u.Deduce {
		return cel.Let(had, w.set(w.old), w.allowed(to))
	}
	return w.allowed(to)
}

// allowed tests whether the union may change from its old selection to the selection to. It reads
// the variable had unless the discriminator alone is the selection.
func (w writer) allowed(to cel.Expr) cel.Expr {
	from := w.value(w.old)
	hadOne := cel.Size(had).Eq(cel.Int(1))
	switch {
	case w.u.Discriminator == "":
		from = cel.If(hadOne, had.Index(cel.Int(0)), emptyString)
	case w.u.Deduce:
		from = cel.If(from.Ne(emptyString), from, cel.If(hadOne, w.first(had), emptyString))
	}
	may := []cel.Expr{from.Eq(emptyString), from.Eq(to)}
	var rows []cel.MapEntry
	for _, from := range slices.Sorted(maps.Keys(w.u.Allowed)) {
		if to := w.u.Allowed[from]; len(to) > 0 {
			rows = append(rows, cel.String(from).Entry(cel.Strings(to...)))
		}
	}
	if len(rows) > 0 {
		may = append(may, to.In(cel.Map(rows...).OptionalAt(from).OrValue(emptyList)))
	}
	return cel.Or(may...)
}

// table is a map from the names of members with values to these values.
func (w writer) table(values func(union.Member) []string) cel.Expr {
	var l []cel.MapEntry
	for _, m := range w.u.Members {
		if v := values(m); len(v) > 0 {
			l = append(l, cel.String(m.Name).Entry(cel.Strings(v...)))
		}
	}
	return cel.Map(l...)
}

// first is the first value of the first member in a list of names.
func (w writer) first(list cel.Expr) cel.Expr {
	return w.table(valuesOf).Index(list.Index(cel.Int(0))).Index(cel.Int(0))
}

// held adds the absent objects that will contain an added member or discriminator. conditions has
// the condition of each addition.
func (w writer) held(conditions map[string]cel.Expr) []cel.Expr {
	var l []cel.Expr
	for _, holder := range w.u.Holders() {
		var within []cel.Expr
		for _, name := range w.u.Names() {
			path := w.u.Path(name).Properties()
			if c, ok := conditions[name]; ok && len(path) > len(holder) && slices.Equal(path[:len(holder)], holder) {
				within = append(within, c)
			}
		}
		if len(within) > 0 {
			absent := orNull(w.new.Optional(holder...)).Eq(cel.Null)
			l = append(l, listIf(cel.And(absent, cel.Or(within...)), addition(w.at.properties(holder).expr(), emptyObject)))
		}
	}
	return l
}

// kept restores the required members that the request left out.
func (w writer) kept() []cel.Expr {
	condition := func(m member) cel.Expr { return cel.And(w.value(w.new).In(m.values), m.isUnset, m.wasSet) }
	conditions := map[string]cel.Expr{} // by member
	for _, m := range w.members(union.Member.Required) {
		conditions[m.name] = condition(m)
	}
	if len(conditions) == 0 || !w.keeps() {
		return nil
	}
	return append(w.held(conditions), w.list(union.Member.Required, condition, func(m member) cel.Expr { return addition(m.path, m.was) }))
}

// set is the list of the names of the members that are set in an object.
func (w writer) set(object cel.Expr) cel.Expr {
	if w.u.Grouped() {
		return w.groups(object)
	}
	if w.simple() {
		return cel.Strings(w.u.MemberNames()...).Filter(memberName, isSet(object.OptionalAt(memberName)))
	}
	return cel.Add(cel.Each(w.u.Members, func(m union.Member) cel.Expr { return listIf(present(object, w.u, m), cel.String(m.Name)) })...)
}

// respectAdded clears the other members if exactly one member was added. With [union.KEP2019] it
// also sets the discriminator to the value of the added member, or of the only member.
func (w writer) respectAdded() cel.Expr {
	var patches cel.Expr
	switch {
	case w.opts.setsValue(w.u):
		only := cel.If(cel.Size(added).Eq(cel.Int(1)), added, set)
		patches = cel.Let(one, only, w.respectOne())
	case w.u.Discriminator != "":
		patches = w.respect(added, w.first(added), nil)
	default:
		patches = w.respect(added, added.Index(cel.Int(0)), nil)
	}
	return cel.Let(set, w.set(w.new), cel.Let(had, w.set(w.old), cel.Let(added, set.Filter(memberName, cel.Not(memberName.In(had))), patches)))
}

// respectOne clears all members except one, and sets the discriminator to its value.
func (w writer) respectOne() cel.Expr {
	value, first := w.value(w.new), w.first(one)
	to := cel.If(value.In(w.table(valuesOf).Index(one.Index(cel.Int(0)))), value, first)
	sets := value.Ne(to)
	conditions := []cel.Expr{
		cel.Or(set.Ne(had), w.changed()),
		// If the client unset the discriminator, the policy must not set the old value again.
		where(!w.opts.Unselected, cel.Or(value.Ne(emptyString), first.Ne(w.value(w.old)))),
	}
	setting := listIf(sets, addition(w.path(w.u.Discriminator), w.typed(first)))
	return w.respect(one, to, conditions, append(w.held(map[string]cel.Expr{w.u.Discriminator: sets}), setting)...)
}

// respect clears all members except the only name in chosen, and adds more patches. to is the new
// selection of the union.
func (w writer) respect(chosen, to cel.Expr, conditions []cel.Expr, more ...cel.Expr) cel.Expr {
	first := chosen.Index(cel.Int(0))
	if w.u.Grouped() {
		return w.respectGroup(chosen, first, to)
	}
	conditions = slices.Concat([]cel.Expr{cel.Size(chosen).Eq(cel.Int(1))}, conditions, []cel.Expr{
		where(!w.opts.Unselected, set.All(memberName, cel.Or(memberName.Eq(first), w.carried()))),
		where(w.u.Guarded(), w.allowed(to)),
	})
	removals := set.Filter(memberName, memberName.Ne(first)).Map(memberName, removal(w.at.element(w.escapedName()).expr()))
	return guarded(conditions, append([]cel.Expr{removals}, more...)...)
}

// equal tests whether two optionals have the same value. It treats absent and null as equal.
func equal(a, b cel.Expr) cel.Expr { return orNull(a).Eq(orNull(b)) }

// carried tests whether the member with the name memberName has its old value.
func (w writer) carried() cel.Expr {
	if w.direct() {
		return equal(w.new.OptionalAt(memberName), w.old.OptionalAt(memberName))
	}
	return cel.Or(cel.Each(w.u.Members, func(m union.Member) cel.Expr {
		return cel.And(memberName.Eq(cel.String(m.Name)), equal(read(w.new, w.u, m.Name), read(w.old, w.u, m.Name)))
	})...)
}

// escapedName is the end of the JSON pointer to the member with the name memberName.
func (w writer) escapedName() cel.Expr {
	if w.direct() {
		return escapeKey(memberName)
	}
	var l []cel.MapEntry
	for _, m := range w.u.Members {
		p := pointer{}.properties(w.u.Path(m.Name).Properties())
		l = append(l, cel.String(m.Name).Entry(cel.String(p.text[1:])))
	}
	return cel.Map(l...).Index(memberName)
}
