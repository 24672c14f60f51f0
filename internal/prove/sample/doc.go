// Package sample has the schemas of a CRD for proofs: the tests that the API server runs on a
// value, each evaluated separately with the API server's code, and small values that a schema
// accepts.
package sample
