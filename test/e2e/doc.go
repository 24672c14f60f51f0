// Package e2e checks the meaning of compiled CRDs end to end: internal/crdpatch
// compiles the manifests, a real API server installs them under strict field
// validation, and objects are created and updated there.
//
// The package contains only tests. The files in testdata are the cases. Each
// contains one CRD with its declarations, writes of its objects, and the
// errors as kubectl prints them. They are written to be read.
//
// By default the tests need nothing but this repository. With the environment
// variable UNIONCEL_CORPUS set to a directory of CRDs, every *.yaml in it is
// compiled and installed as well:
//
//	UNIONCEL_CORPUS=/some/crds go test ./test/e2e -run TestManifests -v
package e2e
