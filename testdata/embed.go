// Package testdata has the files that tests of several packages read; see README.md.
package testdata

import "embed"

// CRDs are the files of the directory crds.
//
//go:embed crds/*.yaml
var CRDs embed.FS
