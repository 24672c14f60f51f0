// Package builtin says which unions Kubernetes' own types have.
//
// They are declared once for each Go type of k8s.io/api, in declarations.go; where objects
// have values of such a type is found by walking the types, with the names and keys that
// their struct tags have. [Declarations] are all of them, each with its place in a kind;
// [Schema] is what they, and those of others, are resolved against.
//
// Covered are the kinds of stable versions. The sources are, in this order:
//
//   - the API server's validation and defaulting (pkg/apis/*/validation and
//     pkg/apis/*/v1/defaults.go of k8s.io/kubernetes, the version of k8s.io/api that is
//     linked), which decide which members there may be, and how many;
//   - the published OpenAPI: its x-kubernetes-unions, and the patch strategy retainKeys;
//   - the API reference, for what is said there and validated nowhere.
//
// A test compares the declarations with the first field by field, and with the second.
// docs/builtin.md has what is covered, what is left out, and why.
package builtin
