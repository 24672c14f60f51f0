//go:build compat

package compat

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	structuraldefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/testmanifest"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/union"
)

// place is the location of a union object.
type place struct {
	name string
	// schema returns the schema of the property that contains the union object.
	schema func(object map[string]any) map[string]any
	// value returns the value of the property. A nil object is absent. With beside, another part of
	// the property changes.
	value func(object, legal map[string]any, beside bool) any
	// alone reports that items are compared with their old selves one by one.
	alone bool
	// whole reports that the property is compared as a whole.
	whole bool
	// guarded reports that the object cannot be removed if the union forbids it.
	guarded bool
	// status reports that the property belongs to the status, which is absent on create and updated
	// through /status. root reports that there is no property.
	status, root bool
}

var (
	property = place{
		name:   "property",
		schema: func(object map[string]any) map[string]any { return object },
		value: func(object, _ map[string]any, _ bool) any {
			if object == nil {
				return nil // dropped by the server
			}
			return object
		},
		alone: true, guarded: true,
	}
	listMap = place{
		name: "list-map",
		schema: func(object map[string]any) map[string]any {
			object["required"] = append(list(object["required"]), "key")
			object["properties"].(map[string]any)["key"] = map[string]any{"type": "string"}
			return map[string]any{"type": "array", "maxItems": 4, "items": object, "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": []any{"key"}}
		},
		value: func(object, legal map[string]any, beside bool) any {
			items := []any{}
			if beside {
				items = append(items, unioncases.Put(legal, "key", "beside"))
			}
			if object != nil {
				items = append(items, unioncases.Put(object, "key", "x"))
			}
			return items
		},
		alone: true,
	}
	plainList = place{
		name: "list",
		schema: func(object map[string]any) map[string]any {
			return map[string]any{"type": "array", "maxItems": 4, "items": object}
		},
		value: func(object, legal map[string]any, beside bool) any {
			items := []any{}
			if object != nil {
				items = append(items, object)
			}
			if beside {
				items = append(items, legal)
			}
			return items
		},
		whole: true,
	}
	mapValue = place{
		name: "map",
		schema: func(object map[string]any) map[string]any {
			return map[string]any{"type": "object", "maxProperties": 4, "additionalProperties": object}
		},
		value: func(object, legal map[string]any, beside bool) any {
			values := map[string]any{}
			if beside {
				values["beside"] = legal
			}
			if object != nil {
				values["x"] = object
			}
			return values
		},
		alone: true,
	}
	inStatus = func() place {
		p := property
		p.name, p.status = "status", true
		return p
	}()
	root = func() place {
		p := property
		p.name, p.root, p.alone, p.guarded = "root", true, false, false
		return p
	}()
)

func list(v any) []any { l, _ := v.([]any); return l }

// group is a set of unions alongside each other in one CRD, on the same objects.
type group struct {
	name         string
	encoding     compile.Encoding
	place        place
	schema       string // of the union object, in YAML
	declarations []string
	objects      []instance
	asks         []ask

	prepare sync.Once
	source  []byte
	unions  []*union.Union
	values  []any
	legal   map[string]any // a union object without violations
	typ     typeSchema
}

// instance is a union object with its surroundings.
type instance struct {
	fields map[string]any // nil without a union object
	note   bool           // a property that belongs to no union is set
	beside bool           // see place.value
	// seen is the union object as the server sees it.
	seen   map[string]any
	states []union.State // by union
}

// typeSchema contains the constraints of a schema on the discriminator.
type typeSchema struct {
	path      []string // of the discriminator in the union object, empty without one
	enum      []any
	required  bool
	minLength int
}

func (g *group) String() string {
	encoding := string(g.encoding)
	if encoding == "" {
		encoding = "auto"
	}
	return fmt.Sprintf("%s, %s, %s", g.name, g.place.name, encoding)
}

// path returns the path of the property of the i-th union.
func (g *group) path(i int) []string {
	if g.place.status {
		return []string{"status", fmt.Sprintf("u%d", i)}
	}
	return []string{"spec", fmt.Sprintf("u%d", i)}
}

