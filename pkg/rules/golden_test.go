package rules_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/rules"
)

var update = flag.Bool("update", false, "write the golden files anew")

// TestGolden writes the rules of representative unions in readable form: the declaration in a
// comment, then the emitted rules.
func TestGolden(t *testing.T) {
	const properties = `{type: object, properties: {
		type: {type: string}, http: {type: object}, tcp: {type: object}, udp: {type: object},
		git: {type: object}, image: {type: string}, oci: {type: array, items: {type: string}}}}`
	const backend = "{discriminator: type, fields-to-discriminateBy: {http: HTTP, tcp: [TCP, TLS], udp: UDP}"
	tests := []struct {
		name, declaration string
		encoding          rules.Encoding
		links             []string // of a removal guard
	}{
		{"discriminated", backend + "}", rules.Fine, nil},
		{"discriminated_paired", backend + ", cardinality: ExactlyOne, optionalMembers: [udp]}", rules.Paired, nil},
		{"discriminated_compact", backend + ", cardinality: ExactlyOne, unmappedValues: Forbid, optionalMembers: [udp], name: backend}", rules.Compact, nil},
		{"discriminated_frozen", backend + ", cardinality: ExactlyOne, discriminatorChange: Forbid}", rules.Fine, []string{"spec", "backend"}},
		{"deduced", backend + ", deduceInvalidDiscriminator: true}", rules.Fine, nil},
		{"table", backend + ", allowedChanges: {HTTP: [TCP, TLS, ''], TCP: TLS}}", rules.Compact, []string{"backend"}},
		{"ratchet", backend + ", ratchet: true}", rules.Compact, nil},
		{"plain", "{members: [git, image, oci], discriminatorChange: Clear}", rules.Fine, nil},
		{"plain_paired", "{members: [git, image, oci]}", rules.Paired, nil},
		{"plain_exactly_one", "{members: [git, image, oci], cardinality: ExactlyOne, emptyIsUnset: [image, oci]}", rules.Compact, nil},
		{"plain_table", "{members: [git, image, oci], allowedChanges: {git: [image, ''], image: [oci]}}", rules.Fine, []string{"my-source"}},
		{"at_least_one", "{members: [git, image, oci], cardinality: AtLeastOne}", rules.Fine, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			schema := schemaOf(t, properties)
			u := unionOf(t, tt.declaration, schema)
			l := rules.Static(u, tt.encoding)
			l = append(l, rules.Transition(u, rules.Comparison{})...)
			compiled(t, structural(t, schema), l)
			var b strings.Builder
			write := func(comment string, l []rules.Rule) {
				text, err := sigsyaml.Marshal(l)
				if err != nil {
					t.Fatal(err)
				}
				b.WriteString("# " + comment + "\n" + string(text))
			}
			write(tt.encoding.String()+" rules of "+tt.declaration, l)
			if r, ok := rules.RemovalGuard(u, tt.links); ok {
				compiled(t, structural(t, nested(schema, tt.links)), []rules.Rule{r})
				write("removal guard of the union at "+strings.Join(tt.links, "."), []rules.Rule{r})
			}
			file := filepath.Join("testdata", tt.name+".yaml")
			if *update {
				if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), b.String()); diff != "" {
				t.Errorf("%s (-update writes it anew): %s", file, diff)
			}
		})
	}
}

// nested returns an object schema with s below the links.
func nested(s *apiextensionsv1.JSONSchemaProps, links []string) *apiextensionsv1.JSONSchemaProps {
	for i := len(links) - 1; i >= 0; i-- {
		s = &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{links[i]: *s}}
	}
	return s
}
