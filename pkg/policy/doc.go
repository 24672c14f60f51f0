// Package policy writes admission policies for unions. A MutatingAdmissionPolicy ([Mutating])
// changes requests as unioncel normalize changes files. A ValidatingAdmissionPolicy ([Validating])
// rejects the requests that compiled rules reject, for kinds whose schema may not be edited.
//
// Both ignore unions that a request leaves unchanged, so users can still label and delete stored
// objects that violate a union. [CheckMutating] and [CheckValidating] compile and measure the
// policies with the API server's own code, and report the unions and rules that no policy covers.
package policy
