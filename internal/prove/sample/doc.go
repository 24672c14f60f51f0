// Package sample has the schemas of a CRD as a proof needs them: the tests that the API server makes
// of a value, each evaluated by itself with the API server's code, and small values that a schema
// accepts.
package sample
