package markers

import (
	"go/ast"
	"go/token"
	"strings"

	"github.com/unioncel/unioncel/pkg/diag"
)

// comments holds the markers of a package by the node they describe: an *ast.TypeSpec, an *ast.Field
// of a struct that is declared by name, or nil for any other position.
type comments map[ast.Node]*nodeComments

// nodeComments are the markers of a node.
type nodeComments struct {
	marks []mark         // about unions
	lines []*ast.Comment // all, including markers of other tools
}

// of returns the comments of a node, which the caller must not change.
func (c comments) of(n ast.Node) *nodeComments {
	if found := c[n]; found != nil {
		return found
	}
	return &nodeComments{}
}

// collect adds the markers of a file, attached as controller-gen attaches them: a type or a field
// has the markers of its documentation and of the comment directly before that.
func (c comments) collect(file *ast.File, places *places) {
	f := &fileComments{file: file, places: places, taken: map[*ast.CommentGroup]bool{file.Doc: true}}
	end := file.Name.End()
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		switch {
		case !ok:
			f.take(d.Pos(), d.End()) // comments in functions describe nothing
		case g.Tok == token.TYPE && !g.Lparen.IsValid():
			f.spec(c, g.Specs[0], g.Doc, end, g.Pos())
		case g.Tok == token.TYPE:
			inner := g.Lparen
			for _, s := range g.Specs {
				f.spec(c, s, nil, inner, s.Pos())
				inner = s.End()
			}
		}
		end = d.End()
	}
	for _, group := range file.Comments {
		if !f.taken[group] && group.Pos() > file.Name.End() {
			c[nil].marks = append(c[nil].marks, f.marks(group)...)
		}
	}
}

type fileComments struct {
	file   *ast.File
	places *places
	taken  map[*ast.CommentGroup]bool
}

// spec collects the markers of a type and its fields. The preceding code ends at after; doc is the
// documentation of the declaration.
func (f *fileComments) spec(c comments, s ast.Spec, doc *ast.CommentGroup, after, start token.Pos) {
	spec, ok := s.(*ast.TypeSpec)
	if !ok {
		return
	}
	docs := []*ast.CommentGroup{doc, spec.Doc}
	c[spec] = f.node(docs, after, start)
	structType, ok := spec.Type.(*ast.StructType)
	if !ok {
		return
	}
	after = structType.Fields.Opening
	for _, field := range structType.Fields.List {
		c[field] = f.node([]*ast.CommentGroup{field.Doc}, after, field.Pos())
		after = field.End()
	}
}

// node returns the markers of the node at start, from its documentation and the closest comment
// between after and that.
func (f *fileComments) node(docs []*ast.CommentGroup, after, start token.Pos) *nodeComments {
	n := &nodeComments{}
	for _, doc := range docs {
		if doc != nil {
			start = min(start, doc.Pos())
		}
	}
	var before *ast.CommentGroup
	line := f.places.fset.PositionFor(after, false).Line
	for _, group := range f.file.Comments {
		// A comment that starts on the line of the preceding code belongs to that code.
		if group.Pos() > after && group.End() < start && f.places.fset.PositionFor(group.Pos(), false).Line > line {
			before = group
		}
	}
	for _, group := range append([]*ast.CommentGroup{before}, docs...) {
		if group != nil && !f.taken[group] {
			f.taken[group] = true
			n.marks = append(n.marks, f.marks(group)...)
			n.lines = append(n.lines, markerLines(group)...)
		}
	}
	return n
}

// markerLines returns the lines of a comment group that are markers. Like controller-gen, it ignores
// /* comments.
func markerLines(group *ast.CommentGroup) (l []*ast.Comment) {
	for _, comment := range group.List {
		if text, ok := strings.CutPrefix(comment.Text, "//"); ok && strings.HasPrefix(strings.TrimSpace(text), "+") {
			l = append(l, comment)
		}
	}
	return l
}

// take excludes the comments between two positions.
func (f *fileComments) take(from, to token.Pos) {
	for _, group := range f.file.Comments {
		if from <= group.Pos() && group.Pos() < to {
			f.taken[group] = true
		}
	}
}

// marks returns the union markers of a comment group.
func (f *fileComments) marks(group *ast.CommentGroup) []mark {
	var l []mark
	for _, comment := range markerLines(group) {
		text := comment.Text[2:]
		if m, ok := parseMark(strings.TrimSpace(text)[1:]); ok {
			m.pos = f.places.pos(comment.Pos() + token.Pos(2+strings.Index(text, "+")))
			if strings.Count(text, m.wrong) == 1 {
				at := f.places.pos(comment.Pos() + token.Pos(2+strings.Index(text, m.wrong)))
				m.edits = diag.Replace(at.Line, at.Col, m.wrong, m.right)
			}
			l = append(l, m)
		}
	}
	return l
}
