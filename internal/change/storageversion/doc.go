// Package storageversion has the rules of KEP-2339, the StorageVersion API, about names and
// agreement. A StorageVersion has the version in which each API server of a cluster encodes the
// objects of a resource.
//
// The package uses the types of k8s.io/api/apiserverinternal/v1alpha1. In Kubernetes 1.37 the API is
// still alpha and off by default, and no server reports custom resources, so no command reads these
// objects.
package storageversion
