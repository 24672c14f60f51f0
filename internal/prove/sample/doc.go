// Package sample has the schemas of a CRD for proofs. It returns the tests that the API server runs
// on a value, which can be evaluated separately with the API server's code, and small values that a
// schema accepts.
package sample
