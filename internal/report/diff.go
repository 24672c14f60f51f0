package report

import (
	"bytes"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/rogpeppe/go-internal/diff"
)

// Diff returns the changes of a file as a unified diff.
func Diff(name string, old, new []byte) []byte {
	label := diffLabel(filepath.ToSlash(name))
	_, hunks, _ := bytes.Cut(diff.Diff(label, old, label, new), []byte("\n")) // without "diff a b"
	return hunks
}

var addedLine, removedLine = regexp.MustCompile(`(?m)^\+.*$`), regexp.MustCompile(`(?m)^-.*$`)

// ColorDiff adds colours to a diff.
func ColorDiff(text []byte) []byte {
	return removedLine.ReplaceAll(addedLine.ReplaceAll(text, []byte("\x1b[32m$0\x1b[0m")), []byte("\x1b[31m$0\x1b[0m"))
}

// diffLabel writes a file name in the syntax of patch and git: quoted if it has control characters,
// and with a trailing tab if it has spaces. Directories are separated by slashes.
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
