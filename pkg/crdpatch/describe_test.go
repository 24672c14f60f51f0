package crdpatch

import (
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/diag"
)

const (
	describedUnion = `          spec:
            type: object
            required: [type]
            x-kubernetes-unions:
            - discriminator: type
              fields-to-discriminateBy: {a: A, b: B}
              discriminatorChange: Allow
            properties:
              a: {type: object}
              b: {type: object}
              c: {type: object}
              type:
                description: What it is.
                type: string
                enum: [A, B]
`
	describedSentence = "Exactly one of a and b must be set, the one that type selects."
)

func describedSource() string {
	before, _, _ := strings.Cut(header+body, "          spec:\n")
	return before + describedUnion
}

// Decompiling keeps users' edits of descriptions, and removes the sentences.
func TestDescribedEdited(t *testing.T) {
	in := describedSource()
	describe := crdfile.Options{Describe: true}
	out := string(mustCompile(t, []byte(in), describe))
	replace := func(s, old, new string) string {
		t.Helper()
		if strings.Count(s, old) != 1 {
			t.Fatalf("%q occurs %d times in:\n%s", old, strings.Count(s, old), s)
		}
		return strings.Replace(s, old, new, 1)
	}
	const edited = "Exactly one of a or b must be set."
	for _, tt := range []struct {
		name     string
		old, new string // in the compiled file
		// in returns the source that decompiling the edited file must yield.
		in    func() string
		codes []diag.Code
	}{
		{"nothing", "plural: things", "plural: things", func() string { return in }, nil},
		{"the text before", "What it is. Exactly", "What this is. Exactly", func() string { return replace(in, "What it is.", "What this is.") }, nil},
		{"the end of the text before", "What it is. Exactly", "What it is! Exactly", func() string { return replace(in, "What it is.", "What it is!") }, nil},
		{"the full stop before", "What it is. Exactly", "What it is Exactly", func() string { return replace(in, "What it is.", "What it is "+describedSentence) }, []diag.Code{codes.RuleChanged}},
		{"the sentence", describedSentence, edited, func() string { return replace(in, "What it is.", "What it is. "+edited) }, []diag.Code{codes.RuleChanged}},
		{"the sentence is gone", " " + describedSentence, "", func() string { return in }, []diag.Code{codes.RuleChanged}},
		{"more behind it", describedSentence, describedSentence + " More.", func() string { return replace(in, "What it is.", "What it is. "+describedSentence+" More.") }, []diag.Code{codes.RuleChanged}},
		{"the description is gone", "                description: What it is. " + describedSentence + "\n", "", func() string { return replace(in, "                description: What it is.\n", "") }, []diag.Code{codes.RuleChanged}},
		{"a value that selects nothing", "enum: [A, B]", "enum: [A, B, C]", func() string { return replace(in, "enum: [A, B]", "enum: [A, B, C]") }, nil},
		{"a declaration again", "            properties:\n              a: ", "            x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B, c: C}}]\n            properties:\n              a: ",
			func() string {
				s := replace(in, "            x-kubernetes-unions:\n            - discriminator: type\n              fields-to-discriminateBy: {a: A, b: B}\n              discriminatorChange: Allow\n", "")
				return replace(s, "            properties:\n              a: ", "            x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B, c: C}}]\n            properties:\n              a: ")
			}, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			now := []byte(replace(out, tt.old, tt.new))
			want := []byte(tt.in())
			got, diags := Decompile(open("in", now), crdfile.Options{})
			same(t, "decompile", got, want)
			if codes := codesOf(diags); !slices.Equal(codes, tt.codes) {
				t.Errorf("decompile:\n%s", textOfDiags(diags))
			}
			again, diags := Compile(open("in", want), describe)
			if diags.HasErrors() { // the edit causes them
				t.Skip(textOfDiags(diags))
			}
			same(t, "compile", mustCompile(t, now, describe), again)
			same(t, "compile without", mustCompile(t, now, crdfile.Options{}), mustCompile(t, want, crdfile.Options{}))
		})
	}
}

// Without the annotation no sentence is added twice, whether or not the declaration is kept.
func TestDescribedWithoutAnnotation(t *testing.T) {
	in := []byte(describedSource())
	for _, opts := range []crdfile.Options{{Describe: true, NoAnnotation: true}, {Describe: true, NoAnnotation: true, KeepUnions: true}} {
		out := mustCompile(t, in, opts)
		if n := strings.Count(string(out), describedSentence); n != 1 {
			t.Errorf("%d sentences:\n%s", n, out)
		}
		same(t, "compile(compile(in))", mustCompile(t, out, opts), out)
	}
}

