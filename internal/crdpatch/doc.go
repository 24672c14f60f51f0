// Package crdpatch compiles the unions of manifests, bytes in and bytes out.
//
// [Open] opens a file: YAML or JSON, with any number of documents, and lists of manifests, in block or
// flow style. The file is parsed once, lazily, and each CRD is compiled once for the same options.
// [File.CRDs] and [Ask] return its CRDs: their unions, rules and positions.
//
// [Compile] returns the file with the declarations in its CustomResourceDefinitions replaced with rules.
// [Decompile] is its inverse. Both only splice text: every byte outside the edits stays unchanged,
// and input without unions is returned unchanged.
//
// The annotation [Annotation] on the CRD records an edit: the exact text and position of the
// declaration, and the compiled rules. So compiling twice equals compiling once, and Decompile is
// exact. The annotation is not trusted, since anyone may have written it. Reverting changes only
// declarations, rules and the annotation. It removes a rule only if the recorded unions compile to it.
//
// After editing, the result is parsed again and compared, as data, with the intended
// document. A difference is an error, and there is no result.
package crdpatch
