// Package testgc is imported by tests for its effect: garbage is collected less often.
// The API server's CEL allocates a lot that dies young; what lives is small.
package testgc

import "runtime/debug"

func init() { debug.SetGCPercent(800) }
