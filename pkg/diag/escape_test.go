package diag

import "testing"

// Whoever wrote a file, its name or its values, what is printed of them is shown by
// terminals and CI systems, and obeyed by neither.
func TestEscape(t *testing.T) {
	for text, want := range map[string]string{
		"a: b\n  c\td\n":                "a: b\n  c\td\n",
		"::error::x\n":                  "\\u003a:error::x\n",
		"a\n \t::add-mask::x":           "a\n \t\\u003a:add-mask::x",
		"##[section]x\na ::b ##[c]":     "\\u0023#[section]x\na ::b ##[c]",
		"a\x1b[2Jb\rc\u202ed\u2066\xff": "a\\u001b[2Jb\\u000dc\\u202ed\\u2066\ufffd",
	} {
		if got := Escape(text); got != want {
			t.Errorf("%q becomes %q, want %q", text, got, want)
		}
	}
	d := Diagnostic{Code: UnknownMember, Pos: Pos{"::set-env name=x::y.yaml", 1, 2}, Message: "m"}
	if got, want := d.String(), "\\u003a:set-env name=x::y.yaml:1:2: error: UC203: m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
