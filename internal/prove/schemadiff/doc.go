// Package schemadiff decides which objects only one of two schemas accepts.
//
// A [Pair] answers questions about clauses that only one of the schemas has. Each schema sees an
// object without the properties that it prunes, and with its own defaults. Both sides have
// validated every example. The absence of an example is a proof, as in internal/prove.
package schemadiff