// ready prepares the parts that are the same for all versions.
func (g *group) ready(t *testing.T) {
	g.prepare.Do(func() {
		var schema map[string]any
		if err := sigsyaml.Unmarshal([]byte(g.schema), &schema); err != nil {
			t.Fatalf("%s: %v", g, err)
		}
		properties := schema["properties"].(map[string]any)
		properties["note"] = map[string]any{"type": "string"}
		g.source = g.crd(t, schema)
		for _, o := range g.declared(t) {
			g.unions = append(g.unions, o.Unions...)
		}
		if len(g.unions) != len(g.declarations) {
			t.Fatalf("%s: %d unions are declared, and %d found", g, len(g.declarations), len(g.unions))
		}
		g.typ.read(schema, g.unions[0].Discriminator)
		structural := structuralOf(t, schema)
		for i := range g.objects {
			o := &g.objects[i]
			if o.note {
				o.fields = unioncases.Put(o.fields, "note", "x")
			}
			if o.fields != nil {
				o.seen = received(t, o.fields)
				structuraldefaulting.PruneNonNullableNullsWithoutDefaults(o.seen, structural)
			}
			for _, u := range g.unions {
				o.states = append(o.states, u.StateOf(o.fields))
			}
		}
		g.legal = g.legalObject()
		for _, o := range g.objects {
			value := g.place.value(o.fields, g.legal, o.beside)
			if g.place.root {
				value = o.fields
			}
			g.values = append(g.values, value)
		}
	})
}

// received returns an object as the server decodes it: 0.0 is sent as 0, which is an integer.
func received(t *testing.T, object map[string]any) map[string]any {
	t.Helper()
	data, err := json.Marshal(object)
	if err != nil {
		t.Fatal(err)
	}
	var l map[string]any
	if err := utiljson.Unmarshal(data, &l); err != nil {
		t.Fatal(err)
	}
	return l
}

// legalObject returns the fields of the first object that satisfies the schema and every union. It
// returns nil if none does, because the unions contradict each other.
func (g *group) legalObject() map[string]any {
	for _, o := range g.objects {
		if o.fields == nil || g.typ.breaks(nil, o.seen, false).refused {
			continue
		}
		if !slices.ContainsFunc(g.unions, func(u *union.Union) bool { return len(u.Judge(nil, u.StateOf(o.fields))) > 0 }) {
			return o.fields
		}
	}
	return nil
}

// crd returns the manifest, in JSON. It has a status alongside the property, so that updates
// through /status can be tested; only the note of the status is kept.
func (g *group) crd(t *testing.T, schema map[string]any) []byte {
	t.Helper()
	data, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	properties := map[string]any{}
	for i, declaration := range g.declarations {
		var d, object map[string]any
		if err := sigsyaml.Unmarshal([]byte(declaration), &d); err != nil {
			t.Fatalf("%s: %s: %v", g, declaration, err)
		}
		if err := json.Unmarshal(data, &object); err != nil {
			t.Fatal(err)
		}
		object["x-kubernetes-unions"] = []any{d}
		properties[fmt.Sprintf("u%d", i)] = g.place.schema(object)
	}
	whole := map[string]any{"type": "object", "properties": map[string]any{
		"spec":   map[string]any{"type": "object", "properties": properties},
		"status": map[string]any{"type": "object", "properties": map[string]any{"seen": map[string]any{"type": "object", "properties": map[string]any{"note": map[string]any{"type": "string"}}}}},
	}}
	switch {
	case g.place.status:
		whole["properties"] = map[string]any{"status": map[string]any{"type": "object", "properties": properties}}
	case g.place.root:
		whole = properties["u0"].(map[string]any)
	}
	return manifest(t, whole)
}

