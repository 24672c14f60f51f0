package diag

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/unioncel/unioncel/internal/codes"
)

func text(t *testing.T, l List, source func(string) []byte) string {
	t.Helper()
	var b strings.Builder
	if err := Text(&b, l, source); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestTextParts(t *testing.T) {
	l := List{
		{
			Code: codes.UnknownMember, Pos: Pos{"crd.yaml", 2, 3}, Path: "spec.versions[0]", Message: "no such\nmember",
			Hint:    "either\nor",
			Related: []Related{{Pos{"crd.yaml", 1, 1}, "declared here"}},
		},
		{Code: codes.EmptyInput, Pos: Pos{File: "empty.yaml"}, Message: "nothing"},
		{Code: codes.VersionsDiffer, Severity: Warning, Pos: Pos{"crd.yaml", 1, 0}, Message: "differ"},
		{Code: codes.Syntax, Pos: Pos{"crd.yaml", 99, 1}, Message: "no such line"},
		{Code: codes.Syntax, Pos: Pos{"unknown.yaml", 1, 1}, Message: "no such file"},
	}
	want := `crd.yaml:2:3: error: UC203: no such member
 |   tsl: TLS
 | ..^
 hint: either
       or
 path: spec.versions[0]
 see crd.yaml:1:1: declared here
empty.yaml: error: UC103: nothing
crd.yaml:1: warning: UC502: differ
 | a:
crd.yaml:99:1: error: UC101: no such line
unknown.yaml:1:1: error: UC101: no such file
`
	got := text(t, l, func(file string) []byte {
		if file == "crd.yaml" {
			return []byte("a:\n  tsl: TLS\n")
		}
		return nil
	})
	if got != want {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
}

func TestTextWithoutSource(t *testing.T) {
	got := text(t, List{{Code: codes.Syntax, Pos: Pos{"a", 1, 1}, Message: "m"}}, nil)
	if want := "a:1:1: error: UC101: m\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestTextSourceLine(t *testing.T) {
	for _, tt := range []struct {
		name string
		src  string
		pos  Pos // File is ignored
		want string
	}{
		{"first column", "ab\n", Pos{"", 1, 1}, " | ab\n | ^\n"},
		{"tab", "\tab: c\n", Pos{"", 1, 3}, " | \tab: c\n | \t.^\n"},
		{"non-ASCII", "äöü: é\n", Pos{"", 1, 6}, " | äöü: é\n | .....^\n"},
		{"wide", "名: x\n", Pos{"", 1, 4}, " | 名: x\n | ....^\n"},
		{"emoji", "🎉: x\n", Pos{"", 1, 4}, " | 🎉: x\n | ....^\n"},
		{"combining", "e\u0301: x\n", Pos{"", 1, 5}, " | e\u0301: x\n | ...^\n"},
		{"behind the end", "ab\n", Pos{"", 1, 3}, " | ab\n | ..^\n"},
		{"far behind the end", "ab\n", Pos{"", 1, 300}, " | ab\n | ..^\n"},
		{"empty line", "a\n\nb\n", Pos{"", 2, 1}, " | \n | ^\n"},
		{"last line, empty", "a\n", Pos{"", 2, 1}, " | \n | ^\n"},
		{"no last newline", "a\nb", Pos{"", 2, 1}, " | b\n | ^\n"},
		{"CRLF", "a\r\nb\r\n", Pos{"", 2, 1}, " | b\n | ^\n"},
		{"CR", "a\rb\r", Pos{"", 2, 1}, " | b\n | ^\n"},
		{"byte order mark", "\ufeffab\n", Pos{"", 1, 2}, " | ab\n | .^\n"},
		{"escape sequence", "a\x1b[2Jb\n", Pos{"", 1, 6}, " | a\ufffd[2Jb\n | .....^\n"},
		{"right to left override", "a\u202eb\n", Pos{"", 1, 3}, " | a\ufffdb\n | ..^\n"},
		{"not UTF-8", "a\xffb\n", Pos{"", 1, 3}, " | a\ufffdb\n | ..^\n"},
		{"empty file", "", Pos{"", 1, 1}, ""},
		{"no column", "ab\n", Pos{"", 1, 0}, " | ab\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := text(t, List{{Pos: tt.pos}}, func(string) []byte { return []byte(tt.src) })
			_, got, _ = strings.Cut(got, "\n")
			if got != tt.want {
				t.Errorf("got %q\nwant %q", got, tt.want)
			}
		})
	}
}

func TestTextCutsLongLines(t *testing.T) {
	digits := strings.Repeat("0123456789", 100)
	for _, tt := range []struct {
		name, line string
		col        int
		want       rune // above the caret; 0: nothing
	}{
		{"start", digits, 1, '0'},
		{"near the start", digits, 38, '7'},
		{"middle", digits, 504, '3'},
		{"near the end", digits, 995, '4'},
		{"end", digits, 1000, '9'},
		{"behind the end", digits, 1001, 0},
		{"wide", strings.Repeat("名", 500), 250, '名'},
		{"marks", strings.Repeat("e\u0301", 500), 501, 'e'},
		{"only marks", strings.Repeat("\u0301", 5000), 500, ellipsis},
	} {
		t.Run(tt.name, func(t *testing.T) {
			lines := lineIndex{source: func(string) []byte { return []byte(tt.line) }}
			found, _ := lines.find(Pos{Line: 1, Col: tt.col})
			got, caret := found.excerpt()
			at := len(caret) - 1 // cells before the caret
			var above rune
			cells := 0
			for _, r := range got {
				if cells == at && width(r) > 0 {
					above = r
				}
				cells += width(r)
			}
			if above != tt.want {
				t.Errorf("%q stands above the caret, want %q\n%s\n%s", above, tt.want, got, caret)
			}
			if cells > maxWidth+2 || utf8.RuneCountInString(got) > maxWidth+2 {
				t.Errorf("%d cells wide: %s", cells, got)
			}
			if strings.HasPrefix(got, string(ellipsis)) != (tt.col > 61) {
				t.Errorf("cut at the start: %s", got)
			}
			if cutAtEnd := strings.HasSuffix(got, string(ellipsis)); cutAtEnd == (tt.col > 960 && tt.col < 1002) {
				t.Errorf("cut at the end: %s", got)
			}
		})
	}
}

func FuzzText(f *testing.F) {
	f.Add("a: b\n", 1, 2)
	f.Add("\t名: \x1b\r\n\u2028x", 2, 1)
	f.Add(strings.Repeat("x", 300), 1, 299)
	f.Fuzz(func(t *testing.T, src string, line, col int) {
		got := text(t, List{{Code: codes.Syntax, Pos: Pos{src, line, col}, Message: src, Hint: "h", Path: "p"}},
			func(string) []byte { return []byte(src) })
		if !utf8.ValidString(got) {
			t.Errorf("not UTF-8: %q", got)
		}
		// The message takes one line, the source none to two, and the rest one each.
		if n := strings.Count(got, "\n"); n < 3 || n > 5 {
			t.Errorf("%d lines: %q", n, got)
		}
		for _, r := range got {
			if unprintable(r) && r != '\n' && r != '\t' {
				t.Errorf("%q in the output %q", r, got)
			}
		}
	})
}

// A line may have as many diagnostics as characters: the cost of each must not grow with the length
// of the line, or this takes minutes.
func TestTextManyOnOneLine(t *testing.T) {
	line := strings.Repeat("key: 1, ", 1<<17)
	var l List
	for col := 1; col < len(line); col += 32 {
		l = append(l, Diagnostic{Pos: Pos{"crd.yaml", 1, col}})
	}
	got := text(t, l, func(string) []byte { return []byte(line) })
	if want := "key: 1, key: 1, "; strings.Count(got, want) < len(l) {
		t.Errorf("got %d excerpts", strings.Count(got, want))
	}
}
