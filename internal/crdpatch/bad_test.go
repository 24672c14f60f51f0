package crdpatch

import (
	"fmt"
	"strings"
	"testing"
)

// crdOf returns a CRD with a schema of spec, indented by 12 spaces.
func crdOf(schema string) string {
	return header + body[:strings.Index(body, "            type: object\n            x-k")] + schema
}

// bomb is a document whose aliases multiply to 10^9 nodes.
func bomb() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n")
	for i := 1; i < 10; i++ {
		fmt.Fprintf(&b, "a%d: &a%d [%s]\n", i, i, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d, ", i-1), 10), ", "))
	}
	return b.String()
}

func nested(open, closed string, n int) string {
	return strings.Repeat(open, n) + strings.Repeat(closed, n)
}

const (
	ab = `            type: object
            properties:
              a: {type: string}
              b: {type: string}
              type: {type: string}
`
	unions = "            x-kubernetes-unions:"
)

// Input that cannot be compiled, and its first diagnostic.
func TestBadInput(t *testing.T) {
	crd := header + body
	for _, tt := range []struct {
		name string
		in   string
		want string // "" if the input is returned unchanged
		hint string // a part of the hint
	}{
		{"empty", "", "in: error: UC103: the file is empty", ""},
		{"white space only", " \n\t\n  ", "in: error: UC103: the file is empty", ""},
		{"byte order mark only", "\ufeff", "in: error: UC103: the file is empty", ""},
		{"comments only", "# nothing\n", "", ""},
		{"empty documents", "---\n---\n...\n", "", ""},
		{"null", "null\n", "", ""},
		{"scalar", "hello", "", ""},
		{"number", "1e3\n", "", ""},
		{"list", "[a, b]", "", ""},
		{"kind is a list", "apiVersion: apiextensions.k8s.io/v1\nkind: [CustomResourceDefinition]\nspec: {x-kubernetes-unions: []}\n", "", ""},
		{"items is a map", "apiVersion: v1\nkind: List\nitems: {a: b}\n", "", ""},
		{"items are scalars", "apiVersion: v1\nkind: List\nitems: [a, 1, null, [x], {kind: List, items: [[{}]]}]\n", "", ""},
		{"no spec", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n", "", ""},
		{"spec is a list", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nspec: [x-kubernetes-unions]\n", "", ""},
		{"versions is a map", header + "  versions: {a: {x-kubernetes-unions: []}}\n", "in:6:18: error: UC223: x-kubernetes-unions is not in a schema here: it would have no effect", ""},
		{"declaration outside of schemas", header + "  x-kubernetes-unions: []\n", "in:6:3: error: UC223: x-kubernetes-unions is not in a schema here: it would have no effect", ""},

		{"alias to a CRD in a list", "apiVersion: v1\nkind: List\nx-crd: &c\n" + strings.ReplaceAll("  "+strings.TrimSuffix(crd, "\n"), "\n", "\n  ") + "\nitems: [*c]\n",
			"in:27:9: error: UC401: the alias *c stands for a CRD that declares unions: an edit would change the other uses", ""},
		{"cut off in a flow mapping", crd[:strings.LastIndex(crd, "}")], "in:23:18: error: UC101: did not find expected ',' or '}'", ""},
		{"cut off in a quoted string", crd + "            description: \"cut", "in:24:26: error: UC101: found unexpected end of stream in a quoted scalar", ""},
		{"tab", strings.Replace(crd, "            type: object\n", "\t    type: object\n", 1), "in:18:1: error: UC101: found character that cannot start any token", ""},
		{"bad indentation", crd + "        x: y\n       z: 1\n", "in:25:8: error: UC101: did not find expected key", ""},
		{"unknown anchor", crd + "        x: *y\n", "in:24:12: error: UC101: unknown anchor 'y' referenced", ""},
		{"two roots", "a: b\n- c\n", "in:2:1: error: UC101: did not find expected key", ""},
		{"invalid JSON", `{"kind": "List", "items": [{]}`, "in:1:29: error: UC101: did not find expected node content", ""},
		{"NUL", "a: b\x00\n", "in:1:5: error: UC101: control characters are not allowed", ""},
		{"NUL in a CRD", strings.Replace(crd, "Thing", "Th\x00ng", 1), "in:7:19: error: UC101: control characters are not allowed", ""},
		{"invalid UTF-8", "a: b\nä: \xff\n", "in:2:4: error: UC102: byte 0xff is not UTF-8", "save the file as UTF-8"},
		{"invalid UTF-8 behind a mark", "\ufeffä: \xc3(\n", "in:1:4: error: UC102: byte 0xc3 is not UTF-8", ""},
		{"UTF-16", "\xff\xfea\x00:\x00", "in:1:1: error: UC102: byte 0xff is not UTF-8", "save the file as UTF-8"},
		{"Helm template", "{{- if .Values.crds }}\n" + crd + "{{- end }}\n", "in:1:3: error: UC101: ", "Helm template"},
		{"Helm template in a value", strings.Replace(crd, "scope: Namespaced", "scope: {{ .Values.scope }}", 1), "in:8:10: error: UC101: kubectl cannot read this document: ", "Helm template"},
		{"alias bomb", bomb() + crd, "in:1:1: error: UC101: kubectl cannot read this document: yaml: document contains excessive aliasing", ""},
		{"alias bomb elsewhere", bomb(), "", ""},
		{"deep flow", nested("[", "]", 20000), "in:1:10001: error: UC101: exceeded max depth of 10000", ""},
		{"deep block", strings.Repeat("- ", 10002) + "x\n", "in:1:20001: error: UC101: exceeded max depth of 10000", ""},
		{"beyond the limit", nested("[", "]", 501), "in:1:501: error: UC108: lists and mappings are nested more deeply here than the limit of 500", ""},
		{"deep and fine", nested("[", "]", 500), "", ""},

		{"v1beta1", "apiVersion: apiextensions.k8s.io/v1beta1\nkind: CustomResourceDefinition\nspec: {validation: {openAPIV3Schema: {x-kubernetes-unions: [{members: [a, b]}]}}}\n", "in:1:1: error: UC106: apiextensions.k8s.io/v1beta1 has not been served since Kubernetes 1.22", "convert it to apiextensions.k8s.io/v1"},
		{"duplicate key in a CRD", strings.Replace(crd, "scope: Namespaced\n", "scope: Namespaced\n  group: x\n", 1), `in:9:3: error: UC104: key "group" occurs twice in this mapping`, ""},
		{"duplicate key, quoted", strings.Replace(crd, "scope: Namespaced\n", "scope: Namespaced\n  \"group\": x\n", 1), `in:9:3: error: UC104: key "group" occurs twice in this mapping`, ""},
		{"duplicate key in a CRD of a list", "kind: List\nitems:\n- {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, a: 1, a: 2}\n", `in:3:79: error: UC104: key "a" occurs twice in this mapping`, ""},
		{"duplicate key elsewhere", "a: 1\na: 2\n", "", ""},
		{"duplicate key in another document", "---\na: 1\na: 2\n---\n" + strings.Replace(crd, "x-kubernetes-unions", "x-unions", 1), "", ""},
		{"two lists of items", "kind: List\nitems:\n- {apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition}\nitems: []\n", `in:4:1: error: UC104: key "items" occurs twice in this mapping`, ""},
		{"duplicate declaration", crdOf(ab + unions + " []\n" + unions + " []\n"), `in:24:13: error: UC104: key "x-kubernetes-unions" occurs twice in this mapping`, ""},

		{"unions is a string", crdOf(ab + unions + " hello\n"), `in:23:34: error: UC202: x-kubernetes-unions must be a list of unions, not "hello"`, "write a list"},
		{"unions is a map", crdOf(ab + unions + " {members: [a, b]}\n"), "in:23:34: error: UC202: x-kubernetes-unions must be a list of unions, not a mapping", ""},
		{"unions is null", crdOf(ab + unions + "\n"), "in:23:33: error: UC202: x-kubernetes-unions must be a list of unions, not null", ""},
		{"unions is empty", crdOf(ab + unions + " []\n"), "in:23:34: error: UC202: x-kubernetes-unions must be a list of unions, not an empty list", "or delete the key"},
		{"unions is a list of strings", crdOf(ab + unions + " [a, b]\n"), "in:23:34: error: UC202: x-kubernetes-unions must be a list of unions, not of their members", "write [{members: [a, b]}]"},
		{"unions is a list of null", crdOf(ab + unions + "\n            -\n"), "in:24:14: error: UC202: want a mapping, not null", ""},
		{"union is an empty map", crdOf(ab + unions + " [{}]\n"), "in:23:35: error: UC212: ", ""},

		{"bare discriminator value", crdOf(ab + unions + " [{discriminator: type, fields-to-discriminateBy: {a: On, b: B}}]\n"), "in:23:87: error: UC105: kubectl reads On as the boolean true", `quote it: "On"`},
		{"bare member", crdOf(ab + unions + " [{members: [a, y]}]\n"), "in:23:49: error: UC105: kubectl reads y as the boolean true", ""},
		{"bare member key", crdOf(ab + unions + " [{discriminator: type, fields-to-discriminateBy: {a: A, no: B}}]\n"), "in:23:90: error: UC105: kubectl reads no as the boolean false", ""},
		{"number as a value", crdOf(ab + unions + " [{discriminator: type, fields-to-discriminateBy: {a: 1e3, b: B}}]\n"), "in:23:87: error: UC105: kubectl reads 1e3 as the number 1000", ""},
		{"bare property", crdOf(strings.Replace(ab, " b:", " y:", 1) + unions + ` [{members: [a, "y"]}]` + "\n"), "in:21:15: error: UC105: kubectl reads y as the boolean true", ""},
		{"bare property on the way", crdOf(ab+"            x-kubernetes-preserve-unknown-fields: true\n") + "          on:\n" + ab + unions + " [{members: [a, b]}]\n", "in:24:11: error: UC105: kubectl reads on as the boolean true", ""},
		{"bare enum item", crdOf(strings.Replace(ab, "type: {type: string}", "type: {type: string, enum: [A, B, off]}", 1) + unions + " [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]\n"), "in:22:49: error: UC105: kubectl reads off as the boolean false", ""},
		{"bare required item", crdOf(ab + "            required: [yes]\n" + unions + " [{members: [a, b]}]\n"), "in:23:24: error: UC105: kubectl reads yes as the boolean true", ""},

		{"two versions of a name", crd + body[strings.Index(body, "  - name: v1"):], `in:1:1: error: UC107: there are two versions named "v1"`, "rename one of them"},
		{"two versions without a name", strings.Replace(crd, "- name: v1", "- schema: {}\n    served: true\n    storage: false\n  -", 1), `in:1:1: error: UC107: there are two versions named ""`, ""},
		{"no metadata", strings.Replace(crd, "metadata:\n  name: things.example.com\n", "", 1), "in:1:1: error: UC405: the annotation unioncel.dev/unions cannot be added to the metadata", "give the CRD a metadata.name"},
		{"metadata is null", strings.Replace(crd, "metadata:\n  name: things.example.com\n", "metadata:\n", 1), "in:1:1: error: UC405: the annotation unioncel.dev/unions cannot be added to the metadata", ""},
		{"metadata is a string", strings.Replace(crd, "metadata:\n  name: things.example.com\n", "metadata: x\n", 1), "in:1:1: error: UC107: ", ""},
		{"annotations is a list", strings.Replace(crd, "  name: things.example.com\n", "  name: things.example.com\n  annotations: [a]\n", 1), "in:1:1: error: UC107: ", ""},
		{"annotation is a number", strings.Replace(crd, "  name: things.example.com\n", "  name: things.example.com\n  annotations: {a: 1}\n", 1), "in:1:1: error: UC107: ", ""},
		{"required is a string", crdOf(ab + "            required: foo\n" + unions + " [{members: [a, b]}]\n"), "in:1:1: error: UC107: ", ""},
		{"properties is a list", crdOf("            type: object\n            properties: [a, b]\n" + unions + " [{members: [a, b]}]\n"), "in:1:1: error: UC107: ", ""},
		{"rules is a map", crdOf(ab + "            x-kubernetes-validations: {}\n" + unions + " [{members: [a, b]}]\n"), "in:1:1: error: UC107: ", ""},
		{"rules is null", crdOf(ab + "            x-kubernetes-validations:\n" + unions + " [{members: [a, b]}]\n"), "in:18:13: error: UC405: cannot edit this schema: its x-kubernetes-validations is null: delete the key", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for verb, f := range map[string]func(string, []byte) (out []byte, diags string, hint string){
				"compile": func(name string, in []byte) ([]byte, string, string) {
					out, diags := Compile(open(name, in), Options{})
					if len(diags) == 0 {
						return out, "", ""
					}
					return out, diags[0].String(), diags[0].Hint
				},
				"decompile": func(name string, in []byte) ([]byte, string, string) {
					out, diags := Decompile(open(name, in), Options{})
					if len(diags) == 0 {
						return out, "", ""
					}
					return out, diags[0].String(), diags[0].Hint
				},
			} {
				out, got, hint := f("in", []byte(tt.in))
				if verb == "decompile" && got == "" && string(out) == tt.in {
					continue
				}
				if got != tt.want && (tt.want == "" || !strings.HasSuffix(tt.want, " ") && !strings.HasSuffix(tt.want, "metadata") || !strings.HasPrefix(got, tt.want)) {
					t.Errorf("%s: %s\nwant %s", verb, got, tt.want)
				}
				if !strings.Contains(hint, tt.hint) {
					t.Errorf("%s: hint %q, want %q", verb, hint, tt.hint)
				}
				if tt.want != "" && out != nil {
					t.Errorf("%s: there is output", verb)
				}
				if tt.want == "" && string(out) != tt.in {
					t.Errorf("%s: it does not pass through", verb)
				}
			}
		})
	}
}

// A line of a megabyte compiles and decompiles like any other.
func TestEnormousLine(t *testing.T) {
	if testing.Short() {
		t.Skip("it is read several times")
	}
	in := []byte(header + strings.Replace(body, "a: {type: string}", "a: {type: string, description: '"+strings.Repeat("größer ", 150_000)+"'}", 1))
	out := mustCompile(t, in, Options{})
	if string(mustDecompile(t, out)) != string(in) || string(mustCompile(t, out, Options{})) != string(out) {
		t.Error("it came out changed")
	}
}