// manifest returns a CRD with the given schema and a status subresource.
func manifest(t *testing.T, schema map[string]any) []byte {
	t.Helper()
	data, err := json.Marshal(map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "things.compat.example.com"},
		"spec": map[string]any{
			"group": "compat.example.com", "scope": "Namespaced",
			"names": map[string]any{"plural": "things", "singular": "thing", "kind": "Thing", "listKind": "ThingList"},
			"versions": []any{map[string]any{"name": "v1", "served": true, "storage": true, "subresources": map[string]any{"status": map[string]any{}},
				"schema": map[string]any{"openAPIV3Schema": schema}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// declared returns the union objects in the order of the declarations.
func (g *group) declared(t *testing.T) []compile.Object {
	t.Helper()
	m, err := testmanifest.Parse("crd.json", g.source)
	if err != nil {
		t.Fatalf("%s: %v", g, err)
	}
	d, diags := compile.New(m, compile.Options{}).Unions()
	if diags.HasErrors() {
		t.Fatalf("%s: %v", g, diags)
	}
	number := func(o compile.Object) int {
		for _, name := range o.Path.Properties() {
			var n int
			if _, err := fmt.Sscanf(name, "u%d", &n); err == nil {
				return n
			}
		}
		return 0
	}
	slices.SortFunc(d.Objects, func(a, b compile.Object) int { return number(a) - number(b) })
	return d.Objects
}

// read reads the constraints on the discriminator from the schema of a union object.
func (s *typeSchema) read(schema map[string]any, name string) {
	if name == "" {
		return
	}
	s.path = strings.Split(name, ".")
	for _, property := range s.path {
		s.required = slices.Contains(list(schema["required"]), any(property))
		schema = schema["properties"].(map[string]any)[property].(map[string]any)
	}
	for _, v := range list(schema["enum"]) {
		if n, ok := v.(float64); ok {
			v = int64(n)
		}
		s.enum = append(s.enum, v)
	}
	if n, ok := schema["minLength"].(float64); ok {
		s.minLength = int(n)
	}
}

func structuralOf(t *testing.T, schema map[string]any) *structuralschema.Structural {
	t.Helper()
	data, err := json.Marshal(schema)
	if err != nil {
		t.Fatal(err)
	}
	var props apiextensionsv1.JSONSchemaProps
	var internal apiextensions.JSONSchemaProps
	if err := json.Unmarshal(data, &props); err != nil {
		t.Fatal(err)
	}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&props, &internal, nil); err != nil {
		t.Fatal(err)
	}
	s, err := structuralschema.NewStructural(&internal)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// isSelected reports whether a union lacks the value of its discriminator.
func isSelected(v union.Violation) bool { return v.Condition == union.Selected }

// verdict is the expected answer of the server for a union.
type verdict struct {
	refused bool
	// blocking reports that the rejection prevents the evaluation of all CEL rules.
	blocking bool
	why      []union.Violation
}

// expect returns the meaning of a union according to pkg/union, combined with the ratcheting of the
// server. In an update of the spec through /status, old and new are the same object.
//
// The server ratchets violations of static conditions and of the schema if an update leaves the
// value unchanged. For conditions, the value is the whole union object, compared deeply as the
// server sees it. For enum and minLength it is the discriminator, and for required it is the union
// object. Values are compared only if the server can correlate them: not in a list without keys,
// which is compared as a whole, and not at the root for rules, because metadata differs from its
// schema. Until 1.32 the server ratchets nothing in updates through /status.
//
// The server never ratchets a rule that reads the old object, such as the conditions on changes and
// the conditions of a union with ratchet. Such a union exempts updates itself. A schema in place of
// rules is not evaluated in an update of the spec through /status. That includes a discriminator that the
// schema requires.
func (g *group) expect(minor, union int, old, new *instance, status bool) verdict {
	u := g.unions[union]
	if new.fields == nil {
		refused := g.place.guarded && old != nil && old.fields != nil && !u.Removable(old.states[union])
		return verdict{refused: refused}
	}
	state := new.states[union]
	if old == nil || old.fields == nil {
		v := verdict{why: u.Judge(nil, state)}
		schema := g.typ.breaks(nil, new.seen, false)
		return verdict{refused: schema.refused || len(v.why) > 0, blocking: schema.blocking, why: v.why}
	}

	unchanged := reflect.DeepEqual(old.seen, new.seen)
	ratchets := unchanged && (g.place.alone || g.place.whole && old.beside == new.beside)
	v := verdict{}
	switch before := old.states[union]; {
	case g.place.whole: // rules here see no old object
		if !ratchets {
			v.why = u.Judge(nil, state)
		}
	case ratchets && !(status && minor <= 32):
		v.why = u.ChangeViolations(before, state)
	default:
		v.why = u.Judge(&before, state)
	}
	if u.DiscriminatorRequired { // only the schema requires it
		v.why = slices.DeleteFunc(v.why, isSelected)
	}
	var schema verdict
	if !status || g.place.status {
		correlated := old.seen
		if g.place.whole || status && minor <= 32 {
			correlated = nil
		}
		schema = g.typ.breaks(correlated, new.seen, ratchets && correlated != nil || g.place.whole && ratchets)
	}
	v.refused, v.blocking = schema.refused || len(v.why) > 0, schema.blocking
	return v
}

// breaks returns the answer of the schema for the discriminator. old is nil if no object is known
// to be the old one.
func (s typeSchema) breaks(old, new map[string]any, unchanged bool) verdict {
	if unchanged || len(s.path) == 0 {
		return verdict{}
	}
	typ, present, _ := unstructured.NestedFieldNoCopy(new, s.path...)
	if !present {
		return verdict{refused: s.required, blocking: s.required}
	}
	if before, ok, _ := unstructured.NestedFieldNoCopy(old, s.path...); ok && before == typ {
		return verdict{}
	}
	text, set := typ.(string)
	enum := len(s.enum) > 0 && !slices.Contains(s.enum, typ) // null is never in an enum
	return verdict{refused: enum || set && len(text) < s.minLength, blocking: enum}
}

// compiled returns the compiled CRD for a version, or nil if compiling fails.
func (v *version) compiled(name string, source []byte, encoding compile.Encoding) json.RawMessage {
	out, diags := crdpatch.Compile(crdpatch.Open("crd.json", source), crdpatch.Options{KubeVersion: v.String(), Encoding: encoding, NoAnnotation: true})
	if diags.HasErrors() {
		v.disagree("%s: it does not compile: %v", name, diags)
		return nil
	}
	crd, err := testcrd.Derived(out)
	if err != nil {
		v.disagree("%s: %v", name, err)
		return nil
	}
	data, err := sigsyaml.YAMLToJSON(crd)
	if err != nil {
		v.disagree("%s: %v", name, err)
		return nil
	}
	return data
}

// question asks about a group and compares the answers.
func (g *group) question(v *version) *question {
	g.ready(v.T)
	crd := v.compiled(g.String(), g.source, g.encoding)
	if crd == nil {
		return nil
	}
	q := &question{request: request{Name: g.String(), CRD: crd, Objects: g.values, Asks: g.asks, Brief: true}, evaluations: len(g.asks) * len(g.unions)}
	if !g.place.root {
		for i := range g.unions {
			q.Spread = append(q.Spread, g.path(i))
		}
		if g.through() {
			q.Spread = append(q.Spread, []string{"status", "seen"})
		}
	}
	q.brief = func(got [][]int) {
		for i, a := range g.asks {
			g.compare(v, a, got[i])
		}
	}
	return q
}

// through reports whether the group updates the spec through /status.
func (g *group) through() bool {
	return g.place.name == property.name && slices.ContainsFunc(g.asks, func(a ask) bool { return a.Status })
}

// compare compares the server's answer to an ask with the expected one.
func (g *group) compare(v *version, a ask, got []int) {
	var old *instance
	new := &g.objects[a.New]
	if a.Old >= 0 {
		old = &g.objects[a.Old]
	}
	if a.Status && !g.place.status {
		new = old
	}
	var all []verdict
	blocked := false
	for i := range g.unions {
		want := g.expect(v.minor, i, old, new, a.Status)
		all = append(all, want)
		blocked = blocked || want.blocking
	}
	elsewhere := slices.Contains(got, -1)
	if elsewhere && !blocked {
		v.disagree("%s: %s: there is an error elsewhere", g, g.words(a))
	}
	for i, want := range all {
		if refused := slices.Contains(got, i); refused != want.refused {
			v.disagree("%s: %s:\n\t%s\n\texpected %s %v, got %s", g, g.declarations[i], g.words(a), said(want.refused), want.why, said(refused))
		}
	}
}

func said(refused bool) string {
	if refused {
		return "refused"
	}
	return "accepted"
}

// words describes an ask.
func (g *group) words(a ask) string {
	text := func(i int) string {
		data, err := json.Marshal(g.values[i])
		if err != nil {
			return err.Error()
		}
		return string(data)
	}
	switch {
	case a.Old < 0:
		return "create " + text(a.New)
	case a.Status:
		return "update /status of " + text(a.Old) + " by that of " + text(a.New)
	}
	return "update " + text(a.Old) + " to " + text(a.New)
}
