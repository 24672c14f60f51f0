// Package schemadiff decides which objects only one of two schemas accepts.
//
// A [Pair] answers questions about clauses that only one of the schemas has. Each schema receives
// an object without the properties that it prunes, and with its own defaults. Every example has
// been validated by both sides. The absence of an example is a proof, as in internal/prove.
package schemadiff
