package markers

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-tools/pkg/crd"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Place is a schema of a CRD.
type Place struct {
	union.Target
	Version string
	Path    schemapath.Path
}

func (p Place) is(q Place) bool {
	return p.Is(q.Target) && p.Version == q.Version && p.Path.Equal(q.Path)
}

// String describes the schema.
func (p Place) String() string {
	return fmt.Sprintf("%s in version %s of %s", cmp.Or(p.Path.String(), "the root"), p.Version, p.Target)
}

// site is a type that a schema is generated from. A schema can come from several types, such as a
// struct and the structs that it inlines.
type site struct {
	Place
	*structure
	at *apiextensionsv1.JSONSchemaProps
}

// typesAt returns the types of a schema, outermost first.
func (l *loading) typesAt(a Place) []site {
	return slices.DeleteFunc(slices.Clone(l.sites), func(s site) bool { return !s.is(a) })
}

// property returns the field of s with a property, not of an inlined struct, or nil.
func (s *structure) property(name string) *field {
	i := slices.IndexFunc(s.fields, func(f *field) bool { return f.json == name && !f.inline })
	if i < 0 {
		return nil
	}
	return s.fields[i]
}

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
	slices.SortFunc(kinds, func(a, b schema.GroupKind) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Kind, b.Kind))
	})
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
		sites := len(l.sites)
		var scopes []union.Scope
		for _, v := range built.Spec.Versions {
			if id, ok := l.typeOf(kind, v); ok {
				l.visit(Place{target, v.Name, nil}, id, v.Schema.OpenAPIV3Schema, nil, true)
				scopes = append(scopes, union.Scope{Target: target, Version: v.Name})
			}
		}
		var found []union.External
		for _, s := range l.sites[sites:] {
			found = s.declare(found)
		}
		slices.SortFunc(found, func(a, b union.External) int {
			return cmp.Or(cmp.Compare(a.Version, b.Version), schemapath.Compare(a.Path, b.Path), a.Pos().Compare(b.Pos()))
		})
		if kind.Group != "" {
			set.Declarations = append(set.Declarations, found...)
			set.Scopes = append(set.Scopes, scopes...)
			continue
		}
		if len(found) > 0 {
			l.diags = append(l.diags, diag.New(codes.UnusedMarkers, l.sites[sites].pos,
				"the package of %s has no group, so there is no CRD for its unions", kind.Kind).
				Hinted("write // +groupName=example.com before the package clause, if there should be one"))
		}
		l.sites = l.sites[:sites]
	}
	return set
}

// typeOf returns the Go type of a version of a CRD, if it is known.
func (l *loading) typeOf(kind schema.GroupKind, v apiextensionsv1.CustomResourceDefinitionVersion) (crd.TypeIdent, bool) {
	var ids []crd.TypeIdent
	for p, gv := range l.parser.GroupVersions {
		id := crd.TypeIdent{Package: p, Name: kind.Kind}
		if gv.Group == kind.Group && gv.Version == v.Name && l.parser.Types[id] != nil {
			ids = append(ids, id)
		}
	}
	if len(ids) == 0 || v.Schema == nil {
		return crd.TypeIdent{}, false
	}
	slices.SortFunc(ids, compareIdents)
	if len(ids) > 1 {
		l.errorf(l.pos(l.parser.Types[ids[0]].RawSpec.Name.Pos()), "give each package its own // +versionName",
			"packages %s and %s both declare version %s of %s", ids[0].Package.PkgPath, ids[1].Package.PkgPath, v.Name, kind)
	}
	return ids[0], len(ids) == 1
}

// visit adds the schema at a place, as controller-gen writes it, as a site of its Go type, and
// continues below it. path has the enclosing types.
func (l *loading) visit(to Place, id crd.TypeIdent, at *apiextensionsv1.JSONSchemaProps, path []crd.TypeIdent, root bool) {
	if slices.Contains(path, id) {
		return // controller-gen writes an empty schema for a type inside itself
	}
	if i := slices.IndexFunc(path, func(outer crd.TypeIdent) bool { return l.reach(id)[outer] }); i >= 0 {
		l.cycle(path[i], id)
		return
	}
	if !root { // the type of the CRD itself may occur once more
		path = append(path[:len(path):len(path)], id)
	}
	if s := l.structure(id); s != nil {
		s.check()
		l.sites = append(l.sites, site{to, s, at})
	}
	l.references(id, func(below schemapath.Path, inner crd.TypeIdent) {
		// A schema that controller-gen has left out, as it does below metadata, has no unions.
		if s := below.Schema(at); s != nil {
			l.visit(Place{to.Target, to.Version, to.Path.Append(below...)}, inner, s, path, false)
		}
	})
}

