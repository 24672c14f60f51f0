// Package lint checks the unions of CustomResourceDefinitions without writing compiled files. It
// reports the diagnostics of compiling, and gives advice.
//
// [File] lints one file. Findings other than errors can be disabled by a comment at a declaration,
// which File honors,
//
//	# unioncel:ignore UC521,UC523: old clients write empty lists
//	x-kubernetes-unions:
//
// or by a [Config], for all files or by file, with its method Apply. [Comments] does the same for
// files of declarations that are not CRDs.
//
// [Fix] applies the edits of findings.
//
// Each piece of advice has a code, UC520 and up; docs/lint.md describes its purpose.
package lint
