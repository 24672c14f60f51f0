package verify

import (
	"context"
	"time"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
)

// WithDeadline bounds the time of the questions that are asked with the context. A question that is
// open by then is undecided, which is an answer and no error. Zero is no bound.
func WithDeadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return prove.WithDeadline(ctx, d)
}

// MapKey is the key in examples of a union object that is a value of a map.
const MapKey = formula.EntryKey
