package change_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/union"
)

// judge compiles a CRD and returns a judge for it.
func judge(t testing.TB, text string, opts change.JudgeOptions) *change.Judge {
	t.Helper()
	open := crdpatch.Open("crd.yaml", []byte(text))
	out, l := crdpatch.Compile(open, crdpatch.Options{})
	if l.HasErrors() {
		t.Fatal(l)
	}
	declared, l := crdpatch.Ask(open, crdpatch.Options{}, (*crdpatch.CRD).Declared)
	if l.HasErrors() {
		t.Fatal(l)
	}
	set := &union.KindSet{}
	for _, d := range declared {
		if err := set.Add(d.Kinds("crd.yaml")...); err != nil {
			t.Fatal(err)
		}
	}
	opts.Kinds = set
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict(out, crd); err != nil {
		t.Fatal(err)
	}
	j, err := change.NewJudge(crd, opts)
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// object returns a Thing. Its version is v1 unless the text has an apiVersion.
func object(t testing.TB, text string) map[string]any {
	t.Helper()
	if !strings.HasPrefix(text, "apiVersion") {
		text = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: it, namespace: shop}\n" + text
	}
	_, v, err := yamltext.ReadAsKubectl([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return v.(map[string]any)
}

// in summarizes a verdict, with a line for each version.
func in(v change.Prediction) string {
	var l []string
	for _, in := range v.Versions {
		said := []string{in.State.String()}
		for _, w := range in.Asked {
			if refused := in.Refused[w]; len(refused) > 0 {
				said = append(said, fmt.Sprintf("%s: %s", w, refused[0].Constraint))
			}
		}
		if len(in.Lost) > 0 {
			said = append(said, fmt.Sprint("loses ", in.Lost))
		}
		if len(v.Versions) > 1 {
			said[0] = in.Version + " " + said[0]
		}
		l = append(l, strings.Join(said, "; "))
	}
	return strings.Join(l, "\n")
}

const spec = `type: object
properties:
  note: {type: string}
  mode: {type: string, enum: [A, B]}
  must: {type: object, required: [x], properties: {x: {type: string}, z: {type: string}}}
  u:
    type: object
    properties:
      type: {type: string, enum: [A, B]}
      a: {type: object, properties: {x: {type: string}}}
      b: {type: object, properties: {x: {type: string}}}
    x-kubernetes-unions:
    - {discriminator: type, fields-to-discriminateBy: {a: A, b: B}RATCHET}
  l:
    type: array
    items:
      type: object
      properties: {a: {type: string}, b: {type: string}}
      x-kubernetes-unions: [{members: [a, b]}]
  conditions:
    type: array
    maxItems: 9
    x-kubernetes-list-type: map
    x-kubernetes-list-map-keys: [type]
    items: {type: object, required: [type], properties: {type: {type: string}}}
    x-kubernetes-unions: [{members: [{type: Approved}, {type: Denied}]}]
  pod: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
  both:
    type: object
    properties: {a: {type: string}, b: {type: string}}
    oneOf: [{required: [a]}, {required: [b]}]
  still:
    type: object
    properties: {a: {type: string}}
    x-kubernetes-validations: [{rule: "self.a == oldSelf.a || self.a != 'x'", message: fixed}, {rule: "self.a == 'x' ? oldSelf.a == 'w' : true", message: moved}]
  broken:
    type: object
    properties: {a: {type: string}}
    x-kubernetes-validations: [{rule: "self.a != 'x'"}]
  odd:
    type: object
    properties: {a: {type: string}, c: {type: string}}
    x-kubernetes-validations:
    - {rule: "self.a != 'x'", messageExpression: "'not ' + self.a"}
    - {rule: "self.a != 'y' && self.a != 'x'", messageExpression: "'never ' + self.a"}
x-kubernetes-validations:
- {rule: "!has(self.note) || self.note != 'bad'", message: bad}
`

func TestObject(t *testing.T) {
	const both = "spec: {note: w, u: {type: A, a: {x: v}, b: {x: v}}}"
	crd := testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: spec})
	judges := map[string]*change.Judge{}
	for _, version := range []string{"", "1.29", "1.30", "ratchet"} {
		text, opts := strings.Replace(crd, "RATCHET", "", 1), change.JudgeOptions{KubeVersion: version}
		if version == "ratchet" {
			text, opts.KubeVersion = strings.Replace(crd, "RATCHET", ", ratchet: true", 1), ""
		}
		judges[version] = judge(t, strings.Replace(text, "storage: true\n", "storage: true\n    subresources: {status: {}}\n", 1), opts)
	}
	for _, test := range []struct{ name, server, object, want, patch string }{
		{"legal", "", "spec: {u: {type: A, a: {}}}", "legal", ""},
		{"a union", "", both, "ratcheted; within: rule of spec.u", `{"spec":{"u":{"b":null}}}`},
		{"with ratchet", "ratchet", both, "ratcheted", `{"spec":{"u":{"b":null}}}`},
		{"before ratcheting", "1.29", both, "blocked; rewrite: rule of spec.u; status: rule of spec.u; metadata: rule of spec.u; apply: rule of spec.u; elsewhere: rule of spec.u; within: rule of spec.u", `{"spec":{"u":{"b":null}}}`},
		{"before ratcheting of the status", "1.30", both, "restricted; status: rule of spec.u; within: rule of spec.u", `{"spec":{"u":{"b":null}}}`},
		{"no discriminator", "", "spec: {note: w, u: {b: {x: v}}}", "ratcheted; within: rule of spec.u", `{"spec":{"u":{"type":"B"}}}`},
		{"a union in which either may be meant", "", "spec: {note: w, u: {a: {x: v}, b: {x: v}}}", "ratcheted; within: rule of spec.u", ""},
		{"a union in a list", "", "spec: {note: w, l: [{a: x}, {a: x, b: x}]}", "restricted; items: rule of spec.l[*]; within: rule of spec.l[*]", ""},
		{"a union of items", "", "spec: {note: w, conditions: [{type: Approved}, {type: Denied}]}", "restricted; items: rule of spec.conditions; within: rule of spec.conditions", ""},
		{"an enum", "", "spec: {mode: C}", "ratcheted", ""},
		{"required", "", "spec: {note: w, must: {z: z}}", "ratcheted; within: required of spec.must", ""},
		{"an embedded resource", "", "spec: {note: w, pod: {apiVersion: v1, kind: Pod, metadata: {labels: {'a b': c}}}}", "blocked; rewrite: x-kubernetes-embedded-resource of spec.pod; metadata: x-kubernetes-embedded-resource of spec.pod; apply: x-kubernetes-embedded-resource of spec.pod; elsewhere: x-kubernetes-embedded-resource of spec.pod; within: x-kubernetes-embedded-resource of spec.pod", ""},
		{"oneOf", "", "spec: {note: w, both: {a: x, b: x}}", "ratcheted; within: oneOf of spec.both", ""},
		{"a transition rule", "", "spec: {note: w, still: {a: x}}", "blocked; rewrite: transition rule of spec.still; status: transition rule of spec.still; metadata: transition rule of spec.still; apply: transition rule of spec.still; elsewhere: transition rule of spec.still; within: transition rule of spec.still", ""},
		{"a rule that cannot be evaluated", "", "spec: {note: w, broken: {}}", "blocked; rewrite: evaluation error of spec.broken; status: evaluation error of spec.broken; metadata: evaluation error of spec.broken; apply: evaluation error of spec.broken; elsewhere: evaluation error of spec.broken", ""},
		{"a rule of the spec", "", "spec: {note: bad, mode: A}", "restricted; elsewhere: rule of spec; within: rule of spec", ""},
		{"rules with a message expression", "", "spec: {note: w, odd: {a: x, c: z}}", "ratcheted; within: rule of spec.odd", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := judges[test.server].Object(t.Context(), object(t, test.object))
			if err != nil {
				t.Fatal(err)
			}
			patch := ""
			if v.Repair != nil {
				patch = v.Repair.Patch
			}
			if got := in(v); got != test.want || patch != test.patch {
				t.Errorf("%s, %s\n%+v", got, patch, v.Problems())
			}
		})
	}
}

