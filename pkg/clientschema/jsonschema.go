package clientschema

import (
	"fmt"
	"maps"
	"slices"

	"github.com/unioncel/unioncel/pkg/union"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// JSONSchema returns the JSON Schema, draft-07, of the objects of a version of a CRD, with
// the unions of some of its schemas. It is nil for a version without a schema. The caller
// owns the result.
//
// An object is closed where the server's strict field validation reports unknown fields.
// Null is allowed where the schema is nullable.
func JSONSchema(crd *apiextensionsv1.CustomResourceDefinition, version int, objects []Object) (map[string]any, error) {
	v := crd.Spec.Versions[version]
	root, err := rootOf(crd, version)
	if root == nil || err != nil {
		return nil, err
	}
	asWritten := runtime.DeepCopyJSON(root)
	walk(root, true, jsonDialect)
	for _, o := range deepestFirst(objects) {
		n := o.Path.Value(root)
		if n == nil {
			return nil, fmt.Errorf("there is no schema at %s", o.Path)
		}
		choose(o.Unions, o.Path.Value(asWritten), n)
	}
	resource(root, node{"const": crd.Spec.Group + "/" + v.Name}, node{"const": crd.Spec.Names.Kind})
	if metadata := property(root, "metadata"); metadata != nil {
		delete(metadata, "additionalProperties")
	}
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = crd.Spec.Names.Kind + " of " + crd.Spec.Group + "/" + v.Name
	return root, nil
}

// resource adds to a schema what every resource has.
func resource(n, apiVersion, kind node) {
	p := properties(n)
	for name, with := range map[string]node{"apiVersion": apiVersion, "kind": kind} {
		own, ok := p[name].(node)
		if !ok {
			own = node{"type": "string"}
			p[name] = own
		}
		for k, v := range with {
			own[k] = v
		}
	}
	if _, ok := p["metadata"]; !ok {
		p["metadata"] = node{"type": "object"}
	}
	require(n, "apiVersion", "kind")
}

// require adds names to those that a schema requires.
func require(n node, names ...string) {
	l, _ := n["required"].([]any)
	for _, name := range names {
		if !slices.Contains(l, any(name)) {
			l = append(slices.Clip(l), name)
		}
	}
	if len(l) > 0 {
		n["required"] = l
	}
}

// jsonDialect puts what CRDs say in words of their own into those of JSON Schema.
func jsonDialect(n node, whole bool) {
	if isTrue(n, "int-or-string") {
		n["type"] = []any{"integer", "string"}
	}
	if n["nullable"] == true {
		switch t := n["type"].(type) {
		case string:
			n["type"] = []any{t, "null"}
		case []any:
			n["type"] = append(slices.Clip(t), "null")
		}
	}
	for _, bound := range []string{"inimum", "aximum"} {
		if n["exclusiveM"+bound] == true {
			n["exclusiveM"+bound] = n["m"+bound]
			delete(n, "m"+bound)
		} else {
			delete(n, "exclusiveM"+bound)
		}
	}
	if n["x-kubernetes-list-type"] == "set" {
		n["uniqueItems"] = true
	}
	if isTrue(n, "embedded-resource") {
		resource(n, node{}, node{})
	}
	if _, ok := n["additionalProperties"]; whole && n["type"] == "object" && !ok && !isTrue(n, "preserve-unknown-fields") {
		n["additionalProperties"] = false
	}
	for _, key := range []string{"nullable", "example", "externalDocs"} {
		delete(n, key)
	}
	undone(n)
}

// choose gives a schema the branches of its unions. In a closed one, each has the schemas of
// the members that go with it, which the schema itself has no more: so editors offer no
// others. Members in objects below stay there. asWritten is the same schema before it was
// translated.
func choose(unions []*union.Union, asWritten, n node) {
	own := maps.Clone(properties(n))
	closed := n["additionalProperties"] == false
	for _, u := range unions {
		branches := inline(u, asWritten, jsonSchema)
		restrict(n, "oneOf", branches)
		if !closed {
			continue
		}
		delete(n, "additionalProperties")
		for _, name := range ownMembers(u) {
			delete(properties(n), name)
		}
		for _, b := range branches {
			move(u, own, b.(node))
		}
	}
}

// ownMembers are those that are properties of the union object itself.
func ownMembers(u *union.Union) []string {
	return slices.DeleteFunc(u.MemberNames(), func(name string) bool { return len(u.Path(name)) > 1 })
}

// move moves the members among the properties into a branch, unless it excludes them.
func move(u *union.Union, own, branch node) {
	branch["additionalProperties"] = false
	p := properties(branch)
	for name, s := range own {
		restriction, restricted := p[name].(node)
		switch member := slices.Contains(ownMembers(u), name); {
		case p[name] == false:
			delete(p, name) // it would be additional
		case member && restricted:
			p[name] = node{"allOf": []any{s, restriction}}
		case member:
			p[name] = s
		case !restricted:
			p[name] = true
		}
	}
}
