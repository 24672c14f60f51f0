// Package storageversion is the StorageVersion API of KEP-2339 as pure functions: which API
// servers of a cluster encode the objects of a resource in which version, and whether they
// agree.
//
// The types are those of k8s.io/api/apiserverinternal/v1alpha1. An API server that starts
// puts its entry into the object of each resource with [Start], before it serves writes;
// [Collect] is the garbage collector, which takes out the entries of servers that are gone.
// Both return what to write, with the resourceVersion of what they were given, which has to
// be the precondition of the write: on a conflict the object and the list of servers are
// read again, in this order. A migrator asks [ShouldStart], [ShouldAbort] and [Disturbed].
// Nothing here reads a clock or a cluster, and arguments are not changed.
//
// It follows the text of the proposal. Kubernetes 1.37, where the API is still alpha and off
// by default, differs in this:
//
//   - a server that starts leaves the entries of others alone, also of those that are gone:
//     [Start] without a list of servers;
//   - its garbage collector leaves an object alone that has never had an entry, and deletes
//     without a precondition;
//   - no server reports custom resources.
//
// What is left to servers is to register before they report, to report before they accept
// writes, and to answer 503 until then.
package storageversion
