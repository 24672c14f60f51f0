package union

import (
	"fmt"
	"slices"

	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Missing reports the declarations whose CRD is not among those given: a misspelt name
// must not pass for a union that is enforced.
func (e Elsewhere) Missing(crds []Target) diag.List {
	var names []string
	for _, t := range crds {
		names = append(names, t.Name)
	}
	var l diag.List
	for _, x := range e.Externals {
		if slices.ContainsFunc(crds, func(t Target) bool { return x.Is(t.Name, t.Group, t.Kind) }) {
			continue
		}
		hint := "correct its name, or give the file that has it, too"
		if best := spelling.Closest(x.Name, names); best != "" && x.Kind == "" {
			hint = fmt.Sprintf("did you mean %s? Or give the file that has it, too", best)
		}
		l = append(l, diag.Diagnostic{Code: diag.NoSuchCRD, Pos: x.NamedAt(), Hint: hint,
			Message: fmt.Sprintf("no input has the CustomResourceDefinition %s, which this union is for", x.Name)})
	}
	return l
}
