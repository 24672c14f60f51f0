package crdpatch

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/pkg/compile"
)

func TestNoAnnotation(t *testing.T) {
	for _, g := range share(t, 3) {
		none := g.opts
		none.NoAnnotation = true
		t.Run(g.name, func(t *testing.T) {
			t.Parallel()
			out := mustCompile(t, g.in, none)
			if bytes.Contains(out, []byte(Annotation)) {
				t.Errorf("there is an annotation:\n%s", out)
			}
			same(t, "compile(compile(in))", mustCompile(t, out, none), out)
			same(t, "with annotation", mustCompile(t, out, g.opts), out)
			same(t, "decompile(compile(in))", mustDecompile(t, out), out)
			// The annotation can be left out later, too.
			same(t, "from annotated", mustCompile(t, mustCompile(t, g.in, g.opts), none), out)
		})
	}
}

// A rule has only keys that the oldest API server knows.
func TestKubeVersion(t *testing.T) {
	in := []byte(header + strings.Replace(body, "- members: [a, b]", "- discriminator: a\n              fields-to-discriminateBy: {b: B}\n              discriminatorChange: Forbid", 1))
	ratchet := []byte(header + strings.Replace(body, "- members: [a, b]", "- members: [a, b]\n              ratchet: true", 1))
	key := regexp.MustCompile(`(?m)^ +(?:- )?(fieldPath|message|messageExpression|optionalOldSelf|reason|rule):`)
	for _, tt := range []struct {
		version string
		in      []byte
		keys    string
		diags   string
	}{
		{"1.25", in, "message rule", ""},
		{"1.26", in, "message rule", ""},
		{"1.27", in, "message messageExpression rule", ""},
		{"1.28", in, "fieldPath message messageExpression reason rule", ""},
		{"v1.30.2", in, "fieldPath message messageExpression reason rule", ""},
		{"", in, "fieldPath message messageExpression reason rule", ""},
		{"1.29", ratchet, "", "in:21:15: error: UC303: ratchet needs optionalOldSelf, which Kubernetes 1.29 does not support"},
		{"1.30", ratchet, "message messageExpression optionalOldSelf rule", ""},
		{"1.24", in, "", `in: error: UC303: "1.24" is not a version of Kubernetes since 1.25: write it like 1.30`},
		{"one", in, "", `in: error: UC303: "one" is not a version of Kubernetes since 1.25: write it like 1.30`},
	} {
		out, diags := Compile(open("in", tt.in), Options{KubeVersion: tt.version})
		var keys []string
		for _, m := range key.FindAllSubmatch(out, -1) {
			keys = append(keys, string(m[1]))
		}
		slices.Sort(keys)
		if got := strings.Join(slices.Compact(keys), " "); got != tt.keys {
			t.Errorf("%s: keys %s, want %s", tt.version, got, tt.keys)
		}
		if first, _, _ := strings.Cut(textOfDiags(diags), "\n"); first != tt.diags {
			t.Errorf("%s: diagnostics:\n%s\nwant %s", tt.version, textOfDiags(diags), tt.diags)
		}
		if out == nil {
			continue
		}
		same(t, "compile(compile(in))", mustCompile(t, out, Options{KubeVersion: tt.version}), out)
		same(t, "decompile(compile(in))", mustDecompile(t, out), tt.in)
		// Another version replaces the rules.
		same(t, "compile again", mustCompile(t, out, Options{}), mustCompile(t, tt.in, Options{}))
	}
}

func TestEncoding(t *testing.T) {
	in := []byte(header + strings.Replace(body, "- members: [a, b]", "- members: [a, b]\n              discriminatorChange: Allow\n              cardinality: ExactlyOne", 1))
	fine, compact := mustCompile(t, in, Options{Encoding: compile.Fine}), mustCompile(t, in, Options{Encoding: compile.Compact})
	if n := bytes.Count(fine, []byte(" rule: ")); n != 2 {
		t.Errorf("%d fine rules:\n%s", n, fine)
	}
	if n := bytes.Count(compact, []byte(" rule: ")); n != 1 {
		t.Errorf("%d compact rules:\n%s", n, compact)
	}
	same(t, "auto of fine", mustCompile(t, fine, Options{}), mustCompile(t, in, Options{}))
	same(t, "fine of compact", mustCompile(t, compact, Options{Encoding: compile.Fine}), fine)
	same(t, "compact of fine", mustCompile(t, fine, Options{Encoding: compile.Compact}), compact)
	same(t, "compact of compact", mustCompile(t, compact, Options{Encoding: compile.Compact}), compact)
	for _, out := range [][]byte{fine, compact} {
		same(t, "decompile", mustDecompile(t, out), in)
	}
}
