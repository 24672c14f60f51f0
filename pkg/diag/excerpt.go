package diag

import (
	"strings"
	"unicode/utf8"
)

const (
	// maxWidth is the maximum number of characters of an excerpt; longer lines are cut.
	maxWidth = 100
	// ellipsis marks a cut.
	ellipsis = '…'
)

// lineIndex finds source lines. It caches the lines of the last file, and the last column:
// diagnostics arrive sorted, a file may have a million lines, and a line a million characters.
type lineIndex struct {
	source func(file string) []byte
	file   string
	loaded bool
	lines  []string
	// offset is the byte offset of column col, counted from 0, in line last.
	last, col, offset int
}

// excerptPart is the part of a line that may be shown: the characters around a column.
type excerptPart struct {
	text string
	at   int // the column in text, counted from 0 in characters
	// before and after report whether the line has more text before and after this part.
	before, after bool
}

// find returns the part of a line, without its line break, around a position.
func (x *lineIndex) find(pos Pos) (excerptPart, bool) {
	if x.source == nil || pos.Line < 1 {
		return excerptPart{}, false
	}
	if !x.loaded || x.file != pos.File {
		x.file, x.loaded, x.last = pos.File, true, 0
		x.lines = splitLines(x.source(pos.File))
	}
	if pos.Line > len(x.lines) {
		return excerptPart{}, false
	}
	line := x.lines[pos.Line-1]
	if x.last != pos.Line || x.col > pos.Col-1 {
		x.last, x.col, x.offset = pos.Line, 0, 0
	}
	for x.col < pos.Col-1 && x.offset < len(line) {
		_, size := utf8.DecodeRuneInString(line[x.offset:])
		x.col, x.offset = x.col+1, x.offset+size
	}
	return partAt(line, x.offset), true
}

// partAt returns the part of a line around a byte offset.
func partAt(line string, offset int) excerptPart {
	from, to, at := offset, offset, 0
	for ; from > 0 && at <= maxWidth; at++ {
		_, size := utf8.DecodeLastRuneInString(line[:from])
		from -= size
	}
	for n := 0; to < len(line) && n <= maxWidth; n++ {
		_, size := utf8.DecodeRuneInString(line[to:])
		to += size
	}
	return excerptPart{line[from:to], at, from > 0, to < len(line)}
}

// splitLines splits at the line breaks of the YAML parser, so that its line numbers match the
// excerpt. A byte order mark is not part of the first line.
func splitLines(src []byte) []string {
	s := strings.TrimPrefix(string(src), "\ufeff")
	var lines []string
	start := 0
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		next := i + size
		switch r {
		case '\r':
			if next < len(s) && s[next] == '\n' {
				next++
			}
			fallthrough
		case '\n', '\u0085', '\u2028', '\u2029':
			lines = append(lines, s[start:i])
			start = next
		}
		i = next
	}
	if start < len(s) || len(lines) > 0 {
		lines = append(lines, s[start:])
	}
	return lines
}

// excerpt returns a line as shown, and the line below it that points at the column: dots up to a
// caret.
func (p excerptPart) excerpt() (text, caret string) {
	shown := make([]rune, 0, len(p.text))
	for i, r := range p.text {
		if unprintable(r) && r != '\t' || r == '#' && command.MatchString(p.text[i:]) {
			r = utf8.RuneError
		}
		shown = append(shown, r)
	}
	from, to := p.window(len(shown))
	var t, c strings.Builder
	if from > 0 || p.before {
		t.WriteRune(ellipsis)
		c.WriteByte('.')
	}
	t.WriteString(string(shown[from:to]))
	for _, r := range shown[from:min(p.at, to)] {
		if r != '\t' { // a tab below a tab ends in the same column
			r = '.'
		}
		c.WriteRune(r)
	}
	if to < len(shown) || p.after {
		t.WriteRune(ellipsis)
	}
	return t.String(), c.String() + "^"
}

// window returns the characters to show: all if the line is short enough, else maxWidth of them, most
// of them before the column.
func (p excerptPart) window(length int) (from, to int) {
	if !p.before && !p.after && length <= maxWidth {
		return 0, length
	}
	from = max(0, p.at-maxWidth*6/10)
	return from, min(length, from+maxWidth)
}
