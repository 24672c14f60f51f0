// Package e2e holds compiled CRDs to what their unions mean, end to end: the
// manifests are compiled by pkg/crdpatch, installed in a real API server under
// strict field validation, and real objects are created and updated there.
//
// There is nothing in it but tests. The files in testdata are the cases: each
// holds one CRD with its declarations and what becomes of objects of it, with
// the errors as a user of kubectl reads them. They are meant to be read.
//
// By default the tests need nothing but this repository. With the environment
// variable UNIONCEL_CORPUS set to a directory of CRDs, every *.yaml in it is
// compiled and installed as well:
//
//	UNIONCEL_CORPUS=/some/crds go test ./test/e2e -run TestManifests -v
package e2e
