// Package suite writes and runs tests of the unions of a CRD: objects and updates that the
// API server accepts or refuses, and why.
//
// [Tests] finds them, one for each condition and change of each union, with pkg/verify;
// what the API server says of them is said by its own code, pkg/validate. [Files] writes
// them as files with an index, and as test suites of the form that OpenShift's API
// repository has. Both are read again, edited or not, by [Read], and run by [Test.Run].
package suite
