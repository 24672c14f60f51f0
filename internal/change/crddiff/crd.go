package crddiff

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// CRD is a CRD to compare.
type CRD struct {
	// CRD is as the API server gets it: with its unions compiled.
	*apiextensionsv1.CustomResourceDefinition
	// Unions are those declared in it.
	Unions []DeclaredUnion
	// KubeVersion is that of the API server it is for, such as "1.30"; "" is the latest.
	KubeVersion string
	// Pos is where it is in a file; zero if nothing is known of one.
	Pos diag.Pos
	// Compiled says that unions of the file were compiled to get it.
	Compiled bool

	at func(version string, path schemapath.Path, keyword string) diag.Pos
}

// DeclaredUnion is a union, and the rules that enforce it.
type DeclaredUnion struct {
	// Version is the name of the CRD's version, Path leads to the union object.
	Version string
	Path    schemapath.Path
	Union   *union.Union
	Rules   []PlacedRule
}

// PlacedRule is a rule on the schema at a path.
type PlacedRule struct {
	At   schemapath.Path
	Rule apiextensionsv1.ValidationRule
}

// Plain is a CRD of which nothing is known but what the API server knows.
func Plain(crd *apiextensionsv1.CustomResourceDefinition) *CRD {
	return &CRD{CustomResourceDefinition: crd}
}

// Read reads the CRDs of a file, and compiles the unions in them. The list has errors, with which
// the result is nil, and warnings about compiled CRDs whose rules are not those of their unions.
func Read(f *crdpatch.File) ([]*CRD, diag.List) {
	installed, wrong := f.Installed()
	wrong = slices.DeleteFunc(wrong, func(d diag.Diagnostic) bool { return d.Severity != diag.Error })
	if installed == nil {
		return nil, wrong
	}
	// Such CRDs are taken as they are, and without unions.
	sources, _ := f.Sources()
	plans, claims := f.Explain()
	for _, d := range claims {
		if d.Severity == diag.Error {
			d.Severity = diag.Warning
			wrong = append(wrong, d)
		}
	}
	var l []*CRD
	for _, in := range installed {
		c := Plain(in.CustomResourceDefinition)
		c.Pos, c.Compiled = in.Pos, in.Compiled
		if s := in.Source(sources); s != nil {
			c.at = s.Keyword
		}
		if e := in.Explanation(plans); e != nil {
			c.Unions = c.declared(e.Plan)
		}
		l = append(l, c)
	}
	return l, wrong
}

// declared returns the unions of a plan, with those of their rules that the CRD has: a compiled
// CRD may have lost some.
func (c *CRD) declared(p compile.Plan) []DeclaredUnion {
	var l []DeclaredUnion
	for _, u := range p.Unions {
		d := DeclaredUnion{Version: u.Place.Name, Path: u.Place.Path, Union: u.Union}
		for _, r := range u.Rules {
			schema := r.Place.Schema(c.CustomResourceDefinition)
			if rule := r.Validation(); schema != nil && slices.ContainsFunc(schema.XValidations, func(has apiextensionsv1.ValidationRule) bool { return has.Rule == rule.Rule }) {
				d.Rules = append(d.Rules, PlacedRule{r.Place.Path, rule})
			}
		}
		l = append(l, d)
	}
	return l
}

// pos is where something is in the file.
func (c *CRD) pos(version string, path schemapath.Path, keyword string) diag.Pos {
	if c.at == nil {
		return c.Pos
	}
	return c.at(version, path, keyword)
}
