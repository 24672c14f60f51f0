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

// reach returns the types that the schema of a type refers to, directly or indirectly.
func (l *loading) reach(from crd.TypeIdent) map[crd.TypeIdent]bool {
	if found, ok := l.reached[from]; ok {
		return found
	}
	found := map[crd.TypeIdent]bool{}
	l.reached[from] = found
	var schema func(s *apiextensionsv1.JSONSchemaProps, id crd.TypeIdent)
	visit := func(id crd.TypeIdent) {
		if made, ok := l.parser.Schemata[id]; ok {
			schema(&made, id)
		}
	}
	schema = func(s *apiextensionsv1.JSONSchemaProps, id crd.TypeIdent) {
		if to, ok := referred(s, id.Package); ok && !found[to] {
			found[to] = true
			visit(to)
		}
		for i := range s.AllOf {
			schema(&s.AllOf[i], id)
		}
		for _, step := range schemapath.Children(s) {
			schema(step.Schema(s), id)
		}
	}
	l.parser.NeedSchemaFor(from) // no CRD may have it
	visit(from)
	return found
}

// inlines reports whether a struct inlines another one, directly or through others than those seen.
func (l *loading) inlines(outer, inner crd.TypeIdent, seen ...crd.TypeIdent) bool {
	made := l.parser.Schemata[outer]
	return slices.ContainsFunc(made.AllOf, func(s apiextensionsv1.JSONSchemaProps) bool {
		to, ok := referred(&s, outer.Package)
		return ok && !slices.Contains(seen, to) && (to == inner || l.inlines(to, inner, append(seen, to)...))
	})
}

// cycle warns about the unions of a type that contains its own enclosing type. controller-gen
// writes out either type below the other, at random, so that the path of the unions is unknown.
func (l *loading) cycle(outer, inner crd.TypeIdent) {
	within := maps.Clone(l.reach(inner))
	within[inner] = true
	for _, id := range slices.SortedFunc(maps.Keys(within), compareIdents) {
		s := l.structure(id)
		if s == nil || id == outer {
			continue
		}
		if s.check(); len(s.unions) == 0 {
			continue
		}
		s.used = true
		d := diag.New(codes.UnusedMarkers, s.pos,
			"the unions of %s are left out below %s: the types contain each other, and controller-gen writes either one in full, at random", id.Name, outer.Name).
			Hinted("break the cycle: put +kubebuilder:validation:Schemaless and +kubebuilder:pruning:PreserveUnknownFields on a field of it")
		l.diags = append(l.diags, d)
	}
}
