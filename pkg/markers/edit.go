package markers

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Wanted is a union to declare in Go, or rules that declared unions replace.
type Wanted struct {
	// Target, Version and Path lead to the schema of the union object.
	union.Target
	Version string
	Path    schemapath.Path
	// Union is nil if only Rules are to be deleted.
	Union *union.Union
	// Rules are rules of the schema. Their markers are deleted.
	Rules []string
}

// Outcome is the result of [Declare] for a [Wanted].
type Outcome struct {
	// Struct is the struct with the markers, as in union.External, and Pos its position after the
	// edits. They are zero if there is no such struct.
	Struct string
	Pos    diag.Pos
	// Deleted are the positions of the markers of Wanted.Rules.
	Deleted []diag.Pos
	// Problem is the reason why the union is not declared, or nil.
	Problem *diag.Diagnostic
}

// Edited is a Go file before and after [Declare].
type Edited struct {
	Name     string // as in positions
	Old, New []byte
}

// Declare declares unions with markers at the Go types of CRDs. It writes no files. It finds packages
// like [Load]. A union has the dialect that its package uses, or else the one of KEP-1027 of 2022.
// Unions that markers of fields cannot express are listed on their struct.
//
// A struct gets markers only if all schemas that controller-gen generates from it are to have the
// same union. The packages are read again with the edits: the structs must declare exactly the
// wanted unions, and controller-gen must generate the same CRDs without the rules.
//
// The result has an outcome for each union, and the edited files, sorted by name. The diagnostics are
// about the packages with the edits. If the packages cannot be read, there are no outcomes. Nor are
// there any if a file is outside the main module, or is a link that leads out of its directory.
func Declare(opts Options, wanted []Wanted, patterns ...string) ([]Outcome, []Edited, diag.List) {
	opts.CRDs = true
	before := newLoading(opts)
	set := before.load(patterns)
	Words(before.diags)
	if set == nil {
		return nil, nil, before.diags.Sort()
	}
	e := &editing{loading: before, set: set, wanted: wanted, outcomes: make([]Outcome, len(wanted))}
	e.assign()
	for {
		files := e.edit()
		if len(files) == 0 {
			return e.outcomes, nil, before.diags.Sort()
		}
		if l := e.outsideFiles(files); l != nil {
			return nil, nil, l
		}
		after := newLoading(opts)
		for _, f := range files {
			after.places.edited[f.Name] = f.New
		}
		got := after.load(patterns)
		if Words(after.diags); e.accepts(after, got) {
			for i := range files {
				files[i].Name = before.places.relative(files[i].Name)
			}
			for _, s := range after.known {
				for i, o := range e.outcomes {
					if o.Struct == s.String() {
						e.outcomes[i].Pos = s.pos
					}
				}
			}
			return e.outcomes, files, after.diags.Sort()
		}
	}
}

// editing is the state of one [Declare].
type editing struct {
	*loading
	set      *union.Externals
	wanted   []Wanted
	outcomes []Outcome
	hosts    []*host
}

// host is a struct that gets markers.
type host struct {
	*structure
	style  style
	unions []*hosted
}

// hosted is a union of a struct, which several schemas may have. The union is nil if only rules are
// to be deleted.
type hosted struct {
	*union.Union
	text   string // the union in canonical form
	wanted []int
}

func (w *Wanted) address() address { return address{w.Target, w.Version, w.Path} }

// reject sets the problem of unions that have none.
func (e *editing) reject(d diag.Diagnostic, wanted ...int) {
	for _, i := range wanted {
		if e.outcomes[i].Problem == nil {
			e.outcomes[i].Problem = &d
		}
	}
}

func (e *editing) rejectf(wanted []int, hint, format string, args ...any) {
	e.reject(diag.New(codes.LeftUndeclared, diag.Pos{}, format, args...).As(diag.Error).Hinted(hint), wanted...)
}

// pending returns those unions that are not rejected.
func (e *editing) pending(wanted []int) []int {
	return slices.DeleteFunc(slices.Clone(wanted), func(i int) bool { return e.outcomes[i].Problem != nil })
}

