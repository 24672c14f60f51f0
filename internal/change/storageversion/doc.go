// Package storageversion has the rules of KEP-2339, the StorageVersion API: which API servers of
// a cluster encode the objects of a resource in which version, and whether they agree.
//
// The types are those of k8s.io/api/apiserverinternal/v1alpha1, and [Validate] is the API
// server's validation of them. [Start] and [Collect] are the two ways in which the entries of an
// object change: an API server that starts reports its own, and the garbage collector takes out
// the entries of servers that are gone. A migration needs servers that have [Agreed] on a
// version, and has to be repeated when it was [Disturbed].
//
// An API server that starts leaves stale entries alone, as in Kubernetes 1.37 and unlike in the
// proposal. There the API is still alpha and off by default, and no server reports custom
// resources.
package storageversion
