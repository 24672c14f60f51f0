package policy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/unioncel/unioncel/pkg/kinds"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// The objects of admission requests have no types for CEL: a property that is not there is
// read with .?, an absent one, a null and one of something that is null are all
// null by orValue(null), and names need no escaping.

// mutation writes the JSON patches for some unions of the union objects at one path of a kind.
type mutation struct {
	kinds.Object
	all  []*union.Union // of the objects
	opts Options
	*variables
}

// variables are those of a policy.
type variables []admissionv1.Variable

// declare adds a variable of this name, with a number if the name is taken, unless there is one
// with the same expression. It returns the expression that reads the variable.
func (v *variables) declare(name, expression string) string {
	if i := slices.IndexFunc(*v, func(x admissionv1.Variable) bool { return x.Expression == expression }); i >= 0 {
		return "variables." + (*v)[i].Name
	}
	base := name
	for i := 2; slices.ContainsFunc(*v, func(x admissionv1.Variable) bool { return x.Name == name }); i++ {
		name = fmt.Sprintf("%s%d", base, i)
	}
	*v = append(*v, admissionv1.Variable{Name: name, Expression: expression})
	return "variables." + name
}

// variableName makes a CEL identifier of the name of a property.
func variableName(property string) string {
	name := strings.NewReplacer("-", "_", ".", "_", "/", "_").Replace(property)
	if !identifier.MatchString(name) || reserved[name] {
		return "union"
	}
	return name
}

// oldName is the name of the variable for the old object, beside one for the new object.
func oldName(name string) string { return "old" + upper(name) }

