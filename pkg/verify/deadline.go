package verify

import (
	"context"
	"time"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
)

// WithDeadline bounds the time for the questions that are asked with the context. A question
// without an answer at the deadline is undecided, which is not an error. Zero means no bound.
func WithDeadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return prove.WithDeadline(ctx, d)
}

// MapKey is the key of the union object in examples if it is a value of a map.
const MapKey = formula.EntryKey
