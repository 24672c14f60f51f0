package markers

import (
	"bytes"
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/crd"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Wanted is a union to declare in Go, or rules that declared unions replace.
type Wanted struct {
	// Place is the schema of the union object.
	Place
	// Union is nil if only Rules are to be deleted.
	Union *union.Union
	// Rules are rules of the schema. Their markers are deleted.
	Rules []string

	// [Declare] sets Struct to the struct with the markers, as in union.External, and Pos to its
	// position after the edits. They are zero if there is no such struct.
	Struct string
	Pos    diag.Pos
	// Deleted is the number of deleted markers.
	Deleted int
	// Problem is the reason why the union is not declared, or nil.
	Problem *diag.Diagnostic
}

// Edited is a Go file before and after [Declare].
type Edited struct {
	Name     string // as in positions
	Old, New []byte
}

// Declare declares unions with markers at the Go types of CRDs. It writes no files. It finds packages
// like [Load]. A union has the dialect that its struct uses, or else its package, or else the one of
// KEP-1027 of 2022.
// Unions that markers of fields cannot express are listed on their struct.
//
// A struct gets markers only if all schemas that controller-gen generates from it are to have the
// same union. The packages are read again with the edits: the structs must declare exactly the
// wanted unions, and controller-gen must generate the same CRDs without the rules.
//
// The result has the edited files, sorted by name. The diagnostics are those that remain with the
// edits, at their positions without them. There are no files, and an error, if the packages cannot be
// read, or if a file is outside the main module or a link that leads out of its directory.
func Declare(opts Options, wanted []*Wanted, patterns ...string) ([]Edited, diag.List) {
	opts.CRDs = true
	before := newLoading(opts, nil)
	set := before.load(patterns)
	if set == nil {
		return nil, before.diags.Sort()
	}
	e := &editing{loading: before, set: set}
	for _, w := range wanted {
		r := &request{Wanted: w}
		e.requests = append(e.requests, r)
		e.assign(r)
	}
	for {
		files, edited := e.edit()
		if len(files) == 0 {
			return nil, before.diags.Sort()
		}
		if l := e.outsideFiles(edited); l != nil {
			return nil, l
		}
		after := newLoading(opts, edited)
		if got := after.load(patterns); !e.accepts(after, got) {
			continue
		}
		for _, s := range after.known {
			for _, w := range wanted {
				if w.Struct == s.String() {
					w.Pos = s.pos
				}
			}
		}
		remaining := slices.DeleteFunc(before.diags, func(d diag.Diagnostic) bool { return !after.reports(d) })
		return files, remaining.Sort()
	}
}

// reports reports whether there is a diagnostic like d, wherever it is.
func (l *loading) reports(d diag.Diagnostic) bool {
	return slices.ContainsFunc(l.diags, func(o diag.Diagnostic) bool { return o.Code == d.Code && o.Path == d.Path && o.Message == d.Message })
}

// editing is the state of one [Declare].
type editing struct {
	*loading
	set      *union.Externals
	requests []*request
}

// request is a wanted union or rules.
type request struct {
	*Wanted
	of       *structure // gets the markers
	text     string     // the union in canonical form
	onStruct bool       // listed on the struct, because markers of fields failed
}

// reject sets the first reason why the union is not declared.
func (r *request) reject(hint, format string, args ...any) {
	d := undeclared(hint, format, args...)
	r.Problem = cmp.Or(r.Problem, &d)
}

// undeclared returns the reason why a union is not declared.
func undeclared(hint, format string, args ...any) diag.Diagnostic {
	return diag.New(codes.LeftUndeclared, diag.Pos{}, format, args...).As(diag.Error).Hinted(hint)
}

// open returns the requests that are not rejected.
func (e *editing) open() []*request {
	return slices.DeleteFunc(slices.Clone(e.requests), func(r *request) bool { return r.Problem != nil })
}

// assign finds the struct of a union: the one with all its properties as fields, or else the outermost
// struct of the schema.
func (e *editing) assign(r *request) {
	if r.Union != nil && r.Union.OfItems() {
		r.reject("write +k8s:item(KEY: VALUE)=+k8s:unionMember or =+k8s:zeroOrOneOfMember on the field with the list, or declare the union in a UnionSet",
			"markers for the items of a list are written by hand")
		return
	}
	types := slices.DeleteFunc(e.typesAt(r.Place), func(s site) bool { return len(s.fields) == 0 })
	if len(types) == 0 {
		r.reject("name the packages of the Go types, and run controller-gen if the CRD is older",
			"no struct of the Go packages has the schema %s", r.Place)
		return
	}
	found := types[0]
	if i := slices.IndexFunc(types, func(s site) bool { return r.Union != nil && s.hasAll(r.Union) }); i >= 0 {
		found = types[i]
	}
	if where := e.outside(found.structure); where != "" {
		r.reject("declare the union in a UnionSet", "its struct %s is in %s", found.structure, where)
		return
	}
	r.of, r.Struct, r.Pos = found.structure, found.structure.String(), found.pos
	if r.Union == nil {
		return
	}
	declares := func(name string) bool {
		return slices.ContainsFunc(r.of.unions, func(d *declaration) bool { return slices.Contains(d.names, name) })
	}
	r.text = canonical(yamltext.ListNode(r.Union.Node()), found.at, len(r.Path) == 0)
	switch {
	case r.text == "":
		r.reject("run controller-gen if the CRD is older than the types", "its struct %s cannot have the union", r.Struct)
	case slices.ContainsFunc(r.Union.Names(), declares):
		r.reject("edit its markers", "its struct %s declares a union of these fields already", r.Struct)
	}
}

// outside describes the package or file of a type that may not be edited. It returns "" if it may be.
func (l *loading) outside(s *structure) string {
	switch p := s.id.Package; {
	case !slices.Contains(l.roots, p):
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
func (l *loading) outsideFiles(edited map[string][]byte) (wrong diag.List) {
	for _, name := range slices.Sorted(maps.Keys(edited)) {
		problem, hint := "", ""
		switch dir := filepath.Dir(name); {
		case !within(name, dir):
			problem, hint = "is a symbolic link that leads out of its directory", "replace the link by a file, or name the directory of its target with --go"
		case !slices.ContainsFunc(l.roots, func(p *loader.Package) bool {
			return slices.Contains(p.CompiledGoFiles, name) && within(dir, l.mainModule(p))
		}):
			problem, hint = "is outside the main module", "run unioncel in the module of the file, or declare the unions in a UnionSet"
		default:
			continue
		}
		wrong = append(wrong, diag.New(codes.LeftUndeclared, diag.Pos{File: l.relative(name)}, "nothing is written: this file needs markers, and %s", problem).
			As(diag.Error).Hinted(hint))
	}
	return wrong
}

// edit returns the files with the markers of all unions that are not rejected, and their contents by
// full name. New lines have the
// indentation and the line ending of the next line, or the line ending of the previous one if the file
// ends without one.
func (e *editing) edit() (files []Edited, edited map[string][]byte) {
	inserted, deleted, names := map[token.Position][]string{}, map[token.Position]bool{}, map[string]bool{}
	lineOf := func(n ast.Node) token.Position {
		p := e.fset.PositionFor(n.Pos(), false)
		names[p.Filename] = true
		return token.Position{Filename: p.Filename, Line: p.Line}
	}
	for comment := range e.deletions() {
		deleted[lineOf(comment)] = true
	}
	for _, r := range e.open() {
		for node, markers := range e.markersOf(r.of) {
			inserted[lineOf(node)] = markers
		}
	}
	edited = map[string][]byte{}
	for _, name := range slices.Sorted(maps.Keys(names)) {
		src, _ := e.read(name)
		var out, end []byte
		for i, text := range bytes.SplitAfter(src, []byte("\n")) {
			at := token.Position{Filename: name, Line: i + 1}
			code := bytes.TrimSpace(text)
			indent, ending, _ := bytes.Cut(text, code)
			if len(ending) > 0 {
				end = ending
			}
			for _, marker := range inserted[at] {
				out = fmt.Appendf(out, "%s// +%s%s", indent, marker, end)
			}
			if !deleted[at] {
				out = append(out, text...)
			}
		}
		if old, err := format.Source(src); err == nil && bytes.Equal(old, src) {
			if formatted, err := format.Source(out); err == nil { // a comment between fields affects their alignment
				out = formatted
			}
		}
		files, edited[name] = append(files, Edited{Name: e.relative(name), Old: src, New: out}), out
	}
	return files, edited
}

// deletions returns the markers of the rules to delete. It rejects requests with a rule that no marker
// has, or whose struct or marker also affects other schemas.
func (e *editing) deletions() map[*comment]bool {
	deleted := map[*comment]bool{}
	open := e.open()
	for _, r := range open {
		if r.Deleted = 0; r.Union != nil {
			if at := e.elsewhere(r.of, nil, func(o *request) bool { return o.text == r.text }); at != "" {
				r.reject("give all CRDs with the struct, or declare the union in a UnionSet",
					"its struct %s is also used at %s, where the union is not found, or differs", r.Struct, at)
				continue
			}
		}
		for _, rule := range r.Rules {
			switch comment, elsewhere := e.markerOf(r.Place, rule); {
			case comment == nil:
				r.reject("run controller-gen if the CRD is older than the types, or omit --replace", "no marker in the Go packages has the rule %s", rule)
			case elsewhere != "":
				r.reject("give all CRDs with the struct, or omit --replace", "the marker with the rule %s is also for %s", rule, elsewhere)
			default:
				deleted[comment] = true
				r.Deleted++
			}
		}
		for _, o := range open {
			if r.Problem != nil && o.of == r.of && o.text == r.text { // the same union in another schema
				o.Problem = r.Problem
			}
		}
	}
	if len(e.open()) < len(open) { // a struct or a marker may be for the schema of a rejected request
		return e.deletions()
	}
	return deleted
}

// elsewhere returns a schema of a struct, or of a field of it, for which there is no request that
// satisfies a condition, or "".
func (e *editing) elsewhere(s *structure, field schemapath.Path, is func(*request) bool) string {
	for _, o := range e.sites {
		at := Place{o.Target, o.Version, o.Path.Append(field...)}
		if o.structure == s && !slices.ContainsFunc(e.open(), func(r *request) bool { return r.Place.is(at) && is(r) }) {
			return at.String()
		}
	}
	return ""
}

// markerOf returns the marker of a rule of a schema: on one of its types, or on the field with the
// schema. elsewhere is another schema that has the rule because of the same marker, and that is not
// to lose it.
func (e *editing) markerOf(a Place, rule string) (found *comment, elsewhere string) {
	find := func(s *structure, values markers.MarkerValues, target markers.TargetType, field schemapath.Path) {
		for _, c := range e.commentsOf(values) {
			if found == nil && e.has(s, target, c, rule) && e.outside(s) == "" {
				found, elsewhere = c, e.elsewhere(s, field, func(r *request) bool { return slices.Contains(r.Rules, rule) })
			}
		}
	}
	for _, s := range e.typesAt(a) {
		find(s.structure, s.info.Markers, markers.DescribesType, nil)
	}
	if n := len(a.Path); n > 0 {
		name, _ := a.Path[n-1].Property()
		for _, s := range e.typesAt(Place{a.Target, a.Version, a.Path[:n-1]}) {
			if f := s.property(name); f != nil {
				find(s.structure, f.info.Markers, markers.DescribesField, a.Path[n-1:])
			}
		}
	}
	return found, elsewhere
}

// has reports whether controller-gen writes a rule for a marker of a type or of one of its fields.
func (e *editing) has(s *structure, target markers.TargetType, comment *comment, rule string) bool {
	text := strings.TrimSpace(comment.Text[2:])
	definition := e.parser.Collector.Registry.Lookup(text, target)
	if definition == nil {
		return false
	}
	value, err := definition.Parse(text)
	marker, ok := value.(crd.SchemaMarker)
	var made apiextensionsv1.JSONSchemaProps
	return err == nil && ok && marker.ApplyToSchema(&crdmarkers.SchemaContext{Package: s.id.Package, TypeInfo: s.info}, &made) == nil &&
		len(made.XValidations) == 1 && made.XValidations[0].Rule == rule
}

// canonical returns a declaration of one union, resolved against its schema, in a form that does not
// depend on its name or the order of its members. It returns "" for one with errors.
func canonical(value *yaml.Node, at *apiextensionsv1.JSONSchemaProps, resource bool) string {
	declarations, diags := union.Parse("", "", value, &diag.Pos{Line: 1, Col: 1})
	resolved, wrong := union.Resolve(declarations, at, resource)
	if append(diags, wrong...).HasErrors() || len(resolved) != 1 {
		return ""
	}
	u := *resolved[0]
	u.Name = ""
	u.Members = slices.Clone(u.Members)
	slices.SortFunc(u.Members, func(a, b union.Member) int { return strings.Compare(a.Name, b.Name) })
	return flow(u.Node())
}

// accepts checks the packages with the edits. It has unions that are not declared as wanted listed on
// their structs, or rejects them if they are, and then returns false.
func (e *editing) accepts(after *loading, got *union.Externals) bool {
	wrong := e.problems(after, got)
	for _, r := range e.open() {
		switch d := cmp.Or(wrong[r.Struct], wrong[""]); {
		case d == nil:
		case r.onStruct:
			r.Problem = d
		default:
			r.onStruct = true
		}
	}
	return len(wrong) == 0
}

// problems returns what is wrong with the packages with the edits, by edited struct, or by "" if any of
// the edits may be the reason.
func (e *editing) problems(after *loading, got *union.Externals) map[string]*diag.Diagnostic {
	wrong := map[string]*diag.Diagnostic{}
	add := func(of string, d diag.Diagnostic) {
		if !slices.ContainsFunc(e.open(), func(r *request) bool { return r.Struct == of }) {
			of = ""
		}
		if wrong[of] == nil {
			wrong[of] = &d
		}
	}
	for _, d := range after.diags {
		if d.Severity == diag.Error && !e.reports(d) {
			add(d.Path, d)
		}
	}
	if got == nil {
		return wrong
	}
	want, have := e.declared(e.set), after.declared(got)
	for _, r := range e.open() {
		if r.Union != nil {
			want[unionAt{r.Struct, r.Place.String(), r.text}] = true
		}
	}
	const hint = "write the markers by hand, or declare the union in a UnionSet"
	all := maps.Clone(want)
	maps.Copy(all, have)
	for u := range all {
		if want[u] != have[u] {
			add(u.of, undeclared(hint, "%s has other unions with the markers than wanted", u.of))
		}
	}
	if len(wrong) == 0 && !equality.Semantic.DeepEqual(e.expected(), after.parser.CustomResourceDefinitions) {
		add("", undeclared(hint, "the markers change more of the CRDs than the rules"))
	}
	return wrong
}

// unionAt is a union that a struct declares in a schema.
type unionAt struct{ of, at, text string }

// declared returns the unions in a set.
func (l *loading) declared(set *union.Externals) map[unionAt]bool {
	out := map[unionAt]bool{}
	for _, x := range set.Declarations {
		root := l.typesAt(Place{x.Target, x.Version, nil})[0]
		if at := x.Path.Schema(root.at); at != nil {
			out[unionAt{x.Struct, Place{x.Target, x.Version, x.Path}.String(), canonical(x.Value, at, len(x.Path) == 0)}] = true
		}
	}
	return out
}

// expected returns the CRDs without the rules whose markers are deleted.
func (e *editing) expected() map[schema.GroupKind]apiextensionsv1.CustomResourceDefinition {
	out := map[schema.GroupKind]apiextensionsv1.CustomResourceDefinition{}
	for kind, c := range e.parser.CustomResourceDefinitions {
		out[kind] = *c.DeepCopy()
	}
	for _, r := range e.open() {
		for _, v := range out[schema.GroupKind{Group: r.Group, Kind: r.Kind}].Spec.Versions {
			if v.Name == r.Version {
				r.Path.Edit(v.Schema.OpenAPIV3Schema, func(s *apiextensionsv1.JSONSchemaProps) {
					s.XValidations = slices.DeleteFunc(s.XValidations, func(rule apiextensionsv1.ValidationRule) bool { return slices.Contains(r.Rules, rule.Rule) })
				})
			}
		}
	}
	return out
}
