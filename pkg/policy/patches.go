package policy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// writer writes the patches for one union of one object, those of [union.Union.Normalize].
type writer struct {
	u        *union.Union
	opts     Options
	nullable bool
	new, old string
	at       pointer
	indent   string
}

func (w writer) in(more string) writer {
	w.indent += more
	return w
}

// value is the discriminator's, empty when it is unset.
func (w writer) value(object string) string {
	v := read(object, w.u, w.u.Discriminator) + ".orValue('')"
	if w.nullable {
		return nonNull(v, "''")
	}
	return v
}

func (w writer) patches() string {
	u := w.u
	switch {
	case u.Discriminator == "":
		return w.respectAdded()
	case w.opts.setsValue(u):
		return w.choose(w.value(w.new) + " != '' && " + w.changed())
	case u.Deduce:
		return w.choose(w.value(w.new) + " != ''")
	}
	return w.respectValue()
}

// choose goes by the discriminator under a condition, and otherwise by the member that was added.
func (w writer) choose(byValue string) string {
	in := w.in("  ")
	return "(" + byValue + " ?\n" + in.indent + in.respectValue() + " :\n" + in.indent + in.respectAdded() + ")"
}

// changed is the condition that the discriminator has another value than before.
func (w writer) changed() string { return w.value(w.new) + " != " + w.value(w.old) }

// direct reports whether all members are properties of the union object itself.
func (w writer) direct() bool {
	return !slices.ContainsFunc(w.u.Members, func(m union.Member) bool { _, below := w.u.Paths[m.Name]; return below })
}

// simple reports whether members are, besides, set whenever they are not null, and their
// names need no escaping in a pointer.
func (w writer) simple() bool {
	return w.direct() && !slices.ContainsFunc(w.u.Members, func(m union.Member) bool {
		return m.Empty != union.PresentWhenEmpty || strings.ContainsAny(m.Name, "~/")
	})
}

// member has the expressions about one member.
type member struct {
	name     string
	values   string // some of those that select it
	new, old string // optional values
	was      string // the old value, which is there
	isSet    string
	isUnset  string
	wasSet   string
	path     pointer
}

// members are those that have some values.
func (w writer) members(values func(union.Member) []string) []member {
	var l []member
	for _, m := range w.u.Members {
		if v := values(m); len(v) > 0 {
			old := read(w.old, w.u, m.Name)
			l = append(l, member{
				name: m.Name, values: rules.List(v), new: read(w.new, w.u, m.Name), old: old, was: old + ".value()", path: w.at.properties(w.u.Path(m.Name).Properties()),
				isSet: present(w.new, w.u, m), isUnset: "!(" + present(w.new, w.u, m) + ")", wasSet: present(w.old, w.u, m),
			})
		}
	}
	return l
}

// each returns the members that have some values. Simple ones are a single member of variables, m
// and values, in a comprehension over the returned table.
func (w writer) each(values func(union.Member) []string) (table string, l []member) {
	if l = w.members(values); !w.simple() || len(l) == 0 {
		return "", l
	}
	return w.table(values), []member{{
		values: "values", new: w.new + "[?m]", old: w.old + "[?m]", was: w.old + "[m]",
		isSet: w.new + "[?m].orValue(null) != null", isUnset: w.new + "[?m].orValue(null) == null", wasSet: w.old + "[?m].orValue(null) != null", path: w.at.expression("m"),
	}}
}

// all is a condition on each member that has some values, empty if there is none.
func (w writer) all(values func(union.Member) []string, holds func(member) string) string {
	table, members := w.each(values)
	var l []string
	for _, m := range members {
		l = append(l, "("+holds(m)+")")
	}
	if table != "" {
		return table + ".all(m, values, " + holds(members[0]) + ")"
	}
	return strings.Join(l, " && ")
}

// list has a patch, under a condition, for each member that has some values.
func (w writer) list(values func(union.Member) []string, condition, patch func(member) string) string {
	table, members := w.each(values)
	var l []string
	for _, m := range members {
		if table != "" {
			return fmt.Sprintf("%s.transformList(m, values,\n%s  %s,\n%s  %s)", table, w.indent, condition(m), w.indent, patch(m))
		}
		l = append(l, fmt.Sprintf("(%s ? [%s] : [])", condition(m), patch(m)))
	}
	return strings.Join(l, " +\n"+w.indent)
}

func valuesOf(m union.Member) []string { return m.Values }

func removal(path pointer) string { return "JSONPatch{op: 'remove', path: " + path.String() + "}" }

