package union

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// External is a declaration outside its schema: in a UnionSet, in Go markers, or in the
// annotation of a compiled CRD. A schema may have several.
type External struct {
	Target
	// Version is the name of the CRD's version; empty means all versions.
	Version string
	// Path leads to the schema. It may contain schemapath.Elements.
	Path schemapath.Path
	// Value is the value of x-kubernetes-unions: a list with an item per union. It is
	// read-only.
	Value *yaml.Node
	// Fit, unless nil, returns Value adapted to the properties of the schema, and the
	// problems with it there. lookup returns the strings in the enum of a property, and
	// false if the schema lacks the property.
	Fit func(lookup func(property string) (enum []string, ok bool)) (*yaml.Node, diag.List)
	// File is the file that the positions of Value refer to.
	File string
	// At, unless nil, replaces the positions in Value, for example for Go markers.
	At *diag.Pos
	// Extend marks Value as a list of extensions (ParseExtensions) of unions that are declared
	// in the schema or elsewhere.
	Extend bool
	// Own, unless nil, is the node that replaced a declaration in the schema when the CRD was
	// compiled.
	Own *yaml.Node
	// Named is the position of the names of the CRD and the schema; zero means the position of
	// Value.
	Named diag.Pos
	// Struct is the Go type with the markers, including the path of its package; empty for
	// other declarations.
	Struct string
}

// IsStruct reports whether name denotes the Go type whole, which includes its package path. name
// may leave out leading elements of that path.
func IsStruct(whole, name string) bool {
	return whole == name || strings.HasSuffix(whole, "/"+name)
}

// Pos returns the position of the declaration.
func (e External) Pos() diag.Pos {
	if e.At != nil {
		return *e.At
	}
	return diag.Pos{File: e.File, Line: e.Value.Line, Col: e.Value.Column}
}

// Same reports whether e and f are the same declaration. Distinct declarations with equal contents
// are not the same.
func (e External) Same(f External) bool {
	return e.Value == f.Value && e.Version == f.Version && e.Path.Equal(f.Path) && e.File == f.File && e.Extend == f.Extend
}

// Holds reports whether a node of the declaration is at a position.
func (e External) Holds(pos diag.Pos) bool {
	var holds func(n *yaml.Node) bool
	holds = func(n *yaml.Node) bool {
		return n.Line == pos.Line && n.Column == pos.Col || slices.ContainsFunc(n.Content, holds)
	}
	return e.At == nil && e.File == pos.File && holds(e.Value)
}

// NamedAt returns the position of the names of the CRD and the schema.
func (e External) NamedAt() diag.Pos {
	if e.Named.Line > 0 {
		return e.Named
	}
	return e.Pos()
}

// Externals are declarations outside CRDs.
type Externals struct {
	Declarations []External
	// Scopes are CRDs for which Declarations is complete: it replaces the declarations that an
	// earlier compilation recorded. It is also complete for CRDs that it has declarations for.
	Scopes []Scope
}

// Same reports whether e and f share their lists. Copies of a list are not the same.
func (e Externals) Same(f Externals) bool {
	return same(e.Declarations, f.Declarations) && same(e.Scopes, f.Scopes)
}

func same[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// Scope is a version of a CRD, or all versions if Version is empty.
type Scope struct {
	Target
	Version string
}

// Select returns the declarations for a CRD. all reports whether they are complete for a version
// (see Scopes).
func (e Externals) Select(crd Target) (l []External, all func(version string) bool) {
	scopes := slices.Clone(e.Scopes)
	for _, x := range e.Declarations {
		if x.Is(crd) {
			l = append(l, x)
			scopes = append(scopes, Scope{x.Target, x.Version})
		}
	}
	return l, func(version string) bool {
		return slices.ContainsFunc(scopes, func(s Scope) bool {
			return s.Is(crd) && (s.Version == "" || s.Version == version)
		})
	}
}

// Concern reports whether a declaration or a scope is for a CRD.
func (e Externals) Concern(crd Target) bool {
	return slices.ContainsFunc(e.Declarations, func(x External) bool { return x.Is(crd) }) ||
		slices.ContainsFunc(e.Scopes, func(s Scope) bool { return s.Is(crd) })
}

// Covers reports whether the declaration is for the schema at a path in a version.
func (e External) Covers(version string, path schemapath.Path) bool {
	return (e.Version == "" || e.Version == version) && e.Path.Matches(path)
}

// Replacing returns the declaration with handWrittenRules: Replace for unions without the key.
func (e External) Replacing() External {
	replacing := func(unions *yaml.Node) *yaml.Node {
		out := *unions
		out.Content = slices.Clone(unions.Content)
		for i, item := range out.Content {
			if yamltext.Lookup(item, "handWrittenRules").Key == nil {
				u := *item
				u.Content = append(slices.Clone(item.Content), yamltext.StringNode("handWrittenRules"), yamltext.StringNode("Replace"))
				out.Content[i] = &u
			}
		}
		return &out
	}
	fit := e.Fit
	if e.Value = replacing(e.Value); fit != nil {
		e.Fit = func(lookup func(string) ([]string, bool)) (*yaml.Node, diag.List) {
			value, diags := fit(lookup)
			return replacing(value), diags
		}
	}
	return e
}

// Target identifies a CustomResourceDefinition by group and kind, or by name.
type Target struct {
	// Name is metadata.name. It may be a guess if Group and Kind are given.
	Name        string
	Group, Kind string
}

// Is reports whether t identifies crd, which must have a name, group and kind.
func (t Target) Is(crd Target) bool {
	if t.Kind != "" {
		return t.Group == crd.Group && t.Kind == crd.Kind
	}
	return t.Name == crd.Name
}

// String returns kind and group as kubectl writes them, or the name if there is no kind.
func (t Target) String() string {
	switch {
	case t.Kind == "":
		return t.Name
	case t.Group == "":
		return t.Kind
	}
	return t.Kind + "." + t.Group
}

// Missing reports declarations whose CRD is not in crds: a misspelt name must not silently leave a
// union unenforced. Not every Go kind has a CRD: if crds has the CRD of another Go kind, a missing
// kind is a warning, given once.
func (e Externals) Missing(crds []Target) diag.List {
	var names []string
	for _, t := range crds {
		names = append(names, t.Name)
	}
	given := func(t Target) bool {
		return slices.ContainsFunc(crds, func(c Target) bool { return t.Is(c) })
	}
	some := slices.ContainsFunc(e.Scopes, func(s Scope) bool { return s.Kind != "" && given(s.Target) })
	warned := map[Target]bool{}
	var l diag.List
	for _, x := range e.Declarations {
		if given(x.Target) || warned[x.Target] {
			continue
		}
		d := diag.New(codes.NoSuchCRD, x.NamedAt(),
			"this union is for CustomResourceDefinition %s, which no input has", cmp.Or(x.Name, "of "+x.Target.String())).
			Hinted("correct its name, or also give the file that has it")
		if best := english.Closest(x.Name, names); best != "" && x.Kind == "" {
			d.Hint = fmt.Sprintf("did you mean %s? Or also give the file that has it", best)
		}
		if x.Kind != "" {
			d.Hint = "also give the file that has it"
			if some {
				d.Severity, warned[x.Target] = diag.Warning, true
				d.Hint += "; if there is none, nothing enforces the unions of this kind"
			}
		}
		l = append(l, d)
	}
	return l
}
