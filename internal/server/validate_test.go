package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/server"
)

// test/e2e and internal/testing/servertest compare the package with a server. These tests cover
// files, which a server does not have, and fail fast when something breaks.

const crd = `
spec:
  group: example.com
  names: {kind: Route, plural: routes}
  scope: Namespaced
  conversion: CONVERSION
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          status: {type: object, properties: {ready: {type: boolean}}}
          spec:
            type: object
            properties:
              type: {type: string, enum: [HTTP, TCP], default: HTTP}
              port: {type: integer, maximum: 9}
              set: {type: array, x-kubernetes-list-type: set, items: {type: string}}
            x-kubernetes-validations:
            - {rule: self.type == oldSelf.type, message: fixed, fieldPath: .type, reason: FieldValueForbidden}
            - {rule: '!has(self.port) || self.port != 3', message: not three}
  - name: v2
    served: true
    storage: false
    deprecated: true
    deprecationWarning: soon gone
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {type: {type: string}}}}}}
  - name: v3
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
`

func kind(t *testing.T, text string) *server.Kind {
	t.Helper()
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(text), crd); err != nil {
		t.Fatal(err)
	}
	return server.NewKind(crd)
}

// object parses an object from text that omits the common fields.
func object(t *testing.T, text string) map[string]any {
	t.Helper()
	for _, line := range []string{"metadata: {name: x}", "kind: Route", "apiVersion: example.com/v1"} {
		if key, _, _ := strings.Cut(line, " "); !strings.Contains("\n"+text, "\n"+key) {
			text = line + "\n" + text
		}
	}
	o := map[string]any{}
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	return integers(o).(map[string]any)
}

// integers converts numbers to the types that decoding gives them.
func integers(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, w := range v {
			v[k] = integers(w)
		}
	case []any:
		for i, w := range v {
			v[i] = integers(w)
		}
	case float64:
		return int64(v)
	}
	return v
}

func TestCreate(t *testing.T) {
	k := kind(t, strings.Replace(crd, "CONVERSION", "{strategy: None}", 1))
	for text, want := range map[string]string{
		"spec: {}": `stored {"apiVersion":"example.com/v1","kind":"Route","metadata":{"generation":1,"name":"x","namespace":"default"},"spec":{"type":"HTTP"}}`,
		"spec: {type: TCP, port: null}\nstatus: {ready: true}":                       `stored {"apiVersion":"example.com/v1","kind":"Route","metadata":{"generation":1,"name":"x","namespace":"default"},"spec":{"type":"TCP"}}`,
		"metadata: {generateName: x-, namespace: web, uid: x, resourceVersion: '1'}": `stored {"apiVersion":"example.com/v1","kind":"Route","metadata":{"generateName":"x-","generation":1,"name":"x-xxxxx","namespace":"web"}}`,
		"apiVersion: example.com/v2\nspec: {type: 'no'}":                             `warning soon gone, stored {"apiVersion":"example.com/v2","kind":"Route","metadata":{"generation":1,"name":"x","namespace":"default"},"spec":{"type":"no"}}`,
		"spec: {prt: 1, set: [a, a]}\nstats: {}":                                     `BadRequest: Route in version "v1" cannot be handled as a Route: strict decoding error: unknown field "spec.prt", unknown field "stats"`,
		"spec: {port: 10, set: [a, a]}":                                              `Invalid: spec.port: Invalid value: 10: spec.port in body should be less than or equal to 9; spec.set[1]: Duplicate value: "a"`,
		"spec: {port: 3}":                                                            `Invalid: spec: Invalid value: not three`,
		"spec: {port: 3, type: UDP}":                                                 `Invalid: spec.type: Unsupported value: "UDP": supported values: "HTTP", "TCP"; <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`,
		"apiVersion: example.com/v3":                                                 `no matches for kind "Route" in version "example.com/v3"`,
		"kind: Rote":                                                                 `no matches for kind "Rote" in version "example.com/v1"`,
	} {
		given := object(t, text)
		before := fmt.Sprint(given)
		answer, err := k.Create(t.Context(), given)
		if got := words(t, answer, err); got != want {
			t.Errorf("%s\nis answered %s\nwant        %s", text, got, want)
		}
		if fmt.Sprint(given) != before {
			t.Errorf("%s has been changed", text)
		}
	}
}

