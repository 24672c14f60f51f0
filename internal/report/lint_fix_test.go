package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
)

// fix applies the edits of the findings of [lint.File].
func fix(src string) report.Fixed {
	return report.Fix("crd.yaml", []byte(src), func(src []byte) diag.List {
		return report.Lint(crdpatch.Open("crd.yaml", src), crdpatch.Options{})
	})
}

func TestFix(t *testing.T) {
	const declaration = "- discriminator: type\n  fields-to-discriminateBy: {http: HTTP, tcp: TCP}\n"
	tests := []struct {
		name, old, wrong string // the text in typed, and its replacement
		want             string // the fixed text; if empty, old
		count            int
		refused          []string
	}{
		{name: "nothing", old: declaration, wrong: declaration},
		{name: "key", old: "discriminator:", wrong: "discriminater:", count: 1},
		{name: "key of unions", old: "x-kubernetes-unions", wrong: "x-kubernetes-union", count: 1},
		{name: "keeps quotes", old: "discriminator: type", wrong: `"discriminater": 'tpye'`, want: `"discriminator": 'type'`, count: 2},
		{name: "member", old: "tcp: TCP", wrong: "tpc: TCP", count: 1},
		{name: "value", old: "tcp: TCP", wrong: "tcp: [TPC]", want: "tcp: [TCP]", count: 1},
		{name: "words", old: declaration, wrong: declaration + "  discriminatorChange: forbid\n  ratchet: yes\n", want: declaration + "  discriminatorChange: Forbid\n  ratchet: true\n", count: 2},
		{name: "change", old: declaration, wrong: declaration + "  allowedChanges: {HTPT: TCP}\n", want: declaration + "  allowedChanges: {HTTP: TCP}\n", count: 1},
		{name: "YAML 1.1", old: "enum: [HTTP, TCP]", wrong: "enum: [HTTP, TCP, On]", want: `enum: [HTTP, TCP, "On"]`, count: 1},
		{name: "one after the other", old: declaration, wrong: "- discriminater: tpye\n  fields-to-discriminateBy: {htpt: HTPT, tcp: TCP}\n", want: "- discriminator: type\n  fields-to-discriminateBy: {http: HTTP, tcp: TCP}\n", count: 4},
		{name: "no member twice", old: "tcp: TCP", wrong: "htttp: TCP, tcp: UDP", want: "htttp: TCP, tcp: UDP"},
		{name: "nothing close", old: declaration, wrong: declaration + "  cardinality: AtMoatOne\n  unmappedValues: x\n", want: declaration + "  cardinality: AtMostOne\n  unmappedValues: x\n", count: 1},
		{name: "another digit", old: "tcp: TCP", wrong: "tcp4: TCP", want: "tcp4: TCP"},
		{name: "key twice", old: declaration, wrong: declaration + "  discriminater: type\n", want: declaration + "  discriminater: type\n", refused: []string{
			`UC201 (unknown key "discriminater" in a union declaration) is not fixed: its edit would lead to UC104: key "discriminator" occurs twice in this mapping`,
		}},
		{name: "quotes do not help", old: declaration, wrong: declaration + "  unmappedValues: false\n  cardinality: exactlyone\n", want: declaration + "  unmappedValues: false\n  cardinality: ExactlyOne\n", count: 1, refused: []string{
			"UC105 (kubectl reads false as the boolean false) is not fixed: its edit would lead to UC202: unmappedValues must be one of Allow, Forbid",
		}},
		{name: "another error appears", old: declaration, wrong: "- discriminater: type\n  fields-to-discriminateBy: {http: HTTP, udp: TCP}\n", want: "- discriminator: type\n  fields-to-discriminateBy: {http: HTTP, udp: TCP}\n", count: 1},
		{name: "another error in its place", old: "{http: HTTP, tcp: TCP}", wrong: "{http: HTTP, udp: TCP, On: TCP}", want: `{http: HTTP, udp: TCP, On: TCP}`, refused: []string{
			`UC105 (kubectl reads On as the boolean true) is not fixed: its edit would lead to UC203: member "On" is not a property of this object`,
		}},
		{name: "escapes", old: "tcp: TCP", wrong: `"tp\u0063": TCP`, want: `"tp\u0063": TCP`},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.want == "" {
				test.want = test.old
			}
			src := crdOf("routes", version{Name: "v1", Spec: replaced(typed, test.old, test.wrong)})
			want := crdOf("routes", version{Name: "v1", Spec: replaced(typed, test.old, test.want)})
			for _, newline := range []string{"\n", "\r\n"} {
				src, want := strings.ReplaceAll(src, "\n", newline), strings.ReplaceAll(want, "\n", newline)
				got := fix(src)
				if diff := cmp.Diff(want, string(got.Src)); diff != "" {
					t.Errorf("-want +got\n%s\n%v", diff, got.Found)
				}
				if got.Count != test.count {
					t.Errorf("%d are fixed, want %d", got.Count, test.count)
				}
				var refused []string
				for _, r := range got.Refused {
					refused = append(refused, r.String())
				}
				if diff := cmp.Diff(test.refused, refused); diff != "" {
					t.Errorf("-want +got\n%s", diff)
				}
				if again := fix(string(got.Src)); again.Count != 0 || string(again.Src) != string(got.Src) {
					t.Errorf("again %d are fixed\n%s", again.Count, again.Src)
				}
			}
		})
	}
}

// TestFixCompiled asserts that declarations which compiling removed from the text are not edited.
func TestFixCompiled(t *testing.T) {
	compiled, _ := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(crdOf("routes", version{Name: "v1", Spec: typed}))), crdpatch.Options{})
	if got := fix(string(compiled)); got.Count != 0 || got.Refused != nil {
		t.Errorf("got %+v", got)
	}
	src := string(compiled) + "---\n" + crdOf("paths", version{Name: "v1", Spec: replaced(typed, "discriminator:", "discriminater:")})
	if got := fix(src); string(got.Src) != replaced(src, "discriminater", "discriminator") {
		t.Errorf("got %s\n%v", got.Src, got.Found)
	}
	for _, d := range fix(replaced(string(compiled), " http: {", " htpp: {")).Found {
		if d.Edits != nil {
			t.Errorf("%s has edits", d)
		}
	}
}

// TestFixMany asserts that a harmful edit does not prevent other edits.
func TestFixMany(t *testing.T) {
	var b strings.Builder
	for i := range 30 {
		key := "discriminater"
		if i == 13 {
			key = "discriminator: type, discriminater"
		}
		fmt.Fprintf(&b, "- {%s: t%d, fields-to-discriminateBy: {m%d: A}}\n", key, i, i)
	}
	src := crdOf("routes", version{Name: "v1", Spec: replaced(typed, "- discriminator: type\n  fields-to-discriminateBy: {http: HTTP, tcp: TCP}\n", b.String())})
	got := fix(src)
	if got.Count != 29 || len(got.Refused) != 1 || strings.Count(string(got.Src), "discriminater") != 1 {
		t.Errorf("%d fixed, refused: %v\n%s", got.Count, got.Refused, got.Src)
	}
}
