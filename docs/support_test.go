package docs_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/testcrd"
)

// TestSupport runs the commands on each kind of union. The table of semantics.md lists the kinds that
// some commands do not handle.
func TestSupport(t *testing.T) {
	const (
		declared = "x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]"
		typed    = "properties: {name: {type: string, maxLength: 9}, type: {type: string, enum: [A, B]}, a: {type: string, maxLength: 9}, b: {type: string, maxLength: 9}}, " + declared
		members  = "properties: {a: {type: string}, b: {type: string}}, x-kubernetes-unions: [{members: [a, b]"
	)
	list := func(keywords, item string) string {
		return "{type: object, properties: {l: {type: array, maxItems: 9, " + keywords + "items: {type: object, " + item + "}}}}"
	}
	unions := []struct{ name, spec string }{
		{"without a discriminator", "{type: object, " + members + "}]}"},
		{"with a discriminator", "{type: object, " + typed + "}"},
		{"`AtLeastOne`", "{type: object, " + members + ", cardinality: AtLeastOne}]}"},
		{"with a discriminator in another object", "{type: object, properties: {p: {type: object, properties: {type: {type: string, enum: [A, B]}}}, a: {type: string}, b: {type: string}}, x-kubernetes-unions: [{discriminator: p.type, fields-to-discriminateBy: {a: A, b: B}}]}"},
		{"in the values of a map", "{type: object, properties: {m: {type: object, maxProperties: 9, additionalProperties: {type: object, " + typed + "}}}}"},
		{"in the items of a list with keys", list("x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], ", "required: [name], "+typed)},
		{"in the items of a list without keys", list("", typed)},
		{"in the items of a set", list("x-kubernetes-list-type: set, ", "x-kubernetes-map-type: atomic, "+typed)},
		{"of the items of a list", "{type: object, properties: {l: {type: array, maxItems: 9, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type], items: {type: object, required: [type], properties: {type: {type: string, maxLength: 9}}}, x-kubernetes-unions: [{members: [{type: A}, {type: B}]}]}}}"},
		{"whose changes are forbidden", "{type: object, properties: {u: {type: object, " + members + ", discriminatorChange: Forbid}]}}}"},
	}
	dir := t.TempDir()
	file := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var want strings.Builder
	for _, u := range unions {
		file("crd.yaml", testcrd.New("Thing", "spec: "+u.spec))
		file("thing.yaml", "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: it}\n")
		for _, command := range []string{"compile --verify crd.yaml", "explain crd.yaml", "lint crd.yaml", "diff crd.yaml crd.yaml", "testdata -o tests crd.yaml"} {
			if outcome := supports(t, dir, command); outcome != "yes" {
				t.Errorf("%s: %s: %s", u.name, command, outcome)
			}
		}
		row := "| " + u.name
		for _, command := range []string{"schema crd.yaml", "schema --format openapi crd.yaml", "normalize --crd crd.yaml thing.yaml", "policy crd.yaml", "policy --validate crd.yaml"} {
			row += " | " + supports(t, dir, command)
		}
		if strings.Count(row, " | yes") < 5 {
			want.WriteString(row + " |\n")
		}
	}
	d := open(t, "semantics.md")
	at := slices.IndexFunc(d.lines, func(line string) bool { return strings.HasPrefix(line, "| union | `schema` |") }) + 2
	to := at
	for strings.HasPrefix(d.lines[to], "|") {
		to++
	}
	d.generated(t, at, to, want.String())
	d.save(t)
}

// supports returns the outcome of a command for a kind of union: it is handled, left alone, or
// needs no action.
func supports(t *testing.T, dir, command string) string {
	t.Helper()
	var out, errs bytes.Buffer
	code := sh(t, dir, "unioncel "+command, &out, &errs)
	for _, outcome := range []struct{ text, means string }{
		{"UC305", "left out ([UC305](diagnostics.md#uc305-not-expressible-in-openapi))"},
		{"UC813", "no ([UC813](diagnostics.md#uc813-not-done-by-a-policy))"},
		{"are left alone", "left alone"},
		{"that a policy is for", "nothing to clear"},
	} {
		if strings.Contains(errs.String(), outcome.text) {
			return outcome.means
		}
	}
	if code != 0 {
		return errs.String()
	}
	return "yes"
}
