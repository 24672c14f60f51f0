package markers

import (
	"cmp"
	"fmt"
	"go/types"
	"maps"
	"path"
	"slices"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// structure is a type with its markers. Types other than structs have no fields.
type structure struct {
	l      *loading
	id     crd.TypeIdent
	info   *markers.TypeInfo
	pos    diag.Pos
	marks  []mark
	fields []*field

	checked bool
	unions  []*declaration
	diags   diag.List
	used    bool // a CRD has it
}

// field is a struct field as JSON and controller-gen see it.
type field struct {
	name   string // the Go name; for an embedded field, its type name
	json   string // the property; "" if the field has none
	inline bool   // its properties are properties of the struct
	pos    diag.Pos
	typ    types.Type
	info   *markers.FieldInfo
	marks  []mark
}

// structs reads and checks all types of the packages that the user named.
func (l *loading) structs() {
	ids := slices.SortedFunc(maps.Keys(l.parser.Types), compareIdents)
	ids = slices.DeleteFunc(ids, func(id crd.TypeIdent) bool { return !slices.Contains(l.roots, id.Package) })
	for _, id := range ids {
		l.structure(id)
	}
	for _, c := range l.comments {
		if _, read := l.parser.GroupVersions[c.of]; c.placed || !read || !slices.Contains(l.roots, c.of) {
			continue
		}
		for _, m := range l.marks([]*comment{c}, nil) {
			if m.problem == nil {
				m.problem = m.misuse("put it in the comment right before the type or field that it is about", " is not before a type or a field of a named struct")
			}
			l.diags = append(l.diags, *m.problem)
		}
	}
	// The check of a struct also reads the structs that inline it, so all must be known first.
	for _, id := range ids {
		l.known[id].check()
	}
}

func compareIdents(a, b crd.TypeIdent) int {
	return cmp.Or(strings.Compare(a.Package.PkgPath, b.Package.PkgPath), strings.Compare(a.Name, b.Name))
}

// structure reads a type once. It returns nil for types without a declaration, such as the types
// that controller-gen has built in.
func (l *loading) structure(id crd.TypeIdent) *structure {
	if s, ok := l.known[id]; ok {
		return s
	}
	info := l.parser.Types[id]
	if info == nil {
		return nil
	}
	s := &structure{l: l, id: id, info: info, pos: l.pos(info.RawSpec.Name.Pos())}
	l.known[id] = s
	s.marks = l.marks(l.commentsOf(info.Markers), nil)
	for i := range info.Fields {
		f := l.field(id.Package, &info.Fields[i])
		f.marks = l.marks(l.commentsOf(f.info.Markers), f)
		s.fields = append(s.fields, f)
	}
	return s
}

// check finds the unions of a struct, once, and reports its errors. A struct with errors has no
// unions. Users cannot fix another module: its errors are information, and its unions that forbid nothing
// are left out.
func (s *structure) check() {
	if s.checked {
		return
	}
	s.checked = true
	s.declare()
	if s.diags.HasErrors() {
		s.unions = nil
	}
	left := ""
	if !s.l.own(s.id.Package) {
		left = "which is of another module"
		s.unions = slices.DeleteFunc(s.unions, func(u *declaration) bool {
			cardinality := yamltext.Text(u.item, "cardinality")
			return len(u.names) == 1 && (cardinality == "" || cardinality == union.AtMostOne.String())
		})
		s.diags = slices.DeleteFunc(s.diags, func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
		for i := range s.diags {
			s.diags[i].Hint = "declare them in a UnionSet if you need them"
		}
	} else if slices.ContainsFunc(s.l.opts.SkipInvalid, func(name string) bool { return union.IsStruct(s.String(), name) }) {
		left = Listed
	}
	for _, d := range s.diags {
		if left != "" && d.Severity == diag.Error {
			d = Mention(d, s.String(), left)
		}
		d.Path = s.String()
		s.l.diags = append(s.l.diags, d)
	}
}

// String returns the name of the type, with the path of its package.
func (s *structure) String() string {
	return loader.NonVendorPath(s.id.Package.PkgPath) + "." + s.id.Name
}

// Listed is the reason to pass to [Mention] for structs that Options.SkipInvalid names.
const Listed = "which skipInvalid lists"

// Mention turns an error of a struct into information that its unions are left out, and why. of is
// the name of the struct with its package path.
func Mention(d diag.Diagnostic, of, why string) diag.Diagnostic {
	d.Severity = diag.Info
	d.Message += fmt.Sprintf("; the unions of %s, %s, are left out", path.Base(of), why)
	return d
}

// field reads the JSON tag and the markers of a field like structToSchema in
// controller-tools/pkg/crd.
func (l *loading) field(p *loader.Package, info *markers.FieldInfo) *field {
	raw := info.RawField
	f := &field{name: info.Name, info: info, pos: l.pos(raw.Pos()), typ: p.TypesInfo.TypeOf(raw.Type)}
	if f.name == "" { // embedded: the name of the type, without its package and arguments
		name, _, _ := strings.Cut(strings.TrimPrefix(types.ExprString(raw.Type), "*"), "[")
		f.name = name[strings.LastIndex(name, ".")+1:]
	}
	if f.typ == nil {
		f.typ = types.Typ[types.Invalid]
	}
	tag, ok := info.Tag.Lookup("json")
	if !ok || tag == "-" {
		return f
	}
	parts := strings.Split(tag, ",")
	f.inline = parts[0] == "" || slices.Contains(parts[1:], "inline")
	if !f.inline {
		f.json = parts[0]
	}
	return f
}

// marked returns the readable markers of fields that have a role in a dialect, or any role.
func (s *structure) marked(dialect table, roles ...role) (l []mark) {
	for _, f := range s.fields {
		for _, m := range f.marks {
			if m.problem == nil && dialect.has(m) && (len(roles) == 0 || slices.Contains(roles, m.role)) {
				l = append(l, m)
			}
		}
	}
	return l
}

func (s *structure) errorf(pos diag.Pos, code diag.Code, hint, format string, args ...any) *diag.Diagnostic {
	s.diags = append(s.diags, diag.New(code, pos, format, args...).Hinted(hint))
	return &s.diags[len(s.diags)-1]
}

// misused reports an error in a marker. The message begins with the marker.
func (s *structure) misused(m mark, hint, format string, args ...any) *diag.Diagnostic {
	s.diags = append(s.diags, *m.misuse(hint, format, args...))
	return &s.diags[len(s.diags)-1]
}

// related adds another position to a diagnostic.
func related(d *diag.Diagnostic, pos diag.Pos, message string) {
	d.Related = append(d.Related, diag.Related{Pos: pos, Message: message})
}
