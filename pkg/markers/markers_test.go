package markers_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/markers"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// loadGood loads all packages without errors, once for all tests.
var loadGood = sync.OnceValues(func() (*union.Externals, diag.List) {
	return markers.Load(markers.Options{}, "./testdata/good/...")
})

// loadDialects loads one of these packages with kubebuilder's markers.
var loadDialects = sync.OnceValues(func() (*union.Externals, diag.List) {
	return markers.Load(markers.Options{Kubebuilder: true, Dir: "testdata/good"}, "./dialects")
})

func good(t *testing.T) *union.Externals {
	t.Helper()
	set, diags := loadGood()
	if set == nil {
		t.Fatalf("no set: %v", diags)
	}
	return set
}

// path returns the path of a declaration, with different steps for lists and maps.
func path(e union.External) string {
	var l []string
	for _, step := range e.Path {
		switch name, ok := step.Property(); {
		case ok:
			l = append(l, name)
		case step == schemapath.Items:
			l = append(l, "[]")
		default:
			l = append(l, "{}")
		}
	}
	return strings.Join(l, ".")
}

// declarations returns the declarations of a set as YAML, by kind and path.
func declarations(t *testing.T, set *union.Externals) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, e := range set.Declarations {
		text, err := yaml.Marshal(e.Value)
		if err != nil {
			t.Fatal(err)
		}
		all[e.String()+" "+e.Version+" "+path(e)] += string(text)
	}
	return all
}

// dialect is a test case: the name of a schema, and its declarations.
type dialect struct{ name, want string }

func compare(t *testing.T, set *union.Externals, group string, cases []dialect) {
	t.Helper()
	got := declarations(t, set)
	for _, c := range cases {
		kind, rest, _ := strings.Cut(c.name, " ")
		key := kind + "." + group + " " + rest
		if diff := cmp.Diff(strings.TrimPrefix(c.want, "\n"), got[key]); diff != "" {
			t.Errorf("%s: -want +got\n%s", c.name, diff)
		}
		delete(got, key)
	}
	for key := range got {
		if target, _, _ := strings.Cut(key, " "); strings.HasSuffix(target, "."+group) {
			t.Errorf("unexpected: %s\n%s", key, got[key])
		}
	}
}

func TestKEP2019(t *testing.T) {
	const ofUnion = `
- discriminator: unionType
  fields-to-discriminateBy:
    fieldA: FieldA
    fieldB: FieldB
  cardinality: AtMostOne
`
	compare(t, good(t), "kep2019.example.com", []dialect{
		{"Example v1 top", ofUnion},
		{"Example v1 inlined", ofUnion + `- discriminator: type
  fields-to-discriminateBy:
    alpha: Alpha
    beta: Beta
  cardinality: AtMostOne
- members: [field1, field2]
  cardinality: AtMostOne
`},
	})
}

func TestKEP2022(t *testing.T) {
	const ofUnion = `
- discriminator: unionType
  fields-to-discriminateBy:
    fieldA: FieldA
`
	compare(t, good(t), "kep2022.example.com", []dialect{
		{"Example v1alpha1 top", ofUnion},
		{"Example v1alpha1 labeled", ofUnion + "    fieldB: FieldB\n"},
		{"Example v1alpha1 inlined", `
- discriminator: type
  fields-to-discriminateBy:
    alpha: Alpha
    beta: Beta
- discriminator: fieldType
  fields-to-discriminateBy:
    field1: Field1
    field2: Field2
`},
		{"Example v1alpha1 inlined.union", ofUnion},
	})
}

