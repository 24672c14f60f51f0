// Package declared has the declarations of unions that stand outside of CRDs, and the configuration
// of a project.
//
// # Kubernetes' own types
//
// [Builtin] returns the unions of Kubernetes' own types. Each Go type of k8s.io/api has one
// declaration, in builtin_declarations.go. A walk over the types, with the names and keys in struct
// tags, finds the fields of these types. [BuiltinKinds] resolves the declarations, and other
// declarations for these kinds, against schemas generated from the Go types.
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
// the omitted ones.
//
// # UnionSets
//
// A UnionSet is a file with declarations for other kinds, and for CRDs with another owner or with
// generated manifests.
//
//	apiVersion: unioncel.dev/v1alpha1
//	kind: UnionSet
//	schemas:
//	- crd: backups.example.com
//	  versions: [v1]
//	  path: spec.storage
//	  x-kubernetes-unions:
//	  - discriminator: type
//	    fields-to-discriminateBy: {s3: S3, nfs: NFS}
//	  extend:
//	  - union: retention
//	    ratchet: true
//	- group: apps
//	  kind: Deployment
//	  path: spec.strategy
//	  x-kubernetes-unions:
//	  - discriminator: type
//	    fields-to-discriminateBy: {rollingUpdate: RollingUpdate}
//
// [ParseUnionSet] turns a file into a [union.Externals]. It checks everything that does not depend
// on other files, and each union with [union.Parse]. pkg/compile resolves the declarations against
// the schemas of CRDs, and [BuiltinKinds] against the schemas of other kinds. They check that CRD,
// version, path and properties exist. [FormatUnionSet] writes the declarations of CRDs that infer
// finds.
//
// docs/unionset.schema.json is the JSON Schema of the format, for editors. A test compares it with
// this package.
//
// # Configuration
//
// [ParseConfig] reads .unioncel.yaml, the options of a project: the declarations outside of its
// CRDs, the options of compiling, and the options of lint. docs/config.md describes the format.
package declared
