// Package unionset reads and writes UnionSets: files with declarations for other kinds, and for
// CRDs with another owner or with generated manifests.
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
// [Parse] turns a file into a [union.Externals]. It checks everything that does not depend on other
// files, and each union with [union.Parse]. pkg/compile resolves the declarations against the
// schemas of CRDs, and pkg/kinds against the schemas of other kinds. They check that CRD, version,
// path and properties exist. [Format] writes the declarations of CRDs that infer finds.
//
// docs/unionset.schema.json is the JSON Schema of the format, for editors. A test compares it with
// this package.
package unionset
