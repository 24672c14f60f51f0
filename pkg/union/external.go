package union

import (
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// External is a declaration outside the schema it is for: one of a
// side file, of Go markers, or of the annotation of a compiled CRD. Several may be
// for one schema.
type External struct {
	Target
	// Version is the name of the CRD's version; empty stands for all of them.
	Version string
	// Path leads to the schema. It may have schemapath.Elements.
	Path schemapath.Path
	// Value is that of x-kubernetes-unions: a list with an item per union. It is
	// not modified.
	Value *yaml.Node
	// Fit, unless nil, says what Value is in a schema in which properties have these
	// enums, and what is wrong with it there.
	Fit func(enum func(property string) []string) (*yaml.Node, diag.List)
	// File is what the positions of Value are in.
	File string
	// At, unless nil, is the position of all of Value, as when it is not YAML that
	// the user wrote.
	At *diag.Pos
	// Extend says that Value is a list of extensions (ParseExtensions), of unions that
	// are declared for the schema in it or in another place.
	Extend bool
	// Own, unless nil, says that the declaration was in the schema itself before the CRD was
	// compiled, in the place of this node.
	Own *yaml.Node
	// Named is where the CRD and the schema are named; the zero position means that of Value.
	Named diag.Pos
	// Struct is the Go type that has the markers, with the path of its package; empty
	// for other declarations.
	Struct string
}

// IsStruct reports whether a name is that of a Go type, which is given with the path of
// its package: the whole of it, or what follows a slash.
func IsStruct(whole, name string) bool {
	return whole == name || strings.HasSuffix(whole, "/"+name)
}

// Pos is where the declaration is.
func (e External) Pos() diag.Pos {
	if e.At != nil {
		return *e.At
	}
	return diag.Pos{File: e.File, Line: e.Value.Line, Col: e.Value.Column}
}

// Same reports whether two are one declaration, not merely equal ones.
func (e External) Same(f External) bool {
	return e.Value == f.Value && e.Version == f.Version && e.Path.Equal(f.Path) && e.File == f.File && e.Extend == f.Extend
}

// Holds reports whether part of the declaration is at a position.
func (e External) Holds(pos diag.Pos) bool {
	var holds func(n *yaml.Node) bool
	holds = func(n *yaml.Node) bool {
		return n.Line == pos.Line && n.Column == pos.Col || slices.ContainsFunc(n.Content, holds)
	}
	return e.At == nil && e.File == pos.File && holds(e.Value)
}

// NamedAt is where the CRD and the schema are named.
func (e External) NamedAt() diag.Pos {
	if e.Named.Line > 0 {
		return e.Named
	}
	return e.Pos()
}

// Externals are declarations outside CRDs.
type Externals struct {
	Declarations []External
	// Scopes are the CRDs of which all external declarations are here: what an
	// earlier compilation knew of them is out of date. So it is where Declarations have
	// one.
	Scopes []Scope
}

// Same reports whether these are the same lists, not merely equal ones.
func (e Externals) Same(f Externals) bool {
	return same(e.Declarations, f.Declarations) && same(e.Scopes, f.Scopes)
}

func same[T any](a, b []T) bool { return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0]) }

// Scope is a version of a CRD, or all of them when Version is empty.
type Scope struct {
	Target
	Version string
}

// Of returns the declarations for a CRD, and whether they are all there are for one
// of its versions.
func (e Externals) Of(crd Target) (l []External, all func(version string) bool) {
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

// Concern reports whether anything is declared for a CRD, even that it has no unions.
func (e Externals) Concern(crd Target) bool {
	return slices.ContainsFunc(e.Declarations, func(x External) bool { return x.Is(crd) }) ||
		slices.ContainsFunc(e.Scopes, func(s Scope) bool { return s.Is(crd) })
}

// Covers reports whether the declaration is for the schema at a path in a version.
func (e External) Covers(version string, path schemapath.Path) bool {
	return (e.Version == "" || e.Version == version) && e.Path.Matches(path)
}

// Target names a CustomResourceDefinition: by group and kind, or by its name.
type Target struct {
	// Name is metadata.name. It may be a guess where Group and Kind are given.
	Name        string
	Group, Kind string
}

// Is reports whether the target is this CRD, of which name, group and kind are known.
func (t Target) Is(crd Target) bool {
	if t.Kind != "" {
		return t.Group == crd.Group && t.Kind == crd.Kind
	}
	return t.Name == crd.Name
}

// String returns kind and group as kubectl writes them, or else the name.
func (t Target) String() string {
	switch {
	case t.Kind == "":
		return t.Name
	case t.Group == "":
		return t.Kind
	}
	return t.Kind + "." + t.Group
}
