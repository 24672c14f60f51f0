package logic

import (
	"context"
	"errors"
	"fmt"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// Exhausted is the error of a question whose search used all its steps. The question is then
// undecided, on any machine. A step takes roughly 100 ns.
type Exhausted int

// Error states the number of steps, in the form of the flag that raises it.
func (e Exhausted) Error() string {
	return fmt.Sprintf("the search exceeds --limit steps=%d", int(e))
}

// IsExhausted reports whether an error means that a question used all its steps.
func IsExhausted(err error) bool {
	var e Exhausted
	return errors.As(err, &e)
}

// WithSteps sets the number of steps of each question that is asked with the context. Without it,
// questions have the default of [yamltext.Limits].
func WithSteps(ctx context.Context, n int) context.Context {
	return context.WithValue(ctx, stepsKey{}, n)
}

// Question returns the context of a single question, with all its steps. Once [Spend] has used them,
// Err and context.Cause return [Exhausted]; its channel Done is not closed for that. It is not for
// concurrent use.
func Question(ctx context.Context) context.Context {
	n, ok := ctx.Value(stepsKey{}).(int)
	if !ok {
		n = yamltext.Limits{}.OrDefault().Steps
	}
	return &question{ctx, n, n}
}

// Spend counts steps of the question that a context belongs to.
func Spend(ctx context.Context, steps int) {
	if q, ok := ctx.Value(questionKey{}).(*question); ok {
		q.left = max(q.left-steps, -1)
	}
}

type (
	stepsKey    struct{}
	questionKey struct{}
)

type question struct {
	context.Context
	steps, left int
}

func (q *question) Err() error {
	if err := q.Context.Err(); err != nil || q.left >= 0 {
		return err
	}
	return Exhausted(q.steps)
}

func (q *question) Value(key any) any {
	if key == (questionKey{}) {
		return q
	}
	return q.Context.Value(key)
}
