// Package docs holds the documentation. Its tests run what the documents show.
package docs

import _ "embed"

// Diagnostics is the page that has an entry for every diagnostic code.
//
//go:embed diagnostics.md
var Diagnostics string
