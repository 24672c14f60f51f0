// Package crdpatch compiles the unions of manifests, bytes in and bytes out.
//
// [Compile] takes a file as it is (YAML or JSON, any number of documents, kind:
// List, block or flow style) and returns it with the declarations of its
// CustomResourceDefinitions replaced by rules. [Decompile] is its inverse. Both
// only splice text: every byte outside the edits stays, and input
// without unions comes out identical.
//
// The annotation [crdfile.Annotation] (pkg/crdfile) on the CRD records an edit: the declaration with its exact
// text and place, and which rules are ours. So compiling twice equals compiling once, and Decompile
// is exact. It is a claim, since anyone may have written it: reverting touches declarations, rules,
// sentences and the annotation only; a rule is ours only if the recorded unions write it again or
// imply it, a sentence only if they write it.
//
// After editing, the result is parsed again and compared, as data, with the
// document that was intended; a difference is an error and nothing is returned.
package crdpatch
