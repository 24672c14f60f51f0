// Package unionset reads and writes the side file of declarations: unions of CRDs
// that one does not own, or whose manifests are generated.
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
//
// [Parse] turns a file into a [union.Externals], which pkg/compile resolves against the schemas
// of the CRDs: whether a CRD, version, path or property exists is its business. All
// that can be told from the file alone is checked here, each union by
// [union.Parse]. [Format] is the way back. [Path] and [ParsePath] translate between
// the steps to a schema and what a file calls its path.
//
// docs/unionset.schema.json is the JSON Schema of the format, for editors. It is
// held to this package by a test.
package unionset
