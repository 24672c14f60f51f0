package markers

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// kinds builds all CRDs of the packages, and returns their kinds.
func (l *loading) kinds() []schema.GroupKind {
	metav1 := crd.FindMetav1(l.roots)
	if metav1 == nil {
		return nil // no type can be a resource
	}
	kinds := crd.FindKubeKinds(l.parser, metav1)
	for _, kind := range kinds {
		l.parser.NeedCRDFor(kind, nil)
	}
	return kinds
}

// crds returns the unions declared in the CRDs of the packages.
func (l *loading) crds(kinds []schema.GroupKind) *union.Externals {
	set := &union.Externals{}
	for _, kind := range kinds {
		built, ok := l.parser.CustomResourceDefinitions[kind]
		if !ok {
			continue // all versions are skipped
		}
		target := union.Target{Name: built.Name, Group: kind.Group, Kind: kind.Kind}
		before, sites := len(set.Declarations), len(l.sites)
		var scopes []union.Scope
		for _, version := range l.versions(kind, built.Spec.Versions) {
			w := &walk{l: l, set: set, target: target, version: version.name}
			w.visit(version.id, version.schema, nil, nil, true)
			scopes = append(scopes, union.Scope{Target: target, Version: version.name})
		}
		if kind.Group == "" {
			l.sites = l.sites[:sites]
		}
		switch {
		case kind.Group != "":
			set.Scopes = append(set.Scopes, scopes...)
		case len(set.Declarations) > before:
			l.diags = append(l.diags, diag.New(codes.UnusedMarkers, l.kindPos(kind),
				"the package of %s has no group, so there is no CRD for its unions", kind.Kind).
				Hinted("write // +groupName=example.com before the package clause, if there should be one"))
			set.Declarations = set.Declarations[:before]
		}
	}
	return set
}

// packageVersion is a version of a CRD and its Go type.
type packageVersion struct {
	name   string
	id     crd.TypeIdent
	schema *apiextensionsv1.JSONSchemaProps
}

// versions returns the versions of a CRD with their Go types.
func (l *loading) versions(kind schema.GroupKind, built []apiextensionsv1.CustomResourceDefinitionVersion) []packageVersion {
	var found []packageVersion
	for _, v := range built {
		var ids []crd.TypeIdent
		for p, gv := range l.parser.GroupVersions {
			id := crd.TypeIdent{Package: p, Name: kind.Kind}
			if gv.Group == kind.Group && gv.Version == v.Name && l.parser.Types[id] != nil {
				ids = append(ids, id)
			}
		}
		slices.SortFunc(ids, compareIdents)
		if len(ids) == 0 || v.Schema == nil || slices.ContainsFunc(found, func(f packageVersion) bool { return f.name == v.Name }) {
			continue
		}
		pos := l.places.pos(l.parser.Types[ids[0]].RawSpec.Name.Pos())
		before := len(l.diags)
		switch {
		case len(ids) > 1:
			l.errorf(pos, "give each package its own // +versionName",
				"packages %s and %s both declare version %s of %s", ids[0].Package.PkgPath, ids[1].Package.PkgPath, v.Name, kind)
		case kind.Group != "" && len(validation.IsDNS1123Subdomain(kind.Group)) > 0:
			l.errorf(pos, "correct // +groupName", "%q is not an API group: %s", kind.Group, validation.IsDNS1123Subdomain(kind.Group)[0])
		case kind.Group != "" && len(validation.IsDNS1035Label(v.Name)) > 0:
			l.errorf(pos, "correct // +versionName", "%q is not an API version: %s", v.Name, validation.IsDNS1035Label(v.Name)[0])
		}
		if len(l.diags) == before {
			found = append(found, packageVersion{v.Name, ids[0], v.Schema.OpenAPIV3Schema})
		}
	}
	return found
}

func (l *loading) kindPos(kind schema.GroupKind) diag.Pos {
	for _, id := range slices.SortedFunc(maps.Keys(l.parser.Types), compareIdents) {
		if id.Name == kind.Kind && l.parser.GroupVersions[id.Package].Group == kind.Group {
			return l.places.pos(l.parser.Types[id].RawSpec.Name.Pos())
		}
	}
	return diag.Pos{}
}

// walk visits the schema of a version as controller-gen writes it, alongside the Go types that it
// is generated from.
type walk struct {
	l       *loading
	set     *union.Externals
	target  union.Target
	version string
}

