package e2e

import (
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
)

// TestFacts pins down the server behaviour that the compiler relies on. If a fact changes after an
// upgrade, the design must be reviewed. It needs [unioncases.Exhaustive], because nothing but an
// upgrade of the server changes a fact.
func TestFacts(t *testing.T) {
	if !unioncases.Exhaustive {
		t.Skip("it runs in the exhaustive stage")
	}
	s := servertest.Shared(t)
	for _, topic := range []struct {
		name string
		run  func(*testing.T, *servertest.Server)
	}{
		{"declaration", declarationFacts},
		{"correlation", correlationFacts},
		{"presence", presenceFacts},
		{"absence", absenceFacts},
		{"errors", errorFacts},
		{"messages", messageFacts},
		{"ratcheting", ratchetingFacts},
		{"unchanged", unchangedFacts},
		{"transitions", transitionFacts},
		{"budgets", budgetFacts},
		{"yaml", yamlFacts},
	} {
		t.Run(topic.name, func(t *testing.T) { topic.run(t, s) })
	}
}

// crd returns the CRD of a cluster-scoped kind with the status subresource, whose versions v1, v2,
// ... have the given root schemas (YAML).
func crd(t *testing.T, kind string, schemas ...string) []byte {
	t.Helper()
	var versions []string
	for i, schema := range schemas {
		inline, err := yaml.YAMLToJSON([]byte(schema))
		if err != nil {
			t.Fatalf("schema: %v", err)
		}
		versions = append(versions, fmt.Sprintf(`
  - {name: v%d, served: true, storage: %t, subresources: {status: {}}, schema: {openAPIV3Schema: %s}}`, i+1, i == 0, inline))
	}
	return fmt.Appendf(nil, `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: %[2]ss.facts.test}
spec:
  group: facts.test
  scope: Cluster
  names: {kind: %[1]s, plural: %[2]ss}
  versions: %[3]s
`, kind, strings.ToLower(kind), strings.Join(versions, ""))
}

// root returns a root schema with the given schema (YAML) for spec.
func root(t *testing.T, spec string) string {
	t.Helper()
	inline, err := yaml.YAMLToJSON([]byte(spec))
	if err != nil {
		t.Fatalf("schema: %v", err)
	}
	return fmt.Sprintf(`
type: object
properties:
  spec: %s
  status: {type: object, properties: {phase: {type: string}}}
`, inline)
}

// it returns the object of a kind that the tests use.
func it(kind, fields string) []byte {
	return fmt.Appendf(nil, "{apiVersion: facts.test/v1, kind: %s, metadata: {name: it}, %s}", kind, fields)
}

// relabelled returns the object of it with another label: an update that does not depend on a
// schema.
func relabelled(kind, fields string) []byte {
	return fmt.Appendf(nil, "{apiVersion: facts.test/v1, kind: %s, metadata: {name: it, labels: {touched: 'true'}}, %s}", kind, fields)
}

// complaint returns the server's validation error without the name of the object, or "" if err is
// nil.
func complaint(t *testing.T, err error) string {
	t.Helper()
	if err == nil {
		return ""
	}
	if !apierrors.IsInvalid(err) {
		t.Fatalf("error %v, want a validation error", err)
	}
	_, text, _ := strings.Cut(err.Error(), " is invalid: ")
	return text
}

// wantComplaint checks that err is a validation error with the given text, or nil for "".
func wantComplaint(t *testing.T, err error, text string) {
	t.Helper()
	got := complaint(t, err)
	if !strings.Contains(got, text) || text == "" && got != "" {
		t.Errorf("the server says %q, want %q", got, text)
	}
}

func installed(t *testing.T, s *servertest.Server, crd []byte) {
	t.Helper()
	if err := s.Install(t.Context(), crd); err != nil {
		t.Fatalf("install: %v", err)
	}
}

func create(t *testing.T, s *servertest.Server, obj []byte) {
	t.Helper()
	if _, err := s.Create(t.Context(), obj); err != nil {
		t.Fatalf("create: %v", err)
	}
}

// replace also proves that the new CRD is in force.
func replace(t *testing.T, s *servertest.Server, crd []byte) {
	t.Helper()
	if err := s.Replace(t.Context(), crd); err != nil {
		t.Fatalf("replace: %v", err)
	}
}

// only drops the result of a call whose error alone matters.
func only[T any](_ T, err error) error { return err }

