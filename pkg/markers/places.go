package markers

import (
	"bytes"
	"go/token"
	"os"
	"path/filepath"
	"unicode/utf8"

	"github.com/unioncel/unioncel/pkg/diag"
)

// places converts positions of Go to positions of diagnostics: file names as the user would write
// them, columns in characters.
type places struct {
	fset   *token.FileSet
	work   string // the working directory
	lines  map[string][][]byte
	edited map[string][]byte // files with edits that are not written yet
}

func newPlaces(fset *token.FileSet) *places {
	work, _ := os.Getwd() // without one, names stay absolute
	return &places{fset: fset, work: work, lines: map[string][][]byte{}, edited: map[string][]byte{}}
}

func (p *places) pos(at token.Pos) diag.Pos {
	q := p.fset.PositionFor(at, false)
	return p.position(q.Filename, q.Line, q.Column)
}

// position returns the position for a column in bytes.
func (p *places) position(file string, line, col int) diag.Pos {
	return diag.Pos{File: p.relative(file), Line: line, Col: p.column(file, line, col)}
}

// relative returns a file name relative to the working directory if the file is below it.
func (p *places) relative(file string) string {
	short, err := filepath.Rel(p.work, file)
	if err != nil || !filepath.IsLocal(short) || !filepath.IsAbs(file) {
		return file
	}
	return short
}

// read returns the content of a Go file that the go command has listed, with its edits.
func (p *places) read(file string) ([]byte, error) {
	if src, ok := p.edited[file]; ok {
		return src, nil
	}
	return os.ReadFile(file)
}

// column converts a column in bytes to a column in characters.
func (p *places) column(file string, line, col int) int {
	lines, ok := p.lines[file]
	if !ok {
		// The columns of a file that cannot be read again stay in bytes.
		if src, err := p.read(file); err == nil {
			lines = bytes.Split(src, []byte("\n"))
		}
		p.lines[file] = lines
	}
	if line < 1 || line > len(lines) || col < 1 || col-1 > len(lines[line-1]) {
		return col
	}
	before := lines[line-1][:col-1]
	if line == 1 { // a byte order mark is not a character
		before = bytes.TrimPrefix(before, []byte("\ufeff"))
	}
	return utf8.RuneCount(before) + 1
}
