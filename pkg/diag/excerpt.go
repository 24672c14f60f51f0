package diag

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	// maxWidth is the maximum width of an excerpt, in terminal cells; longer lines are cut.
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

// cell is a character of a line as shown.
type cell struct {
	r     rune
	width int
}

// excerpt returns a line as shown, and the line below it that points at the column: dots up to a
// caret.
func (p excerptPart) excerpt() (text, caret string) {
	cells := make([]cell, 0, len(p.text))
	for i, r := range p.text {
		if unprintable(r) && r != '\t' || r == '#' && command.MatchString(p.text[i:]) {
			r = utf8.RuneError
		}
		cells = append(cells, cell{r, width(r)})
	}
	at := p.at
	from, to := p.window(cells)

	var t, c strings.Builder
	if from > 0 || p.before {
		t.WriteRune(ellipsis)
		c.WriteByte('.')
	}
	for i := from; i < to; i++ {
		t.WriteRune(cells[i].r)
		switch {
		case i >= at:
		case cells[i].r == '\t': // a tab below a tab ends in the same column
			c.WriteByte('\t')
		default:
			c.WriteString(strings.Repeat(".", cells[i].width))
		}
	}
	if to < len(cells) || p.after {
		t.WriteRune(ellipsis)
	}
	return t.String(), c.String() + "^"
}

// window returns the cells to show: all if the line is short enough, else about maxWidth of them,
// most of them before the column.
func (p excerptPart) window(cells []cell) (from, to int) {
	at := p.at
	if !p.before && !p.after && span(cells) <= maxWidth {
		return 0, len(cells)
	}
	for from = at; from > 0 && span(cells[from-1:at]) <= maxWidth*6/10; {
		from--
	}
	for to = from; to < len(cells) && span(cells[from:to+1]) <= maxWidth; {
		to++
	}
	return from, to
}

// span returns the width of characters. Marks without a width count as one, since a line may
// consist of nothing else. It stops counting beyond maxWidth.
func span(cells []cell) int {
	n := 0
	for _, c := range cells {
		n += max(c.width, 1)
		if n > maxWidth {
			break
		}
	}
	return n
}

// wide holds the characters that take two cells: East Asian wide and fullwidth characters, and
// emoji, in blocks as terminals treat them.
var wide = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x115f, Stride: 1}, // Hangul jamo
		{Lo: 0x231a, Hi: 0x231b, Stride: 1},
		{Lo: 0x23e9, Hi: 0x23ec, Stride: 1},
		{Lo: 0x25fd, Hi: 0x25fe, Stride: 1},
		{Lo: 0x2614, Hi: 0x2615, Stride: 1},
		{Lo: 0x2648, Hi: 0x2653, Stride: 1},
		{Lo: 0x26aa, Hi: 0x26ab, Stride: 1},
		{Lo: 0x2705, Hi: 0x2705, Stride: 1},
		{Lo: 0x270a, Hi: 0x270b, Stride: 1},
		{Lo: 0x2728, Hi: 0x2728, Stride: 1},
		{Lo: 0x274c, Hi: 0x274e, Stride: 2},
		{Lo: 0x2753, Hi: 0x2755, Stride: 1},
		{Lo: 0x2795, Hi: 0x2797, Stride: 1},
		{Lo: 0x2e80, Hi: 0x303e, Stride: 1}, // CJK radicals and punctuation
		{Lo: 0x3041, Hi: 0x33ff, Stride: 1}, // kana, compatibility
		{Lo: 0x3400, Hi: 0x4dbf, Stride: 1},
		{Lo: 0x4e00, Hi: 0x9fff, Stride: 1}, // CJK ideographs
		{Lo: 0xa000, Hi: 0xa4cf, Stride: 1}, // Yi
		{Lo: 0xa960, Hi: 0xa97f, Stride: 1},
		{Lo: 0xac00, Hi: 0xd7a3, Stride: 1}, // Hangul syllables
		{Lo: 0xf900, Hi: 0xfaff, Stride: 1},
		{Lo: 0xfe30, Hi: 0xfe6f, Stride: 1},
		{Lo: 0xff00, Hi: 0xff60, Stride: 1}, // fullwidth forms
		{Lo: 0xffe0, Hi: 0xffe6, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x16fe0, Hi: 0x1b2ff, Stride: 1},
		{Lo: 0x1f300, Hi: 0x1f64f, Stride: 1}, // emoji
		{Lo: 0x1f680, Hi: 0x1f6ff, Stride: 1},
		{Lo: 0x1f7e0, Hi: 0x1f7eb, Stride: 1},
		{Lo: 0x1f900, Hi: 0x1faff, Stride: 1},
		{Lo: 0x20000, Hi: 0x3fffd, Stride: 1},
	},
}

// width returns the number of terminal cells that a character takes. A tab counts as one here, as
// its end is unknown.
func width(r rune) int {
	switch {
	case unicode.In(r, unicode.Mn, unicode.Me), r == '\u200b', r == '\u200d':
		return 0
	case unicode.Is(wide, r):
		return 2
	default:
		return 1
	}
}