func TestDialects(t *testing.T) {
	compare(t, good(t), "dialects.example.com", []dialect{
		{"KubeOpenAPI dialects bare", `
- members: [a, b]
  cardinality: AtMostOne
`},
		{"KubeOpenAPI dialects strategy", `
- discriminator: type
  fields-to-discriminateBy:
    rollingUpdate: rolling-update
    canary: canary/v1
  cardinality: AtMostOne
`},
		{"KubeOpenAPI dialects required", `
- discriminator: type
  fields-to-discriminateBy:
    http: http
    tcp: TCP
`},
		{"KubeOpenAPI dialects deprecated", `
- members: [value, valueFrom]
  cardinality: AtMostOne
`},
		{"KEP2022 dialects two", `
- discriminator: source
  fields-to-discriminateBy:
    git: Git
    image: Image
- discriminator: sink
  fields-to-discriminateBy:
    queue: Queue
    topic: Topic
`},
		{"KEP2022 dialects undefined", `
- members: [a, b]
`},
		{"OpenShift dialects storage", `
- discriminator: type
  fields-to-discriminateBy:
    external: External
    pvc: PVC
  optionalMembers: [pvc]
`},
		{"OpenShift dialects provider", `
- discriminator: type
  fields-to-discriminateBy:
    aws: AWS
    azure: Azure
  optionalMembers: [aws, azure]
`},
		{"ValidationGen dialects exactly", `
- members: [pointer, text, textPointer, date, list, bytes, map, number]
  cardinality: ExactlyOne
  emptyIsUnset: [text, list, map, number]
`},
		{"ValidationGen dialects selected", `
- name: to
  discriminator: to
  fields-to-discriminateBy:
    queue: Q
    topic: Topic
  cardinality: AtMostOne
- name: from
  discriminator: from
  fields-to-discriminateBy:
    address: URL
  cardinality: AtMostOne
`},
		{"ValidationGen dialects mandatory", `
- discriminator: type
  fields-to-discriminateBy:
    a: A
`},
		{"ValidationGen dialects zeroOrOne", `
- members: [a, b]
  cardinality: AtMostOne
- name: other
  members: [c, d]
  cardinality: AtMostOne
  emptyIsUnset: [d]
`},
		{"ValidationGen dialects modes", `
- discriminator: mode
  fields-to-discriminateBy:
    static: [Static, Fixed]
    auto: Auto
  cardinality: AtMostOne
  optionalMembers: [auto]
  emptyIsUnset: [static]
`},
		{"ValidationGen dialects old", `
- name: mode
  discriminator: mode
  fields-to-discriminateBy:
    a: A
    b: B
  cardinality: AtMostOne
  optionalMembers: [b]
`},
		{"ValidationGen dialects together", `
- discriminator: type
  fields-to-discriminateBy:
    service: Service
    pool: Service
    address: Host
    port: Host
  cardinality: AtMostOne
`},
		{"ValidationGen dialects later", `
- name: type
  discriminator: type
  fields-to-discriminateBy: {}
  cardinality: AtMostOne
  discriminatorChange: Forbid
- discriminator: mode
  fields-to-discriminateBy: {}
  cardinality: AtMostOne
`},
		{"ValidationGen dialects shared", `
- discriminator: mode
  fields-to-discriminateBy:
    size: [Static, Auto]
    policy: [Auto, Remote]
    hint: [Auto, Static]
    always: [Auto, Remote]
    own: [Auto, Remote]
  cardinality: AtMostOne
  optionalMembers:
    size: Auto
    policy: Remote
    hint: [Auto, Static]
    always: [Auto, Remote]
    own: Auto
`},
		{"ValidationGen dialects forSome", `
- discriminator: type
  fields-to-discriminateBy:
    one: [TCP, TLS]
    two: [TCP, TLS, "true"]
    all: [TCP, TLS]
    none: None
    named: Named
  optionalMembers:
    one: TLS
    two: ["true", TCP]
    all: [TCP, TLS]
    named: Named
`},
		{"ValidationGen dialects related", `
- discriminator: type
  fields-to-discriminateBy:
    http: HTTP
    tcp: TCP
  cardinality: AtMostOne
  emptyIsUnset: [tcp]
- name: inner
  discriminator: tcp
  fields-to-discriminateBy:
    port: A
  cardinality: AtMostOne
  optionalMembers: [port]
- dependentRequired:
    weight: http
  dependentForbidden:
    weight: tcp
  emptyIsUnset: [tcp, weight]
`},
		{"ValidationGen dialects struct", `
- dependentRequired: {a: b, b: a}
  ratchet: true
- name: c
  dependentForbidden: {c: [a]}
`},
	})
}

