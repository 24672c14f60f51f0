// Package project reads .unioncel.yaml, the options of a project: which declarations
// there are besides those in its CRDs, how the unions are compiled, and what lint says
// of them. docs/config.md describes the format.
package project
