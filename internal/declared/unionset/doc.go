// Package unionset reads and writes files of declarations for CRDs
// that somebody else owns, or whose manifests are generated, and for other kinds.
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
// [Parse] turns a file into a [union.Externals], which pkg/compile resolves against the schemas
// of the CRDs, and pkg/kinds against those of other kinds: they check whether a CRD, version, path or property exists. What can be
// checked with the file alone is checked here, each union by [union.Parse]. [Format] is the inverse. [Path] and [ParsePath] translate between
// the steps to a schema and what a file calls its path.
//
// docs/unionset.schema.json is the JSON Schema of the format, for editors. It is
// checked against this package by a test.
package unionset
