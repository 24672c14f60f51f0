package clientschema

import (
	"fmt"
	"maps"
	"strings"
	"unicode"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// OpenAPI returns an OpenAPI 3.0 document without paths. The component with the name of the kind
// describes the objects of a version of a CRD. It is nil if the version has no schema. The caller
// owns the result.
//
// If an object has a single union, with a discriminator, it is a component: a oneOf of components
// with one for each value or group of values, which has exactly the members for these values. Other
// unions, and unions with members in several objects, are a oneOf in place.
func OpenAPI(crd *apiextensionsv1.CustomResourceDefinition, version int, objects []union.Object) (map[string]any, error) {
	v := crd.Spec.Versions[version]
	root, err := rootOf(crd, version)
	if root == nil || err != nil {
		return nil, err
	}
	kind := crd.Spec.Names.Kind
	resource(root, node{"enum": []any{crd.Spec.Group + "/" + v.Name}}, node{"enum": []any{kind}})
	root["x-kubernetes-group-version-kind"] = []any{node{"group": crd.Spec.Group, "version": v.Name, "kind": kind}}
	walk(root, true, func(n node, _ bool) { undone(n, "validations", "unions") })

	c := components{}
	c.named(kind)
	for _, o := range deepestFirst(objects) {
		n := o.Path.Value(root)
		if n == nil {
			return nil, fmt.Errorf("there is no schema at %s", o.Path)
		}
		if _, taken := n["oneOf"]; len(o.Unions) == 1 && o.Unions[0].Discriminator != "" && len(o.Unions[0].Paths) == 0 && !taken {
			c.split(kind, o.Path, n, o.Unions[0])
			continue
		}
		for _, u := range o.Unions {
			if u.OfItems() {
				continue // OpenAPI 3.0 lacks contains
			}
			if u.Relates() {
				relate(u, n, n, openAPI)
				continue
			}
			restrict(n, "oneOf", inline(u, n, openAPI))
		}
	}
	c[kind] = root
	return node{
		"openapi":    "3.0.3",
		"info":       node{"title": kind, "version": v.Name},
		"paths":      node{},
		"components": node{"schemas": map[string]any(c)},
	}, nil
}

// components are the named schemas of a document.
type components map[string]any

// named reserves a name. It appends a number if the name is taken.
func (c components) named(name string) string {
	free := name
	for i := 2; ; i++ {
		if _, taken := c[free]; !taken {
			c[free] = nil
			return free
		}
		free = fmt.Sprintf("%s%d", name, i)
	}
}

// split turns a union object into a choice of components, one for each branch. The schema n becomes
// a reference to this choice, unless n is the schema of the kind.
func (c components) split(kind string, path schemapath.Path, n node, u *union.Union) {
	name := kind
	if len(path) > 0 {
		name = c.named(kind + pascal(path.String()))
	}
	var refs []any
	mapping := node{}
	for _, b := range branches(u, n) {
		part := c.named(name + pascal(b.title))
		c[part] = variant(u, n, b)
		refs = append(refs, node{"$ref": reference(part)})
		for _, v := range b.values {
			mapping[v] = reference(part)
		}
	}
	whole := node{"type": "object", "oneOf": refs, "discriminator": node{"propertyName": u.Discriminator, "mapping": mapping}}
	for _, key := range []string{"description", "nullable", "default", "x-kubernetes-group-version-kind"} {
		if v, ok := n[key]; ok {
			whole[key] = v
		}
	}
	clear(n)
	if len(path) == 0 {
		maps.Copy(n, whole)
		return
	}
	c[name] = whole
	n["$ref"] = reference(name)
}

// variant returns the schema of the union object in a branch.
func variant(u *union.Union, n node, b branch) node {
	out := runtime.DeepCopyJSON(n)
	for _, key := range []string{"nullable", "default", "x-kubernetes-group-version-kind"} {
		delete(out, key)
	}
	out["title"] = b.title
	if !isTrue(n, "preserve-unknown-fields") {
		out["additionalProperties"] = false
	}
	d := property(out, u.Discriminator)
	for keyword, v := range discriminatorIs(u, b, b.mayLack(u) && d["nullable"] == true, openAPI) {
		delete(d, "enum") // the branch restricts the values
		restrict(d, keyword, v)
	}
	if b.needs(fallbacks(n, u)[0]) {
		require(out, u.Discriminator)
		delete(d, "default")
	}
	if !b.mayLack(u) {
		delete(d, "nullable")
	}
	for _, i := range b.set {
		m := u.Members[i]
		s := property(out, m.Name)
		require(out, m.Name)
		delete(s, "nullable")
		if set := isSet(m, s, openAPI); len(set) > 0 {
			conjoin(s, set)
		}
	}
	for _, i := range b.clear {
		m := u.Members[i]
		if s := property(out, m.Name); isClear(m, s, openAPI) != nil {
			properties(out)[m.Name] = cleared(m, s)
		} else {
			delete(properties(out), m.Name)
		}
	}
	return out
}

// cleared returns the schema of a member that is present but unset.
func cleared(m union.Member, s node) node {
	out := node{}
	for _, key := range []string{"type", "nullable", "description", "items", "properties", "additionalProperties"} {
		if v, ok := s[key]; ok {
			out[key] = v
		}
	}
	maps.Copy(out, isClear(m, s, openAPI))
	return out
}

func reference(component string) string { return "#/components/schemas/" + component }

// pascal turns a path or a value into a part of the name of a component.
func pascal(s string) string {
	var b strings.Builder
	upper := true
	for _, r := range s {
		switch {
		case r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r):
			upper = true
		case upper:
			b.WriteRune(unicode.ToUpper(r))
			upper = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
