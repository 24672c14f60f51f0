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
	discriminator := property(n, u.Discriminator)
	var l []any
	for _, b := range branches(u, n) {
		p := node{}
		out := node{"title": b.title, "properties": p}
		if u.Discriminator != "" {
			p[u.Discriminator] = discriminatorIs(b, discriminator, d)
			if b.demands(discriminator) {
				require(out, u.Discriminator)
			}
		}
		for _, i := range b.set {
			m := u.Members[i]
			require(out, m.Name)
			if s := isSet(m, property(n, m.Name), d); len(s) > 0 {
				p[m.Name] = s
			}
		}
		var absent []any
		for _, i := range b.clear {
			name := u.Members[i].Name
			switch s := isClear(u.Members[i], property(n, name), d); {
			case s != nil:
				p[name] = s
			case d == jsonSchema:
				p[name] = false // which editors show at the property
			default:
				absent = append(absent, node{"required": []any{name}})
			}
		}
		if len(absent) > 0 {
			out["not"] = node{"anyOf": absent}
		}
		if len(p) == 0 {
			delete(out, "properties")
		}
		l = append(l, out)
	}
	return l
}

// demands reports whether the discriminator has to be written in the branch; s is its
// schema. Left out, it is its default, or unset.
func (b branch) demands(s node) bool {
	fallback, defaulted := s["default"].(string)
	if !defaulted {
		return !b.unset
	}
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
