package markers

import (
	"cmp"
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
// has them declared on their structs, and then returns false.
func (e *editing) accepts(after *loading, got *union.Externals) bool {
	wrong := e.problems(after, got)
	if len(wrong) == 0 {
		return true
	}
	failed := map[*structure]bool{}
	for _, r := range e.open() {
		switch d := cmp.Or(wrong[r.Struct], wrong[""]); {
		case d == nil:
		case e.onStruct[r.of]:
			r.Problem = d
		default:
			failed[r.of] = true
		}
	}
	maps.Copy(e.onStruct, failed)
	return false
}

// problems returns what is wrong with the packages with the edits, by edited struct, or by "" if any of
// the edits may be the reason.
func (e *editing) problems(after *loading, got *union.Externals) map[string]*diag.Diagnostic {
	wrong := map[string]*diag.Diagnostic{}
	edited := map[string]bool{}
	for _, r := range e.open() {
		edited[r.Struct] = true
	}
	add := func(of string, d diag.Diagnostic) {
		if !edited[of] {
			of = ""
		}
		if wrong[of] == nil {
			wrong[of] = &d
		}
	}
	say := func(format string, args ...any) diag.Diagnostic {
		return diag.New(codes.LeftUndeclared, diag.Pos{}, format, args...).As(diag.Error).
			Hinted("write the markers by hand, or declare the union in a UnionSet")
	}
	for _, d := range after.diags {
		if d.Severity == diag.Error && !e.reports(d) {
			add(d.Path, d)
		}
	}
	if got == nil {
		add("", diag.New(codes.GoPackage, diag.Pos{}, "the packages cannot be read with the markers"))
		return wrong
	}
	want, have := e.declared(e.set), after.declared(got)
	for _, r := range e.open() {
		if r.Union != nil {
			want[unionAt{r.Struct, r.address().String(), r.text}] = true
		}
	}
	all := maps.Clone(want)
	maps.Copy(all, have)
	for u := range all {
		switch {
		case want[u] == have[u]:
		case edited[u.of]:
			add(u.of, say("markers on %s cannot declare the union", u.of))
		default:
			add("", say("the markers affect unions of other structs"))
		}
	}
	if len(wrong) == 0 && !equality.Semantic.DeepEqual(e.expected(), after.parser.CustomResourceDefinitions) {
		add("", say("the markers change more of the CRDs than the rules"))
	}
	return wrong
}

// unionAt is a union that a struct declares in a schema.
type unionAt struct{ of, at, text string }

// declared returns the unions in a set.
func (l *loading) declared(set *union.Externals) map[unionAt]bool {
	out := map[unionAt]bool{}
	for _, x := range set.Declarations {
		a := address{x.Target, x.Version, x.Path}
		if at := l.schemaOf(a); at != nil {
			out[unionAt{x.Struct, a.String(), declaredText(x, at)}] = true
		}
	}
	return out
}

// expected returns the CRDs without the rules whose markers are deleted.
func (e *editing) expected() map[schema.GroupKind]apiextensionsv1.CustomResourceDefinition {
	out := map[schema.GroupKind]apiextensionsv1.CustomResourceDefinition{}
	for kind, c := range e.parser.CustomResourceDefinitions {
		c = *c.DeepCopy()
		for _, r := range e.open() {
			for _, v := range c.Spec.Versions {
				if r.Group != kind.Group || r.Kind != kind.Kind || r.Version != v.Name {
					continue
				}
				r.Path.Edit(v.Schema.OpenAPIV3Schema, func(s *apiextensionsv1.JSONSchemaProps) {
					s.XValidations = slices.DeleteFunc(slices.Clone(s.XValidations), func(rule apiextensionsv1.ValidationRule) bool {
						return slices.Contains(r.Rules, rule.Rule)
					})
				})
			}
		}
		out[kind] = c
	}
	return out
}
