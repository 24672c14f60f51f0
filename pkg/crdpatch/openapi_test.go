package crdpatch

import (
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/compiled"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdfile"
)

// Edits of schemas that enforce a union, and their diagnostics.
func TestSchemaEditedAfterCompile(t *testing.T) {
	const (
		schema = `            allOf:
            - oneOf:
              - required:
                - a
              - required:
                - b
              - not:
                  anyOf:
                  - required:
                    - a
                  - required:
                    - b
`
		declaration = "            x-kubernetes-unions:\n            - members: [a, b]\n              discriminatorChange: Allow\n"
		theirs      = "            - required: [c]\n"
	)
	bodyWithC := body + "              c: {type: string}\n"
	opts := crdfile.Options{Encoding: compile.OpenAPI}
	in := header + strings.Replace(bodyWithC, "            x-kubernetes-unions:\n            - members: [a, b]\n", declaration, 1)
	compiled := string(mustCompile(t, []byte(in), opts))
	if strings.Count(compiled, schema) != 1 || strings.Contains(compiled, "x-kubernetes-validations") {
		t.Fatalf("unexpected output:\n%s", compiled)
	}
	const gone = "crd.yaml:21:13: error: UC403: a compiled schema in allOf is gone, or was edited"
	for _, tt := range []struct {
		name, old, new string
		compiled       string // "" if it fails
		decompiled     string
		diags          string
	}{
		{name: "untouched", compiled: compiled, decompiled: in},
		{name: "edited", old: "                - b\n", new: "                - c\n", diags: gone},
		{name: "emptied", old: schema, new: "            allOf: []\n", diags: gone},
		{name: "null", old: schema, new: "            allOf:\n", diags: gone},
		{name: "deleted", old: schema, diags: strings.Replace(gone, "21:13", "20:13", 1)},
		{
			name: "another behind it", old: schema, new: schema + theirs,
			compiled:   strings.Replace(compiled, schema, schema+theirs, 1),
			decompiled: strings.Replace(in, declaration, declaration+"            allOf:\n"+theirs, 1),
		},
		{
			name: "another before it", old: schema, new: strings.Replace(schema, "allOf:\n", "allOf:\n"+theirs, 1),
			compiled:   strings.Replace(compiled, schema, strings.Replace(schema, "allOf:\n", "allOf:\n"+theirs, 1), 1),
			decompiled: strings.Replace(in, declaration, declaration+"            allOf:\n"+theirs, 1),
		},
		{
			name: "declared again", old: schema, new: schema + declaration,
			compiled: compiled, decompiled: in,
		},
		{
			name: "renamed", old: "          spec:\n", new: "          template:\n",
			diags: "crd.yaml:6:5: error: UC403: this schema is gone, and its compiled rules are at template",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			text := []byte(strings.Replace(compiled, tt.old, tt.new, 1))
			out, diags := Compile(open("crd.yaml", text), opts)
			first, _, _ := strings.Cut(textOfDiags(diags), "\n")
			if first != tt.diags {
				t.Errorf("diagnostics:\n%s\nwant %s", textOfDiags(diags), tt.diags)
			}
			same(t, "compiled", out, []byte(tt.compiled))
			out, diags = Decompile(open("crd.yaml", text), crdfile.Options{})
			if first, _, _ = strings.Cut(textOfDiags(diags), "\n"); first != tt.diags {
				t.Errorf("diagnostics:\n%s\nwant %s", textOfDiags(diags), tt.diags)
			}
			same(t, "decompiled", out, []byte(tt.decompiled))
		})
	}
}

// A declaration alongside hand-written lists is restored with its comments, even if the
// schema was edited meanwhile.
func TestSchemaBeside(t *testing.T) {
	in := header + strings.Replace(body+"              c: {type: string}\n", "            - members: [a, b]\n", "            - members: [a, b] # one of them\n              discriminatorChange: Allow\n            allOf:\n            - required: [c]\n", 1)
	edit := func(text string) []byte {
		return []byte(strings.Replace(text, "\n            type: object\n", "\n            description: a new one\n            type: object\n", 1))
	}
	compiled := mustCompile(t, []byte(in), crdfile.Options{Encoding: compile.OpenAPI})
	same(t, "decompiled", mustDecompile(t, edit(string(compiled))), edit(in))
}

// The annotation refers to schemas by checksum, not by text.
func TestSchemaRecord(t *testing.T) {
	in := header + strings.Replace(body, "- members: [a, b]", "- members: [a, b]\n              discriminatorChange: Clear", 1)
	out := string(mustCompile(t, []byte(in), crdfile.Options{Encoding: compile.OpenAPI}))
	_, after, _ := strings.Cut(out, crdfile.Annotation+": '")
	text, _, _ := strings.Cut(after, "'\n")
	r, err := compiled.Parse(strings.ReplaceAll(text, "''", "'"))
	if err != nil {
		t.Fatal(err)
	}
	if r.Format != compiled.Format || len(r.Schemas) != 1 || len(r.Schemas[0].AllOf) != 1 || len(r.Schemas[0].Rules) != 1 {
		t.Errorf("got %+v, want the sum of one schema, and one rule", r)
	}
	if strings.Contains(text, "oneOf") {
		t.Errorf("the schema itself is recorded: %s", text)
	}
}
