package prove

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// Deadline is the cause of the end of a context from [WithDeadline]. Questions without an answer at
// the deadline are undecided, which is not an error.
type Deadline time.Duration

// Error states that a question was not decided in time.
func (d Deadline) Error() string { return fmt.Sprintf("not decided within %s", time.Duration(d)) }

// WithDeadline bounds the time for the questions that are asked with the context. Zero means no
// bound.
func WithDeadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(context.WithValue(ctx, deadlineKey{}, Deadline(d)), d, Deadline(d))
}

type deadlineKey struct{}

// Share returns a context for the next of n questions. It gets an nth of the remaining time.
func Share(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	d, bounded := ctx.Value(deadlineKey{}).(Deadline)
	end, _ := ctx.Deadline()
	if !bounded || n < 2 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, time.Until(end)/time.Duration(n), d)
}

// Undecided reports whether an error leaves a question open, because the search reached a bound or
// the deadline.
func Undecided(err error) bool {
	return errors.Is(err, logic.ErrUnknown) || errors.Is(err, ErrNotMade) || Late(err)
}

// Late reports whether an error means that a question had no answer at the deadline.
func Late(err error) bool {
	var d Deadline
	return errors.As(err, &d)
}
