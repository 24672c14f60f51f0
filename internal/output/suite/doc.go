// Package suite writes and runs tests for the unions of a CRD: objects and updates that the API
// server accepts or rejects, with the errors.
//
// [Tests] uses pkg/verify to find a test for each condition and change of each union. The expected
// results come from the API server's own code, pkg/validate. [Files] writes the tests as files with
// an index, and as test suites in the format of OpenShift's API repository. [Read] reads both, even
// after edits, and [Test.Run] runs the tests.
package suite
