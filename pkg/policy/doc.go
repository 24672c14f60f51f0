// Package policy writes admission policies that do in the API server what unions ask for:
// a MutatingAdmissionPolicy that clears what pkg/normalize clears, and a
// ValidatingAdmissionPolicy that rejects what pkg/union forbids, for kinds whose schema may
// not be edited.
package policy