func declarationFacts(t *testing.T, s *servertest.Server) {
	const declared = `
type: object
properties: {type: {type: string}, http: {type: object}}
x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {http: HTTP}}]`
	t.Run("unions are refused under strict validation", func(t *testing.T) {
		err := s.Install(t.Context(), crd(t, "Strict", root(t, declared)))
		const want = `unknown field "spec.versions[0].schema.openAPIV3Schema.properties.spec.x-kubernetes-unions"`
		if !apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want a bad request: %s", err, want)
		}
	})
	for _, validation := range []string{"Ignore", "Warn"} {
		t.Run("unions are dropped under validation "+validation, func(t *testing.T) {
			var object unstructured.Unstructured
			if err := yaml.Unmarshal(crd(t, validation, root(t, declared)), &object.Object); err != nil {
				t.Fatal(err)
			}
			answer, err := clientOf(t, s).Resource(crdResource).Create(t.Context(), &object, metav1.CreateOptions{FieldValidation: validation})
			if err != nil {
				t.Fatal(err)
			}
			stored := fmt.Sprint(answer)
			if strings.Contains(stored, "x-kubernetes-unions") || !strings.Contains(stored, "http:") {
				t.Errorf("stored: %s", stored)
			}
		})
	}

	repeated := `
type: object
properties: {a: {type: string}}
x-kubernetes-validations:
- {rule: has(self.a), message: one}
- {rule: has(self.a), message: two}`
	t.Run("rules of one text pass create and update", func(t *testing.T) {
		installed(t, s, crd(t, "Repeated", root(t, repeated)))
		replace(t, s, crd(t, "Repeated", root(t, strings.Replace(repeated, "two", "three", 1))))
	})
	t.Run("rules of one text break server-side apply", func(t *testing.T) {
		for _, kind := range []string{"Repeated", "RepeatedAnew"} {
			err := s.Apply(t.Context(), crd(t, kind, root(t, repeated)))
			const want = `.x-kubernetes-validations: duplicate entries for key [rule="has(self.a)"]`
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: error %v, want %s", kind, err, want)
			}
		}
	})
	t.Run("rules of two texts pass server-side apply", func(t *testing.T) {
		distinct := strings.Replace(repeated, "{rule: has(self.a), message: two}", "{rule: has(self.a) || false}", 1)
		if err := s.Apply(t.Context(), crd(t, "Distinct", root(t, distinct))); err != nil {
			t.Error(err)
		}
	})

	for _, test := range []struct{ name, rule, want string }{
		{"a message with a newline is refused", `{rule: has(self.a), message: "one\ntwo"}`, "must not contain line breaks"},
		{"a message of blanks is refused", `{rule: has(self.a), message: " "}`, "must be non-empty if specified"},
		{"a messageExpression of blanks is refused", `{rule: has(self.a), messageExpression: " "}`, "messageExpression must be non-empty if specified"},
		{"a rule with a newline needs a message", `{rule: "has(self.a) ||\nfalse"}`, "message must be specified if rule contains line breaks"},
		{"a fieldPath to an undeclared property is refused", `{rule: has(self.a), fieldPath: .b}`, "must be a valid path"},
		{"optionalOldSelf without oldSelf is refused", `{rule: has(self.a), optionalOldSelf: true}`, "may not be set if oldSelf is not used in rule"},
	} {
		t.Run(test.name, func(t *testing.T) {
			schema := `{type: object, properties: {a: {type: string}}, x-kubernetes-validations: [` + test.rule + `]}`
			wantComplaint(t, s.Install(t.Context(), crd(t, "Refused", root(t, schema))), test.want)
		})
	}
}

// correlationFacts assert where a rule may read oldSelf.
func correlationFacts(t *testing.T, s *servertest.Server) {
	const union = `{type: object, required: [name], properties: {name: {type: string}, type: {type: string}}, x-kubernetes-validations: [%s]}`
	const refused = "oldSelf cannot be used on the uncorrelatable portion of the schema within "
	const within = "spec.validation.openAPIV3Schema.properties[spec].properties[u]"
	rules := map[string]string{
		"oldSelf":         "{rule: has(self.type) == has(oldSelf.type)}",
		"optionalOldSelf": "{rule: oldSelf.hasValue(), optionalOldSelf: true}",
	}
	for i, test := range []struct{ name, schema, within string }{
		{"in an object", "%s", ""},
		{"in an atomic object", "{type: object, x-kubernetes-map-type: atomic, properties: {in: %s}}", ""},
		{"in a map", "{type: object, additionalProperties: %s}", ""},
		{"in an atomic map", "{type: object, x-kubernetes-map-type: atomic, additionalProperties: %s}", ""},
		{"in a list-map", "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: %s}", ""},
		{"in a list-map in a map", "{type: object, additionalProperties: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: %s}}", ""},
		{"in a list", "{type: array, items: %s}", within},
		{"in an atomic list", "{type: array, x-kubernetes-list-type: atomic, items: %s}", within},
		{"in a map in a list", "{type: array, items: {type: object, additionalProperties: %s}}", within},
		{"in a list-map in a list", "{type: array, items: {type: object, properties: {in: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: %s}}}}", within},
		{"in a list in a list-map", "{type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}, in: {type: array, items: %s}}}}", within + ".items.properties[in]"},
	} {
		for variable, rule := range rules {
			t.Run(variable+" "+test.name, func(t *testing.T) {
				schema := fmt.Sprintf("{type: object, properties: {u: "+test.schema+"}}", fmt.Sprintf(union, rule))
				want := ""
				if test.within != "" {
					want = refused + test.within
				}
				kind := fmt.Sprintf("Correlated%s%d", variable, i)
				wantComplaint(t, s.Install(t.Context(), crd(t, kind, root(t, schema))), want)
			})
		}
	}
	t.Run("oldSelf on a list itself", func(t *testing.T) {
		schema := "{type: object, properties: {u: {type: array, items: {type: string}, x-kubernetes-validations: [{rule: self.size() >= oldSelf.size()}]}}}"
		wantComplaint(t, s.Install(t.Context(), crd(t, "OnList", root(t, schema))), "")
	})
}
