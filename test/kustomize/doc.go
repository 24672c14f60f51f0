// Package kustomize runs the KRM function with the real kustomize: its command build,
// as a library, on real kustomizations.
//
// There is nothing in it but tests. Each script in testdata shows one way to use the
// function, or to use it wrongly; docs/kustomize.md is the guide to them.
package kustomize
