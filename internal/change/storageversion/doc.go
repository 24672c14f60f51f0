// Package storageversion implements the rules of KEP-2339, the StorageVersion API. A StorageVersion
// has the version in which each API server of a cluster encodes the objects of a resource. It also
// states whether the servers agree.
//
// The package uses the types of k8s.io/api/apiserverinternal/v1alpha1; [Validate] is the API
// server's validation of these types. Entries change in two ways, [Start] and [Collect]: an API
// server that starts reports its own entry, and the garbage collector removes the entries of
// servers that are gone. A migration needs servers that have [Agreed] on a version, and must be
// repeated if it was [Disturbed].
//
// An API server that starts keeps stale entries, as in Kubernetes 1.37 and unlike in the proposal.
// In 1.37 the API is still alpha and off by default, and no server reports custom resources.
package storageversion
