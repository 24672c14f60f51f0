package markers

import (
	"go/ast"
	"go/token"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/unioncel/unioncel/pkg/diag"
)

// comments holds the lines with markers, of all tools, by the node they describe: an *ast.TypeSpec, an
// *ast.Field of a struct that is declared by name, or nil for any other position.
type comments map[ast.Node][]*ast.Comment

// commentsOf returns the comments of a package.
func (l *loading) commentsOf(p *loader.Package) comments {
	c, ok := l.comments[p]
	if !ok {
		c = comments{}
		for _, file := range p.Syntax {
			c.collect(file, l.places.fset)
		}
		l.comments[p] = c
	}
	return c
}

// collect adds the comments of a file, attached as controller-gen attaches them: a type or a field
// has the markers of its documentation and of the comment directly before that.
func (c comments) collect(file *ast.File, fset *token.FileSet) {
	taken := map[*ast.CommentGroup]bool{file.Doc: true}
	after := file.Name.End() // the end of the code before the next node
	add := func(n ast.Node, start token.Pos, docs ...*ast.CommentGroup) {
		for _, doc := range docs {
			if doc != nil {
				start = min(start, doc.Pos())
			}
		}
		var before *ast.CommentGroup
		line := fset.PositionFor(after, false).Line
		for _, group := range file.Comments {
			// A comment that starts on the line of the preceding code belongs to that code.
			if group.Pos() > after && group.End() < start && fset.PositionFor(group.Pos(), false).Line > line {
				before = group
			}
		}
		for _, group := range append([]*ast.CommentGroup{before}, docs...) {
			if group != nil && !taken[group] {
				taken[group] = true
				c[n] = append(c[n], markerLines(group)...)
			}
		}
	}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			for _, group := range file.Comments {
				if d.Pos() <= group.Pos() && group.Pos() < d.End() {
					taken[group] = true // comments in functions describe nothing
				}
			}
		}
		if ok && g.Tok == token.TYPE {
			start, doc := g.Pos(), g.Doc
			for _, s := range g.Specs {
				if g.Lparen.IsValid() {
					after, start, doc = max(after, g.Lparen), s.Pos(), nil
				}
				spec := s.(*ast.TypeSpec)
				add(spec, start, doc, spec.Doc)
				if of, ok := spec.Type.(*ast.StructType); ok {
					after = of.Fields.Opening
					for _, field := range of.Fields.List {
						add(field, field.Pos(), field.Doc)
						after = field.End()
					}
				}
				after = spec.End()
			}
		}
		after = d.End()
	}
	for _, group := range file.Comments {
		if !taken[group] && group.Pos() > file.Name.End() {
			c[nil] = append(c[nil], markerLines(group)...)
		}
	}
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

// marks returns the union markers among lines, for a field or nil.
func (l *loading) marks(lines []*ast.Comment, f *field) (found []mark) {
	for _, comment := range lines {
		text := comment.Text[2:]
		m, ok := parseMark(strings.TrimSpace(text)[1:])
		if !ok {
			continue
		}
		m.field = f
		m.pos = l.places.pos(comment.Pos() + token.Pos(2+strings.Index(text, "+")))
		if m.problem != nil {
			m.problem.Pos = m.pos
		}
		if strings.Count(text, m.wrong) == 1 {
			at := l.places.pos(comment.Pos() + token.Pos(2+strings.Index(text, m.wrong)))
			m.problem.Edits = diag.Replace(at.Line, at.Col, m.wrong, m.right)
		}
		found = append(found, m)
	}
	return found
}
