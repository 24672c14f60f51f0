package e2e

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/testing/servertest"
)

// said returns the whole text of the server's answer to a write.
func said(err error) string {
	var status apierrors.APIStatus
	switch {
	case err == nil:
		return "accepted"
	case !errors.As(err, &status):
		return err.Error()
	}
	return status.Status().Message
}

// shopCRD has no declared unions. It covers other behavior of the API server that internal/server
// reproduces: defaults, formats, list types, subresources and rules.
const shopCRD = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: shops.example.com}
spec:
  group: example.com
  names: {kind: Shop, plural: shops}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    subresources:
      status: {}
      scale: {specReplicasPath: .spec.replicas, statusReplicasPath: .status.replicas, labelSelectorPath: .status.selector}
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          metadata: {type: object, properties: {name: {type: string, maxLength: 20}}}
          status: {type: object, properties: {replicas: {type: integer}, selector: {type: string}, old: {type: string, maxLength: 3}}}
          spec:
            type: object
            required: [name]
            properties:
              name: {type: string, minLength: 2}
              mode: {type: string, enum: [A, B], default: A}
              replicas: {type: integer, default: 1}
              nullable: {type: string, nullable: true, default: x}
              size: {x-kubernetes-int-or-string: true}
              count: {type: integer, maximum: 5}
              ratio: {type: number, minimum: 0.5}
              when: {type: string, format: date-time}
              code: {type: string, pattern: '^[a-z]+$', maxLength: 4}
              old: {type: object, properties: {a: {type: string, maxLength: 3}, b: {type: string}}}
              free: {type: object, x-kubernetes-preserve-unknown-fields: true}
              odd.key: {type: object, additionalProperties: {type: object, properties: {num: {type: integer, maximum: 5}}}}
              set: {type: array, x-kubernetes-list-type: set, maxItems: 4, items: {type: string}}
              entries:
                type: array
                x-kubernetes-list-type: map
                x-kubernetes-list-map-keys: [key, protocol]
                items:
                  type: object
                  required: [key]
                  properties:
                    key: {type: string}
                    protocol: {type: string, default: TCP}
                    value: {type: string, maxLength: 3}
              atomic: {type: array, items: {type: string, maxLength: 3}}
              either:
                type: object
                properties: {a: {type: string}, b: {type: string}}
                oneOf: [{required: [a]}, {required: [b]}]
              template:
                type: object
                x-kubernetes-embedded-resource: true
                x-kubernetes-preserve-unknown-fields: true
            x-kubernetes-validations:
            - {rule: "self.name != 'no'", message: not no, fieldPath: .name, reason: FieldValueForbidden}
            - {rule: "self.name == oldSelf.name", message: fixed}
            - {rule: "self.replicas < 10", messageExpression: "self.replicas < 100 ? 'at most 9' : 'far too many'"}
        x-kubernetes-validations:
        - {rule: "self.metadata.name != 'forbidden'"}
        - {rule: "!has(self.spec.count) || self.spec.count != 4", message: not four}
  - name: v1alpha1
    served: true
    storage: false
    deprecated: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, properties: {name: {type: string}, mode: {type: string, default: B}, replicas: {type: integer}}}
  - name: v0
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
`

// TestOffline creates and updates objects that exercise all of the API server's processing.
// internal/testing/servertest checks that internal/server gives the same answers.
func TestOffline(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	if err := server.Install(t.Context(), []byte(shopCRD)); err != nil {
		t.Fatal(err)
	}
	strict := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.UnmarshalStrict([]byte(shopCRD), strict); err != nil {
		t.Fatal(err)
	}
	object := func(text string) []byte {
		if !strings.HasPrefix(text, "apiVersion: ") && !strings.HasPrefix(text, "{") {
			text = "apiVersion: example.com/v1\nkind: Shop\n" + text
		}
		return []byte(text)
	}
	const good = "metadata: {name: good}\nspec: {name: xx}\n"
	for name, test := range map[string]struct{ object, want string }{
		"good":              {good, "accepted"},
		"unknown fields":    {"metadata: {name: x, nam: x}\nspec: {name: xx, nme: x, entries: [{key: a, k: b}], template: {apiVersion: v1, kind: A, metadata: {nam: x}}}\nsspec: {}\n", "unknown field"},
		"no spec":           {"metadata: {name: x}\n", "Required value"},
		"no metadata":       {"spec: {name: xx}\n", "name or generateName is required"},
		"generateName":      {"metadata: {generateName: x-, labels: {a: b}}\nspec: {name: x}\n", "at least 2 chars"},
		"name":              {"metadata: {name: Bad_Name}\nspec: {name: xx}\n", "RFC 1123"},
		"long name":         {"metadata: {name: a-name-of-more-than-twenty}\nspec: {name: xx}\n", "may not be more than 20"},
		"labels":            {"metadata: {name: x, labels: {'a b': c}, annotations: {'a b': c}, finalizers: ['a b']}\nspec: {name: xx}\n", "metadata.labels"},
		"malformed labels":  {"metadata: {name: x, labels: {a: 1}}\nspec: {name: xx}\n", "cannot unmarshal"},
		"malformed name":    {"metadata: {name: 1}\nspec: {name: xx}\n", "cannot unmarshal"},
		"finalizers":        {"metadata: {name: finalizer, finalizers: [a]}\nspec: {name: xx}\n", "accepted"},
		"generation":        {"metadata: {name: generation, generation: 7, selfLink: /x, creationTimestamp: 2020-01-01T00:00:00Z}\nspec: {name: xx}\n", "accepted"},
		"owners":            {"metadata: {name: owners, ownerReferences: [{apiVersion: v1, kind: A, name: a}]}\nspec: {name: xx}\n", "metadata.ownerReferences[0].uid: Required value"}, // see docs/compatibility.md
		"status":            {"metadata: {name: status}\nspec: {name: xx}\nstatus: {replicas: x}\n", "accepted"},
		"null":              {"metadata: {name: null-1}\nspec: {name: xx, mode: null, replicas: null, nullable: null, set: null, either: null, old: {a: null}}\n", "accepted"},
		"null spec":         {"metadata: {name: null-2}\nspec: null\n", "Required value"},
		"null in a list":    {"metadata: {name: null-3}\nspec: {name: xx, set: [null]}\n", "must be of type string"},
		"null required":     {"metadata: {name: null-4}\nspec: {name: null}\n", "Required value"},
		"types":             {"metadata: {name: x}\nspec: {name: 1, replicas: '1', count: 1.5, ratio: 1, set: {}, size: 1.5, odd.key: {k.1: {num: 9}}}\n", "must be of type"},
		"numbers":           {"metadata: {name: numbers}\nspec: {name: xx, count: 5, ratio: 1, size: 10%, odd.key: {k.1: {num: 5}}}\n", "accepted"},
		"ranges":            {"metadata: {name: x}\nspec: {name: x, count: 6, ratio: 0.1, odd.key: {k.1: {num: 9}, 'k[2]': {num: 8}}}\n", "odd.key.k.1.num"},
		"enum":              {"metadata: {name: x}\nspec: {name: xx, mode: C}\n", "Unsupported value"},
		"too long":          {"metadata: {name: x}\nspec: {name: xx, code: abcde, set: [a, b, c, d, e]}\n", "some validation rules were not checked"},
		"pattern":           {"metadata: {name: x}\nspec: {name: xx, code: A, when: now}\n", "should match"},
		"set":               {"metadata: {name: x}\nspec: {name: xx, set: [a, b, a]}\n", "Duplicate value"},
		"map":               {"metadata: {name: x}\nspec: {name: xx, entries: [{key: a}, {key: a, protocol: TCP}]}\n", "Duplicate value"},
		"map with defaults": {"metadata: {name: map}\nspec: {name: xx, entries: [{key: a}, {key: a, protocol: UDP}]}\n", "accepted"},
		"neither":           {"metadata: {name: x}\nspec: {name: xx, either: {}}\n", "must validate one and only one schema"},
		"free":              {"metadata: {name: free}\nspec: {name: xx, free: {a: {b: null}}}\n", "accepted"},
		"embedded":          {"metadata: {name: x}\nspec: {name: xx, template: {metadata: {name: Bad_Name, labels: {'a b': c}}}}\n", "spec.template"},
		"embedded, good":    {"metadata: {name: embedded}\nspec: {name: xx, template: {apiVersion: v1, kind: A, metadata: {name: a, labels: {a: b}}, x: {y: null}}}\n", "accepted"},
		"embedded, wrong":   {"metadata: {name: x}\nspec: {name: xx, template: {apiVersion: 1, kind: A}}\n", "must be a string"},
		"embedded metadata": {"metadata: {name: x}\nspec: {name: xx, template: {apiVersion: v1, kind: A, metadata: {labels: 1}}}\n", "cannot unmarshal"},
		"rules":             {"metadata: {name: forbidden}\nspec: {name: 'no', replicas: 20}\n", "at most 9"},
		"scale":             {"metadata: {name: x}\nspec: {name: xx, replicas: -1}\n", "non-negative"},
		"float in YAML":     {"metadata: {name: float-1}\nspec: {name: xx, replicas: 2.0}\n", "accepted"}, // decoded as 2
		"fraction":          {"metadata: {name: x}\nspec: {name: xx, replicas: 2.5}\n", "accessor error: 2.5 is of the type float64, expected int64"},
		"float in JSON": {`{"apiVersion": "example.com/v1", "kind": "Shop", "metadata": {"name": "x"}, "spec": {"name": "xx", "replicas": 2.0}}`,
			".spec.replicas: Invalid value: 0: .spec.replicas accessor error: 2 is of the type float64, expected int64"},
		"float elsewhere in JSON": {`{"apiVersion": "example.com/v1", "kind": "Shop", "metadata": {"name": "float-2"}, "spec": {"name": "xx", "ratio": 2.0}}`, "accepted"},
		"older version":           {"apiVersion: example.com/v1alpha1\nkind: Shop\nmetadata: {name: older}\nspec: {name: x}\n", "accepted"},
	} {
		t.Run("create/"+name, func(t *testing.T) {
			_, err := server.Create(t.Context(), object(test.object))
			if text := said(err); !strings.Contains(text, test.want) {
				t.Fatalf("the server does not say %q: %s", test.want, text)
			}
		})
	}

	// Objects that an older schema accepted.
	lax := strict.DeepCopy()
	preserve := true
	for i := range lax.Spec.Versions {
		lax.Spec.Versions[i].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &preserve}
		lax.Spec.Versions[i].Subresources = nil
	}
	if err := server.Replace(t.Context(), marshal(t, lax)); err != nil {
		t.Fatal(err)
	}
	updates := map[string]struct{ old, new, want string }{
		"same":                {"spec: {name: xx}", "spec: {name: xx}", "accepted"},
		"defaults":            {"spec: {name: xx, mode: B, replicas: 3}", "spec: {name: xx}", "accepted"},
		"transition":          {"spec: {name: xx}", "spec: {name: yy}", "fixed"},
		"status is kept":      {"spec: {name: xx}\nstatus: {replicas: 2}", "spec: {name: xx}\nstatus: {replicas: x}", "accepted"},
		"unknown field":       {"spec: {name: xx, nme: x}", "spec: {name: xx, nme: x}", "unknown field"},
		"ratcheted":           {"spec: {name: xx, mode: C, count: 9, code: ABCDEF, old: {a: abcd, b: x}}", "spec: {name: xx, mode: C, count: 9, code: ABCDEF, old: {a: abcd, b: z}}", "accepted"},
		"not ratcheted":       {"spec: {name: xx, mode: C, count: 9}", "spec: {name: xx, mode: D, count: 8}", "Unsupported value"},
		"rule, unchanged":     {"spec: {name: 'no'}", "spec: {name: 'no'}", "accepted"},
		"rule, changed":       {"spec: {name: 'no'}", "spec: {name: 'no', mode: B}", "not no"},
		"item":                {"spec: {name: xx, entries: [{key: a, value: long}]}", "spec: {name: xx, entries: [{key: b}, {key: a, value: long}]}", "accepted"},
		"item, changed":       {"spec: {name: xx, entries: [{key: a, value: long}]}", "spec: {name: xx, entries: [{key: a, value: longer}]}", "may not be more than 3"},
		"atomic":              {"spec: {name: xx, atomic: [long]}", "spec: {name: xx, atomic: [long, x]}", "may not be more than 3"},
		"atomic, unchanged":   {"spec: {name: xx, atomic: [long]}", "spec: {name: xx, mode: B, atomic: [long]}", "accepted"},
		"duplicates":          {"spec: {name: xx, set: [a, a]}", "spec: {name: xx, set: [a, a, b, b]}", "accepted"},
		"new duplicates":      {"spec: {name: xx, set: [a]}", "spec: {name: xx, set: [a, a]}", "Duplicate value"},
		"required":            {"spec: {mode: A}", "spec: {mode: B}", "Required value"},
		"either":              {"spec: {name: xx, either: {}}", "spec: {name: xx, mode: B, either: {}}", "accepted"},
		"null":                {"spec: {name: xx, either: null, set: null, old: {a: null}}", "spec: {name: xx, set: null, old: {a: abcd}}", "may not be more than 3"},
		"embedded, unchanged": {"spec: {name: xx, template: {apiVersion: v1, kind: A, metadata: {labels: {'a b': c}}}}", "spec: {name: xx, template: {apiVersion: v1, kind: A, metadata: {labels: {'a b': c}}}}", "spec.template"},
		"malformed metadata":  {"spec: {name: xx, template: {apiVersion: v1, kind: A, metadata: {labels: 1}}}", "spec: {name: xx, template: {apiVersion: v1, kind: A}}", "accepted"},
		"scale":               {"spec: {name: xx}\nstatus: {replicas: -1}", "spec: {name: xx}", "non-negative"},
		"another version":     {"spec: {name: xx, mode: C}", "apiVersion: example.com/v1alpha1\nkind: Shop\nmetadata: {name: NAME}\nspec: {name: yy, replicas: 20}", "accepted"},
		"uid":                 {"spec: {name: xx}", "metadata: {name: NAME, uid: x}\nspec: {name: xx}", "Precondition failed: UID"},
		"resourceVersion":     {"spec: {name: xx}", "metadata: {name: NAME, resourceVersion: '1'}\nspec: {name: xx}", "the object has been modified"},
		"metadata":            {"spec: {name: xx}", "metadata: {name: NAME, generation: 9, creationTimestamp: 2020-01-01T00:00:00Z, labels: {'a b': c}}\nspec: {name: xx}", "metadata.labels"},
		"deletion":            {"spec: {name: xx}", "metadata: {name: NAME, deletionTimestamp: 2020-01-01T00:00:00Z}\nspec: {name: xx}", "field is immutable"},
		"finalizers":          {"spec: {name: xx}", "metadata: {name: NAME, finalizers: [a]}\nspec: {name: yy}", "fixed"},

		"status/new":                {"spec: {name: xx, mode: C}", "spec: {name: yy}\nstatus: {replicas: 2}", "accepted"},
		"status/gone":               {"spec: {name: xx, set: [a, a]}\nstatus: {replicas: 2}", "spec: {}", "accepted"},
		"status/type":               {"spec: {name: xx}\nstatus: {replicas: 2}", "spec: {name: xx}\nstatus: {replicas: x}", "must be of type integer"},
		"status/type, unchanged":    {"spec: {name: xx}\nstatus: {replicas: x}", "spec: {name: xx}\nstatus: {replicas: x}", "accessor error"},
		"status/ratcheted":          {"spec: {name: xx}\nstatus: {old: abcd}", "spec: {name: xx}\nstatus: {old: abcd, replicas: 1}", "accepted"},
		"status/not ratcheted":      {"spec: {name: xx}\nstatus: {old: abcd}", "spec: {name: xx}\nstatus: {old: abcde}", "may not be more than 3"},
		"status/scale":              {"spec: {name: xx, replicas: -1}", "spec: {name: xx}\nstatus: {replicas: -1}", "non-negative"},
		"status/unknown field":      {"spec: {name: xx}", "spec: {name: xx, nme: xx}\nstatus: {}", "unknown field"},
		"status/rule, unchanged":    {"spec: {name: 'no'}", "spec: {name: yy}\nstatus: {}", "accepted"},
		"status/rule at the root":   {"spec: {name: xx, count: 4}", "spec: {name: yy}\nstatus: {}", "not four"},
		"status/broken expectation": {"spec: {mode: A}", "spec: {mode: B}\nstatus: {}", "no such key: name"},
		"status/metadata":           {"spec: {name: xx}", "metadata: {name: NAME, finalizers: [a], labels: {'a b': c}}\nspec: {name: xx}\nstatus: {}", "accepted"},
	}
	for i, name := range slices.Sorted(maps.Keys(updates)) {
		o := object(fmt.Sprintf("metadata: {name: u-%d}\n%s\n", i, updates[name].old))
		if _, err := server.Create(t.Context(), o); err != nil {
			t.Fatal(err)
		}
	}
	if err := server.Replace(t.Context(), []byte(shopCRD)); err != nil {
		t.Fatal(err)
	}
	for i, name := range slices.Sorted(maps.Keys(updates)) {
		t.Run("update/"+name, func(t *testing.T) {
			u := updates[name]
			text := u.new
			if !strings.HasPrefix(text, "metadata: ") && !strings.Contains(text, "\nmetadata: ") {
				text = "metadata: {name: NAME}\n" + text
			}
			o := object(strings.ReplaceAll(text, "NAME", fmt.Sprintf("u-%d", i)))
			update := server.Update
			if strings.HasPrefix(name, "status/") {
				update = server.UpdateStatus
			}
			_, err := update(t.Context(), o)
			if text := said(err); !strings.Contains(text, u.want) {
				t.Fatalf("the server does not say %q: %s", u.want, text)
			}
		})
	}
}
