package product

import (
	"slices"

	"github.com/unioncel/unioncel/pkg/union"
)

// null returns a schema that accepts only null.
func null() node { return node{"type": "null"} }

// inline returns the branches of a union as restrictions. n is the schema of the union object.
func inline(u *union.Union, n node) []any {
	if u.OfItems() {
		return itemsInline(u, n)
	}
	return restrictions(u, n, branches(u, n))
}

// restrictions returns the given branches of a union as restrictions.
func restrictions(u *union.Union, n node, branches []branch) []any {
	discriminator, unset := schemaOf(n, u, u.Discriminator), fallbacks(n, u)
	var l []any
	for _, b := range branches {
		out := node{"title": b.title}
		if u.Discriminator != "" {
			needed := func(i int) bool { return b.needs(unset[i]) }
			holder, name := holderOf(out, n, u, u.Discriminator, !b.mayLack(u), needed)
			null := b.mayLack(u) && discriminator["nullable"] == true || discriminator[prunedNull] == true && !needed(len(unset)-1)
			properties(holder)[name] = discriminatorIs(u, b, null)
		}
		for _, i := range b.set {
			m := u.Members[i]
			holder, name := holderOf(out, n, u, m.Name, true, func(int) bool { return true })
			if s := isSet(m, schemaOf(n, u, m.Name)); len(s) > 0 {
				properties(holder)[name] = s
			}
		}
		for _, i := range b.clear {
			m := u.Members[i]
			holder, name := holderOf(out, n, u, m.Name, false, func(int) bool { return false })
			properties(holder)[name] = isClear(m, schemaOf(n, u, m.Name))
		}
		l = append(l, out)
	}
	return l
}

// itemsInline implements inline for a union of list items. A key with its default may be unset, and
// the default of items replaces null.
func itemsInline(u *union.Union, n node) []any {
	items, _ := n["items"].(node)
	contains := func(i int) any {
		keys, is := node{}, node{"type": []any{"object", "null"}}
		whole, replaced := items["default"].(node)
		for _, k := range u.Members[i].Item {
			value := property(items, k.Name)["default"]
			if keys[k.Name] = (node{"enum": []any{k.Value, nil}}); value != k.Value {
				keys[k.Name] = node{"const": k.Value}
				require(is, k.Name)
			}
			if v, ok := whole[k.Name]; ok {
				value = v
			}
			replaced = replaced && value == k.Value
		}
		if is["properties"] = keys; !replaced {
			is["type"] = "object"
		}
		return node{"contains": is}
	}
	var l []any
	for _, b := range branches(u, n) {
		out := node{"title": b.title}
		for _, i := range b.set { // the only set member
			out["contains"] = contains(i).(node)["contains"]
		}
		var others []any
		for _, i := range b.clear {
			others = append(others, contains(i))
		}
		if len(others) > 0 {
			out["not"] = node{"anyOf": others}
		}
		l = append(l, out)
	}
	return l
}

// schemaOf returns the schema of the discriminator or member with a name.
func schemaOf(n node, u *union.Union, name string) node { return u.Path(name).Value(n) }

// holderOf returns the schema, in a branch, of the object with a discriminator or member, and the
// name of the property in this object. It adds this schema if it is missing. n is the schema of the
// union object. needed decides whether an object on the path is required, by the number of objects
// before it. An object whose null is pruned may be null unless it is required. Any other object may
// be null unless set is set.
func holderOf(branch, n node, u *union.Union, name string, set bool, needed func(int) bool) (holder node, last string) {
	path := u.Path(name).Properties()
	for i, step := range path {
		if needed(i) {
			require(branch, step)
		}
		if i == len(path)-1 {
			break
		}
		if property(branch, step) == nil {
			properties(branch)[step] = node{}
		}
		branch, n = property(branch, step), property(n, step)
		if pruned := n[prunedNull] == true; pruned && needed(i) || !pruned && set {
			branch["type"] = "object"
		}
	}
	return branch, path[len(path)-1]
}

// mayLack reports whether the discriminator may be unset in a branch.
func (b branch) mayLack(u *union.Union) bool { return b.unset || u.Unset != "" && b.takes(u.Unset) }

// needs reports whether a branch requires the discriminator, or an object on the path to it,
// because the branch does not allow the fallback.
func (b branch) needs(fallback string) bool {
	return !b.takes(fallback) && !(b.unset && fallback == "")
}

// discriminatorIs returns the schema of the discriminator in a branch. If null is set, the schema
// also accepts null.
func discriminatorIs(u *union.Union, b branch, null bool) node {
	values := u.Type.Values(b.values)
	if len(b.others) > 0 {
		out := node{"type": u.Type.String()}
		others := slices.DeleteFunc(slices.Clone(b.others), func(v string) bool {
			return v == "" && (u.Type != union.StringValue || b.mayLack(u))
		})
		if len(others) > 0 {
			out["not"] = node{"enum": u.Type.Values(others)}
		}
		if null {
			out["type"] = []any{u.Type.String(), "null"}
		}
		return out
	}
	if u.Type == union.StringValue && b.mayLack(u) {
		values = append(values, "")
	}
	if null {
		values = append(values, nil)
	}
	if len(values) == 1 {
		return node{"const": values[0]}
	}
	return node{"enum": values}
}

// isSet returns the constraints that a set member adds to its schema s.
func isSet(m union.Member, s node) node {
	out := node{}
	switch m.Empty {
	case union.EmptyString:
		out["minLength"] = int64(1)
	case union.EmptyBoolean:
		out["enum"] = []any{true}
	case union.EmptyInteger, union.EmptyNumber:
		out["allOf"] = []any{node{"not": node{"enum": []any{int64(0)}}}}
	case union.EmptyCollection:
		out["minItems"], out["minProperties"] = int64(1), int64(1)
	case union.EmptyObject:
		var l []any
		for _, name := range m.Fields {
			field := node{"required": []any{name}}
			if nullIsUnset(property(s, name)) {
				field["properties"] = node{name: node{"not": null()}}
			}
			l = append(l, field)
		}
		out["anyOf"] = l
	}
	if t, ok := s["type"].(string); ok && nullIsUnset(s) {
		out["type"] = t
	} else if nullIsUnset(s) {
		out["not"] = null()
	}
	return out
}

// isClear returns the schema of an unset member with schema s. It is false if the member must be
// absent: editors show the error at the property.
func isClear(m union.Member, s node) any {
	switch {
	case m.Empty != union.PresentWhenEmpty:
		return node{"not": isSet(m, s)}
	case nullIsUnset(s):
		return null()
	}
	return false
}
