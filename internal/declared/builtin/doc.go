// Package builtin declares the unions of Kubernetes' own types.
//
// They are declared once for each Go type of k8s.io/api, in declarations.go. Walking the types,
// with the names and keys in their struct tags, finds the fields that have such a type.
// [Declarations] returns all declarations, each with its path in a kind; [Kinds] resolves them, and
// other declarations for these kinds, against schemas made from the Go types.
//
// The kinds of stable versions are covered. The sources are, in this order:
//
//   - the API server's validation and defaulting (pkg/apis/*/validation and
//     pkg/apis/*/v1/defaults.go of k8s.io/kubernetes, in the version of k8s.io/api that is
//     linked), which decide which members may be set, and how many;
//   - the published OpenAPI: its x-kubernetes-unions, and the patch strategy retainKeys;
//   - the API reference, for unions that it documents and nothing validates.
//
// Tests check that each field of a type with unions is in a union or listed as being in none, and
// compare the declarations with the published OpenAPI. docs/builtin.md lists the covered types, and
// the omitted ones with the reasons.
package builtin