func TestUpdate(t *testing.T) {
	none, webhook := kind(t, strings.Replace(crd, "CONVERSION", "{strategy: None}", 1)), kind(t, strings.Replace(crd, "CONVERSION", "{strategy: Webhook}", 1))
	for _, tt := range []struct {
		name, old, new, want string
		kind                 *server.Kind
	}{
		{"from a file", "spec: {type: TCP}", "spec: {type: TCP, port: 1}", `stored {"apiVersion":"example.com/v1","kind":"Route","metadata":{"generation":2,"name":"x","namespace":"default"},"spec":{"port":1,"type":"TCP"}}`, none},
		{"from a server", "metadata: {name: x, namespace: web, uid: u, resourceVersion: '7', generation: 4, creationTimestamp: 2020-01-01T00:00:00Z, managedFields: [{}]}\nstatus: {ready: true}", "spec: {}", `stored {"apiVersion":"example.com/v1","kind":"Route","metadata":{"creationTimestamp":"2020-01-01T00:00:00Z","generation":5,"name":"x","namespace":"web","uid":"u"},"spec":{"type":"HTTP"},"status":{"ready":true}}`, none},
		{"a rule on the change", "spec: {type: TCP}", "spec: {}", "Invalid: spec.type: Forbidden: fixed", none},
		{"forgiven", "spec: {port: 12, type: UDP, set: [a, a], old: 1}", "spec: {port: 12, type: UDP, set: [b, b]}", `stored {"apiVersion":"example.com/v1","kind":"Route","metadata":{"generation":2,"name":"x","namespace":"default"},"spec":{"port":12,"set":["b","b"],"type":"UDP"}}`, none},
		{"not forgiven", "spec: {port: 12}", "spec: {port: 13}", "Invalid: spec.port: Invalid value: 13: spec.port in body should be less than or equal to 9", none},
		{"of another version", "apiVersion: example.com/v2\nspec: {type: TCP}", "spec: {}", "Invalid: spec.type: Forbidden: fixed", none},
		{"of another version, by a webhook", "apiVersion: example.com/v2\nspec: {type: TCP}", "spec: {}", "the old object is of version v2, and only the CRD's webhook can convert it to v1", webhook},
		{"of a version that is not served", "apiVersion: example.com/v3\nspec: {type: TCP}", "spec: {}", `stored {"apiVersion":"example.com/v1","kind":"Route","metadata":{"generation":2,"name":"x","namespace":"default"},"spec":{"type":"HTTP"}}`, none},
		{"of no version", "apiVersion: example.com/v9\nspec: {type: TCP}", "spec: {}", `the old object: no version "v9"`, none},
		{"of another kind", "kind: Other", "spec: {}", "the old object is of another kind: example.com/v1, Kind=Other", none},
		{"malformed", "metadata: x", "spec: {}", "the old object: invalid metadata: expected object, got string", none},
		{"another name", "metadata: {name: z}", "spec: {}", "BadRequest: the name of the object (x) does not match the name on the URL (z)", none},
		{"another namespace", "metadata: {name: x, namespace: a}", "metadata: {name: x, namespace: b}", "BadRequest: the namespace of the provided object does not match the namespace sent on the request", none},
	} {
		answer, err := tt.kind.Update(t.Context(), object(t, tt.new), object(t, tt.old))
		if got := words(t, answer, err); got != tt.want {
			t.Errorf("%s: the answer is %s\nwant %s", tt.name, got, tt.want)
		}
	}
}