// assign finds the struct of each union.
func (e *editing) assign() {
	for i := range e.wanted {
		w := &e.wanted[i]
		s := e.hostOf(i)
		if s == nil {
			continue
		}
		e.outcomes[i].Struct, e.outcomes[i].Pos = s.structure.String(), s.pos
		text := ""
		if w.Union != nil {
			text = canonical(yamltext.ListNode(w.Union.Node()), s.at, len(w.Path) == 0)
			if text == "" {
				e.rejectf([]int{i}, "run controller-gen if the CRD is older than the types", "its struct %s cannot have the union", s.structure)
				continue
			}
			declares := func(name string) bool {
				return slices.ContainsFunc(s.unions, func(d *declaration) bool { return slices.Contains(d.properties(), name) })
			}
			if slices.ContainsFunc(w.Union.Names(), declares) {
				e.rejectf([]int{i}, "edit its markers", "its struct %s declares a union of these fields already", s.structure)
				continue
			}
		}
		h := slices.IndexFunc(e.hosts, func(h *host) bool { return h.structure == s.structure })
		if h < 0 {
			h = len(e.hosts)
			e.hosts = append(e.hosts, &host{structure: s.structure, style: s.style()})
		}
		to := e.hosts[h]
		u := slices.IndexFunc(to.unions, func(u *hosted) bool { return u.text == text })
		if u < 0 {
			u = len(to.unions)
			to.unions = append(to.unions, &hosted{Union: w.Union, text: text})
		}
		to.unions[u].wanted = append(to.unions[u].wanted, i)
	}
}

// hostOf returns the type that can declare a union: the one with all its properties as fields, or
// else the outermost struct of the schema.
func (e *editing) hostOf(i int) *site {
	w := &e.wanted[i]
	if w.Union != nil && w.Union.OfItems() {
		e.rejectf([]int{i}, "write +k8s:item(KEY: VALUE)=+k8s:unionMember or =+k8s:zeroOrOneOfMember on the field with the list, or declare the union in a UnionSet", "markers for the items of a list are written by hand")
		return nil
	}
	types := e.typesAt(w.address())
	types = slices.DeleteFunc(types, func(s site) bool { return len(s.fields) == 0 })
	if len(types) == 0 {
		e.rejectf([]int{i}, "name the packages of the Go types, and run controller-gen if the CRD is older",
			"no struct of the Go packages has the schema %s", w.address())
		return nil
	}
	found := &types[0]
	if i := slices.IndexFunc(types, func(s site) bool { return w.Union != nil && s.hasAll(w.Union) }); i >= 0 {
		found = &types[i]
	}
	if where := e.outside(found.structure); where != "" {
		e.rejectf([]int{i}, "declare the union in a UnionSet", "its struct %s is in %s", found.structure, where)
		return nil
	}
	return found
}

// outside describes the package or file of a type that may not be edited. It returns "" if it may be.
func (l *loading) outside(s *structure) string {
	switch p := s.id.Package; {
	case !l.named(p):
		return "a package that --go does not name"
	case p.Module != nil && !p.Module.Main && p.Module.Replace == nil:
		return "the module " + p.Module.Path
	case ast.IsGenerated(s.info.RawFile):
		return "the generated file " + s.pos.File
	}
	return ""
}

// outsideFiles returns an error for each file that is outside the main module, or reached through a
// link in its directory.
func (l *loading) outsideFiles(files []Edited) (wrong diag.List) {
	for _, f := range files {
		d := diag.Diagnostic{Code: codes.LeftUndeclared, Pos: diag.Pos{File: l.places.relative(f.Name)}}
		switch dir := filepath.Dir(f.Name); {
		case !within(f.Name, dir):
			d.Message = "nothing is written: this file needs markers, and is a symbolic link that leads out of its directory"
			d.Hint = "replace the link by a file, or name the directory of its target with --go"
		case !slices.ContainsFunc(l.roots, func(p *loader.Package) bool {
			return slices.Contains(p.CompiledGoFiles, f.Name) && within(dir, l.mainModule(p))
		}):
			d.Message = "nothing is written: this file needs markers, and is outside the main module"
			d.Hint = "run unioncel in the module of the file, or declare the unions in a UnionSet"
		default:
			continue
		}
		wrong = append(wrong, d)
	}
	return wrong
}

// hasAll reports whether the properties of a union are fields of s.
func (s *structure) hasAll(u *union.Union) bool {
	return !slices.ContainsFunc(u.Names(), func(name string) bool { return s.property(name) == nil })
}

