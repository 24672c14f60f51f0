package markers

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// canonical returns a declaration of one union, resolved against its schema, in a form that does not
// depend on its name or the order of its members. It returns "" for one with errors.
func canonical(value *yaml.Node, at *apiextensionsv1.JSONSchemaProps, resource bool) string {
	declarations, diags := union.Parse("", "", value, &diag.Pos{Line: 1, Col: 1})
	if diags.HasErrors() || len(declarations) != 1 {
		return ""
	}
	resolved, diags := union.Resolve(declarations, at, resource)
	if diags.HasErrors() {
		return ""
	}
	u := *resolved[0]
	u.Name = ""
	u.Members = slices.Clone(u.Members)
	slices.SortFunc(u.Members, func(a, b union.Member) int { return strings.Compare(a.Name, b.Name) })
	text, err := yaml.Marshal(u.Node())
	if err != nil {
		return ""
	}
	return string(text)
}

// declaredText returns the canonical form of a declaration that markers make.
func declaredText(x union.External, at *apiextensionsv1.JSONSchemaProps) string {
	value := x.Value
	if x.Fit != nil {
		fit, diags := x.Fit(func(name string) ([]string, bool) {
			p, ok := at.Properties[name]
			return union.EnumStrings(&p), ok
		})
		if diags.HasErrors() {
			return ""
		}
		value = fit
	}
	return canonical(value, at, len(x.Path) == 0)
}

// accepts checks the packages with the edits. It rejects unions that are not declared as wanted, or
// has them declared in another way, and then returns false.
func (e *editing) accepts(after *loading, got *union.Externals) bool {
	failed := map[*host]*diag.Diagnostic{}
	fail := func(h *host, d *diag.Diagnostic) {
		if failed[h] == nil {
			failed[h] = d
		}
	}
	all := func(d *diag.Diagnostic) {
		for _, h := range e.hosts {
			fail(h, d)
		}
	}
	for _, d := range after.diags {
		if d.Severity != diag.Error || slices.ContainsFunc(e.diags, func(o diag.Diagnostic) bool { return o.Code == d.Code && o.Path == d.Path && o.Message == d.Message }) {
			continue
		}
		if i := slices.IndexFunc(e.hosts, func(h *host) bool { return h.String() == d.Path }); i >= 0 {
			fail(e.hosts[i], &d)
		} else {
			all(&d)
		}
	}
	unlike := func(h *host, what string) *diag.Diagnostic {
		return new(diag.New(codes.LeftUndeclared, h.pos, "markers on %s %s", h.String(), what).As(diag.Error).
			Hinted("write the markers by hand, or declare the union in a UnionSet"))
	}
	if got == nil {
		got = &union.Externals{}
		all(new(diag.New(codes.GoPackage, diag.Pos{}, "the packages cannot be read with the markers")))
	}
	for _, h := range e.hosts {
		want := e.declarationsOf(e.set, h)
		for _, u := range h.unions {
			if u.Union == nil {
				continue
			}
			for _, i := range e.pending(u.wanted) {
				want[e.wanted[i].address().String()+"\n"+u.text] = true
			}
		}
		if !maps.Equal(want, after.declarationsOf(got, h)) {
			fail(h, unlike(h, "cannot declare the union"))
		}
	}
	if len(failed) == 0 && e.others(e.set) != e.others(got) {
		all(new(diag.New(codes.LeftUndeclared, diag.Pos{}, "the markers affect unions of other structs").As(diag.Error)))
	}
	if len(failed) == 0 && !equality.Semantic.DeepEqual(e.expected(), after.parser.CustomResourceDefinitions) {
		for _, h := range e.hosts {
			fail(h, unlike(h, "change more of the CRDs than the rules"))
		}
	}
	again := false
	for h, d := range failed {
		if h.style != listed {
			h.style, again = listed, true
			continue
		}
		for _, u := range h.unions {
			again = again || len(e.pending(u.wanted)) > 0
			e.reject(*d, u.wanted...)
		}
	}
	for _, d := range failed {
		for _, h := range e.hosts {
			for _, u := range h.unions {
				if !again { // the unions of the failed structs are rejected already: others affect them
					e.reject(*d, u.wanted...)
				}
			}
		}
	}
	return len(failed) == 0
}

// others returns the number of declarations of structs that get no markers.
func (e *editing) others(set *union.Externals) (n int) {
	for _, x := range set.Declarations {
		if !slices.ContainsFunc(e.hosts, func(h *host) bool { return h.String() == x.Struct }) {
			n++
		}
	}
	return n
}

// declarationsOf returns the declarations of a struct with their schemas, as text.
func (l *loading) declarationsOf(set *union.Externals, h *host) map[string]bool {
	out := map[string]bool{}
	for _, x := range set.Declarations {
		if x.Struct == h.String() {
			a := address{x.Target, x.Version, x.Path}
			if at := l.schemaOf(a); at != nil {
				out[a.String()+"\n"+declaredText(x, at)] = true
			}
		}
	}
	return out
}

// expected returns the CRDs without the rules whose markers are deleted.
func (e *editing) expected() map[schema.GroupKind]apiextensionsv1.CustomResourceDefinition {
	out := map[schema.GroupKind]apiextensionsv1.CustomResourceDefinition{}
	done := map[string]bool{} // several inputs can have the CRD
	for kind, c := range e.parser.CustomResourceDefinitions {
		c = *c.DeepCopy()
		for i, w := range e.wanted {
			if e.outcomes[i].Problem != nil || w.Group != kind.Group || w.Kind != kind.Kind {
				continue
			}
			for _, v := range c.Spec.Versions {
				if v.Name != w.Version {
					continue
				}
				w.Path.Edit(v.Schema.OpenAPIV3Schema, func(s *apiextensionsv1.JSONSchemaProps) {
					for _, rule := range w.Rules {
						key := w.address().String() + "\n" + rule
						if done[key] {
							continue
						}
						done[key] = true
						if i := slices.IndexFunc(s.XValidations, func(r apiextensionsv1.ValidationRule) bool { return r.Rule == rule }); i >= 0 {
							s.XValidations = slices.Delete(slices.Clone(s.XValidations), i, i+1)
						}
					}
				})
			}
		}
		out[kind] = c
	}
	return out
}
