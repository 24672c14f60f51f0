package yamledit_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
)

func TestSuffix(t *testing.T) {
	for text, want := range map[string]string{
		"":                       "S.",
		"What it is.":            " S.",
		"What it is":             ". S.",
		"What it is!":            " S.",
		"What it is: `this`":     ". S.",
		"(What it is.)":          " S.",
		"What it is. ":           "S.",
		"See https://a.example":  " S.",
		"What it is.\n":          "S.\n",
		"What\nit is.":           "\nS.",
		"What\nit is":            ".\nS.",
		"What\nit is.\n":         "S.\n",
		"See\nhttps://a.example": "\nS.",
		"What\n\nit is":          "\n\nS.",
		"What\n\nit is\n":        "\nS.\n",
		"What\n\nit is\n\n":      "S.\n",
	} {
		if got := yamledit.SuffixOf(text, "S.").String(); got != want {
			t.Errorf("%q gets %q, want %q", text, got, want)
		}
	}
}

// FuzzProse asserts that Append adds the sentence to the data, and Unappend restores every byte.
func FuzzProse(f *testing.F) {
	for _, s := range []string{
		"a: x", "a: x # c", "a: 'it''s'", `a: "\u00e4 \"\\\n"`, "a: |-\n  x\n  y", "a: |\n  x\n", "a: |+\n  x\n\n", "a: >-\n  x\n  y", "a: >\n  x\n\n    y\n", "a: >+\n  x\n\n",
		"a: x\n  y", "a: 'x\n\n  y'", "{a: x, b: y}", "{a: 'x', b: [y\n z]}", "a: &b !!str x", "a: \"x\\\n  \\ y\"", "b: x\n y\na: z", `{"a": "\ud83d\ude00"}`, "a: |2-\n   x\n  y", "a: !t\n  # c\n  'x'",
	} {
		f.Add(s, "It is one of them.")
		f.Add(s, "a: 'b' #c is \"\\n\" and may be too long for a line in which it were alone.")
	}
	f.Fuzz(func(t *testing.T, src, sentence string) {
		file, p, ok := prose(src + "\n")
		unprintable := func(r rune) bool { return !unicode.IsPrint(r) || r == utf8.RuneError }
		if !ok || strings.ContainsFunc(sentence, unprintable) || strings.TrimSpace(sentence) != sentence || !strings.HasSuffix(sentence, ".") {
			return
		}
		d := yamledit.Text{File: file, Document: file.Docs[0]}
		for _, p.Wrap = range []bool{false, true} {
			suffix := yamledit.SuffixOf(p.Value.Value, sentence)
			edit, quoted, err := d.Append(p, suffix)
			if err != nil {
				return
			}
			out, err := yamltext.Apply(file.Src, []yamltext.Edit{edit})
			if err != nil {
				t.Fatal(err)
			}
			now, q, ok := prose(string(out))
			if !ok || q.Value.Value != p.Value.Value+suffix.String() {
				continue // callers compare the result with the intended data
			}
			edit, err = (yamledit.Text{File: now, Document: now.Docs[0]}).Unappend(q.Value, suffix, quoted)
			if err != nil {
				t.Fatalf("%q: %v", out, err)
			}
			if back, err := yamltext.Apply(now.Src, []yamltext.Edit{edit}); err != nil || string(back) != src+"\n" {
				t.Errorf("%q becomes %q becomes %q: %v", src+"\n", out, back, err)
			}
		}
	})
}

// prose returns the string at key a of the mapping in src.
func prose(src string) (*yamltext.File, yamledit.Prose, bool) {
	f, err := yamltext.Parse([]byte(src))
	if err != nil || len(f.Docs) != 1 || f.Docs[0].Root == nil || f.Docs[0].Root.Kind != yaml.MappingNode {
		return nil, yamledit.Prose{}, false
	}
	root := f.Docs[0].Root
	k, v, _, ok := yamltext.Lookup(root, "a")
	if !ok || v.Kind != yaml.ScalarNode || v.Tag != "!!str" {
		return nil, yamledit.Prose{}, false
	}
	return f, yamledit.Prose{Key: k, Value: v, Flow: yamledit.IsFlow(root)}, true
}
