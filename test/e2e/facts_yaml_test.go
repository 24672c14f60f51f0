package e2e

import (
	"fmt"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/testing/servertest"
)

func sigsYAML(document []byte, into any) error { return yaml.Unmarshal(document, into) }

func yamlV3(document []byte, into any) error { return yamlv3.Unmarshal(document, into) }

// yamlFacts assert how kubectl, and every program with the same library, reads the words that are
// booleans in YAML 1.1.
func yamlFacts(t *testing.T, s *servertest.Server) {
	installed(t, s, crd(t, "Word", root(t, "{type: object, properties: {type: {type: string}}}")))
	for _, word := range []string{"On", "on", "off", "yes", "No", "y", "Y", "n"} {
		t.Run(word, func(t *testing.T) {
			document := []byte("type: " + word)
			if got := decoded(t, sigsYAML, document); got != "bool" {
				t.Errorf("sigs.k8s.io/yaml reads a %s, want a bool", got)
			}
			if got := decoded(t, yamlV3, document); got != "string" {
				t.Errorf("yaml.v3 reads a %s, want a string", got)
			}
			wantComplaint(t, only(s.Create(t.Context(), it("Word", "spec: {type: "+word+"}"))),
				`spec.type: Invalid value: "boolean": spec.type in body must be of type string: "boolean"`)
		})
	}
	t.Run("true", func(t *testing.T) {
		for _, library := range []func([]byte, any) error{sigsYAML, yamlV3} {
			if got := decoded(t, library, []byte("type: true")); got != "bool" {
				t.Errorf("read as a %s, want a bool", got)
			}
		}
	})
}

func decoded(t *testing.T, unmarshal func([]byte, any) error, document []byte) string {
	t.Helper()
	fields := map[string]any{}
	if err := unmarshal(document, &fields); err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("%T", fields["type"])
}
