// Package packaging tests the wrappers of the program: the hooks for pre-commit, the GitHub Action
// and its workflows, the image, and the release.
//
// The package contains only tests. They run the scripts of the action and the entries of the hooks
// like their runners do, and require bash.
package packaging
