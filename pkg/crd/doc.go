// Package crd has the CustomResourceDefinitions of a file, and answers about their unions.
//
// [Open] opens a file: YAML or JSON, with any number of documents and lists of manifests. [Of] opens
// a CRD in memory. The file is parsed once, and each CRD is compiled once; parse errors are reported
// by the methods that need the content.
//
//   - [File.Compile] and [File.Decompile] return the file with rules in place of declarations, and the
//     reverse. Bytes outside the edits stay unchanged.
//   - [File.CRDs] returns the CRDs as they are sent to an API server, and [File.Plans] the rules of
//     each union with their costs.
//   - [File.Verify] proves whether rules enforce the unions. [File.Diff] compares the objects that two
//     files accept. [File.Lint] returns advice.
//   - [File.Validate] and [File.Normalize] take objects, as an API server gets them.
//
// Compiled and live CRDs keep their rules: only Compile writes them again. Their annotation has their
// unions.
//
// Methods report problems of the file as diagnostics with positions. With errors among them, the
// result is nil. Other errors are about the world: an interrupted search, or an object that cannot be
// validated.
package crd
