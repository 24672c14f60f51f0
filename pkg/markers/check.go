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
	want, have := e.declarations(e.set), after.declarations(got)
	for _, h := range e.hosts {
		of := h.String()
		for _, u := range h.unions {
			for _, i := range e.pending(u.wanted) {
				if u.Union != nil {
					want.add(of, e.wanted[i].address(), u.text)
				}
			}
		}
		if !maps.Equal(want[of], have[of]) {
			fail(h, unlike(h, "cannot declare the union"))
		}
		delete(want, of)
		delete(have, of)
	}
	if len(failed) == 0 && !maps.EqualFunc(want, have, maps.Equal) {
		all(new(diag.New(codes.LeftUndeclared, diag.Pos{}, "the markers affect unions of other structs").As(diag.Error)))
	}
	if len(failed) == 0 && !equality.Semantic.DeepEqual(e.expected(), after.parser.CustomResourceDefinitions) {
		for _, h := range e.hosts {
			fail(h, unlike(h, "change more of the CRDs than the rules"))
		}
	}
	again := false
	for h, d := range failed {
		if h.style != structStyle {
			h.style, again = structStyle, true
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

// texts are the declarations of structs with their schemas.
type texts map[string]map[string]bool

func (t texts) add(of string, a address, text string) {
	if t[of] == nil {
		t[of] = map[string]bool{}
	}
	t[of][a.String()+"\n"+text] = true
}

// declarations returns the declarations in a set by struct.
func (l *loading) declarations(set *union.Externals) texts {
	out := texts{}
	for _, x := range set.Declarations {
		a := address{x.Target, x.Version, x.Path}
		if at := l.schemaOf(a); at != nil {
			out.add(x.Struct, a, declaredText(x, at))
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
