package markers

import (
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

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
