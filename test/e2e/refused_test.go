package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
)

// inexpressible are names that CEL cannot escape.
var inexpressible = []string{"it's", `say "hi"`, `trailing\`, "a b", "föö", "1a", "a$", "ü"}

const namesCRD = `
LINK:
  type: object
  properties:
    DISCRIMINATOR: {type: string}
    MEMBER: {type: string}
    other: {type: string}
  x-kubernetes-unions:
  - discriminator: DISCRIMINATOR
    fields-to-discriminateBy: {MEMBER: A, other: B}
    discriminatorChange: CHANGE
`

// named returns namesCRD with the given names, quoted for YAML.
func named(link, discriminator, member, change string) []byte {
	return []byte(strings.NewReplacer("LINK", yamlQuoted(link), "DISCRIMINATOR", yamlQuoted(discriminator),
		"MEMBER", yamlQuoted(member), "CHANGE", change).Replace(testcrd.New("Name", namesCRD)))
}

func yamlQuoted(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// The compiler rejects a name that CEL cannot express, with the position of its declaration.
func TestRefusedNames(t *testing.T) {
	for _, name := range inexpressible {
		for _, test := range []struct {
			role     string
			manifest []byte
			line     int
		}{
			{"member", named("spec", "type", name, "Clear"), 25},
			{"discriminator", named("spec", name, "a", "Clear"), 24},
			{"link that Forbid has to guard", named(name, "type", "a", "Forbid"), 26},
		} {
			t.Run(fmt.Sprintf("%s as %s", name, test.role), func(t *testing.T) {
				out, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", test.manifest), crdpatch.Options{})
				if out != nil || len(diags) != 1 {
					t.Fatalf("got %d bytes and %v, want one error", len(out), diags)
				}
				if d := diags[0]; d.Code != codes.InexpressibleName || d.Pos.Line != test.line || !strings.Contains(d.Message, fmt.Sprintf("%q", name)) {
					t.Errorf("got %v, want %s in line %d about %q", d, codes.InexpressibleName, test.line, name)
				}
			})
		}
	}
}

// Such names are harmless if no rule has to read them: above the union and alongside it.
func TestInexpressibleSurroundings(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	manifest := string(named("LINK", "type", "a", "Clear"))
	var links []string
	body := manifest[strings.Index(manifest, "          'LINK':"):]
	for _, name := range inexpressible {
		link := strings.Replace(body, "'LINK'", yamlQuoted(name), 1)
		links = append(links, strings.Replace(link, "other:", yamlQuoted(name)+": {type: string}\n              other:", 1))
	}
	crd := newTrial(t, server, []byte(strings.Replace(manifest, body, strings.Join(links, ""), 1)), crdpatch.Options{})
	crd.install(t, nil)
	for i, name := range inexpressible {
		t.Run(name, func(t *testing.T) {
			object := func(properties map[string]any) map[string]any { return map[string]any{name: properties} }
			crd.run(t, fmt.Sprintf("name-%d", i), step{
				From:   object(map[string]any{"type": "A", "a": "x", name: "x"}),
				Update: object(map[string]any{"type": "B", "a": "x", "other": "x"}),
				Errors: []string{
					name + ".a: Invalid value: a is required when type is 'A', and forbidden otherwise",
					name + ".type: Invalid value: when type changes, the member of its old value must be cleared",
				},
			})
		})
	}
}
