//go:build exhaustive

package packaging

import _ "github.com/unioncel/unioncel/internal/testing/testgc"
