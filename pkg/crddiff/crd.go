package crddiff

import (
	"encoding/json"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/carrier"
	"github.com/unioncel/unioncel/internal/resource"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/limit"
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

// Read reads the CRDs of a file, and compiles the unions in them. The list has what is
// wrong with them; with errors the result is nil.
func Read(f *crdpatch.File, limits limit.Limits) ([]*CRD, diag.List) {
	text, wrong := f.Installed()
	if text == nil {
		return nil, wrong
	}
	parsed, more := resource.Parse(f.Name(), text, limits)
	wrong = append(wrong, more...)
	sources, _ := f.Sources()
	plans, _ := f.Explain()
	original, _ := resource.Parse(f.Name(), f.Bytes(), limits)
	if parsed == nil || original == nil {
		return nil, wrong
	}
	kindOf := func(o *resource.Object) *carrier.Kind {
		k, _ := carrier.Of(o.GroupVersion().String(), o.Kind)
		return k
	}
	var places []diag.Pos
	for _, o := range original.Objects {
		if kindOf(o) != nil {
			places = append(places, o.Pos(nil))
		}
	}
	var l []*CRD
	for _, o := range parsed.Objects {
		kind := kindOf(o)
		if kind == nil {
			continue
		}
		data, err := json.Marshal(o.Value)
		if err != nil {
			return nil, append(wrong, diag.Diagnostic{Code: diag.UndecodableCRD, Pos: o.Pos(nil), Message: err.Error()})
		}
		crd, _, err := kind.Decode(data)
		if err != nil {
			wrong = append(wrong, diag.Diagnostic{Code: diag.UndecodableCRD, Pos: o.Pos(nil), Message: fmt.Sprintf("the API server cannot read this %s: %v", o.Kind, err)})
			continue
		}
		c := Plain(crd)
		if len(l) < len(places) {
			c.Pos = places[len(l)]
		}
		if i := slices.IndexFunc(sources, func(s crdpatch.Source) bool { return s.CRD.Name == crd.Name }); i >= 0 {
			c.at = sources[i].Keyword
		}
		for _, p := range plans {
			if p.Name == crd.Name {
				c.Unions = append(c.Unions, c.declared(p.Plan)...)
			}
		}
		l = append(l, c)
	}
	if wrong.HasErrors() {
		return nil, wrong.Sort()
	}
	return l, wrong.Sort()
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