// edit returns the files with the markers of all unions that are not rejected.
func (e *editing) edit() []Edited {
	deleted := map[*ast.Comment]bool{}
	for again := true; again; { // a rejected union can affect others
		again = false
		clear(deleted)
		for _, h := range e.hosts {
			for _, u := range h.unions {
				if l := e.pending(u.wanted); len(l) > 0 && !(e.everywhere(h, u, l) && e.rules(l, deleted)) {
					again = true
				}
			}
		}
	}
	edits := map[string][]yamltext.Edit{}
	for comment := range deleted {
		file, src, at := e.line(comment.Pos())
		end := at + bytes.IndexByte(src[at:], '\n') + 1
		edits[file] = append(edits[file], yamltext.Edit{Start: at, End: end})
	}
	for _, h := range e.hosts {
		for node, lines := range e.markersOf(h) {
			e.insert(edits, h, node, lines)
		}
	}
	var files []Edited
	for _, name := range slices.Sorted(maps.Keys(edits)) {
		src, _ := e.places.read(name)
		out, err := yamltext.Apply(src, edits[name])
		if err != nil {
			continue // the unions will be missing
		}
		if old, err := format.Source(src); err == nil && bytes.Equal(old, src) {
			if formatted, err := format.Source(out); err == nil { // a comment between fields affects their alignment
				out = formatted
			}
		}
		files = append(files, Edited{Name: name, Old: src, New: out})
	}
	return files
}

// everywhere reports whether all schemas of a struct are to have the union. Otherwise it rejects the
// union.
func (e *editing) everywhere(h *host, u *hosted, wanted []int) bool {
	if u.Union == nil {
		return true // rules checks the markers of the rules
	}
	for _, s := range e.sitesOf(h.structure) {
		concerned := slices.ContainsFunc(u.Names(), func(name string) bool {
			path, err := schemapath.Parse(name)
			return err == nil && path[:1].Schema(s.at) != nil
		})
		if concerned && !slices.ContainsFunc(wanted, func(i int) bool { return e.wanted[i].address().is(s.address) }) {
			e.rejectf(wanted, "give all CRDs with the struct, or declare the union in a UnionSet",
				"its struct %s is also used at %s, where the union is not found, or differs", h, s.address)
			return false
		}
	}
	return true
}

// rules finds the markers of the rules that unions of one struct replace. If a marker is missing or
// also has another effect, it rejects the unions and returns false.
func (e *editing) rules(wanted []int, deleted map[*ast.Comment]bool) bool {
	for _, i := range wanted {
		e.outcomes[i].Deleted = nil
		for _, rule := range e.wanted[i].Rules {
			comment, elsewhere := e.markerOf(e.wanted[i].address(), rule)
			switch {
			case comment == nil:
				e.rejectf(wanted, "run controller-gen if the CRD is older than the types, or omit --replace", "no marker in the Go packages has the rule %s", rule)
				return false
			case elsewhere != "":
				e.rejectf(wanted, "give all CRDs with the struct, or omit --replace", "the marker with the rule %s is also for %s", rule, elsewhere)
				return false
			}
			deleted[comment] = true
			e.outcomes[i].Deleted = append(e.outcomes[i].Deleted, e.places.pos(comment.Pos()))
		}
	}
	return true
}

// carrier is a type or a field whose markers apply to schemas.
type carrier struct {
	*structure
	node   ast.Node
	target markers.TargetType
	step   schemapath.Path // from the type to the field, or nil
}

// markerOf returns the marker of a rule of a schema. elsewhere is another schema that has the rule
// because of the same marker, and that is not to lose it.
func (e *editing) markerOf(a address, rule string) (found *ast.Comment, elsewhere string) {
	var carriers []carrier
	for _, s := range e.typesAt(a) {
		carriers = append(carriers, carrier{s.structure, s.info.RawSpec, markers.DescribesType, nil})
	}
	if n := len(a.path); n > 0 {
		if name, ok := a.path[n-1].Property(); ok {
			for _, s := range e.typesAt(address{a.Target, a.version, a.path[:n-1]}) {
				if f := s.property(name); f != nil {
					carriers = append(carriers, carrier{s.structure, f.info.RawField, markers.DescribesField, a.path[n-1:]})
				}
			}
		}
	}
	for _, c := range carriers {
		if e.outside(c.structure) != "" {
			continue
		}
		for _, comment := range e.commentsOf(c.id.Package).of(c.node).lines {
			if !e.has(c, comment, rule) {
				continue
			}
			for _, s := range e.sitesOf(c.structure) {
				at := address{s.Target, s.version, s.path.Append(c.step...)}
				if !e.replaced(at, rule) {
					elsewhere = at.String()
				}
			}
			return comment, elsewhere
		}
	}
	return nil, ""
}

// replaced reports whether a schema is to lose a rule.
func (e *editing) replaced(a address, rule string) bool {
	for i, w := range e.wanted {
		if e.outcomes[i].Problem == nil && w.address().is(a) && slices.Contains(w.Rules, rule) {
			return true
		}
	}
	return false
}

