package markdown_test

import (
	"testing"

	"github.com/unioncel/unioncel/internal/report/markdown"
)

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"spec.http and 'b c'":   "spec.http and 'b c'",
		"- a\n| b\t*c*":         `\- a &#124; b \*c\*`,
		"@team see #1, <b>$x$":  `&#64;team see \#1, &lt;b>&#36;x&#36;`,
		"https://example.com/a": "https&#58;//example.com/a",
		"a\x1b[31m\u202eb":      `a\\u001b\[31m\\u202eb`,
		"see www.example.com":   "see www&#46;example.com",
		"":                      "",
	} {
		if got := markdown.Text(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestCode(t *testing.T) {
	for in, want := range map[string]string{
		"spec.routes[*].a_b": "`spec.routes[*].a_b`",
		"a|b":                "<code>a&#124;b</code>",
		"a`b\nc":             "<code>a\\`b c</code>",
		"":                   "",
	} {
		if got := markdown.Code(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestBlock(t *testing.T) {
	if got, want := markdown.Block("yaml", "a: |\n  ````\n"), "`````yaml\na: |\n  ````\n`````\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
