// Package lint checks the unions of CustomResourceDefinitions without writing compiled files. It
// reports the diagnostics of compiling, and gives advice.
//
// [File] lints one file. Findings other than errors can be disabled by a [Config], for all files or
// by file, with its method Apply.
//
// [Fix] applies the edits of findings.
//
// Each piece of advice has a code, UC520 and up; docs/lint.md describes its purpose.
package lint
