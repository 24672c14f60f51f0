// Package krm runs the compiler and the normalizer as a KRM function for kustomize, kpt and other
// orchestrators. A function reads a ResourceList and writes a ResourceList
// (https://github.com/kubernetes-sigs/kustomize/blob/master/cmd/config/docs/api-conventions/functions-spec.md).
//
// [Run] runs the function that the list's functionConfig selects. The kind UnionCompiler compiles
// CRDs:
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
// objects among the items, as [normalize.File] does for merged objects:
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
// Items and results have the types of kyaml. The package reads and writes the list itself: kyaml's
// ByteReadWriter accepts input other than a ResourceList, drops empty annotations, and panics if
// metadata is a list. Tests check the output with kyaml's reader and kustomize.
//
// The package opens no files. Its caller provides them as an [fs.FS].
package krm
