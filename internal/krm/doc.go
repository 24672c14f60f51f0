// Package krm is the compiler, and normalizing, as a KRM function, which kustomize, kpt and
// others run: a ResourceList in, a ResourceList out
// (https://github.com/kubernetes-sigs/kustomize/blob/master/cmd/config/docs/api-conventions/functions-spec.md).
//
// [Run] does it all. The list's functionConfig says what. Of kind UnionCompiler, it compiles
// CRDs:
//
//	apiVersion: unioncel.dev/v1alpha1
//	kind: UnionCompiler
//	metadata:
//	  name: unions
//	files: [crds/backup.yaml]   # generate: these files, compiled, become items
//	unions: [unions.yaml]       # external declarations, as for compile --unions
//	schemas: []                 # the same in place, as in a UnionSet
//	kubeVersion: "1.30"         # and encoding, keepUnions, noAnnotation, describe, forget, verify
//
// The CRDs among the items are compiled in any case, so one configuration serves as
// generator and as transformer. Of kind UnionNormalizer, it clears in the objects among the
// items what their unions exclude, as [normalize.File] does with objects that are merged:
//
//	apiVersion: unioncel.dev/v1alpha1
//	kind: UnionNormalizer
//	metadata:
//	  name: unions
//	crds: [crds/backup.yaml]    # of the objects; CRDs among the items count as well
//	builtin: true               # Kubernetes' own kinds, too
//	unions: [unions.yaml]       # and schemas, as above
//
// What a run promises:
//
//   - Items that are not CRDs, or to a UnionNormalizer those without unions, and everything
//     else in the list, stay the same as data, in their order; so do the annotations by
//     which an orchestrator knows its items. Comments stay where the encoder of yaml.v3 can keep them.
//   - The same input gives the same output, and the output compiled again is the same.
//   - With any error the items are those that were received, and results say why.
//
// The list is read and written as YAML nodes rather than with kyaml's ByteReadWriter,
// which also accepts other things than a ResourceList, and drops annotations that are
// empty. Tests check the output with kyaml's reader and kustomize.
//
// The package opens nothing: files come from the [fs.FS] that its caller provides.
package krm
