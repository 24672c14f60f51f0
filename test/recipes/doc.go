// Package recipes runs the recipes of docs/recipes.md: a script each, in
// testdata, with the files and the commands that the document shows. The
// programs that the recipes use are the real ones, and so is the API server that
// kubectl speaks to; commands says what takes the place of tools that need a network.
//
// The scripts in testdata/kustomize run the KRM function with kustomize in more ways.
package recipes
