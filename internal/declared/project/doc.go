// Package project reads .unioncel.yaml, the options of a project: the declarations outside of its
// CRDs, the options of compiling, and the options of lint. docs/config.md describes the format.
package project
