package formula

import (
	"context"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// Evaluate returns the values of all formulas for an object or, if old is not nil, for an update.
// ok is false if a question cannot be evaluated.
func (a *Answers) Evaluate(ctx context.Context, s *Space, new, old any) (m logic.Model, ok bool) {
	values := map[logic.Lit]bool{}
	ok = true
	for _, f := range s.Facts {
		holds, known := a.Holds(ctx, f, new, old)
		values[f.Lit] = holds
		ok = ok && (known || f.Question != nil && !f.Question.applies(new, old))
	}
	return s.Circuit.Evaluate(func(l logic.Lit) bool { return values[l] }), ok
}