// under is a list of patches, or none when one of the conditions does not hold.
func (w writer) under(conditions []string, patches func(w writer) string) string {
	conditions = slices.DeleteFunc(conditions, func(c string) bool { return c == "" })
	if len(conditions) == 0 {
		return patches(w)
	}
	in := w.in("  ")
	return "(" + strings.Join(conditions, " &&\n"+in.indent) + " ?\n" + in.indent + patches(in) + " : [])"
}

// respectValue clears the members that the discriminator does not select and, with [Unselected],
// adds those that it requires and the request left out.
func (w writer) respectValue() string {
	value := w.value(w.new)
	keeps := w.opts.Unselected && !w.opts.setsValue(w.u)
	var conditions []string
	if w.u.Cardinality == union.ExactlyOne {
		conditions = append(conditions, value+" != ''")
	}
	switch {
	case w.opts.setsValue(w.u): // it has changed
	case w.opts.Unselected:
		conditions = append(conditions, "("+w.changed()+" ||\n"+w.indent+"    "+w.set(w.new, w.indent+"    ")+" != "+w.set(w.old, w.indent+"    ")+")")
	default:
		conditions = append(conditions, w.changed())
	}
	conditions = append(conditions, w.all(union.Member.Required, func(m member) string {
		c := "!(" + value + " in " + m.values + ") || " + m.isSet
		if keeps {
			c += " || " + m.wasSet
		}
		return c
	}))
	if !w.opts.Unselected {
		conditions = append(conditions, w.all(valuesOf, func(m member) string {
			return value + " in " + m.values + " || " + m.isUnset + " || " + m.new + ".orValue(null) == " + m.old + ".orValue(null)"
		}))
	}
	if w.u.ForbidUnmapped {
		conditions = append(conditions, value+" in "+rules.List(append([]string{""}, w.u.MemberValues()...)))
	}
	if w.u.Guarded() {
		allowed := w.allowed(value)
		if w.u.Deduce {
			allowed = "[" + w.set(w.old, w.indent+"  ") + "].map(had, " + allowed + ")[0]"
		}
		conditions = append(conditions, allowed)
	}
	return w.under(conditions, func(w writer) string {
		patches := w.list(valuesOf, func(m member) string { return m.isSet + " && !(" + value + " in " + m.values + ")" }, func(m member) string { return removal(m.path) })
		if keeps {
			patches += w.plusKept()
		}
		return patches
	})
}

// allowed is the condition that the union may change from its old selection, for which had is
// the list of members that were set, to another one.
func (w writer) allowed(to string) string {
	from := w.value(w.old)
	switch {
	case w.u.Discriminator == "":
		from = "(size(had) == 1 ? had[0] : '')"
	case w.u.Deduce:
		from = "(" + from + " != '' ? " + from + " : size(had) == 1 ? " + w.first("had") + " : '')"
	}
	c := from + " == '' || " + from + " == " + to
	var rows []string
	for _, from := range slices.Sorted(maps.Keys(w.u.Allowed)) {
		if to := w.u.Allowed[from]; len(to) > 0 {
			rows = append(rows, rules.Quote(from)+": "+rules.List(to))
		}
	}
	if len(rows) == 0 {
		return "(" + c + ")"
	}
	return "(" + c + " || " + to + " in {" + strings.Join(rows, ", ") + "}[?" + from + "].orValue([]))"
}

// table is a map literal from members to values, of those that have some.
func (w writer) table(values func(union.Member) []string) string {
	var l []string
	for _, m := range w.u.Members {
		if v := values(m); len(v) > 0 {
			l = append(l, rules.Quote(m.Name)+": "+rules.List(v))
		}
	}
	return "{" + strings.Join(l, ", ") + "}"
}

// first is the first value of the first member in a list.
func (w writer) first(list string) string { return w.table(valuesOf) + "[" + list + "[0]][0]" }

// held adds absent objects in which members or the discriminator are added. The conditions are by
// their names in the union.
func (w writer) held(added map[string]string) string {
	var b strings.Builder
	for _, holder := range w.u.Holders() {
		var conditions []string
		for _, name := range w.u.Names() {
			path := w.u.Path(name).Properties()
			if c, ok := added[name]; ok && len(path) > len(holder) && slices.Equal(path[:len(holder)], holder) {
				conditions = append(conditions, "("+c+")")
			}
		}
		if len(conditions) > 0 {
			fmt.Fprintf(&b, " +\n%s(%s.orValue(null) == null && (%s) ? [JSONPatch{op: 'add', path: %s, value: {}}] : [])",
				w.indent, property(w.new, holder), strings.Join(conditions, " || "), w.at.properties(holder))
		}
	}
	return b.String()
}