func TestKubebuilder(t *testing.T) {
	set, diags := loadDialects()
	if set == nil {
		t.Fatal(diags)
	}
	const want = `- members: [a, b]
  cardinality: ExactlyOne
  handWrittenRules: Replace
- members: [c, d]
  cardinality: AtMostOne
  handWrittenRules: Replace
- members: [e, f]
  cardinality: AtMostOne
  handWrittenRules: Replace
- members: [g, h]
  cardinality: AtLeastOne
  handWrittenRules: Replace
`
	if diff := cmp.Diff(want, declarations(t, set)["Kubebuilder.dialects.example.com dialects spec"]); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestPlaces compares the schemas that have unions, and the structs that declare them.
func TestPlaces(t *testing.T) {
	const types = "testdata/good/shapes/v1/types.go"
	const choice, imported = "+unionMember of Choice", "+unionMember of imported.Choice"
	names := map[string]string{}
	mark := func(name, file, of string) {
		names[position(t, file, of, "+unionMember")] = name
	}
	mark(choice, types, "type Choice struct")
	mark(imported, "testdata/imported/types.go", "type Choice struct")
	mark("v2", "testdata/good/shapes/v2/types.go", "type Choice struct")
	for _, name := range []string{"Shape", "Tree", "Twig", "Ring", "Link", "Generic[T any]", "Outer", "Inner", "Pointed", "Embedded", "Extra"} {
		mark(name, types, "type "+name+" struct")
	}
	names[position(t, types, "type Switch struct", "+unionDiscriminator")] = "Switch"

	var got []string
	for _, e := range good(t).Declarations {
		if e.Group == "shapes.example.com" {
			name := names[e.Pos().String()]
			if name == "" {
				name = e.Pos().String()
			}
			got = append(got, e.Kind+" "+e.Version+" "+path(e)+": "+name)
		}
	}
	want := []string{
		"Shape v1 : Shape",
		"Shape v1 spec: Outer",
		"Shape v1 spec: Inner",
		"Shape v1 spec: Pointed",
		"Shape v1 spec: Extra",
		"Shape v1 spec.-: " + choice,
		"Shape v1 spec.alias: " + choice,
		"Shape v1 spec.array.[]: " + choice,
		"Shape v1 spec.both: " + choice,
		"Shape v1 spec.embedded: Embedded",
		"Shape v1 spec.generic: Generic[T any]",
		"Shape v1 spec.importAlias: " + imported,
		"Shape v1 spec.importList.[]: " + imported,
		"Shape v1 spec.imported: " + imported,
		"Shape v1 spec.inner: " + choice,
		"Shape v1 spec.list.[]: " + choice,
		"Shape v1 spec.localAlias: " + imported,
		"Shape v1 spec.map.{}: " + choice,
		"Shape v1 spec.mapOfLists.{}.[]: " + choice,
		"Shape v1 spec.named: " + choice,
		"Shape v1 spec.namedList.[]: " + choice,
		"Shape v1 spec.namedMap.{}: " + choice,
		"Shape v1 spec.nested.[].[]: " + choice,
		"Shape v1 spec.pointer: " + choice,
		"Shape v1 spec.pointers.[]: " + choice,
		"Shape v1 spec.ring: Ring",
		"Shape v1 spec.ringAgain: Link",
		"Shape v1 spec.switch: Switch",
		"Shape v1 spec.tree: Tree",
		"Shape v1 spec.tree.twig: Twig",
		"Shape v1 spec.typed: " + choice,
		"Shape v1 status.choice: " + choice,
		"Shape v2beta1 spec: v2",
		"Skip v2beta1 spec: v2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestScopes(t *testing.T) {
	var got []string
	for _, s := range good(t).Scopes {
		got = append(got, s.String()+"/"+s.Version)
	}
	want := []string{
		"KEP2022.dialects.example.com/dialects", "KubeOpenAPI.dialects.example.com/dialects", "Kubebuilder.dialects.example.com/dialects",
		"OpenShift.dialects.example.com/dialects", "ValidationGen.dialects.example.com/dialects",
		"Example.kep2019.example.com/v1", "Example.kep2022.example.com/v1alpha1",
		"Plain.shapes.example.com/v1", "Shape.shapes.example.com/v1", "Shape.shapes.example.com/v2beta1",
		"Skip.shapes.example.com/v2beta1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// Two runs give the same result, in the same order.
func TestRepeatable(t *testing.T) {
	first := good(t)
	second, _ := markers.Load(markers.Options{}, "./testdata/good/...")
	if diff := cmp.Diff(first, second); diff != "" {
		t.Error(diff)
	}
}
