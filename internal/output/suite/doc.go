// Package suite writes and runs tests of the unions of a CRD: objects and updates that the API
// server accepts or rejects, with its errors.
//
// [Tests] uses pkg/verify to find a test for each condition and change of each union; the expected
// results come from the API server's own code, pkg/validate. [Files] writes the tests as files with
// an index, and as test suites in the format of OpenShift's API repository. [Read] reads both,
// edited or not, and [Test.Run] runs the tests.
package suite
