package unions

import (
	"bytes"
	"go/token"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/tools/go/analysis"

	"github.com/unioncel/unioncel/pkg/diag"
)

// source is the source of a package, without tests.
type source struct {
	pass  *analysis.Pass
	dir   string
	files map[string]*token.File // by absolute name
}

func newSource(pass *analysis.Pass) *source {
	s := &source{pass: pass, files: map[string]*token.File{}}
	for _, f := range pass.Files {
		file := pass.Fset.File(f.FileStart)
		name, err := filepath.Abs(file.Name())
		if err == nil && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			s.files[name], s.dir = file, filepath.Dir(name)
		}
	}
	return s
}

// file returns the file of a position, or nil if it is not in the package.
func (s *source) file(at diag.Pos) *token.File {
	name, err := filepath.Abs(at.File)
	if at.File == "" || err != nil {
		return nil
	}
	return s.files[name]
}

// has reports whether a position is in the package.
func (s *source) has(at diag.Pos) bool { return s.file(at) != nil }

// diagnostic converts a diagnostic with a position in the package.
func (s *source) diagnostic(d diag.Diagnostic) analysis.Diagnostic {
	file := s.file(d.Pos)
	src, err := s.pass.ReadFile(file.Name())
	if err != nil {
		src = nil // positions are then at the starts of lines
	}
	out := analysis.Diagnostic{Pos: position(file, src, d.Pos.Line, d.Pos.Col), Category: string(d.Code), Message: message(d)}
	if info, ok := diag.Lookup(d.Code); ok {
		out.URL = info.URL()
	}
	var edits []analysis.TextEdit
	for _, e := range d.Edits {
		start := position(file, src, e.Line, e.Col)
		if !bytes.HasPrefix(src[min(file.Offset(start), len(src)):], []byte(e.Old)) {
			return out
		}
		edits = append(edits, analysis.TextEdit{Pos: start, End: start + token.Pos(len(e.Old)), NewText: []byte(e.New)})
	}
	if edits != nil {
		out.SuggestedFixes = []analysis.SuggestedFix{{Message: d.Hint, TextEdits: edits}}
	}
	return out
}

// message returns a diagnostic without its position, with the hint on the same line.
func message(d diag.Diagnostic) string {
	d.Pos = diag.Pos{}
	text := d.String()
	if hint := strings.Join(strings.Fields(d.Hint), " "); hint != "" {
		text += "; hint: " + diag.Escape(hint)
	}
	return text
}

// position returns the position of a column, which is counted in characters.
func position(file *token.File, src []byte, line, col int) token.Pos {
	at := file.LineStart(min(max(line, 1), file.LineCount()))
	for rest := src[min(file.Offset(at), len(src)):]; col > 1 && len(rest) > 0 && rest[0] != '\n'; col-- {
		_, size := utf8.DecodeRune(rest)
		at, rest = at+token.Pos(size), rest[size:]
	}
	return at
}
