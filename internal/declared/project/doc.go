// Package project reads .unioncel.yaml, the options of a project: the declarations outside its
// CRDs, how unions are compiled, and how lint reports on them. docs/config.md describes the format.
package project
