package markers

import (
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/unioncel/unioncel/pkg/diag"
)

// comment is a line with a marker of any tool.
type comment struct {
	*ast.Comment
	of     *loader.Package
	placed bool // it describes a type, or a field of a struct that is declared by name
}

// numberMarker is a marker with the index of a comment. controller-gen's collector attaches markers to
// types and fields, but has no positions: so the line of each marker gets its number as another marker.
// No Go file can contain the name.
const numberMarker = "\x00"

// numberComments numbers the lines with markers, except in functions. Like controller-gen, it ignores
// /* comments.
func (l *loading) numberComments(p *loader.Package) {
	p.NeedSyntax()
	for _, file := range p.Syntax {
		for _, group := range file.Comments {
			if group.Pos() < file.Name.End() || slices.ContainsFunc(file.Decls, func(d ast.Decl) bool {
				f, ok := d.(*ast.FuncDecl)
				return ok && f.Pos() <= group.Pos() && group.Pos() < f.End()
			}) {
				continue
			}
			for _, c := range group.List {
				if text, ok := strings.CutPrefix(c.Text, "//"); ok && strings.HasPrefix(strings.TrimSpace(text), "+") {
					group.List = append(group.List, &ast.Comment{Slash: c.Slash, Text: fmt.Sprintf("//+%s=%d", numberMarker, len(l.comments))})
					l.comments = append(l.comments, &comment{Comment: c, of: p})
				}
			}
		}
	}
}

// commentsOf returns the comments with the markers of a type or a field.
func (l *loading) commentsOf(values markers.MarkerValues) (found []*comment) {
	for _, n := range values[numberMarker] {
		found = append(found, l.comments[n.(int)])
	}
	return found
}

// marks returns the union markers among comments, for a field or nil.
func (l *loading) marks(comments []*comment, f *field) (found []mark) {
	for _, c := range comments {
		c.placed = true
		text := c.Text[2:]
		m, ok := parseMark(strings.TrimSpace(text)[1:])
		if !ok {
			continue
		}
		m.field = f
		m.pos = l.pos(c.Pos() + token.Pos(2+strings.Index(text, "+")))
		if m.problem != nil {
			m.problem.Pos = m.pos
		}
		if strings.Count(text, m.wrong) == 1 {
			at := l.pos(c.Pos() + token.Pos(2+strings.Index(text, m.wrong)))
			m.problem.Edits = diag.Replace(at.Line, at.Col, m.wrong, m.right)
		}
		found = append(found, m)
	}
	return found
}