// has reports whether controller-gen writes a rule for a marker.
func (e *editing) has(c carrier, comment *ast.Comment, rule string) bool {
	text := strings.TrimSpace(comment.Text[2:])
	definition := e.parser.Collector.Registry.Lookup(text, c.target)
	if definition == nil {
		return false
	}
	value, err := definition.Parse(text)
	if err != nil {
		return false
	}
	var made apiextensionsv1.JSONSchemaProps
	switch value := value.(type) {
	case crdmarkers.XValidation:
		return value.Rule == rule
	case crdmarkers.ExactlyOneOf, crdmarkers.AtMostOneOf, crdmarkers.AtLeastOneOf:
		err = value.(crd.SchemaMarker).ApplyToSchema(&crdmarkers.SchemaContext{Package: c.id.Package, TypeInfo: c.info}, &made)
	}
	return err == nil && len(made.XValidations) == 1 && made.XValidations[0].Rule == rule
}

// markersOf returns the markers that declare the unions of a struct.
func (e *editing) markersOf(h *host) nodeMarkers {
	out := nodeMarkers{}
	var onFields, others []*hosted
	for _, u := range h.unions {
		switch {
		case u.Union == nil || len(e.pending(u.wanted)) == 0:
		case h.style != structStyle && !u.Relates() && h.separate(u.Union, e.loading) && !slices.ContainsFunc(onFields, func(o *hosted) bool { return o.Shares(u.Union) }):
			onFields = append(onFields, u)
		default:
			others = append(others, u)
		}
	}
	if h.style == kepStyle { // a struct has several unions only if all have discriminators
		one := len(onFields) == 1
		onFields = slices.DeleteFunc(onFields, func(u *hosted) bool {
			stays := one || u.Discriminator != ""
			if !stays {
				others = append(others, u)
			}
			return !stays
		})
	}
	for _, u := range onFields {
		h.markFields(out, h.style, u.Union, len(onFields) == 1)
	}
	for i, u := range others {
		name := "" // the only such union needs none
		if i > 0 {
			name = u.Members[0].Name
		}
		for key, value := range yamltext.Pairs(u.Node()) {
			out.own(h.info.RawSpec, name, key.Value, value)
		}
	}
	return out
}

// separate reports whether the properties of a union are fields on lines of their own without
// markers of unions, except for the one of the discriminator.
func (s *structure) separate(u *union.Union, l *loading) bool {
	if !s.hasAll(u) || u.Grouped() {
		return false // markers of fields have no groups
	}
	for _, name := range u.Names() {
		f := s.property(name)
		_, src, at := l.line(f.info.RawField.Pos())
		offset := l.places.fset.PositionFor(f.info.RawField.Pos(), false).Offset
		marked := slices.ContainsFunc(f.marks, func(m mark) bool {
			return name != u.Discriminator || !discriminates(m)
		})
		if marked || len(f.info.RawField.Names) > 1 || len(bytes.TrimSpace(src[at:offset])) > 0 {
			return false
		}
	}
	return true
}

// line returns the file with a position, its content, and the offset of the line.
func (l *loading) line(pos token.Pos) (file string, src []byte, at int) {
	p := l.places.fset.PositionFor(pos, false)
	src, err := l.places.read(p.Filename)
	if err != nil || p.Offset > len(src) {
		return p.Filename, nil, 0
	}
	return p.Filename, src, bytes.LastIndexByte(src[:p.Offset], '\n') + 1
}

// insert adds lines before the markers at the end of the documentation of a node.
func (e *editing) insert(edits map[string][]yamltext.Edit, h *host, node ast.Node, lines []string) {
	before := node.Pos()
	if node == ast.Node(h.info.RawSpec) && h.info.RawDecl != nil && !h.info.RawDecl.Lparen.IsValid() {
		before = h.info.RawDecl.Pos()
	}
	if doc := e.commentsOf(h.id.Package).of(node).doc; doc != nil {
		for _, comment := range slices.Backward(doc.List) {
			if !slices.Contains(markerLines(doc), comment) {
				break
			}
			m, _ := parseMark(strings.TrimSpace(comment.Text[2:])[1:])
			if discriminates(m) { // stays before the new markers
				break
			}
			before = comment.Pos()
		}
	}
	file, src, at := e.line(before)
	offset := e.places.fset.PositionFor(before, false).Offset
	ending := "\n"
	if at > 1 && src[at-2] == '\r' {
		ending = "\r\n"
	}
	var text strings.Builder
	for _, line := range lines {
		text.WriteString(string(src[at:offset]) + "// " + line + ending)
	}
	edits[file] = append(edits[file], yamltext.Edit{Start: at, End: at, New: text.String()})
}
