package formula

import (
	"context"
	"fmt"
	"strings"

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

// String returns the path in CEL, with self or oldSelf at the root.
func (p *Place) String() string {
	name := "self"
	if p.Old {
		name = "oldSelf"
	}
	return strings.Join(append([]string{name}, p.Path()...), ".")
}

func (f *Fact) String() string {
	switch f.Kind {
	case Present:
		return fmt.Sprintf("has(%s)", f.Place)
	case Null:
		return fmt.Sprintf("%s is null", f.Place)
	case Equals:
		return fmt.Sprintf("%s == %#v", f.Place, f.Constant)
	case Empty:
		return fmt.Sprintf("%s is empty", f.Place)
	case Same:
		return fmt.Sprintf("%s == %s", f.Place, f.Other)
	case Fails:
		return "error: " + f.Question.Text
	}
	return f.Question.Text
}
