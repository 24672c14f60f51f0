package report_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/unioncel/unioncel/pkg/rules"
)

// hostileCRD has names and values with every character that Markdown, HTML, Mermaid or a terminal may
// interpret.
const hostileCRD = `
"a|b` + "`" + `c":
  type: object
  additionalProperties:
    type: object
    x-kubernetes-unions:
    - name: "*x* <b>|\n# y` + "```" + `"
      discriminator: "ty__pe"
      fields-to-discriminateBy:
        "in": "a\"b\\|c\n--> s1"
        "t_c_p": ["<script>alert(1)</script>", "` + "```" + `", "[x](http://y)", "%%{init}%%"]
        "x.y/z-_w_": "\u001b[31mred;:#quot;end note"
      allowedChanges: {"` + "```" + `": ["%%{init}%%", ""], "[x](http://y)": "a\"b\\|c\n--> s1"}
    properties:
      "ty__pe": {type: string, enum: ["", "a\"b\\|c\n--> s1", "<script>alert(1)</script>", "` + "```" + `", "[x](http://y)", "%%{init}%%", "\u001b[31mred;:#quot;end note", "$x$"]}
      "in": {type: object}
      "t_c_p": {type: object}
      "x.y/z-_w_": {type: object}
`

func TestHostileNames(t *testing.T) {
	crd := explained(t, hostileCRD, rules.Fine)
	markdown := markdownOf(t, crd)
	for name, printed := range map[string]string{"text": textOf(t, crd), "markdown": markdown} {
		for _, r := range printed {
			if r != '\n' && !unicode.IsPrint(r) {
				t.Errorf("%s has the character %U", name, r)
			}
		}
	}
	if n := len(diagrams(t, strings.ReplaceAll(markdown, "````mermaid", "```mermaid"))); n != 1 {
		t.Errorf("%d diagrams", n)
	}
	outside := regexp.MustCompile(`\\[[:punct:]]`).ReplaceAllString(withoutBlocks(t, markdown), "")
	outside = regexp.MustCompile("`[^`|\n]*`").ReplaceAllString(outside, "span")
	if tag := regexp.MustCompile(`<[^<>]*>`).FindAllString(outside, -1); slices.ContainsFunc(tag, func(tag string) bool { return tag != "<code>" && tag != "</code>" }) {
		t.Errorf("it has HTML: %q", tag)
	}
	for _, markup := range []string{"](", "*x*", "t_c_p", "$x$", "\n# y", "://", "`"} {
		if strings.Contains(outside, markup) {
			t.Errorf("%q stands in\n%s", markup, outside)
		}
	}
	tables(t, outside)
	golden(t, "hostile.md", markdown)
}

// withoutBlocks removes fenced code blocks.
func withoutBlocks(t *testing.T, markdown string) string {
	t.Helper()
	var b strings.Builder
	fence := ""
	for line := range strings.Lines(markdown) {
		switch run := regexp.MustCompile("^ *`{3,}").FindString(line); {
		case fence == "" && run != "":
			fence = run
		case fence != "" && strings.TrimRight(line, "\n") == fence:
			fence = ""
		case fence == "":
			b.WriteString(line)
		}
	}
	if fence != "" {
		t.Error("a block has no end")
	}
	return b.String()
}

// tables asserts that every row of a table has as many cells as the head.
func tables(t *testing.T, markdown string) {
	t.Helper()
	cells, rows := 0, 0
	for line := range strings.Lines(markdown) {
		if !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		n := strings.Count(line, "|")
		if cells == 0 {
			cells = n
		}
		if rows++; n != cells {
			t.Errorf("%d bars, and %d in the head: %s", n, cells, line)
		}
	}
	if rows < 3 {
		t.Errorf("%d rows", rows)
	}
}
