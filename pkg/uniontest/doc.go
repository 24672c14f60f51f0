// Package uniontest tests the unions of CustomResourceDefinitions in Go tests. [Suite] runs test
// suites. [Parity] compares a validating webhook with the rules of a CRD. Both validate with the API
// server's own code and need no cluster.
//
// CRDs that declare unions are compiled first, in memory, with the default options. Compiled CRDs are
// taken as they are. No .unioncel.yaml is read: compile CRDs whose unions are declared elsewhere.
package uniontest
