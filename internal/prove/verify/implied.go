package verify

import (
	"context"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/union"
)

// Implied reports whether unions allow every object, and every change of it, that the API server
// accepts by a schema, its static rules and the unions given. The schema may lack properties of the
// unions. It is false if this cannot be decided.
func Implied(unions []*union.Union, schema *apiextensionsv1.JSONSchemaProps, given []*union.Union) bool {
	if slices.ContainsFunc(slices.Concat(unions, given), func(u *union.Union) bool { return u == nil || u.Guarded() || u.Ratchet }) {
		return false
	}
	s := formula.New(schema)
	holds := []logic.Lit{s.Schema(schema, s.New)}
	for _, r := range schema.XValidations {
		if read, err := formula.Parse(r.Rule); err == nil && !strings.Contains(r.Rule, "oldSelf") {
			if f, err := s.Rule(read, s.New, formula.Plain); err == nil {
				holds = append(holds, f.Holds)
			}
		}
	}
	broken := func(l []*union.Union) logic.Lit {
		var any []logic.Lit
		for _, u := range l {
			for _, name := range u.Names() {
				if !u.OfItems() {
					pruned(s, s.New, u.Path(name).Properties())
				}
			}
			any = append(any, conditions(newSymbolic(s, u, s.New).violations())...)
		}
		return s.Or(any...)
	}
	violated, legal := broken(unions), broken(given).Not()
	s.Close()
	m, err := s.Satisfy(context.Background(), append(holds, legal, violated)...)
	return m == nil && err == nil
}

// pruned requires that the first property on a path that the API server prunes is absent.
func pruned(s *formula.Space, p *formula.Place, path []string) {
	for _, name := range path {
		if c := p.Child(name); c.Schema == nil && p.Prunes() {
			s.Require(c.Present().Not())
			return
		}
		p = p.Child(name)
	}
}
