package verify

import (
	"context"
	"time"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
)

// WithDeadline bounds the time of the questions that are asked with the context. A question still
// open at the deadline is undecided; this is not an error. Zero means no bound.
func WithDeadline(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return prove.WithDeadline(ctx, d)
}

// MapKey is the key of a union object in examples, if the object is a value of a map.
const MapKey = formula.EntryKey
