package clientschema

import (
	"github.com/unioncel/unioncel/pkg/union"
)

// dialect is one of the two ways in which schemas are written.
type dialect int

const (
	jsonSchema dialect = iota + 1
	openAPI
)

// null is the schema of null.
func (d dialect) null() node {
	if d == openAPI {
		return node{"nullable": true, "enum": []any{nil}}
	}
	return node{"type": "null"}
}

// inline are the branches of a union as what they restrict. n is the schema of the union
// object.
func inline(u *union.Union, n node, d dialect) []any {
	if u.OfItems() {
		return itemsInline(u, n)
	}
	discriminator, unset := at(n, u, u.Discriminator), fallbacks(n, u)
	var l []any
	for _, b := range branches(u, n) {
		out := node{"title": b.title}
		if u.Discriminator != "" {
			holder, name := within(out, u, u.Discriminator, !b.unset, func(i int) bool { return b.demands(unset[i]) })
			properties(holder)[name] = discriminatorIs(b, discriminator, d)
		}
		for _, i := range b.set {
			m := u.Members[i]
			holder, name := within(out, u, m.Name, true, func(int) bool { return true })
			if s := isSet(m, at(n, u, m.Name), d); len(s) > 0 {
				properties(holder)[name] = s
			}
		}
		for _, i := range b.clear {
			m := u.Members[i]
			holder, name := within(out, u, m.Name, false, func(int) bool { return false })
			switch s := isClear(m, at(n, u, m.Name), d); {
			case s != nil:
				properties(holder)[name] = s
			case d == jsonSchema:
				properties(holder)[name] = false // which editors show at the property
			default:
				absent, _ := holder["not"].(node)
				none, _ := absent["anyOf"].([]any)
				is := node{"required": []any{name}}
				if len(u.Path(m.Name)) > 1 {
					is["type"] = "object" // for it may be null
				}
				holder["not"] = node{"anyOf": append(none, is)}
			}
		}
		l = append(l, out)
	}
	return l
}

// itemsInline is inline for a union of items of a list.
func itemsInline(u *union.Union, n node) []any {
	contains := func(i int) any {
		keys, required := node{}, []any{}
		for _, k := range u.Members[i].Item {
			keys[k.Name] = node{"const": k.Value}
			required = append(required, k.Name)
		}
		return node{"contains": node{"type": "object", "properties": keys, "required": required}}
	}
	var l []any
	for _, b := range branches(u, n) {
		out := node{"title": b.title}
		for _, i := range b.set { // one
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

// at is the schema of the discriminator or member of a name.
func at(n node, u *union.Union, name string) node { return u.Path(name).Value(n) }

// within returns the schema, in that of a union object, of what holds the discriminator or
// member of a name, and its name there. It is made when it is missing. What leads there is
// not null if it is there, where set says so; it is to be there where demanded does, by how
// much is before it.
func within(n node, u *union.Union, name string, set bool, demanded func(int) bool) (holder node, last string) {
	path := u.Path(name).Properties()
	for i, step := range path {
		if set && i > 0 {
			n["type"] = "object"
		}
		if demanded(i) {
			require(n, step)
		}
		if i == len(path)-1 {
			break
		}
		if property(n, step) == nil {
			properties(n)[step] = node{}
		}
		n = property(n, step)
	}
	return n, path[len(path)-1]
}

// demands reports whether the discriminator has to be written in the branch, or what leads to
// it; left out, it has a value or, as "", is unset.
func (b branch) demands(fallback string) bool {
	return !b.takes(fallback) && !(b.unset && fallback == "")
}

// discriminatorIs is what the discriminator is in a branch, where it is written; s is its
// schema.
func discriminatorIs(b branch, s node, d dialect) node {
	values := strs(b.values)
	switch {
	case len(b.others) > 0:
		return node{"type": "string", "not": node{"enum": strs(b.others)}}
	case b.unset && s["nullable"] == true:
		values = []any{"", nil}
	case b.unset:
		values = []any{""}
	}
	if d == jsonSchema && len(values) == 1 {
		return node{"const": values[0]}
	}
	return node{"enum": values}
}

// isSet is what a member that is there must be besides, to be set; s is its schema.
func isSet(m union.Member, s node, d dialect) node {
	out := node{}
	switch m.Empty {
	case union.EmptyString:
		out["minLength"] = int64(1)
	case union.EmptyCollection:
		out["minItems"], out["minProperties"] = int64(1), int64(1)
	case union.EmptyObject:
		var l []any
		for _, name := range m.Fields {
			field := node{"required": []any{name}}
			if property(s, name)["nullable"] == true {
				field["properties"] = node{name: node{"not": d.null()}}
			}
			l = append(l, field)
		}
		out["anyOf"] = l
	}
	if s["nullable"] == true {
		out["not"] = d.null()
	}
	return out
}

// isClear is what a member that is there must be, not to be set; s is its schema. It is
// nil if it must not be there.
func isClear(m union.Member, s node, d dialect) node {
	switch {
	case m.Empty != union.PresentWhenEmpty:
		return node{"not": isSet(m, s, d)}
	case s["nullable"] == true:
		return d.null()
	}
	return nil
}
