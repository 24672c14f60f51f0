// Package lint checks the unions of CustomResourceDefinitions without compiling
// them into a file: it reports what compiling would, and gives advice.
//
// [File] lints one file. What it finds can be switched off, unless it is an
// error: by a comment at a declaration, which File honors,
//
//	# unioncel:ignore UC521,UC523: old clients write empty lists
//	x-kubernetes-unions:
//
// and everywhere or by file by a [Config], which its method Apply does. Comments in
// files of declarations that are not CRDs are [Comments].
//
// [Fix] makes the edits that findings have.
//
// Each piece of advice has a code, UC520 and up; docs/lint.md says what it is for.
package lint
