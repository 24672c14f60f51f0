package diag

import "strings"

// Reference is the page that has an entry for every code.
const Reference = "https://github.com/unioncel/unioncel/blob/main/docs/diagnostics.md"

// URL returns the address of the code's documentation, a heading in [Reference].
func (i CodeInfo) URL() string {
	heading := strings.ToLower(string(i.Code) + "-" + strings.ReplaceAll(i.Title, " ", "-"))
	return Reference + "#" + strings.ReplaceAll(heading, ".", "")
}
