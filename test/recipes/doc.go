// Package recipes runs the recipes of docs/pipelines.md. Each is a script in testdata, with the files
// and commands that the document shows. The programs and the API server are real. Tools that
// require a network are replaced by commands.
//
// The scripts in testdata/kustomize run the KRM function with kustomize in more ways.
package recipes
