package product

import (
	"bytes"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// JSONSchema returns the JSON Schema, draft-07, for the objects of a version of a CRD with unions
// on some of its schemas. It is nil if the version has no schema. The caller owns the result.
//
// An object is closed where the server's strict field validation reports unknown fields. Null is
// allowed where the schema is nullable, and where the server prunes or defaults it.
func JSONSchema(crd *apiextensionsv1.CustomResourceDefinition, version int, objects []union.Object) (map[string]any, error) {
	v := crd.Spec.Versions[version]
	root, err := rootOf(crd, version)
	if root == nil || err != nil {
		return nil, err
	}
	writable(root, !crd.Spec.PreserveUnknownFields)
	unmark(root, "apiVersion", "kind", "metadata")
	asWritten := runtime.DeepCopyJSON(root)
	walk(root, true, jsonDialect)
	// Before the unions: closed branches list all properties of the object.
	withResourceFields(root, node{"const": crd.Spec.Group + "/" + v.Name}, node{"const": crd.Spec.Names.Kind})
	delete(property(root, "metadata"), "additionalProperties")
	for _, o := range deepestFirst(objects) {
		n := o.Path.Value(root)
		if n == nil {
			return nil, fmt.Errorf("there is no schema at %s", o.Path)
		}
		choose(o.Unions, o.Path.Value(asWritten), n)
	}
	root["$schema"] = "http://json-schema.org/draft-07/schema#"
	root["title"] = crd.Spec.Names.Kind + " of " + crd.Spec.Group + "/" + v.Name
	return root, nil
}

// Schemas returns the JSON Schemas of a CRD's versions, by their paths in a catalog. With errors there are
// none. It rejects names that the API server rejects, because they may lead out of the catalog.
func Schemas(c *crdpatch.CRD) (map[string][]byte, diag.List, error) {
	crd, l := c.Source()
	declared, wrong := c.Declared()
	if l = slices.Concat(l, wrong); !l.HasErrors() {
		l = append(l, c.Faults(crd)...)
	}
	if l.HasErrors() {
		return nil, l, nil
	}
	files := map[string][]byte{}
	for i, v := range crd.Spec.Versions {
		var unions []union.Object
		for _, o := range declared.ObjectsOf(i) {
			unions = append(unions, o.Object)
		}
		schema, err := JSONSchema(crd, i, unions)
		if err != nil {
			return nil, l, err
		}
		if schema == nil {
			continue
		}
		group, kind := crd.Spec.Group, strings.ToLower(crd.Spec.Names.Kind)
		if l := append(validation.IsDNS1123Subdomain(group), append(validation.IsDNS1035Label(kind), validation.IsDNS1035Label(v.Name)...)...); len(l) > 0 {
			return nil, nil, fmt.Errorf("the CRD %s has an invalid group, kind or version: %s", crd.Name, l[0])
		}
		var b bytes.Buffer
		if err := diag.WriteJSON(&b, schema); err != nil {
			return nil, l, err
		}
		files[path.Join(group, kind+"_"+v.Name+".json")] = b.Bytes()
	}
	return files, l, nil
}

// withResourceFields adds the fields of every resource to a schema.
func withResourceFields(n, apiVersion, kind node) {
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

// require adds required properties to a schema.
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

// unmark disallows null for properties that every resource needs.
func unmark(n node, names ...string) {
	for _, name := range names {
		delete(property(n, name), prunedNull)
	}
}

// jsonDialect translates the keywords of CRDs into JSON Schema.
func jsonDialect(n node, whole bool) {
	if isTrue(n, "int-or-string") {
		n["type"] = []any{"integer", "string"}
	}
	if _, ok := n["additionalProperties"]; whole && n["type"] == "object" && !ok && !isTrue(n, "preserve-unknown-fields") {
		n["additionalProperties"] = false
	}
	if takesNull(n) {
		switch t := n["type"].(type) {
		case string:
			n["type"] = []any{t, "null"}
		case []any:
			n["type"] = append(slices.Clip(t), "null")
		}
	}
	if n[prunedNull] == true {
		exemptNull(n)
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
		withResourceFields(n, node{}, node{})
		unmark(n, "apiVersion", "kind")
		property(n, "metadata")["x-kubernetes-preserve-unknown-fields"] = true // the schema does not list all fields of metadata
	}
	if p, ok := n["pattern"].(string); ok && notECMAScript().MatchString(p) {
		delete(n, "pattern")
	}
	for _, key := range []string{"nullable", "example"} {
		delete(n, key)
	}
	maps.DeleteFunc(n, func(key string, _ any) bool { return strings.HasPrefix(key, "x-kubernetes-") })
}

// notECMAScript matches syntax that a pattern of JSON Schema cannot have, in contrast to a pattern of
// the API server: flags and named groups, [[:alpha:]], []a], \A, \z, \Q, \pL and the escapes of
// characters that need none. Validators reject the whole schema because of it.
var notECMAScript = english.Pattern(`\(\?[^:]|\[:|\[\^?\]|\\[AzQEaC]|\\[pP][^{]|\\x\{|\\[ !"#%&',:;<=>@_~]`)

// exemptNull excludes null from keywords of a schema that null may violate.
func exemptNull(n node) {
	if enum, ok := n["enum"].([]any); ok && !slices.Contains(enum, nil) {
		n["enum"] = append(slices.Clip(enum), nil)
	}
	logic := node{}
	for _, key := range logical {
		if v, ok := n[key]; ok {
			logic[key] = v
			delete(n, key)
		}
	}
	if len(logic) > 0 {
		n["anyOf"] = []any{null(), logic}
	}
}

// maxMoved bounds the number of properties in all branches of a closed schema, where each branch
// lists all properties. Only up to this bound do editors offer the members of a single branch.
const maxMoved = 20_000

// choose adds the unions to a schema: as conditions on the discriminator or, without one, as a
// oneOf. In a closed schema, the schemas of members move into the branches that allow
// them, so that editors offer no other members. Members in nested objects stay. asWritten is the
// schema before the translation.
func choose(unions []*union.Union, asWritten, n node) {
	own := maps.Clone(properties(n))
	closed := n["additionalProperties"] == false
	for _, u := range unions {
		if u.Relates() {
			relate(u, asWritten, n)
			continue
		}
		branches := inline(u, asWritten)
		var chain, rest node
		if u.Discriminator != "" {
			chain, rest = decide(u, asWritten, n, branches)
		}
		if closed && len(branches)*len(own) <= maxMoved {
			delete(n, "additionalProperties")
			for _, name := range ownMembers(u) {
				delete(properties(n), name)
			}
			for _, b := range branches {
				move(u, own, b.(node))
			}
			if chain != nil {
				list(u, own, rest)
			}
		}
		if chain != nil {
			addChain(n, chain)
			continue
		}
		if takesNull(asWritten) {
			for _, b := range branches {
				b.(node)["type"] = asWritten["type"]
			}
			branches = append(branches, null())
		}
		restrict(n, "oneOf", branches)
	}
}

// list allows the properties in own, and no others, in the last else of a union (see [decide]), so
// that editors offer the members before there is a discriminator.
func list(u *union.Union, own, rest node) {
	rest["additionalProperties"] = false
	p := properties(rest)
	for name := range own {
		if p[name] == nil {
			p[name] = true
		}
	}
	for _, name := range ownMembers(u) {
		member := node{}
		for _, key := range []string{"type", "description"} {
			if v, ok := own[name].(node)[key]; ok {
				member[key] = v
			}
		}
		p[name] = member
	}
}

// ownMembers returns the members that are properties of the union object itself.
func ownMembers(u *union.Union) []string {
	return slices.DeleteFunc(u.MemberNames(), func(name string) bool { return len(u.Path(name)) > 1 })
}

// move moves the members in own into a branch, except members that the branch excludes. Members
// that may only be null do not become properties, because editors would offer them.
func move(u *union.Union, own, branch node) {
	branch["additionalProperties"] = false
	p := properties(branch)
	members := map[string]bool{}
	for _, name := range ownMembers(u) {
		members[name] = true
	}
	var nullOnly []string
	for name, s := range own {
		restriction, restricted := p[name].(node)
		switch member := members[name]; {
		case p[name] == false:
			delete(p, name) // without it, the property is an additional one
		case member && restricted && restriction["type"] == "null":
			delete(p, name)
			nullOnly = append(nullOnly, regexp.QuoteMeta(name))
		case member && restricted:
			p[name] = restrictedTo(s.(node), restriction)
		case member:
			p[name] = s
		case !restricted:
			p[name] = true
		}
	}
	if len(nullOnly) > 0 {
		slices.Sort(nullOnly)
		is := null()
		is["errorMessage"] = "This property is not allowed here."
		branch["patternProperties"] = node{"^(" + strings.Join(nullOnly, "|") + ")$": is}
	}
}

// restrictedTo returns a schema with a restriction.
func restrictedTo(s, restriction node) node {
	out := maps.Clone(s)
	for key, v := range restriction {
		if _, taken := s[key]; taken && key != "type" {
			return node{"allOf": []any{s, restriction}}
		}
		out[key] = v
	}
	if enum, ok := s["enum"].([]any); ok && restriction["type"] != nil {
		out["enum"] = slices.DeleteFunc(slices.Clone(enum), func(v any) bool { return v == nil })
	}
	return out
}
