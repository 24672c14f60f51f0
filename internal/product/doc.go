// Package product makes products of CRDs other than rules: items of a KRM function, JSON Schema,
// tests, patches, and normalized objects.
//
// # The KRM function
//
// [RunFunction] runs the compiler and the normalizer as a KRM function for kustomize, kpt and other
// orchestrators. A function reads a ResourceList and writes a ResourceList
// (https://github.com/kubernetes-sigs/kustomize/blob/master/cmd/config/docs/api-conventions/functions-spec.md).
// The list's functionConfig selects the function. The kind UnionCompiler compiles CRDs:
//
//	apiVersion: unioncel.dev/v1alpha1
//	kind: UnionCompiler
//	metadata:
//	  name: unions
//	files: [crds/backup.yaml]   # generate: these files, compiled, become items
//	unions: [unions.yaml]       # external declarations, as for compile --unions
//	schemas: []                 # the same in place, as in a UnionSet
//	kubeVersion: "1.30"         # and encoding, noAnnotation, forget
//
// UnionCompiler always compiles the CRDs among the items, so the same configuration can be a
// generator or a transformer. The kind UnionNormalizer clears members that unions forbid in the
// objects among the items, as [NormalizeFile] does for merged objects:
//
//	apiVersion: unioncel.dev/v1alpha1
//	kind: UnionNormalizer
//	metadata:
//	  name: unions
//	crds: [crds/backup.yaml]    # of the objects; CRDs among the items count as well
//	builtin: true               # Kubernetes' own kinds, too
//	unions: [unions.yaml]       # and schemas, as above
//
// Each run guarantees:
//
//   - Items other than CRDs (for a UnionNormalizer: items without unions), and the functionConfig,
//     stay the same as data and in their order. So do the tracking annotations of orchestrators.
//     Comments and styles stay if the encoder of yaml.v3 can keep all of them.
//   - The same input gives the same output, and compiling the output again does not change it.
//   - If there is an error, the items are the items of the input, and the results describe it.
//
// Items and results have the types of kyaml. RunFunction reads and writes the list itself: kyaml's
// ByteReadWriter accepts input other than a ResourceList, drops empty annotations, and panics if
// metadata is a list. Tests check the output with kyaml's reader and kustomize.
//
// RunFunction opens no files. Its caller provides them as an [fs.FS].
//
// # JSON Schema
//
// [JSONSchema] writes the schema of custom resources for programs other than the API server, such as
// editors and validators: as JSON Schema, draft-07.
//
// Each union has a branch with the members for each value of the discriminator. It has the meaning of
// pkg/union for new objects. CEL rules, and constraints of unions on changes, are omitted, because
// JSON Schema cannot express them. The rest is the schema of the API server in JSON Schema. It is
// closed where the server reports unknown fields, and allows null where the server prunes null or
// replaces it with a default. If, then and else select the branch, so that errors are about its
// members; without a discriminator, oneOf does.
//
// # Tests
//
// [SuiteTests] uses internal/prove/verify to find a test for each condition and change of each union: objects
// and updates that the API server accepts or rejects, with the errors. The expected results come from
// the API server's own code, internal/server. [SuiteFiles] writes the tests as files with an index, and
// as test suites in the format of OpenShift's API repository. [ReadSuite] reads both, even after
// edits, and [Test.Run] runs the tests.
//
// # Patches
//
// [CreatePatch] creates the patch from one object to another with the patch libraries of kubectl and
// the API server.
//
// # Normalized objects
//
// [NormalizeObject] clears the members that a union excludes from an object that sets a new member, as
// KEP-1027 ("Union types") intended for the API server. [union.Union.Normalize] decides which members
// to clear; this package finds the unions in an object and in its old object. [NormalizeFile] edits the
// text of objects, and [ExplicitPatches] edits patches so that they clear these members.
package product
