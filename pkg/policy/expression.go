package policy

import (
	"fmt"
	"slices"
	"strings"

	admissionv1 "k8s.io/api/admissionregistration/v1"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Objects of admission requests have no types in CEL. Expressions read optional properties with .?,
// which needs no escaped names. With orValue(null), the result is null if the property or its
// object is absent or null.

// optional is the CEL namespace of the functions that return optionals.
var optional = cel.Var("optional")

var (
	emptyString = cel.String("")
	emptyList   = cel.List()
	emptyObject = cel.Map()
)

// mutation writes the JSON patches for unions of the union objects at one path of a kind.
type mutation struct {
	union.Instances
	all  []*union.Union // all unions of the objects
	opts Options
	*variables
}

type variables []admissionv1.Variable

// declare returns a variable of the given value. It reuses a variable with the same value, and
// appends a number to a name that is taken.
func (v *variables) declare(name string, value cel.Expr) cel.Expr {
	text := value.Layout()
	if i := slices.IndexFunc(*v, func(x admissionv1.Variable) bool { return x.Expression == text }); i >= 0 {
		return cel.Var("variables." + (*v)[i].Name)
	}
	base := name
	for i := 2; slices.ContainsFunc(*v, func(x admissionv1.Variable) bool { return x.Name == name }); i++ {
		name = fmt.Sprintf("%s%d", base, i)
	}
	*v = append(*v, admissionv1.Variable{Name: name, Expression: text})
	return cel.Var("variables." + name)
}

// variableName returns a CEL identifier for the name of a property.
func variableName(property string) string {
	name := strings.NewReplacer("-", "_", ".", "_", "/", "_").Replace(property)
	if !cel.IsIdentifier(name) {
		return "union"
	}
	return name
}

// oldName returns the name of the variable for the old value, given the name for the new value.
func oldName(name string) string { return "old" + upper(name) }

func upper(name string) string { return strings.ToUpper(name[:1]) + name[1:] }

// read reads the discriminator or member with the given name from a union object. Both the object
// and the result are optionals.
func read(object cel.Expr, u *union.Union, name string) cel.Expr {
	return object.Optional(u.Path(name).Properties()...)
}

// orNull returns the value of an optional, or null.
func orNull(value cel.Expr) cel.Expr { return value.OrValue(cel.Null) }

// isSet tests whether an optional has a value other than null.
func isSet(value cel.Expr) cel.Expr { return orNull(value).Ne(cel.Null) }

// present tests whether a member of a union object is set.
func present(object cel.Expr, u *union.Union, m union.Member) cel.Expr {
	value := read(object, u, m.Name)
	switch m.Empty {
	case union.EmptyString:
		return cel.And(isSet(value), value.OrValue(emptyString).Ne(emptyString))
	case union.EmptyBoolean:
		return cel.And(isSet(value), value.OrValue(cel.False).Ne(cel.False))
	case union.EmptyInteger, union.EmptyNumber:
		return cel.And(isSet(value), value.OrValue(cel.Int(0)).Ne(cel.Int(0)))
	case union.EmptyCollection:
		return cel.And(isSet(value), cel.Size(value.OrValue(emptyList)).Gt(cel.Int(0)))
	case union.EmptyObject:
		return cel.Or(cel.Each(m.Fields, func(f string) cel.Expr { return isSet(value.Optional(f)) })...)
	}
	return isSet(value)
}

// pointer is a JSON pointer: a sum of expressions, followed by a text.
type pointer struct {
	sum  []cel.Expr
	text string
}

func (p pointer) property(name string) pointer {
	p.text += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	return p
}

func (p pointer) properties(names []string) pointer {
	for _, name := range names {
		p = p.property(name)
	}
	return p
}

// element appends the key or index of a map entry or list item. The key is a string expression.
func (p pointer) element(key cel.Expr) pointer {
	return pointer{sum: append(slices.Clip(p.sum), cel.String(p.text+"/"), key)}
}

func (p pointer) expr() cel.Expr {
	if p.text == "" {
		return cel.Add(p.sum...)
	}
	return cel.Add(append(slices.Clip(p.sum), cel.String(p.text))...)
}

func (m *mutation) expression() string {
	names, _ := properties(m.Path)
	rest := m.Path[len(names):]
	new, old, name := cel.Var("object"), cel.Var("oldObject"), "objects"
	exists := cel.True
	if len(names) > 0 {
		exists = isSet(new.Optional(names...))
		name = variableName(names[len(names)-1])
		zero := zeroOf(rest)
		new = m.declare(name, m.orZero(new.Optional(names...), zero))
		old = m.declare(oldName(name), m.orZero(old.Optional(names...), zero))
	}
	return m.walk(rest, level{name: name}, new, old, exists, pointer{}.properties(names)).Layout()
}

// zeroOf returns the empty list if path rest starts at a list, and otherwise the empty object.
func zeroOf(rest schemapath.Path) cel.Expr {
	if len(rest) > 0 && rest[0] == schemapath.Items {
		return emptyList
	}
	return emptyObject
}

// orZero returns the value of an optional, or zero if it is absent or, if nullable, null.
func (m *mutation) orZero(value, zero cel.Expr) cel.Expr {
	value = value.OrValue(zero)
	if m.Nullable {
		return nonNull(value, zero)
	}
	return value
}

// nonNull returns value, or zero if value is null.
func nonNull(value, zero cel.Expr) cel.Expr {
	return optional.Call("ofNonZeroValue", value).OrValue(zero)
}

// level describes the lists and maps around an expression.
type level struct {
	depth, lists int    // depth counts lists and maps, lists only the lists
	name         string // a variable name for the last property
}

// variable returns the variable of a comprehension at this level.
func (l level) variable(name string) cel.Expr { return numbered(name, l.depth) }

// walk returns the patches of the union objects at path, the rest of a path. exists tests whether
// the object has a value for new.
func (m *mutation) walk(path schemapath.Path, l level, new, old, exists cel.Expr, at pointer) cel.Expr {
	if len(path) == 0 {
		return m.patches(new, old, exists, at)
	}
	if name, ok := path[0].Property(); ok {
		zero := zeroOf(path[1:])
		l.name = variableName(name)
		return m.walk(path[1:], l, m.orZero(new.Optional(name), zero), m.orZero(old.Optional(name), zero), isSet(new.Optional(name)), at.property(name))
	}
	return m.named(l, l.name, new, func(new cel.Expr) cel.Expr {
		return m.named(l, oldName(l.name), old, func(old cel.Expr) cel.Expr {
			return m.elements(path, l, new, old, at)
		})
	})
}

// named binds a value that an expression reads more than once to a name. Outside of comprehensions,
// the name is a variable of the policy.
func (m *mutation) named(l level, name string, value cel.Expr, in func(value cel.Expr) cel.Expr) cel.Expr {
	switch {
	case value.IsName():
		return in(value)
	case l.depth == 0:
		return in(m.declare(name, value))
	}
	v := l.variable(name)
	return cel.Let(v, cel.Dyn(value), in(v))
}

// elements is walk for the elements of a list or map.
func (m *mutation) elements(path schemapath.Path, l level, new, old cel.Expr, at pointer) cel.Expr {
	item, was := l.variable("item"), l.variable("was")
	inner := level{l.depth + 1, l.lists, l.name}
	list := func(key, before cel.Expr, at pointer) cel.Expr {
		patches := m.element(path[1:], inner, item, was, at)
		return new.TransformList(key, item, cel.Let(was, cel.Dyn(before), patches)).Call("flatten")
	}
	if path[0] == schemapath.Values {
		key := l.variable("key")
		return list(key, old.OptionalAt(key).OrValue(emptyObject), at.element(escapeKey(key)))
	}
	inner.lists++
	index := l.variable("i")
	at = at.element(cel.Func("string", index))
	if l.lists < len(m.Keys) && m.Keys[l.lists] != nil {
		keyOf := func(item cel.Expr) cel.Expr { return keyOf(m.Keys[l.lists], item) }
		return m.named(l, oldName(l.name)+"Keys", old.Map(each, keyOf(each)), func(keys cel.Expr) cel.Expr {
			return list(index, old.OptionalAt(indexIn(keys, keyOf(item), index)).OrValue(emptyObject), at)
		})
	}
	// Without keys, items are matched by index. This needs the same items in the same order.
	same := m.stripped(path, new, 0, 0).Eq(m.stripped(path, old, 0, 0))
	return m.named(l, "same"+upper(l.name), same, func(same cel.Expr) cel.Expr {
		patches := list(index, cel.If(same, old.Index(index), emptyObject), at)
		if slices.ContainsFunc(m.Unions, m.opts.setsValue) { // leave moved items unchanged
			return cel.If(cel.And(cel.Size(old).Gt(cel.Int(0)), cel.Not(same)), emptyList, patches)
		}
		return patches
	})
}

// element is walk for an element of a list or map. An element that is a list or map itself may be
// null; walk replaces null only in properties.
func (m *mutation) element(path schemapath.Path, l level, new, old cel.Expr, at pointer) cel.Expr {
	exists := where(m.Nullable, new.Ne(cel.Null))
	if m.Nullable && len(path) > 0 {
		if _, ok := path[0].Property(); !ok {
			zero := zeroOf(path)
			new, old = nonNull(new, zero), nonNull(old, zero)
		}
	}
	return m.walk(path, l, new, old, exists, at)
}

func escapeKey(key cel.Expr) cel.Expr { return cel.Var("jsonpatch").Call("escapeKey", key) }

// indexIn returns the index of a key in a list of keys. It first tries index, the index of the new
// item: this keeps the cost of long lists linear.
func indexIn(keys, key, index cel.Expr) cel.Expr {
	there := cel.And(index.Lt(cel.Size(keys)), keys.Index(index).Eq(key))
	return cel.If(there, index, keys.Call("indexOf", key))
}

func keyOf(keys []string, item cel.Expr) cel.Expr {
	if len(keys) == 1 {
		return item.Optional(keys[0]).OrValue(emptyString)
	}
	return cel.List(cel.Each(keys, func(key string) cel.Expr { return item.Optional(key) })...)
}

// stripped returns a value without the properties of the unions at the end of path. maps and lists
// count the enclosing comprehensions, which determine the names of free variables.
func (m *mutation) stripped(path schemapath.Path, value cel.Expr, maps, lists int) cel.Expr {
	if len(path) == 0 {
		return m.withoutNames(nil, value, maps)
	}
	k, v, o := numbered("k", maps), numbered("v", maps), numbered("o", lists)
	if name, ok := path[0].Property(); ok {
		is := k.Eq(cel.String(name))
		if m.Nullable {
			is = cel.And(is, v.Ne(cel.Null))
		}
		return value.TransformMap(k, v, cel.If(is, cel.Dyn(m.stripped(path[1:], v, maps+1, lists)), v))
	}
	if path[0] == schemapath.Values {
		return value.TransformMap(k, v, m.unlessNull(v, m.stripped(path[1:], v, maps+1, lists)))
	}
	return value.Map(o, m.unlessNull(o, m.stripped(path[1:], o, maps, lists+1)))
}

// unlessNull returns replacement, or null for an element that is null.
func (m *mutation) unlessNull(element, replacement cel.Expr) cel.Expr {
	if m.Nullable {
		return cel.If(element.Ne(cel.Null), cel.Dyn(replacement), element)
	}
	return replacement
}

// withoutNames is stripped for a union object or, at the path in, for an object nested in it.
func (m *mutation) withoutNames(in []string, value cel.Expr, maps int) cel.Expr {
	k, v := numbered("k", maps), numbered("v", maps)
	var names []string
	var holders [][]string
	for _, u := range m.all {
		for _, name := range u.Names() {
			if path := u.Path(name).Properties(); directlyIn(in, path) {
				names = append(names, path[len(in)])
			}
		}
		for _, h := range u.Holders() {
			if directlyIn(in, h) && !slices.ContainsFunc(holders, func(o []string) bool { return slices.Equal(o, h) }) {
				holders = append(holders, h)
			}
		}
	}
	rest := v
	for _, h := range holders {
		is := cel.And(k.Eq(cel.String(h[len(in)])), v.Ne(cel.Null))
		rest = cel.If(is, cel.Dyn(m.withoutNames(h, v, maps+1)), rest)
	}
	return value.TransformMap(k, v, cel.Not(k.In(cel.Strings(names...))), rest)
}

// directlyIn reports whether path is a property of the object at path in.
func directlyIn(in, path []string) bool {
	return len(path) == len(in)+1 && slices.Equal(path[:len(in)], in)
}

// numbered returns a variable whose name differs from the variables of the given number of
// enclosing comprehensions.
func numbered(name string, around int) cel.Expr {
	if around > 0 {
		name = fmt.Sprint(name, around+1)
	}
	return cel.Var(name)
}

func (m *mutation) patches(new, old, exists cel.Expr, at pointer) cel.Expr {
	return cel.Add(cel.Each(m.Unions, func(u *union.Union) cel.Expr { return writer{u, m.opts, m.Nullable, new, old, exists, at}.patches() })...)
}
