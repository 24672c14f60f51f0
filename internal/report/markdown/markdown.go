// Package markdown writes text of manifests into Markdown as GitHub renders it, in pull
// requests and step summaries: whatever is in it, it is shown as it is, does nothing, and
// stays in its cell of a table.
package markdown

import (
	"strings"

	"github.com/unioncel/unioncel/pkg/diag"
)

// Text returns a text on one line. What Markdown would treat as markup has a backslash
// before it; what HTML would, or GitHub as a formula, a mention or a link whatever is before
// it, is written as an entity, and so is a vertical bar, which tables treat otherwise.
func Text(s string) string {
	s = escape.Replace(oneLine(s))
	if s != "" && strings.ContainsRune("+-=>", rune(s[0])) {
		s = `\` + s
	}
	return s
}

var escape = strings.NewReplacer(`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "~", `\~`, "#", `\#`,
	"|", "&#124;", "<", "&lt;", "&", "&amp;", "$", "&#36;", "@", "&#64;", "://", "&#58;//", "www.", "www&#46;")

// Code returns a text on one line as code. In a span of backticks a cell of a table would
// end at a vertical bar, and backslashes before one mean different things to different
// readers; texts with such characters are an element of HTML.
func Code(s string) string {
	s = oneLine(s)
	switch {
	case s == "":
		return ""
	case !strings.ContainsAny(s, "`|\\"):
		return "`" + s + "`"
	}
	return "<code>" + Text(s) + "</code>"
}

// Block returns a block of code in a language; the text ends with a line break. The fence
// is longer than any in the text.
func Block(language, text string) string {
	longest, run := 2, 0
	for _, c := range []byte(text) {
		if run++; c != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	return fence + language + "\n" + text + fence + "\n"
}

func oneLine(s string) string { return strings.Join(strings.Fields(diag.Escape(s)), " ") }