// A CRD that was overwritten except for its annotations has lost its sentences with its rules.
func TestDescribedOverwritten(t *testing.T) {
	in, declarations := undeclared(t, []byte(describedSource()))
	opts := crdfile.Options{Describe: true, External: declarations}
	out := string(mustCompile(t, in, opts))
	_, annotation, _ := strings.Cut(out, "  annotations:\n")
	annotation, _, _ = strings.Cut(annotation, "\nspec:")
	anew := []byte(strings.Replace(string(in), "\nspec:", "\n  annotations:\n"+annotation+"\nspec:", 1))
	got, diags := Compile(open("in", anew), opts)
	same(t, "compile", got, []byte(out))
	if len(diags) > 0 {
		t.Errorf("diagnostics:\n%s", textOfDiags(diags))
	}
}

// A forged annotation can remove only the sentences of its unions from descriptions.
func TestForgedDescribed(t *testing.T) {
	in := strings.Replace(describedSource(), "What it is.", "What it is. And more. "+describedSentence, 1)
	out := string(mustCompile(t, []byte(in), crdfile.Options{Describe: true}))
	if strings.Contains(out, `"described"`) {
		t.Fatalf("a sentence that was there is recorded:\n%s", out)
	}
	claims := func(l ...any) func(_, s map[string]any) {
		return func(_, s map[string]any) { s["described"] = l }
	}
	for _, tt := range []struct {
		name  string
		forge func(r, s map[string]any)
		code  diag.Code
		want  string // the description
	}{
		{"what the union writes", claims(map[string]any{"joint": " "}), "", "What it is. And more."},
		{"the full stop, which may be ours", claims(map[string]any{"joint": ". "}), "", "What it is. And more"},
		{"a space that may not be", claims(map[string]any{}), "", `"What it is. And more. "`},
		{"in a paragraph", claims(map[string]any{"joint": "\n\n"}), codes.RuleChanged, "What it is. And more. " + describedSentence},
		{"the key", claims(map[string]any{"was": ""}), codes.RuleChanged, "What it is. And more. " + describedSentence},
		{"null", claims(map[string]any{"was": ": null"}), codes.RuleChanged, "What it is. And more. " + describedSentence},
		{"a null that is none", claims(map[string]any{"was": ": x"}), codes.BadAnnotation, ""},
		{"more text", claims(map[string]any{"joint": " And more. "}), codes.BadAnnotation, ""},
		{"null behind a joint", claims(map[string]any{"joint": " ", "was": ""}), codes.BadAnnotation, ""},
		{"of no union", claims(map[string]any{"unions": []any{1}}), codes.BadAnnotation, ""},
		{"of a negative one", claims(map[string]any{"unions": []any{-1}}), codes.BadAnnotation, ""},
		{"twice", claims(map[string]any{"unions": []any{0, 0}}), codes.BadAnnotation, ""},
		{"in another entry", claims(map[string]any{"joint": " "}, map[string]any{"joint": " "}), codes.BadAnnotation, ""},
		{"of a schema without unions", func(r, s map[string]any) {
			delete(s, "source")
			delete(s, "rules")
			claims(map[string]any{"joint": " "})(r, s)
		}, codes.BadAnnotation, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, diags := Decompile(open("in", []byte(forgedAnnotation(t, out, tt.forge))), crdfile.Options{})
			if codes := codesOf(diags); tt.code == "" && len(codes) > 0 || tt.code != "" && !slices.Equal(codes, []diag.Code{tt.code}) {
				t.Errorf("diagnostics:\n%s", textOfDiags(diags))
			}
			want := []byte(strings.Replace(in, "What it is. And more. "+describedSentence, tt.want, 1))
			if tt.want == "" {
				want = nil
			}
			same(t, "decompile", got, want)
		})
	}
}

// An edit that changes more than the sentences in descriptions returns no result.
func TestHeldDescriptions(t *testing.T) {
	source := describedSource()
	described := string(mustCompile(t, []byte(source), crdfile.Options{Describe: true}))
	for _, tt := range []struct{ name, in, old, new string }{
		{"another text", source, "What it is.", "What it was."},
		{"another sentence", source, "Exactly one", "None"},
		{"no sentence", source, " " + describedSentence, ""},
		{"another description", source, "c: {type: object}", "c: {type: object, description: x}"},
		{"another text restored", described, "What it is.", "What it was."},
		{"a sentence left", described, "What it is.", "What it is. " + describedSentence},
		{"no text", described, "                description: What it is.\n", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := begin(open("in", []byte(tt.in)), crdfile.Options{Describe: true})
			out := ""
			if tt.in == source {
				out = string(j.compile())
			} else {
				out = string(j.base().Src)
			}
			if err := j.checkResult([]byte(out)); err != nil || strings.Count(out, tt.old) != 1 {
				t.Fatalf("%v\n%s", err, out)
			}
			if got, diags := j.result([]byte(strings.Replace(out, tt.old, tt.new, 1))); got != nil || !slices.Equal(codesOf(diags), []diag.Code{codes.Unproved}) {
				t.Errorf("%s\n%s", textOfDiags(diags), got)
			}
		})
	}
}
