// Package builtin declares the unions of Kubernetes' own types.
//
// Each Go type of k8s.io/api has one declaration, in declarations.go. A walk over the types, with
// the names and keys in struct tags, finds the fields of these types. [Declarations] returns all
// declarations with their paths in the kinds. [Kinds] resolves them, and other declarations for
// these kinds, against schemas generated from the Go types.
//
// Kinds of stable versions are covered. The sources are, in this order:
//
//   - the API server's validation and defaulting (pkg/apis/*/validation and
//     pkg/apis/*/v1/defaults.go of k8s.io/kubernetes, in the version of k8s.io/api that is
//     linked), which decide which members may be set, and how many;
//   - the published OpenAPI: its x-kubernetes-unions, and the patch strategy retainKeys;
//   - the API reference, for unions that it documents and nothing validates.
//
// Tests check that each field of a type with unions is in a union or listed as an exception, and
// compare the declarations with the published OpenAPI. docs/builtin.md lists the covered types, and
// the omitted types with reasons.
package builtin