// visit declares the unions of a type whose schema is at, and continues below it. path has the
// enclosing types.
func (w *walk) visit(id crd.TypeIdent, at *apiextensionsv1.JSONSchemaProps, to schemapath.Path, path []crd.TypeIdent, root bool) {
	if slices.Contains(path, id) {
		return // controller-gen writes an empty schema for a type inside itself
	}
	if i := slices.IndexFunc(path, func(outer crd.TypeIdent) bool { return w.l.reach(id)[outer] }); i >= 0 {
		w.l.cycle(path[i], id)
		return
	}
	if !root { // the type of the CRD itself may occur once more
		path = append(path[:len(path):len(path)], id)
	}
	if s := w.l.structure(id); s != nil {
		w.l.sites = append(w.l.sites, site{address{w.target, w.version, to}, s, at})
		s.check()
		for _, u := range s.unions {
			w.declare(s, u, at, to)
		}
	}
	if made, ok := w.l.parser.Schemata[id]; ok {
		w.follow(&made, id.Package, at, to, path)
	}
}

// follow follows the references of made alongside the finished schema at. made is the schema before
// controller-gen has replaced references with the schemas of other types.
func (w *walk) follow(made *apiextensionsv1.JSONSchemaProps, p *loader.Package, at *apiextensionsv1.JSONSchemaProps, to schemapath.Path, path []crd.TypeIdent) {
	if id, ok := referred(made, p); ok {
		w.visit(id, at, to, path, false)
	}
	for i := range made.AllOf {
		w.follow(&made.AllOf[i], p, at, to, path)
	}
	for _, step := range schemapath.Children(made) {
		// A schema that controller-gen has left out, as it does below metadata, has no unions.
		if s := step.Schema(at); s != nil {
			w.follow(step.Schema(made), p, s, to.Append(step), path)
		}
	}
}

// referred returns the type that a schema of a package refers to.
func referred(s *apiextensionsv1.JSONSchemaProps, p *loader.Package) (crd.TypeIdent, bool) {
	if s.Ref == nil {
		return crd.TypeIdent{}, false
	}
	name, path, err := crd.RefParts(*s.Ref)
	if err == nil && path != "" {
		p = p.Imports()[path]
	}
	return crd.TypeIdent{Package: p, Name: name}, err == nil && p != nil
}

// declare adds a union to the set, unless the schema has none of its properties.
func (w *walk) declare(s *structure, d *declaration, at *apiextensionsv1.JSONSchemaProps, to schemapath.Path) {
	if d.list != "" {
		step := schemapath.Property(d.list)
		if at, to = step.Schema(at), to.Append(step); at == nil {
			return
		}
	} else if !slices.ContainsFunc(d.properties(), func(name string) bool { _, ok := at.Properties[name]; return ok }) {
		return
	}
	s.used = true
	e := union.External{Target: w.target, Version: w.version, Path: to, File: d.at.File, Value: d.value(), Struct: s.String()}
	if w.l.opts.CRDs && d.from != nil {
		e.Fit = d.fit
	}
	same := func(o union.External) bool {
		return o.Target == e.Target && o.Version == e.Version && o.Path.Equal(e.Path) && o.Pos() == e.Pos()
	}
	if !slices.ContainsFunc(w.set.Declarations, same) {
		w.set.Declarations = append(w.set.Declarations, e)
	}
}

// demands reports whether the schema requires a discriminator and restricts its values. Whether it may
// be "" then follows from its enum, which a CRD may change.
func demands(at *apiextensionsv1.JSONSchemaProps, name string) bool {
	prop, ok := at.Properties[name]
	return ok && slices.Contains(at.Required, name) && !prop.Nullable && (len(prop.Enum) > 0 || prop.MinLength != nil && *prop.MinLength > 0)
}

// unused warns about structs that have unions but are in no CRD.
func (l *loading) unused() {
	for _, id := range slices.SortedFunc(maps.Keys(l.known), compareIdents) {
		s := l.known[id]
		if !l.named(id.Package) || s.used || len(s.unions) == 0 {
			continue
		}
		l.diags = append(l.diags, diag.New(codes.UnusedMarkers, s.pos, "no CRD of these packages has %s, which declares a union", id.Name).
			Hinted("name the packages of the kinds that use it too, or delete the markers"))
	}
}
