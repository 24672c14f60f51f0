// Package crdpatch compiles the unions of manifests, bytes in and bytes out.
//
// [Compile] takes a file as it is (YAML or JSON, any number of documents, kind: List, block or flow
// style) and returns it with the declarations in its CustomResourceDefinitions replaced with rules.
// [Decompile] is its inverse. Both only splice text: every byte outside the edits stays unchanged,
// and input without unions is returned unchanged.
//
// The annotation [crdfile.Annotation] (pkg/crdfile) on the CRD records an edit: the exact text and
// position of the declaration, and the compiled rules. So compiling twice equals compiling once,
// and Decompile is exact. The annotation is not trusted, since anyone may have written it.
// Reverting changes only declarations, rules and the annotation. It removes a rule only if the
// recorded unions compile to it.
//
// After editing, the result is parsed again and compared, as data, with the intended
// document. A difference is an error, and there is no result.
package crdpatch