// declare adds the unions of the type to a list, except for those whose properties the schema lacks,
// and for those that another path of references has led to.
func (s *site) declare(l []union.External) []union.External {
	for _, u := range s.unions {
		to, at := s.Path, s.at
		if u.list != "" {
			step := schemapath.Property(u.list)
			to, at = to.Append(step), step.Schema(at)
		}
		if at == nil || u.list == "" && !slices.ContainsFunc(u.names, func(name string) bool { _, ok := at.Properties[name]; return ok }) {
			continue
		}
		s.used = true
		e := union.External{Target: s.Target, Version: s.Version, Path: to, File: u.at.File, Value: u.value(), Struct: s.structure.String()}
		if s.l.opts.CRDs && u.from != nil {
			e.Fit = u.fit
		}
		if !slices.ContainsFunc(l, func(o union.External) bool {
			return o.Version == e.Version && o.Path.Equal(e.Path) && o.Pos() == e.Pos()
		}) {
			l = append(l, e)
		}
	}
	return l
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
		if s := l.known[id]; slices.Contains(l.roots, id.Package) && !s.used && len(s.unions) > 0 {
			l.diags = append(l.diags, diag.New(codes.UnusedMarkers, s.pos, "no CRD of these packages has %s, which declares a union", id.Name).
				Hinted("name the packages of the kinds that use it too, or delete the markers"))
		}
	}
}

// references calls f for each type that the schema of a type refers to, with the path of the reference.
// The schema is the one that controller-gen makes before it replaces references.
func (l *loading) references(from crd.TypeIdent, f func(schemapath.Path, crd.TypeIdent)) {
	var visit func(*apiextensionsv1.JSONSchemaProps, schemapath.Path)
	visit = func(s *apiextensionsv1.JSONSchemaProps, path schemapath.Path) {
		if s.Ref != nil {
			name, imported, err := crd.RefParts(*s.Ref)
			p := from.Package
			if imported != "" {
				p = p.Imports()[imported]
			}
			if err == nil && p != nil {
				f(path, crd.TypeIdent{Package: p, Name: name})
			}
		}
		for i := range s.AllOf {
			visit(&s.AllOf[i], path)
		}
		for _, step := range schemapath.Children(s) {
			visit(step.Schema(s), path.Append(step))
		}
	}
	if made, ok := l.parser.Schemata[from]; ok {
		visit(&made, nil)
	}
}

// reach returns the types that the schema of a type refers to, directly or indirectly.
func (l *loading) reach(from crd.TypeIdent) map[crd.TypeIdent]bool {
	if found, ok := l.reached[from]; ok {
		return found
	}
	found := map[crd.TypeIdent]bool{}
	l.reached[from] = found
	var add func(schemapath.Path, crd.TypeIdent)
	add = func(_ schemapath.Path, to crd.TypeIdent) {
		if !found[to] {
			found[to] = true
			l.references(to, add)
		}
	}
	l.parser.NeedSchemaFor(from) // no CRD may have it
	l.references(from, add)
	return found
}

// inlines reports whether a struct inlines another one, directly or through others than those seen.
func (l *loading) inlines(outer, inner crd.TypeIdent, seen ...crd.TypeIdent) (found bool) {
	l.references(outer, func(path schemapath.Path, to crd.TypeIdent) {
		found = found || len(path) == 0 && !slices.Contains(seen, to) && (to == inner || l.inlines(to, inner, append(seen, to)...))
	})
	return found
}

// cycle warns about the unions of a type that contains its own enclosing type. controller-gen
// writes out either type below the other, at random, so that the path of the unions is unknown.
func (l *loading) cycle(outer, inner crd.TypeIdent) {
	for _, id := range slices.SortedFunc(maps.Keys(l.reach(inner)), compareIdents) { // inner is one of them
		s := l.structure(id)
		if s == nil || id == outer {
			continue
		}
		if s.check(); len(s.unions) > 0 {
			s.used = true
			l.diags = append(l.diags, diag.New(codes.UnusedMarkers, s.pos,
				"the unions of %s are left out below %s: the types contain each other, and controller-gen writes either one in full, at random", id.Name, outer.Name).
				Hinted("break the cycle: put +kubebuilder:validation:Schemaless and +kubebuilder:pruning:PreserveUnknownFields on a field of it"))
		}
	}
}
