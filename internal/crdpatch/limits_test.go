package crdpatch

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
)

// The size limits of the API server and kubectl are checked.
func TestLimits(t *testing.T) {
	long := func(in, before string, n int) []byte {
		return []byte(strings.Replace(in, before, "# "+strings.Repeat("x", n)+"\n"+before, 1))
	}
	described := func(n int) []byte {
		return []byte(header + strings.Replace(body, "a: {type: string}", "a: {type: string, description: "+strings.Repeat("x", n)+"}", 1))
	}
	applied := func(n int, in []byte) []byte {
		return []byte(strings.Replace(string(in), "  name: things.example.com\n", "  name: things.example.com\n"+
			"  annotations: {kubectl.kubernetes.io/last-applied-configuration: "+strings.Repeat("x", n)+"}\n", 1))
	}
	for _, tt := range []struct {
		name string
		in   []byte
		opts Options
		want string
	}{
		{"long comment in a declaration", long(header+body, "            - members", 270_000), Options{},
			"in:1:1: error: UC404: with unioncel.dev/unions the annotations have 270216 bytes; the API server accepts 262144"},
		{"that long, without annotation", long(header+body, "            - members", 270_000), Options{NoAnnotation: true}, ""},
		{"that long, outside of it", long(header+body, "            x-kubernetes-unions", 270_000), Options{}, ""},
		{"small before", described(261_450), Options{}, "in:1:1: warning: UC505: compiling grows this manifest from 261"},
		{"small before and after", described(259_000), Options{}, ""},
		{"large before", described(270_000), Options{}, ""},
		{"small but for what kubectl has kept", applied(150_000, described(111_000)), Options{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			out, diags := Compile(open("in", tt.in), tt.opts)
			got := ""
			if len(diags) > 0 {
				got = diags[0].String()
			}
			if !strings.HasPrefix(got, tt.want) || tt.want == "" && got != "" {
				t.Errorf("diagnostics:\n%s\nwant %s", textOfDiags(diags), tt.want)
			}
			if diags.HasErrors() {
				return
			}
			again, diags := Compile(open("in", out), tt.opts)
			if !bytes.Equal(again, out) || len(diags) > 0 && diags[0].Code != codes.ManifestTooLarge {
				t.Errorf("compiled again, it differs:\n%s", textOfDiags(diags))
			}
		})
	}
}

// Unions can be added to a compiled file, in other schemas and in other documents.
func TestDeclaredElsewhere(t *testing.T) {
	const more = `          other:
            type: object
            properties:
              a: {type: string}
              b: {type: string}
            x-kubernetes-unions: [{members: [b, a]}]
`
	in := []byte(header + body)
	out := mustCompile(t, in, Options{})
	same(t, "in another schema", mustCompile(t, append(slices.Clone(out), more...), Options{}), mustCompile(t, append(slices.Clone(in), more...), Options{}))
	same(t, "decompiled", mustDecompile(t, append(slices.Clone(out), more...)), append(slices.Clone(in), more...))

	second := []byte("---\n" + strings.ReplaceAll(string(in), "thing", "other"))
	both := append(slices.Clone(out), second...)
	same(t, "in another document", mustCompile(t, both, Options{}), slices.Concat(out, mustCompile(t, second, Options{})))
	same(t, "decompiled", mustDecompile(t, both), slices.Concat(in, second))

	indent := func(text []byte) string {
		return "- " + strings.TrimSuffix(strings.ReplaceAll(string(text), "\n", "\n  "), "  ")
	}
	list := "apiVersion: v1\nkind: List\nitems:\n"
	both = []byte(list + indent(out) + indent(in))
	data(t, mustDecompile(t, both), []byte(list+indent(in)+indent(in)))
	same(t, "compiled again", mustCompile(t, mustCompile(t, both, Options{}), Options{}), mustCompile(t, both, Options{}))
}