// TestRules asserts that errors of several rules on one schema name the right rule.
func TestRules(t *testing.T) {
	j := judge(t, testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: strings.Replace(spec, "RATCHET", "", 1)}), change.JudgeOptions{})
	v, err := j.Object(t.Context(), object(t, "spec: {odd: {a: x}}"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range v.Problems() {
		got = append(got, p.Message+" <- "+p.Constraint.Rule)
	}
	want := []string{"Invalid value: never x <- self.a != 'y' && self.a != 'x'", "Invalid value: not x <- self.a != 'x'"}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// TestVersions asserts that an object is written through every served version, regardless of the
// version in which it is printed, unless only a webhook can convert it.
func TestVersions(t *testing.T) {
	const (
		lax    = "{type: object, properties: {mode: {type: string}, gone: {type: string}}}"
		strict = "{type: object, properties: {mode: {type: string, enum: [A, B]}, added: {type: string, default: x}}, x-kubernetes-validations: [{rule: \"!has(self.mode) || self.mode != 'A'\"}]}"
	)
	v0, v1, v2 := testcrd.Version{Name: "v0", Spec: lax, Unserved: true}, testcrd.Version{Name: "v1", Spec: lax}, testcrd.Version{Name: "v2", Spec: strict}
	fewer := testcrd.Version{Name: "v1", Spec: "{type: object, properties: {mode: {type: string}}}"}
	hooked := func(text string) string {
		return strings.Replace(text, "  versions:", "  conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: 'https://example.com'}}}\n  versions:", 1)
	}
	one, two, switched := testcrd.Versions("Thing", v0, v1), testcrd.Versions("Thing", v0, v2, v1), testcrd.Versions("Thing", v0, v1, v2)
	for _, test := range []struct{ name, before, after, object, want string }{
		{"a version is added", one, two, "spec: {mode: C}", "v2 ratcheted\nv1 legal"},
		{"with fewer fields", one, two, "spec: {mode: B, gone: x}", "v2 legal; loses [spec.gone]\nv1 legal"},
		{"which it has had before", two, two, "spec: {mode: B, gone: x}", "v2 legal\nv1 legal"},
		{"with fields that it has not had", one, two, "spec: {mode: B, other: x, gone: null}", "v2 legal\nv1 legal"},
		{"a field is removed", one, testcrd.Versions("Thing", v0, fewer), "spec: {mode: B, gone: x, other: x}", "legal; loses [spec.gone]"},
		{"no change", "", two, "spec: {mode: B, gone: x}", "v2 legal\nv1 legal"},
		{"it has been stored", "", switched, "spec: {mode: B, gone: x}", "v1 legal; loses [spec.gone]\nv2 legal; loses [spec.gone]"},
		// The default changes the object.
		{"with a default", one, two, "spec: {mode: A}", "v2 blocked; rewrite: rule of spec; metadata: rule of spec; apply: rule of spec; elsewhere: rule of spec; within: rule of spec\nv1 legal"},
		{"it is stored", two, switched, "spec: {mode: B, gone: x}", "v1 legal; loses [spec.gone]\nv2 legal"},
		{"printed in another version", two, two, "apiVersion: example.com/v2\nkind: Thing\nmetadata: {name: it}\nspec: {mode: C}", "v2 ratcheted\nv1 legal"},
		{"printed in a version that is not served", two, two, "apiVersion: example.com/v0\nkind: Thing\nmetadata: {name: it}\nspec: {mode: C}", "v2 ratcheted\nv1 legal"},
		{"of a name that is a command", two, two, "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: it; reboot}", "Thing it; reboot has a name that no API server accepts: a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"},
		{"of a version that is unknown", two, two, "apiVersion: example.com/v9\nkind: Thing\nmetadata: {name: it}", `Thing it is of version "v9", which the CRD does not have`},
		{"of another kind", two, two, "apiVersion: example.com/v1\nkind: Other\nmetadata: {name: it}", "the object is of another kind: example.com/v1, Kind=Other"},
		{"a webhook", hooked(two), hooked(two), "spec: {mode: C}", "legal"},
		{"a webhook, printed in another version", hooked(two), hooked(two), "apiVersion: example.com/v2\nkind: Thing\nmetadata: {name: it}\nspec: {mode: C}", "ratcheted"},
		{"a webhook, printed in a version that is not served", hooked(two), hooked(two), "apiVersion: example.com/v0\nkind: Thing\nmetadata: {name: it}", "Thing it is of version v0, and only the CRD's webhook can convert it to v2"},
		{"a webhook no more", hooked(two), two, "spec: {mode: B, gone: x}", "v2 legal; loses [spec.gone]\nv1 legal"},
		{"a webhook no more, printed in another version", hooked(two), two, "apiVersion: example.com/v2\nkind: Thing\nmetadata: {name: it}\nspec: {mode: B}", "Thing it is of version v2, which a webhook has made of the stored version v1"},
	} {
		t.Run(test.name, func(t *testing.T) {
			opts := change.JudgeOptions{}
			if test.before != "" {
				opts.Before = &apiextensionsv1.CustomResourceDefinition{}
				if err := yaml.UnmarshalStrict([]byte(test.before), opts.Before); err != nil {
					t.Fatal(err)
				}
			}
			v, err := judge(t, test.after, opts).Object(t.Context(), object(t, test.object))
			got := in(v)
			if err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

// TestRepairs asserts that a repair uses a version with all fields of the object.
func TestRepairs(t *testing.T) {
	const (
		old   = "{type: object, properties: {a: {type: string}, b: {type: string}, type: {type: string}}UNION}"
		newer = "{type: object, properties: {a: {type: string}, b: {type: string}, type: {type: string}, c: {type: string}}UNION}"
		union = ", x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]"
	)
	crd := func(inOld, inNewer string) string {
		return testcrd.Versions("Thing", testcrd.Version{Name: "v1beta1", Spec: strings.Replace(old, "UNION", inOld, 1)},
			testcrd.Version{Name: "v1", Spec: strings.Replace(newer, "UNION", inNewer, 1)})
	}
	for _, test := range []struct{ name, crd, object, want string }{
		{"any version has the fields", crd(union, union), "spec: {type: A, a: x, b: x}", "things.v1beta1.example.com"},
		{"one has", crd(union, union), "spec: {type: A, a: x, b: x, c: x}", "things.v1.example.com"},
		{"one has, in which the object is legal", crd(union, ""), "spec: {type: A, a: x, b: x, c: x}", ""},
		{"none has", crd(union, union), "spec: {type: A, a: x, b: x, other: x}", "things.v1beta1.example.com"},
	} {
		t.Run(test.name, func(t *testing.T) {
			v, err := judge(t, test.crd, change.JudgeOptions{}).Object(t.Context(), object(t, test.object))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if v.Repair != nil {
				got = strings.Fields(v.Repair.Command)[2]
			}
			if got != test.want {
				t.Errorf("got %q, want %q: %s", got, test.want, in(v))
			}
		})
	}
}

// TestWorse asserts that a verdict is worse if the server rejects a write that it accepted before.
func TestWorse(t *testing.T) {
	const (
		lax    = "{type: object, properties: {mode: {type: string}, x: {type: string}}}"
		strict = "{type: object, properties: {mode: {type: string}, x: {type: string}}, x-kubernetes-validations: [{rule: \"self.mode == 'A'\"}%s]}"
	)
	for _, test := range []struct {
		name, before, after, object string
		want                        bool
	}{
		{"refused now", lax, fmt.Sprintf(strict, ""), "spec: {mode: B, x: x}", true},
		{"refused before", fmt.Sprintf(strict, ""), fmt.Sprintf(strict, ", {rule: 'has(self.x)'}"), "spec: {mode: B, x: x}", false},
		{"refused in more writes", fmt.Sprintf(strict, ""), fmt.Sprintf(strict, ", {rule: 'self.x == self.x'}"), "spec: {mode: B}", true},
		{"legal", lax, fmt.Sprintf(strict, ""), "spec: {mode: A}", false},
	} {
		t.Run(test.name, func(t *testing.T) {
			before := &apiextensionsv1.CustomResourceDefinition{}
			if err := yaml.UnmarshalStrict([]byte(testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: test.before})), before); err != nil {
				t.Fatal(err)
			}
			v, err := judge(t, testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: test.after}), change.JudgeOptions{Before: before}).Object(t.Context(), object(t, test.object))
			if err != nil || v.Worse != test.want {
				t.Errorf("%t, %v: %s", v.Worse, err, in(v))
			}
		})
	}
}

func TestNew(t *testing.T) {
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: "{type: object}"})), crd); err != nil {
		t.Fatal(err)
	}
	none, broken := crd.DeepCopy(), crd.DeepCopy()
	none.Spec.Versions[0].Served = false
	broken.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = apiextensionsv1.JSONSchemaProps{ID: "x"}
	for _, test := range []struct {
		crd  *apiextensionsv1.CustomResourceDefinition
		opts change.JudgeOptions
		want string
	}{
		{crd, change.JudgeOptions{KubeVersion: "latest"}, `could not parse "latest" as version`},
		{none, change.JudgeOptions{}, "Thing.example.com serves no version"},
		{broken, change.JudgeOptions{}, "version v1 of Thing.example.com: the schema is not structural"},
	} {
		if _, err := change.NewJudge(test.crd, test.opts); err == nil || !strings.HasPrefix(err.Error(), test.want) {
			t.Errorf("%v, want %s", err, test.want)
		}
	}
}
