package lint_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/report/lint"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
)

// noisy has two unions with two findings each, UC521 and UC523.
const noisy = `
type: object
properties:
  type: {type: string, enum: [A, None]}
  a: {type: array, items: {type: string}}
  kind: {type: string, enum: [B, None]}
  b: {type: array, items: {type: string}}
# above the key
x-kubernetes-unions: # at the key
# above the first
- discriminator: type # at the first
  # in the first
  fields-to-discriminateBy: {a: A} # at the end of the first
# above the second
- discriminator: kind
  fields-to-discriminateBy: {b: B} # at the end of the second
  # behind
`

func TestComments(t *testing.T) {
	const a21, a23 = `UC521 info: "None" in the enum of discriminator "type" selects no member`, `UC523 warning: member "a" is a list, which counts as set even when it is empty ([])`
	const b21, b23 = `UC521 info: "None" in the enum of discriminator "kind" selects no member`, `UC523 warning: member "b" is a list, which counts as set even when it is empty ([])`
	tests := []struct {
		at, text string
		want     []string
	}{
		{at: "nowhere", text: "unioncel:ignore UC521", want: []string{a21, a23, b21, b23}},
		{at: "above the key", text: "unioncel:ignore UC521", want: []string{a23, b23}},
		{at: "above the key", text: "unioncel:ignore UC521,UC523: many words, UC520: too", want: nil},
		{at: "above the key", text: "unioncel:ignore UC521 UC523", want: nil},
		{at: "above the key", text: "unioncel:ignore UC521, UC523 - a reason", want: nil},
		{at: "above the key", text: "unioncel:ignore uc521", want: []string{`UC526 warning: there is no diagnostic "uc521" to ignore`, a21, a23, b21, b23}},
		{at: "above the key", text: "unioncel:ignore: UC521", want: []string{"UC526 warning: this comment names no code to ignore", a21, a23, b21, b23}},
		{at: "at the key", text: "unioncel:ignore UC523", want: []string{a21, b21}},
		{at: "above the first", text: "unioncel:ignore UC521", want: []string{a23, b21, b23}},
		{at: "at the first", text: "unioncel:ignore UC521", want: []string{a23, b21, b23}},
		{at: "in the first", text: "unioncel:ignore UC521", want: []string{a23, b21, b23}},
		{at: "at the end of the first", text: "unioncel:ignore UC521", want: []string{a23, b21, b23}},
		{at: "above the second", text: "unioncel:ignore UC521", want: []string{a21, a23, b23}},
		{at: "at the end of the second", text: "unioncel:ignore UC521", want: []string{a21, a23, b23}},
		{at: "behind", text: "unioncel:ignore UC521", want: []string{a21, a23, b21, b23, "UC526 warning: this comment is not next to the declaration of a union"}},
		{at: "above the first", text: "unioncel:ignore UC522", want: []string{"UC526 warning: there is no UC522 here to ignore", a21, a23, b21, b23}},
		{at: "above the first", text: "unioncel:ignore UC52l", want: []string{`UC526 warning: there is no diagnostic "UC52l" to ignore`, a21, a23, b21, b23}},
		{at: "above the first", text: "unioncel:ignore UC203", want: []string{"UC526 warning: UC203 is an error, which cannot be ignored", a21, a23, b21, b23}},
		{at: "above the first", text: "see unioncel:ignore UC521", want: []string{a21, a23, b21, b23}},
	}
	for _, test := range tests {
		t.Run(test.at+" "+test.text, func(t *testing.T) {
			spec := strings.ReplaceAll(noisy, "# "+test.at+"\n", "# "+test.text+"\n")
			l := lint.File(crdfile.Open("crd.yaml", []byte(crd("routes", version{Name: "v1", Spec: spec}))), crdfile.Options{})
			if diff := cmp.Diff(test.want, codesOf(l, adviceOf...)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
		})
	}
}

// TestCommentsInText asserts that text which looks like a comment disables nothing.
func TestCommentsInText(t *testing.T) {
	for _, spec := range []string{
		replaced(noisy, "# above the key\n", "description: |\n  some text\n  # unioncel:ignore UC521\n"),
		replaced(noisy, "# above the key\n", "description: \"some text\n  # unioncel:ignore UC521\"\n"),
		replaced(noisy, "- discriminator: kind\n", "- discriminator: kind\n  name: \"a # unioncel:ignore UC521\"\n"),
		replaced(noisy, "# above the key\n", "# unioncel:ignore UC521\ndescription: some text\n"),
	} {
		l := lint.File(crdfile.Open("crd.yaml", []byte(crd("routes", version{Name: "v1", Spec: spec}))), crdfile.Options{})
		if got := codesOf(l, codes.ValueWithoutMember); len(got) != 2 {
			t.Errorf("%s\n%v", spec, l)
		}
	}
}

// TestCommentsErrors asserts that comments disable neither errors nor findings of other files.
func TestCommentsErrors(t *testing.T) {
	spec := replaced(replaced(noisy, "# above the key", "# unioncel:ignore UC203"), "{a: A}", "{x: A}")
	l := lint.File(crdfile.Open("crd.yaml", []byte(crd("routes", version{Name: "v1", Spec: spec}))), crdfile.Options{})
	if len(codesOf(l, codes.UnknownMember)) != 1 {
		t.Errorf("got %v", l)
	}
	c := lint.ReadComments("a.yaml", []byte("# unioncel:ignore UC521\nx-kubernetes-unions:\n- {}\n"))
	other := diag.List{{Code: codes.ValueWithoutMember, Severity: diag.Info, Pos: diag.Pos{File: "b.yaml", Line: 3}}}
	if got := c.Apply(other); len(got) != 1 {
		t.Error("a comment counts in another file")
	}
	raised := diag.List{{Code: codes.ValueWithoutMember, Pos: diag.Pos{File: "a.yaml", Line: 3}}}
	if got := c.Apply(raised); len(got) != 1 {
		t.Error("an error is switched off")
	}
	if got := c.Useless(); len(got) != 1 || got[0].Pos != (diag.Pos{File: "a.yaml", Line: 1, Col: 19}) {
		t.Errorf("got %v", got)
	}
}

// TestCommentsOfCompiled asserts that comments have an effect after compiling, which may move them.
func TestCommentsOfCompiled(t *testing.T) {
	for _, at := range []string{"above the key", "at the key", "in the first", "at the end of the second"} {
		spec := replaced(noisy, "# "+at+"\n", "# unioncel:ignore UC521,UC523,UC520\n")
		// The second CRD of the file has the same declarations without comments.
		src := crd("routes", version{Name: "v1", Spec: spec}) + "---\n" + crd("paths", version{Name: "v1", Spec: noisy})
		compiled, diags := crdpatch.Compile(crdfile.Open("crd.yaml", []byte(src)), crdfile.Options{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		l := lint.File(crdfile.Open("crd.yaml", compiled), crdfile.Options{})
		if got := codesOf(l, codes.ValueWithoutMember, codes.ListMember); len(got) != 4 {
			t.Errorf("%s: %v", at, got)
		}
		if got := codesOf(l, codes.UselessIgnore); len(got) != 1 || !strings.Contains(got[0], "UC520") {
			t.Errorf("%s: %v", at, got)
		}
	}
}

// TestCommentsOfNested asserts that comments do not apply to nested unions, even after compiling.
func TestCommentsOfNested(t *testing.T) {
	spec := replaced(noisy, "properties:\n", "properties:\n  inner:\n"+indented(noisy, 4))
	at := strings.LastIndex(spec, "# above the key")
	spec = spec[:at] + "# unioncel:ignore UC521,UC523" + spec[at+len("# above the key"):]
	src := []byte(crd("routes", version{Name: "v1", Spec: spec}))
	compiled, diags := crdpatch.Compile(crdfile.Open("crd.yaml", src), crdfile.Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for _, text := range [][]byte{src, compiled} {
		if got := codesOf(lint.File(crdfile.Open("crd.yaml", text), crdfile.Options{}), adviceOf...); len(got) != 4 {
			t.Errorf("%v", got)
		}
	}
}

func TestCommentsOfStyles(t *testing.T) {
	for _, unions := range []string{
		"x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A}}] # unioncel:ignore UC521,UC523\n",
		"x-kubernetes-unions:\n- {discriminator: type, fields-to-discriminateBy: {a: A}} # unioncel:ignore UC521,UC523\n",
		"x-kubernetes-unions:\n- # unioncel:ignore UC521,UC523\n  discriminator: type\n  fields-to-discriminateBy: {a: A}\n",
		"x-kubernetes-unions:\n-\n  # unioncel:ignore UC521,UC523\n  discriminator: type\n  fields-to-discriminateBy: {a: A}\n",
		"# unioncel:ignore UC521\n# and\n#unioncel:ignore UC523\nx-kubernetes-unions:\n- discriminator: type\n  fields-to-discriminateBy: {a: A}\n",
		"x-kubernetes-unions: &u\n- discriminator: type\n  fields-to-discriminateBy: {\n    a: A, # unioncel:ignore UC521,UC523\n  }\n",
	} {
		before, _, _ := strings.Cut(noisy, "# above the key")
		for _, end := range []string{"\n", "\r\n"} {
			src := strings.ReplaceAll(crd("routes", version{Name: "v1", Spec: before + unions}), "\n", end)
			if l := lint.File(crdfile.Open("crd.yaml", []byte(src)), crdfile.Options{}); len(l) > 0 {
				t.Errorf("%q\n%v", unions, l)
			}
		}
	}
}

// TestManyComments asserts that many findings with a comment each take little time.
func TestManyComments(t *testing.T) {
	var b strings.Builder
	b.WriteString("x-kubernetes-unions:\n")
	const n = 2000
	var l diag.List
	for i := range n {
		fmt.Fprintf(&b, "- members: [a, b] # unioncel:ignore UC523\n")
		for range 5 {
			l = append(l, diag.Diagnostic{Code: codes.ListMember, Severity: diag.Warning, Pos: diag.Pos{File: "x.yaml", Line: i + 2}})
		}
	}
	c := lint.ReadComments("x.yaml", []byte(b.String()))
	if got := c.Apply(l); len(got) > 0 {
		t.Errorf("%d are left", len(got))
	}
	if got := c.Useless(); len(got) > 0 {
		t.Errorf("%d are useless", len(got))
	}
}
