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

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// canonical returns a declaration of one union, resolved against its schema, in a form that does not
// depend on its name or the order of its members. It returns "" for one with errors.
func canonical(value *yaml.Node, at *apiextensionsv1.JSONSchemaProps, resource bool) string {
	declarations, diags := union.Parse("", "", value, &diag.Pos{Line: 1, Col: 1})
	resolved, wrong := union.Resolve(declarations, at, resource)
	if append(diags, wrong...).HasErrors() || len(resolved) != 1 {
		return ""
	}
	u := *resolved[0]
	u.Name = ""
	u.Members = slices.Clone(u.Members)
	slices.SortFunc(u.Members, func(a, b union.Member) int { return strings.Compare(a.Name, b.Name) })
	return flow(u.Node())
}

// accepts checks the packages with the edits. It has unions that are not declared as wanted listed on
// their structs, or rejects them if they are, and then returns false.
func (e *editing) accepts(after *loading, got *union.Externals) bool {
	wrong := e.problems(after, got)
	for _, r := range e.open() {
		switch d := cmp.Or(wrong[r.Struct], wrong[""]); {
		case d == nil:
		case r.onStruct:
			r.Problem = d
		default:
			r.onStruct = true
		}
	}
	return len(wrong) == 0
}

// problems returns what is wrong with the packages with the edits, by edited struct, or by "" if any of
// the edits may be the reason.
func (e *editing) problems(after *loading, got *union.Externals) map[string]*diag.Diagnostic {
	wrong := map[string]*diag.Diagnostic{}
	add := func(of string, d diag.Diagnostic) {
		if !slices.ContainsFunc(e.open(), func(r *request) bool { return r.Struct == of }) {
			of = ""
		}
		if wrong[of] == nil {
			wrong[of] = &d
		}
	}
	for _, d := range after.diags {
		if d.Severity == diag.Error && !e.reports(d) {
			add(d.Path, d)
		}
	}
	if got == nil {
		return wrong
	}
	want, have := e.declared(e.set), after.declared(got)
	for _, r := range e.open() {
		if r.Union != nil {
			want[unionAt{r.Struct, r.address().String(), r.text}] = true
		}
	}
	const hint = "write the markers by hand, or declare the union in a UnionSet"
	all := maps.Clone(want)
	maps.Copy(all, have)
	for u := range all {
		if want[u] != have[u] {
			add(u.of, undeclared(hint, "%s has other unions with the markers than wanted", u.of))
		}
	}
	if len(wrong) == 0 && !equality.Semantic.DeepEqual(e.expected(), after.parser.CustomResourceDefinitions) {
		add("", undeclared(hint, "the markers change more of the CRDs than the rules"))
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
			out[unionAt{x.Struct, a.String(), canonical(x.Value, at, len(x.Path) == 0)}] = true
		}
	}
	return out
}

// expected returns the CRDs without the rules whose markers are deleted.
func (e *editing) expected() map[schema.GroupKind]apiextensionsv1.CustomResourceDefinition {
	out := map[schema.GroupKind]apiextensionsv1.CustomResourceDefinition{}
	for kind, c := range e.parser.CustomResourceDefinitions {
		out[kind] = *c.DeepCopy()
	}
	for _, r := range e.open() {
		for _, v := range out[schema.GroupKind{Group: r.Group, Kind: r.Kind}].Spec.Versions {
			if v.Name == r.Version {
				r.Path.Edit(v.Schema.OpenAPIV3Schema, func(s *apiextensionsv1.JSONSchemaProps) {
					s.XValidations = slices.DeleteFunc(s.XValidations, func(rule apiextensionsv1.ValidationRule) bool { return slices.Contains(r.Rules, rule.Rule) })
				})
			}
		}
	}
	return out
}
