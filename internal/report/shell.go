package report

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

var plain = regexp.MustCompile(`^[A-Za-z0-9@%+=:,./_-]+$`)

// ShellQuote returns a word in the form that a POSIX shell reads as this word, on one line. For control
// and invisible characters it uses $'...' of POSIX.1-2024, which bash and zsh support.
func ShellQuote(word string) string {
	switch {
	case plain.MatchString(word):
		return word
	case !strings.ContainsFunc(word, func(r rune) bool { return !unicode.IsPrint(r) }):
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	var b strings.Builder
	for _, c := range []byte(word) {
		if c < ' ' || c > '~' || c == '\\' || c == '\'' {
			fmt.Fprintf(&b, `\%03o`, c)
		} else {
			b.WriteByte(c)
		}
	}
	return "$'" + b.String() + "'"
}

// ShellFile returns a file name as a word that no command interprets as a flag.
func ShellFile(name string) string {
	if strings.HasPrefix(name, "-") {
		name = "./" + name
	}
	return ShellQuote(name)
}
