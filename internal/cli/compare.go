package cli

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"

	"github.com/rogpeppe/go-internal/diff"
)

// compare prints the names of the inputs that change, how they change, or
// both. It returns errFindings when any does.
func (a *app) compare(results []result, flags *conversion) error {
	var b strings.Builder
	found := false
	for _, r := range results {
		if !r.changed() {
			continue
		}
		found = true
		if flags.check {
			b.WriteString(r.name + "\n")
		}
		if flags.diff {
			label := diffLabel(r.name)
			_, hunks, _ := bytes.Cut(diff.Diff(label, r.src, label, r.out), []byte("\n")) // without "diff a b"
			b.Write(hunks)
		}
	}
	if err := a.print([]byte(b.String())); err != nil {
		return err
	}
	if found {
		return errFindings
	}
	return nil
}

// diffLabel writes a file name the way patch and git read it: quoted when it
// has control characters, and with a tab to end one that has spaces.
func diffLabel(name string) string {
	switch {
	case strings.ContainsFunc(name, unicode.IsControl) || strings.ContainsAny(name, `"\`):
		return strconv.Quote(name)
	case strings.Contains(name, " "):
		return name + "\t"
	default:
		return name
	}
}
