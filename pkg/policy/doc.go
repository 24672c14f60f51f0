// Package policy writes admission policies for unions. A MutatingAdmissionPolicy ([Mutating])
// changes requests as pkg/normalize changes files. A ValidatingAdmissionPolicy ([Validating])
// rejects the requests that compiled rules reject, for kinds whose schema may not be edited.
//
// Both leave a union alone that a request leaves as it was: stored objects that break it can be
// labelled and deleted. [CheckMutating] and [CheckValidating] have the API server's own code compile
// and measure the policies, and report what they do not cover.
package policy