// Servers ratchet errors in unchanged values since 1.30, and in writes to the status since 1.33.
func TestNewFor(t *testing.T) {
	def := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(strings.Replace(crd, "CONVERSION", "null", 1)), def); err != nil {
		t.Fatal(err)
	}
	for version, want := range map[string][2]bool{"1.29": {}, "1.30": {true, false}, "v1.32.4": {true, false}, "1.33": {true, true}, "": {true, true}} {
		k, err := server.NewKindFor(def, version)
		if err != nil {
			t.Fatal(err)
		}
		for i, update := range []func(context.Context, map[string]any, map[string]any) (server.Answer, error){k.Update, k.UpdateStatus} {
			o := object(t, "spec: {type: HTTP, port: 3}\nstatus: {ready: true}")
			if answer, err := update(t.Context(), o, o); err != nil || (answer.Refused == nil) != want[i] {
				t.Errorf("%q: %v, %v", version, answer.Refused, err)
			}
		}
	}
	if _, err := server.NewKindFor(def, "one"); err == nil {
		t.Error("one is a version")
	}
	if _, err := server.NewKind(def).UpdateStatus(t.Context(), object(t, "apiVersion: example.com/v2"), object(t, "")); err == nil || err.Error() != "version v2 has no subresource status" {
		t.Error(err)
	}
}

// A persisted object is read without errors, and validated with its status.
func TestStored(t *testing.T) {
	k := kind(t, strings.Replace(crd, "CONVERSION", "null", 1))
	for _, test := range []struct{ object, version, read, want string }{
		{"spec: {port: 1, old: x}", "v1", "map[port:1 type:HTTP]", "accepted"},
		{"spec: {port: 1}", "v2", "map[type:HTTP]", "accepted"},
		{"spec: {port: 3}\nstatus: {ready: x}", "v1", "map[port:3 type:HTTP]", `Invalid: status.ready: Invalid value: "string": status.ready in body must be of type boolean: "string"; <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation`},
		{"spec: {port: 3, type: UDP}", "v1", "map[port:3 type:UDP]", `Invalid: spec.type: Unsupported value: "UDP": supported values: "HTTP", "TCP"; spec: Invalid value: not three`},
		{"apiVersion: example.com/v3\nspec: {port: 3}", "v1", "<nil>", "accepted"},
	} {
		read, err := k.Read(object(t, test.object), test.version)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := k.Legal(t.Context(), read)
		got := "accepted"
		if err != nil || answer.Refused != nil {
			got = words(t, answer, err)
		}
		if spec := fmt.Sprint(read["spec"]); spec != test.read || got != test.want {
			t.Errorf("%s is read as %s, and %s", test.object, spec, got)
		}
	}
	for _, o := range []string{"kind: Other", "apiVersion: example.com/v9"} {
		if _, err := k.Read(object(t, o), "v1"); err == nil {
			t.Errorf("%s has been read", o)
		}
	}
	if _, err := k.Read(object(t, ""), "v3"); err == nil {
		t.Error("v3 is served")
	}
}

// A version that cannot be served does not affect other versions.
func TestCheck(t *testing.T) {
	k := kind(t, strings.Replace(strings.Replace(crd, "CONVERSION", "null", 1), "schema: {openAPIV3Schema: {type: object, ", "schema: {openAPIV3Schema: {type: object, patternProperties: {a: {}}, ", 1))
	if err := k.Check("v1"); err != nil {
		t.Error(err)
	}
	if err := k.Check("v2"); err == nil || !strings.Contains(err.Error(), "not structural") {
		t.Errorf("the server would serve v2: %v", err)
	}
	if _, err := k.Create(t.Context(), object(t, "apiVersion: example.com/v2")); err == nil {
		t.Error("an object was judged")
	}
}

func words(t *testing.T, answer server.Answer, err error) string {
	t.Helper()
	if err != nil {
		return err.Error()
	}
	var l []string
	for _, w := range answer.Warnings {
		l = append(l, "warning "+w)
	}
	if answer.Refused == nil {
		text, err := yaml.Marshal(answer.Object)
		if err != nil {
			t.Fatal(err)
		}
		if text, err = yaml.YAMLToJSON(text); err != nil {
			t.Fatal(err)
		}
		return strings.Join(append(l, "stored "+string(text)), ", ")
	}
	var causes []string
	for _, c := range answer.Causes() {
		text := c.Message
		if c.Field != "" {
			text = c.Field + ": " + text
		}
		causes = append(causes, text)
	}
	return strings.Join(append(l, string(answer.Refused.ErrStatus.Reason)+": "+strings.Join(causes, "; ")), ", ")
}
