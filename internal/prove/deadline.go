package prove

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// Deadline is the time that questions may take: the cause of a context that [WithDeadline]
// has ended. A question that is open by then is undecided, which is an answer and no error.
type Deadline time.Duration

// Error says that a question was not decided in time.
func (d Deadline) Error() string { return fmt.Sprintf("not decided within %s", time.Duration(d)) }

// WithDeadline bounds the time of the questions that are asked with the context. Zero is no
// bound.
func WithDeadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	if d == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(context.WithValue(ctx, deadlineKey{}, Deadline(d)), d, Deadline(d))
}

type deadlineKey struct{}

// Share is a context for the next of n questions: it ends when this question has taken an
// nth of the time that is left to all.
func Share(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	d, bounded := ctx.Value(deadlineKey{}).(Deadline)
	end, _ := ctx.Deadline()
	if !bounded || n < 2 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, time.Until(end)/time.Duration(n), d)
}

// Undecided reports whether an error leaves a question open: the search was at one of its
// bounds, or at the deadline.
func Undecided(err error) bool {
	return errors.Is(err, logic.ErrUnknown) || errors.Is(err, ErrNotMade) || Late(err)
}

// Late reports whether an error says that a question was open at the deadline.
func Late(err error) bool {
	var d Deadline
	return errors.As(err, &d)
}
