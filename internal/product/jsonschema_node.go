package product

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/pkg/union"
)

// node is a schema in JSON form.
type node = map[string]any

// rootOf returns the schema of a version of a CRD in JSON form, or nil if there is none.
func rootOf(crd *apiextensionsv1.CustomResourceDefinition, version int) (node, error) {
	s := crd.Spec.Versions[version].Schema
	if s == nil || s.OpenAPIV3Schema == nil {
		return nil, nil
	}
	data, err := json.Marshal(s.OpenAPIV3Schema)
	if err != nil {
		return nil, err
	}
	n := node{}
	if err := utiljson.Unmarshal(data, &n); err != nil { // keeps integers
		return nil, err
	}
	walk(n, true, func(n node, _ bool) {
		for _, key := range foreign {
			delete(n, key)
		}
	})
	return n, nil
}

// foreign are keywords that are not copied. Readers of the schema would resolve or show an address
// from the manifest, or the API server rejects the keyword.
var foreign = []string{"$ref", "$schema", "id", "externalDocs", "definitions", "dependencies", "patternProperties", "additionalItems"}

// deepestFirst sorts objects by depth, because processing an object may move the objects in it.
func deepestFirst(l []union.Object) []union.Object {
	return slices.SortedStableFunc(slices.Values(l), func(a, b union.Object) int { return cmp.Compare(len(b.Path), len(a.Path)) })
}

// logical are the keywords whose schemas only restrict other schemas.
var logical = []string{"not", "allOf", "anyOf", "oneOf"}

// walk calls visit for a schema and all schemas below it. whole is false for schemas below a
// logical keyword.
func walk(n node, whole bool, visit func(n node, whole bool)) {
	visit(n, whole)
	if p, ok := n["properties"].(node); ok {
		each(p, slices.Collect(maps.Keys(p)), func(n node) { walk(n, whole, visit) })
	}
	each(n, []string{"items", "additionalProperties"}, func(n node) { walk(n, whole, visit) })
	each(n, logical, func(n node) { walk(n, false, visit) })
}

// each calls visit for the schemas at some keys, and for the schemas in lists at these keys.
func each(n node, keys []string, visit func(node)) {
	for _, key := range keys {
		switch v := n[key].(type) {
		case node:
			visit(v)
		case []any:
			for _, s := range v {
				if s, ok := s.(node); ok {
					visit(s)
				}
			}
		}
	}
}

// prunedNull marks a schema that accepts null because the API server prunes the null or replaces it
// with a default.
const prunedNull = "x-kubernetes-pruned-null"

// writable turns the schema of stored objects into the schema of written objects. It marks schemas
// whose null the API server prunes or replaces with a default: optional properties, values of maps,
// and properties or items with a default. Properties with a default become optional.
func writable(n node, prunes bool) {
	walk(n, true, func(n node, whole bool) {
		if !whole {
			return
		}
		mark := func(v any, needless bool) {
			if s, ok := v.(node); ok && s["nullable"] != true && (needless && prunes || s["default"] != nil) {
				s[prunedNull] = true
			}
		}
		required, _ := n["required"].([]any)
		required = slices.DeleteFunc(required, func(name any) bool { return property(n, name.(string))["default"] != nil })
		if delete(n, "required"); len(required) > 0 {
			n["required"] = required
		}
		// A pruned null does not count. Schemas can express this only for the bound 1.
		counted := n["minProperties"] != nil
		if n["minProperties"] == int64(1) && !nullableBelow(n) {
			counted = false
			restrict(n, "not", node{"type": "object", "additionalProperties": null()})
		}
		p, _ := n["properties"].(node)
		for name, s := range p {
			mark(s, !counted && !slices.Contains(required, any(name)))
		}
		mark(n["additionalProperties"], !counted)
		mark(n["items"], false)
	})
	walk(n, true, func(n node, whole bool) {
		if whole {
			each(n, logical, func(l node) { notPruned(l, n) })
		}
	})
}

// nullableBelow reports whether a property of an object, or a value of a map, may be stored as
// null.
func nullableBelow(n node) bool {
	found := false
	p, _ := n["properties"].(node)
	each(p, slices.Collect(maps.Keys(p)), func(s node) { found = found || s["nullable"] == true })
	each(n, []string{"additionalProperties"}, func(s node) { found = found || s["nullable"] == true })
	return found
}

// notPruned extends keywords of n that require a property, such as oneOf. If the server prunes
// null, the keywords also require that the property is not null.
func notPruned(l, n node) {
	required, _ := l["required"].([]any)
	for _, v := range required {
		name, _ := v.(string)
		if s := property(n, name); s[prunedNull] == true && s["default"] == nil {
			if property(l, name) == nil {
				properties(l)[name] = node{}
			}
			restrict(property(l, name), "not", null())
		}
	}
	p, _ := l["properties"].(node)
	for name, s := range p {
		if s, ok := s.(node); ok {
			notPruned(s, property(n, name))
		}
	}
	each(l, logical, func(l node) { notPruned(l, n) })
}

// takesNull reports whether a schema accepts null.
func takesNull(n node) bool { return n["nullable"] == true || n[prunedNull] == true }

// nullIsUnset reports whether a schema accepts null and no default replaces the null.
func nullIsUnset(n node) bool {
	return n["nullable"] == true || n[prunedNull] == true && n["default"] == nil
}

// properties returns the properties of a schema. It adds them if there are none.
func properties(n node) node {
	p, ok := n["properties"].(node)
	if !ok {
		p = node{}
		n["properties"] = p
	}
	return p
}

// property returns the schema of a property, or nil.
func property(n node, name string) node {
	p, _ := n["properties"].(node)
	s, _ := p[name].(node)
	return s
}

// restrict adds a restriction to a schema. If the schema lacks the keyword, it adds the keyword.
func restrict(n node, keyword string, with any) {
	if _, taken := n[keyword]; !taken {
		n[keyword] = with
		return
	}
	conjoin(n, node{keyword: with})
}

// conjoin adds a schema to the allOf of another one.
func conjoin(n, with node) {
	l, _ := n["allOf"].([]any)
	n["allOf"] = append(slices.Clip(l), with)
}

// isTrue reports whether a schema has an extension.
func isTrue(n node, extension string) bool { return n["x-kubernetes-"+extension] == true }
