package markers

import (
	"bytes"
	"go/token"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/unioncel/unioncel/pkg/diag"
)

// pos converts a position of Go to one of a diagnostic, with the file name as the user would write it
// and the column in characters.
func (l *loading) pos(at token.Pos) diag.Pos {
	q := l.fset.PositionFor(at, false)
	return l.position(q.Filename, q.Line, q.Column)
}

// position returns the position for a column in bytes, which it converts to characters.
func (l *loading) position(file string, line, col int) diag.Pos {
	pos := diag.Pos{File: l.relative(file), Line: line, Col: col}
	lines, ok := l.text[file]
	if !ok {
		// The columns of a file that cannot be read again stay in bytes.
		if src, err := l.read(file); err == nil {
			lines = bytes.Split(src, []byte("\n"))
		}
		l.text[file] = lines
	}
	if line < 1 || line > len(lines) || col < 1 || col-1 > len(lines[line-1]) {
		return pos
	}
	before := lines[line-1][:col-1]
	if line == 1 { // a byte order mark is not a character
		before = bytes.TrimPrefix(before, []byte("\ufeff"))
	}
	pos.Col = utf8.RuneCount(before) + 1
	return pos
}

// relative returns a file name relative to the working directory if the file is below it.
func (l *loading) relative(file string) string {
	short, err := filepath.Rel(l.work, file)
	if err != nil || !filepath.IsLocal(short) || !filepath.IsAbs(file) {
		return file
	}
	return short
}

// read returns the content of a Go file that the go command has listed, with its edits.
func (l *loading) read(file string) ([]byte, error) {
	if src, ok := l.edited[file]; ok {
		return src, nil
	}
	return os.ReadFile(file)
}
