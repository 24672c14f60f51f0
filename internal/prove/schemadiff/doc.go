// Package schemadiff decides which objects only one of two schemas accepts.
//
// A [Pair] is asked about clauses that only one of the schemas has, over the objects of either: each
// schema sees an object without the properties that it drops, and with its defaults. Every example
// has been validated by both sides; that there is none is a proof, as in internal/prove.
package schemadiff
