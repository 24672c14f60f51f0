package union_test

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

func schemaOf(t testing.TB, text string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	var s apiextensionsv1.JSONSchemaProps
	if err := sigsyaml.UnmarshalStrict([]byte(text), &s); err != nil {
		t.Fatal(err)
	}
	return &s
}

// FuzzParse parses and resolves any YAML: nothing panics, every diagnostic has a position in
// the text, and a union that resolves without errors has a meaning.
func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"- discriminator: type\n  fields-to-discriminateBy:\n    a: A\n    b: [B, B2]\n  optionalMembers: [a]\n  emptyIsUnset: [b, c]\n",
		"- members: [a, b, c, d]\n  cardinality: ExactlyOne\n  allowedChanges: {a: [b, ''], b: a}\n  ratchet: true\n",
		"- {discriminator: type, fields-to-discriminateBy: {a: A}, deduceInvalidDiscriminator: true, unmappedValues: Forbid, name: ü}\n- {members: [b], discriminatorChange: Forbid}\n",
		"- &x {members: [a]}\n- {<<: *x, name: y}\n- *x\n",
		"- members: [On, 1, ~, a.b, {}]\n  descriminator: 😀\n  : x\n",
		"- ? [a]\n  : b\n  ? *c\n", "x", "", "[]", "- - -", "- {members: !!binary aGk=}", "- &a [*a]", "- {<<: [{name: a}, {name: b}]}", "- {name: \"\\u2028\"}",
	} {
		f.Add([]byte(s))
	}
	schema := schemaOf(f, `{type: object, properties: {type: {type: string, enum: [A, B, B2, None]}, a: {type: object, properties: {x: {type: string}}},
		b: {type: string}, c: {type: array, items: {type: string}}, d: {type: integer}, a.b: {type: string}}}`)
	f.Fuzz(func(t *testing.T, text []byte) {
		var doc yaml.Node
		if err := unmarshal(text, &doc); err != nil || len(doc.Content) == 0 {
			return
		}
		declarations, diags := union.Parse("f", "spec", doc.Content[0], nil)
		unions, resolved := union.Resolve(declarations, schema, false)
		if len(declarations) == 0 && len(diags) == 0 || len(unions) != len(declarations) {
			t.Fatalf("%d declarations, %d unions, %v", len(declarations), len(unions), diags)
		}
		for _, d := range append(diags, resolved...) {
			checkPos(t, text, d)
		}
		for _, u := range unions {
			if u == nil {
				continue
			}
			if u.Cardinality == 0 || u.Change == 0 || len(u.Members) == 0 {
				t.Fatalf("%+v", u)
			}
			empty := u.StateOf(map[string]any{})
			u.Judge(&empty, u.StateOf(map[string]any{"type": "A", "a": map[string]any{}, "b": ""}))
		}
	})
}

// unmarshal returns an error where yaml.Unmarshal panics.
func unmarshal(text []byte, doc *yaml.Node) (err error) {
	defer func() {
		if recover() != nil {
			err = bytes.ErrTooLarge
		}
	}()
	return yaml.Unmarshal(text, doc)
}

func checkPos(t *testing.T, text []byte, d diag.Diagnostic) {
	t.Helper()
	if strings.ContainsAny(d.Message, "\n\r") || d.Path != "spec" || d.Pos.File != "f" {
		t.Errorf("%#v", d)
	}
	// yaml.v3 ends lines at CR, NEL, LS and PS, too.
	lines := strings.Split(strings.NewReplacer("\r\n", "\n", "\r", "\n", "\u0085", "\n", "\u2028", "\n", "\u2029", "\n").Replace(string(text)), "\n")
	if d.Pos.Line < 1 || d.Pos.Line > len(lines) {
		t.Fatalf("line of %v, there are %d", d, len(lines))
	}
	if line := lines[d.Pos.Line-1]; d.Pos.Col < 1 || d.Pos.Col > utf8.RuneCountInString(line)+1 {
		t.Fatalf("column of %v in %q", d, line)
	}
}
