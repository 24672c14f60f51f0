// Package packaging holds what wraps the program to what the program does: the hooks
// for pre-commit, the GitHub Action and its workflows, the image, the release.
//
// There is nothing in it but tests. They run the scripts of the action and the
// entries of the hooks as their runners would, and need bash.
package packaging
