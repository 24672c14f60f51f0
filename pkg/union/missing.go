package union

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Missing reports declarations whose CRD is not given: a misspelt name must not silently leave a
// union unenforced. Since not every Go kind has a CRD, it is only a warning, once per kind, if the
// CRD of another Go kind is given.
func (e Externals) Missing(crds []Target) diag.List {
	var names []string
	for _, t := range crds {
		names = append(names, t.Name)
	}
	given := func(t Target) bool {
		return slices.ContainsFunc(crds, func(c Target) bool { return t.Is(c) })
	}
	some := slices.ContainsFunc(e.Scopes, func(s Scope) bool { return s.Kind != "" && given(s.Target) })
	warned := map[Target]bool{}
	var l diag.List
	for _, x := range e.Declarations {
		if given(x.Target) || warned[x.Target] {
			continue
		}
		d := diag.Diagnostic{Code: diag.NoSuchCRD, Pos: x.NamedAt(), Hint: "correct its name, or also give the file that has it",
			Message: fmt.Sprintf("no input has the CustomResourceDefinition %s, which this union is for", cmp.Or(x.Name, "of "+x.Target.String()))}
		if best := spelling.Closest(x.Name, names); best != "" && x.Kind == "" {
			d.Hint = fmt.Sprintf("did you mean %s? Or also give the file that has it", best)
		}
		if x.Kind != "" {
			d.Hint = "also give the file that has it"
			if some {
				d.Severity, warned[x.Target] = diag.Warning, true
				d.Hint += "; if there is none, nothing enforces the unions of this kind"
			}
		}
		l = append(l, d)
	}
	return l
}
