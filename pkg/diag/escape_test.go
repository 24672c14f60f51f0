package diag

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
)

// Terminals and CI systems show a file's name and values but do not execute them, even if their
// author is hostile.
func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"a: b\n  c\td\n":                              "a: b\n  c\td\n",
		"::error::x\n":                                "\\u003a:error::x\n",
		"a\n \t::add-mask::x":                         "a\n \t\\u003a:add-mask::x",
		"##[section]x\na ::b ##[c]":                   "\\u0023#[section]x\na ::b \\u0023#[c]",
		"##vso[task.setvariable]x ##teamcity[y ## [z": "\\u0023#vso[task.setvariable]x \\u0023#teamcity[y ## [z",
		"a\u200bb\ufeffc\U000e0041 \u200d":            "a\\u200bb\\ufeffc\\udb40\\udc41 \u200d",
		"a\x1b[2Jb\rc\u202ed\u2066\xff":               "a\\u001b[2Jb\\u000dc\\u202ed\\u2066\ufffd",
	} {
		if got := Escape(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	for text, want := range map[string]string{"a\r\n\t::b": "a  ::b", "\n::a ##[b": " \\u003a:a \\u0023#[b"} {
		if got := inline(text); got != want {
			t.Errorf("%q becomes %q in a line, want %q", text, got, want)
		}
	}
	d := Diagnostic{Code: codes.UnknownMember, Pos: Pos{"::set-env name=x::y.yaml", 1, 2}, Message: "m"}
	d.Hint = "write\n  ::a"
	var shown, data strings.Builder
	if err := Text(&shown, List{d}, func(string) []byte { return []byte("b ##[c\n") }); err != nil {
		t.Fatal(err)
	}
	if want := d.String() + "\n | b \ufffd#[c\n | .^\n hint: write\n         \\u003a:a\n"; shown.String() != want {
		t.Errorf("%q, want %q", shown.String(), want)
	}
	text := "\n::a ##[b \u202ec\u007f"
	if err := WriteJSON(&data, text); err != nil {
		t.Fatal(err)
	}
	if got, want := data.String(), `"\n::a \u0023#[b \u202ec\u007f"`+"\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var back string
	if err := json.Unmarshal([]byte(data.String()), &back); err != nil || back != text {
		t.Errorf("%q, %v, want %q", back, err, text)
	}
	if got, want := d.String(), "\\u003a:set-env name=x::y.yaml:1:2: error: UC203: m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