// plusKept adds the members that the discriminator requires, where they were left out.
func (w writer) plusKept() string {
	kept := func(m member) string {
		return w.value(w.new) + " in " + m.values + " && " + m.isUnset + " && " + m.wasSet
	}
	added := map[string]string{} // the conditions, by member
	for _, m := range w.members(union.Member.Required) {
		added[m.name] = kept(m)
	}
	if len(added) == 0 {
		return ""
	}
	return w.held(added) + " +\n" + w.indent + w.list(union.Member.Required, kept, func(m member) string {
		return "JSONPatch{op: 'add', path: " + m.path.String() + ", value: " + m.was + "}"
	})
}

// set is a list of the names of the members that are set in an object.
func (w writer) set(object, indent string) string {
	if w.simple() {
		return fmt.Sprintf("%s.filter(m, %s[?m].orValue(null) != null)", rules.List(w.u.MemberNames()), object)
	}
	var l []string
	for _, m := range w.u.Members {
		l = append(l, fmt.Sprintf("(%s ? [%s] : [])", present(object, w.u, m), rules.Quote(m.Name)))
	}
	return "(\n" + indent + "  " + strings.Join(l, " +\n"+indent+"  ") + ")"
}

// respectAdded clears the other members when one was added to them. With [union.KEP2019] it sets
// the discriminator to the value of that member, or of the only one.
func (w writer) respectAdded() string {
	in := w.in("    ")
	text := fmt.Sprintf("[%s].map(set,\n%s  [%s].map(had, [set.filter(m, !(m in had))].map(added,\n%s",
		w.set(w.new, w.indent), w.indent, w.set(w.old, w.indent+"  "), in.indent)
	if !w.opts.setsValue(w.u) {
		to := "added[0]"
		if w.u.Discriminator != "" {
			to = w.first("added")
		}
		return text + in.respect("added", to, "", "") + ")[0])[0])[0]"
	}
	to := fmt.Sprintf("(%s in %s[one[0]] ? %s : %s)", w.value(w.new), w.table(valuesOf), w.value(w.new), w.first("one"))
	sets := fmt.Sprintf("%s != %s", w.value(w.new), to)
	in = in.in("  ")
	value := in.held(map[string]string{w.u.Discriminator: sets}) + " +\n" + in.indent +
		fmt.Sprintf("  (%s ? [JSONPatch{op: 'add', path: %s, value: %s}] : [])", sets, w.at.properties(w.u.Path(w.u.Discriminator).Properties()), w.first("one"))
	condition := "(set != had || " + w.changed() + ")"
	if !w.opts.Unselected { // a client that unset the discriminator does not get the same again
		condition += fmt.Sprintf(" &&\n%s  (%s != '' || %s != %s)", in.indent, w.value(w.new), w.first("one"), w.value(w.old))
	}
	return text + "[size(added) == 1 ? added : set].map(one,\n" + in.indent + in.respect("one", to, condition, value) + ")[0])[0])[0])[0]"
}

// respect clears all members but that in the list called one, under conditions, and does more. The
// union changes to the selection to.
func (w writer) respect(one, to, condition, more string) string {
	conditions := []string{"size(" + one + ") == 1", condition}
	if !w.opts.Unselected {
		conditions = append(conditions, fmt.Sprintf("set.all(m, m == %s[0] || %s)", one, w.carried()))
	}
	if w.u.Guarded() {
		conditions = append(conditions, w.allowed(to))
	}
	return w.under(conditions, func(w writer) string {
		return fmt.Sprintf("set.filter(m, m != %s[0]).map(m, %s)%s", one, removal(w.at.expression(w.escaped("m"))), more)
	})
}

// carried is the condition that the member m has the old value.
func (w writer) carried() string {
	if w.direct() {
		return w.new + "[?m].orValue(null) == " + w.old + "[?m].orValue(null)"
	}
	var l []string
	for _, m := range w.u.Members {
		l = append(l, fmt.Sprintf("m == %s && %s.orValue(null) == %s.orValue(null)", rules.Quote(m.Name), read(w.new, w.u, m.Name), read(w.old, w.u, m.Name)))
	}
	return strings.Join(l, " || ")
}

// escaped is the end of the pointer to a member whose name is an expression.
func (w writer) escaped(name string) string {
	if w.direct() {
		return "jsonpatch.escapeKey(" + name + ")"
	}
	var l []string
	for _, m := range w.u.Members {
		p := pointer{}.properties(w.u.Path(m.Name).Properties())
		l = append(l, rules.Quote(m.Name)+": "+rules.Quote(p[0][1:]))
	}
	return "{" + strings.Join(l, ", ") + "}[" + name + "]"
}
