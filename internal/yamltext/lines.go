package yamltext

import (
	"sort"
	"unicode/utf8"
)

// line is one line of a file.
type line struct {
	start int
	text  int  // offset of column 1, after the BOM if a document begins with one
	wide  bool // contains multi-byte characters
}

// breakLen returns the length of the line break at src[i], or 0. It recognizes the line breaks of
// yaml.v3, in scalars, in comments and between tokens.
func breakLen(src []byte, i int) int {
	if i >= len(src) {
		return 0
	}
	switch src[i] {
	case '\n':
		return 1
	case '\r':
		if i+1 < len(src) && src[i+1] == '\n' {
			return 2
		}
		return 1
	case 0xC2: // NEL
		if i+1 < len(src) && src[i+1] == 0x85 {
			return 2
		}
	case 0xE2: // LS, PS
		if i+2 < len(src) && src[i+1] == 0x80 && (src[i+2] == 0xA8 || src[i+2] == 0xA9) {
			return 3
		}
	}
	return 0
}

func isBlank(src []byte, i int) bool {
	return i < len(src) && (src[i] == ' ' || src[i] == '\t')
}

// isBlankOrEnd reports whether src[i] is a blank, a line break or the end.
func isBlankOrEnd(src []byte, i int) bool {
	return i >= len(src) || isBlank(src, i) || breakLen(src, i) > 0
}

// scanLines fills f.lines. It fails at the first character that YAML does not allow.
func (f *File) scanLines() error {
	src := f.Src
	cur := line{}
	for i := 0; i < len(src); {
		c := src[i]
		if c >= 0x20 && c < 0x7F || c == '\t' {
			i++
			continue
		}
		if n := breakLen(src, i); n > 0 {
			i += n
			f.lines = append(f.lines, cur)
			cur = line{start: i, text: i}
			continue
		}
		r, n := utf8.DecodeRune(src[i:])
		if msg := forbidden(r, n); msg != "" {
			f.lines = append(f.lines, cur)
			l, c := f.Position(i)
			return &SyntaxError{Line: l, Column: c, Msg: msg}
		}
		cur.wide = true
		i += n
	}
	f.lines = append(f.lines, cur)
	return nil
}

// forbidden returns the reason why yaml.v3 rejects character r of n bytes, or "".
func forbidden(r rune, n int) string {
	switch {
	case r == utf8.RuneError && n <= 1:
		return "invalid UTF-8"
	case r < 0x20 || r >= 0x7F && r < 0xA0 && r != 0x85 || r == 0xFFFE || r == 0xFFFF:
		return "control characters are not allowed"
	}
	return ""
}

// Offset returns the byte offset of a 1-based line and column, or -1 if the file has no such
// position. The column after the last character of a line is valid.
func (f *File) Offset(line, column int) int {
	if line < 1 || line > len(f.lines) || column < 1 {
		return -1
	}
	l, next := f.lines[line-1], len(f.Src)
	if line < len(f.lines) {
		next = f.lines[line].start
	}
	off := l.text
	if !l.wide {
		off = min(off+column-1, next)
		column -= off - l.text
	}
	for ; column > 1 && off < next && breakLen(f.Src, off) == 0; column-- {
		_, n := utf8.DecodeRune(f.Src[off:])
		off += n
	}
	// The column after the last character is the line break; later columns are invalid.
	if column > 1 || off > l.text && off == next && line < len(f.lines) {
		return -1
	}
	return off
}

// Position returns the 1-based line and column, in characters, of an offset. Offsets outside of the
// file are clamped.
func (f *File) Position(offset int) (line, column int) {
	offset = max(0, min(offset, len(f.Src)))
	i := max(0, sort.Search(len(f.lines), func(i int) bool { return f.lines[i].start > offset })-1)
	l := f.lines[i]
	if offset <= l.text {
		return i + 1, 1
	}
	if !l.wide {
		return i + 1, offset - l.text + 1
	}
	return i + 1, utf8.RuneCount(f.Src[l.text:offset]) + 1
}
