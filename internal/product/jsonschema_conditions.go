package product

import (
	"maps"
	"reflect"
	"slices"

	"github.com/unioncel/unioncel/pkg/union"
)

// decide returns the branches of a union with a discriminator as a chain of if, then and else, with
// one link for each set of values, so that validators report the errors of a single branch. rest, the
// last else, applies to null, and to objects whose discriminator has none of these values. rest or n
// rejects these objects. n is the schema of the union object, asWritten the schema before the
// translation. inlined are the branches as restrictions.
func decide(u *union.Union, asWritten, n node, inlined []any) (chain, rest node) {
	path := u.Path(u.Discriminator).Properties()
	forms, all := branches(u, asWritten), branch{}
	var links []node
	for i, b := range forms {
		then := inlined[i].(node)
		if i > 0 && b.sameValues(forms[i-1]) { // the discriminator is unset, and the members decide
			last := links[len(links)-1]
			if _, several := last["then"].(node)["oneOf"]; !several {
				last["then"] = node{"oneOf": []any{last["then"]}}
			}
			choice := last["then"].(node)
			choice["oneOf"] = append(choice["oneOf"].([]any), then)
			trim(then, last["if"].(node), path)
			continue
		}
		all.values, all.others, all.unset = append(all.values, b.values...), append(all.others, b.others...), all.unset || b.unset
		is := b.condition(u, asWritten)
		trim(then, is, path)
		is["type"] = "object"
		links = append(links, node{"if": is, "then": then})
	}
	all.others = slices.DeleteFunc(all.others, func(v string) bool { return slices.Contains(all.values, v) })
	rest = node{}
	if !all.unset || len(all.others) == 0 {
		rest = all.condition(u, asWritten)
		trim(rest, n, path)
	}
	chain = rest
	for _, link := range slices.Backward(links) {
		link["else"] = chain
		chain = link
	}
	return chain, rest
}

// sameValues reports whether two branches have the same condition on the discriminator.
func (b branch) sameValues(other branch) bool {
	return b.unset == other.unset && slices.Equal(b.values, other.values) && slices.Equal(b.others, other.others)
}

// condition returns the schema of an object whose discriminator has the values of a branch.
func (b branch) condition(u *union.Union, asWritten node) node {
	is := restrictions(u, asWritten, []branch{{values: b.values, others: b.others, unset: b.unset}})[0].(node)
	delete(is, "title")
	return is
}

// trim removes requirements on the discriminator from a schema if another schema, which applies to
// the same object, has them too. Otherwise validators would report an error twice.
func trim(s, other node, path []string) {
	for i, name := range path {
		if required, ok := s["required"].([]any); ok {
			has, _ := other["required"].([]any)
			left := slices.DeleteFunc(slices.Clone(required), func(v any) bool { return slices.Contains(has, v) })
			if delete(s, "required"); len(left) > 0 {
				s["required"] = left
			}
		}
		below, otherBelow := property(s, name), property(other, name)
		if i < len(path)-1 {
			s, other = below, otherBelow
			continue
		}
		if p := properties(s); reflect.DeepEqual(below, otherBelow) || implies(otherBelow, below) {
			if delete(p, name); len(p) == 0 {
				delete(s, "properties")
			}
		}
	}
}

// implies reports whether an enum allows only values that another enum allows.
func implies(enum, other node) bool {
	values, ok := enum["enum"].([]any)
	allowed, has := other["enum"].([]any)
	return ok && has && !slices.ContainsFunc(values, func(v any) bool { return !slices.Contains(allowed, v) })
}

// addChain adds a chain to a schema.
func addChain(n, chain node) {
	if _, taken := n["if"]; !taken {
		maps.Copy(n, chain)
		return
	}
	conjoin(n, chain)
}