func upper(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

var identifier = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// reserved are the words that CEL does not accept behind a dot.
var reserved = map[string]bool{"true": true, "false": true, "null": true, "in": true, "as": true, "break": true, "const": true, "continue": true, "else": true, "for": true, "function": true,
	"if": true, "import": true, "let": true, "loop": true, "package": true, "namespace": true, "return": true, "var": true, "void": true, "while": true}

// optional reads a property, which need not be there.
func optional(object, name string) string {
	if identifier.MatchString(name) && !reserved[name] {
		return object + ".?" + name
	}
	return object + "[?" + rules.Quote(name) + "]"
}

// property reads one property after the other.
func property(object string, names []string) string {
	for _, name := range names {
		object = optional(object, name)
	}
	return object
}

// read reads the discriminator or member of a name of a union object.
func read(object string, u *union.Union, name string) string {
	return property(object, u.Path(name).Properties())
}

// present tests whether a member of a union object is set.
func present(object string, u *union.Union, m union.Member) string {
	value := read(object, u, m.Name)
	switch m.Empty {
	case union.EmptyString:
		return value + ".orValue(null) != null && " + value + ".orValue('') != ''"
	case union.EmptyCollection:
		return value + ".orValue(null) != null && size(" + value + ".orValue([])) > 0"
	case union.EmptyObject:
		var fields []string
		for _, f := range m.Fields {
			fields = append(fields, optional(value, f)+".orValue(null) != null")
		}
		return "(" + strings.Join(fields, " || ") + ")"
	}
	return value + ".orValue(null) != null"
}

// pointer is a JSON pointer as a CEL expression: texts and expressions in turn.
type pointer []string

func (p pointer) property(name string) pointer {
	return p.text("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
}

func (p pointer) properties(names []string) pointer {
	for _, name := range names {
		p = p.property(name)
	}
	return p
}

func (p pointer) text(text string) pointer {
	p = append(pointer{}, p...)
	if len(p)%2 == 1 {
		p[len(p)-1] += text
		return p
	}
	return append(p, text)
}

func (p pointer) expression(e string) pointer { return append(p.text("/"), e) }

func (p pointer) String() string {
	var l []string
	for i, part := range p {
		if i%2 == 0 {
			part = rules.Quote(part)
		}
		l = append(l, part)
	}
	return strings.Join(l, " + ")
}

// expression is that of the mutation.
func (m *mutation) expression() string {
	names, _ := properties(m.Path)
	rest := m.Path[len(names):]
	new, before, at := "object", "oldObject", pointer{}
	for _, name := range names {
		new, before, at = optional(new, name), optional(before, name), at.property(name)
	}
	name := "objects"
	if len(names) > 0 {
		name = variableName(names[len(names)-1])
		zero := zeroOf(rest)
		new = m.declare(name, m.orZero(new, zero))
		before = m.declare(oldName(name), m.orZero(before, zero))
	}
	return m.walk(rest, level{name: name}, new, before, at, "")
}

// zeroOf is the zero value of what the rest of a path goes through: a list, or else an object.
func zeroOf(rest schemapath.Path) string {
	if len(rest) > 0 && rest[0] == schemapath.Items {
		return "[]"
	}
	return "{}"
}

// orZero is the value of an optional, or else a zero value.
func (m *mutation) orZero(value, zero string) string {
	value += ".orValue(" + zero + ")"
	if m.Nullable {
		return nonNull(value, zero)
	}
	return value
}

// nonNull is a value, or else a zero value if it is null.
func nonNull(value, zero string) string {
	return "optional.ofNonZeroValue(" + value + ").orValue(" + zero + ")"
}

// level is how deep in lists and maps an expression is.
type level struct {
	depth, lists int    // how many lists and maps, and how many lists, are behind it
	name         string // of a variable, after the property behind it
}

// in is what a variable of a comprehension is called at this level.
func (l level) in(name string) string {
	return numbered(name, l.depth)
}

// walk writes the patches of the union objects along the rest of a path. new and old are
// expressions of the value; indent is how far it is indented.
func (m *mutation) walk(path schemapath.Path, l level, new, old string, at pointer, indent string) string {
	if len(path) == 0 {
		return m.patches(new, old, at, indent)
	}
	if name, ok := path[0].Property(); ok {
		zero := zeroOf(path[1:])
		l.name = variableName(name)
		return m.walk(path[1:], l, m.orZero(optional(new, name), zero), m.orZero(optional(old, name), zero), at.property(name), indent)
	}
	// What is read more than once has a name.
	return m.let(l, l.name, new, indent, func(new, indent string) string {
		return m.let(l, oldName(l.name), old, indent, func(old, indent string) string {
			return m.elements(path, l, new, old, at, indent)
		})
	})
}

// let gives a value a name, unless it is short: with nothing around, that of a variable of the
// policy.
func (m *mutation) let(l level, name, value, indent string, body func(value, indent string) string) string {
	if !strings.ContainsAny(value, "( ") {
		return body(value, indent)
	}
	if l.depth == 0 {
		return body(m.declare(name, value), indent)
	}
	name = l.in(name)
	if strings.Contains(value, "\n") {
		value = "\n" + indent + "  " + value
	}
	return fmt.Sprintf("[dyn(%s)].map(%s,\n%s  %s)[0]", value, name, indent, body(name, indent+"  "))
}

// elements is walk for the elements of a list or map.
func (m *mutation) elements(path schemapath.Path, l level, new, old string, at pointer, indent string) string {
	item, was, key, index := l.in("item"), l.in("was"), l.in("key"), l.in("i")
	inner := l
	inner.depth++
	walk := func(at pointer, indent string) string {
		new, old := item, was
		if m.Nullable && len(path) > 1 {
			if _, ok := path[1].Property(); !ok { // a list or map itself; walk reads properties without nulls
				zero := zeroOf(path[1:])
				new, old = nonNull(new, zero), nonNull(old, zero)
			}
		}
		return m.walk(path[1:], inner, new, old, at, indent+"    ")
	}
	if path[0] == schemapath.Values {
		return each(new, key, item, fmt.Sprintf("%s[?%s].orValue({})", old, key), was, walk(at.expression("jsonpatch.escapeKey("+key+")"), indent), indent)
	}
	inner.lists++
	list := func(value, indent string) string {
		return each(new, index, item, value, was, walk(at.expression("string("+index+")"), indent), indent)
	}
	if l.lists < len(m.Keys) && m.Keys[l.lists] != nil {
		return m.let(l, oldName(l.name)+"Keys", fmt.Sprintf("%s.map(o, %s)", old, keyOf(m.Keys[l.lists], "o")), indent, func(keys, indent string) string {
			// To look where the item was first keeps the cost of long lists linear.
			key := keyOf(m.Keys[l.lists], item)
			found := fmt.Sprintf("%s[?\n%s    %s < size(%s) && %s[%s] == %s ? %s :\n%s    %s.indexOf(%s)\n%s  ].orValue({})", old, indent, index, keys, keys, index, key, index, indent, keys, key, indent)
			return list(found, indent)
		})
	}
	// Without keys, an item is the one with its index if nothing has moved.
	more := indent
	if l.depth > 0 {
		more += "  "
	}
	same := m.without(path, new, 0, 0, more) + " ==\n" + more + m.without(path, old, 0, 0, more)
	return m.let(l, "same"+upper(l.name), same, indent, func(same, indent string) string {
		text := list(fmt.Sprintf("%s ? %s[%s] : {}", same, old, index), indent)
		if slices.ContainsFunc(m.Unions, m.opts.setsValue) { // moved items are left alone
			text = fmt.Sprintf("size(%s) > 0 && !%s ? [] :\n%s%s", old, same, indent, text)
		}
		return text
	})
}

// each is a list of what is made of each element of a list or map, and of what it was.
func each(list, index, item, old, was, body, indent string) string {
	return fmt.Sprintf("%s.transformList(%s, %s,\n%s  [dyn(%s)].map(%s,\n%s    %s)[0]\n%s).flatten()", list, index, item, indent, old, was, indent, body, indent)
}

// keyOf is what tells the items of a list apart.
func keyOf(keys []string, item string) string {
	if len(keys) == 1 {
		return optional(item, keys[0]) + ".orValue('')"
	}
	var l []string
	for _, key := range keys {
		l = append(l, optional(item, key))
	}
	return "[" + strings.Join(l, ", ") + "]"
}

// without is a value without what the unions at the end of a path read. maps and lists are
// how many it is in, for which it has variables.
func (m *mutation) without(path schemapath.Path, value string, maps, lists int, indent string) string {
	k, v, o := numbered("k", maps), numbered("v", maps), numbered("o", lists)
	if len(path) == 0 {
		return m.withoutNames(nil, value, maps, indent)
	}
	if name, ok := path[0].Property(); ok {
		is := k + " == " + rules.Quote(name)
		if m.Nullable {
			is += " && " + v + " != null"
		}
		return fmt.Sprintf("%s.transformMap(%s, %s, %s ?\n%s  dyn(%s) : %s)", value, k, v, is, indent, m.without(path[1:], v, maps+1, lists, indent+"  "), v)
	}
	if path[0] == schemapath.Values {
		return fmt.Sprintf("%s.transformMap(%s, %s, %s)", value, k, v, m.unlessNull(v, m.without(path[1:], v, maps+1, lists, indent)))
	}
	return fmt.Sprintf("%s.map(%s, %s)", value, o, m.unlessNull(o, m.without(path[1:], o, maps, lists+1, indent)))
}

// unlessNull is what is made of an element of a list or map, or null where that is null.
func (m *mutation) unlessNull(element, made string) string {
	if m.Nullable {
		return element + " != null ? dyn(" + made + ") : " + element
	}
	return made
}

// withoutNames is an object that properties lead to from the union object without what the
// unions read.
func (m *mutation) withoutNames(in []string, value string, maps int, indent string) string {
	k, v := numbered("k", maps), numbered("v", maps)
	var names []string
	var holders [][]string
	for _, u := range m.all {
		for _, name := range u.Names() {
			if path := u.Path(name).Properties(); len(path) == len(in)+1 && slices.Equal(path[:len(in)], in) {
				names = append(names, path[len(in)])
			}
		}
		for _, h := range u.Holders() {
			if len(h) == len(in)+1 && slices.Equal(h[:len(in)], in) && !slices.ContainsFunc(holders, func(o []string) bool { return slices.Equal(o, h) }) {
				holders = append(holders, h)
			}
		}
	}
	rest := v
	for _, h := range holders {
		rest = fmt.Sprintf("%s == %s && %s != null ?\n%s  dyn(%s) : %s", k, rules.Quote(h[len(in)]), v, indent, m.withoutNames(h, v, maps+1, indent+"  "), rest)
	}
	return fmt.Sprintf("%s.transformMap(%s, %s, !(%s in %s), %s)", value, k, v, k, rules.List(names), rest)
}

// numbered is the name of a variable with so many around it.
func numbered(name string, around int) string {
	if around == 0 {
		return name
	}
	return fmt.Sprint(name, around+1)
}

// patches are those for one union object.
func (m *mutation) patches(new, old string, at pointer, indent string) string {
	var l []string
	for _, u := range m.Unions {
		l = append(l, writer{u, m.opts, m.Nullable, new, old, at, indent}.patches())
	}
	return strings.Join(l, " +\n"+indent)
}
