package report_test

import (
	"testing"

	"github.com/unioncel/unioncel/internal/report"
)

func TestQuote(t *testing.T) {
	for word, want := range map[string]string{
		"./api/...":          "./api/...",
		"--encoding=fine":    "--encoding=fine",
		"system:a@b":         "system:a@b",
		"":                   "''",
		"a b":                "'a b'",
		"it's":               `'it'\''s'`,
		"~/crd":              "'~/crd'",
		"$(id)":              "'$(id)'",
		"crd\n*":             `$'crd\012*'`,
		"it's\x1b[1m\u202e":  `$'it\047s\033[1m\342\200\256'`,
		"a\\b":               `'a\b'`,
		`{"spec":{"a":"b"}}`: `'{"spec":{"a":"b"}}'`,
	} {
		if got := report.ShellQuote(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
