package cli

import (
	"bytes"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/unioncel/unioncel/pkg/diag"
)

// difference is what --check and --diff print of an input: its name when it
// changes, how it changes, or both.
func (c *conversion) difference(name string, src, out []byte) []byte {
	var b bytes.Buffer
	if bytes.Equal(src, out) {
		return nil
	}
	if c.check {
		b.WriteString(diag.Escape(strings.ReplaceAll(name, "\n", `\n`)) + "\n")
	}
	if c.diff {
		label := diffLabel(filepath.ToSlash(name))
		_, hunks, _ := bytes.Cut(diff.Diff(label, src, label, out), []byte("\n")) // without "diff a b"
		b.Write(hunks)
	}
	return b.Bytes()
}

// diffLabel writes a file name the way patch and git read it: quoted when it
// has control characters, and with a tab to end one that has spaces. Directories
// are separated by slashes.
func diffLabel(name string) string {
	switch {
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }) || strings.ContainsAny(name, `"\`):
		return strconv.Quote(name)
	case strings.Contains(name, " "):
		return name + "\t"
	default:
		return name
	}
}
