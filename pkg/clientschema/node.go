package clientschema

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// node is a schema as JSON.
type node = map[string]any

// Object is a schema with unions.
type Object struct {
	Path   schemapath.Path
	Unions []*union.Union
}

// rootOf is the schema of a version of a CRD as JSON, nil if it has none.
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
	return n, json.Unmarshal(data, &n)
}

// deepestFirst sorts objects, for what is made of one may move those in it.
func deepestFirst(l []Object) []Object {
	return slices.SortedStableFunc(slices.Values(l), func(a, b Object) int { return cmp.Compare(len(b.Path), len(a.Path)) })
}

// walk calls visit with a schema and all below it. Within allOf, anyOf, oneOf and not,
// which only restrict, whole is false.
func walk(n node, whole bool, visit func(n node, whole bool)) {
	visit(n, whole)
	each := func(whole bool, values ...any) {
		for _, v := range values {
			if s, ok := v.(node); ok {
				walk(s, whole, visit)
			}
		}
	}
	if p, ok := n["properties"].(node); ok {
		each(whole, slices.Collect(maps.Values(p))...)
	}
	each(whole, n["items"], n["additionalProperties"])
	each(false, n["not"])
	for _, key := range []string{"allOf", "anyOf", "oneOf"} {
		l, _ := n[key].([]any)
		each(false, l...)
	}
}

// properties returns those of a schema, which has some when it returns.
func properties(n node) node {
	p, ok := n["properties"].(node)
	if !ok {
		p = node{}
		n["properties"] = p
	}
	return p
}

// property is the schema of a property, empty if there is none.
func property(n node, name string) node {
	p, _ := n["properties"].(node)
	s, _ := p[name].(node)
	return s
}

// restrict adds to a schema what objects have to be besides: as its own keyword when that
// is free.
func restrict(n node, keyword string, with any) {
	if _, taken := n[keyword]; !taken {
		n[keyword] = with
		return
	}
	l, _ := n["allOf"].([]any)
	n["allOf"] = append(slices.Clip(l), node{keyword: with})
}

// isTrue reports whether a schema has an extension.
func isTrue(n node, extension string) bool { return n["x-kubernetes-"+extension] == true }

// undone deletes the extensions of a schema that are given, all when none is.
func undone(n node, extensions ...string) {
	maps.DeleteFunc(n, func(key string, _ any) bool {
		name, ok := strings.CutPrefix(key, "x-kubernetes-")
		return ok && (len(extensions) == 0 || slices.Contains(extensions, name))
	})
}

func strs(l []string) []any {
	out := make([]any, len(l))
	for i, s := range l {
		out[i] = s
	}
	return out
}
