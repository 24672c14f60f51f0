// Package docs contains the documentation. Its tests run the examples in the documents.
package docs

import _ "embed"

// Diagnostics is the page that has an entry for every diagnostic code.
//
//go:embed diagnostics.md
var Diagnostics string
