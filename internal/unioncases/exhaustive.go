package unioncases

import "os"

// Exhaustive reports whether tests are to try all they can, and not what fits into the
// time of everyday runs: it is set by UNIONCEL_EXHAUSTIVE, as in .ci/run exhaustive.
func Exhaustive() bool { return os.Getenv("UNIONCEL_EXHAUSTIVE") != "" }
