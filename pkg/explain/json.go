package explain

import (
	"encoding/json"
	"io"
)

// JSON writes explanations as one array of objects, as [CRD] has them. Every key
// is there every time. An error is that of w.
func JSON(w io.Writer, crds []CRD) error {
	if crds == nil {
		crds = []CRD{}
	}
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(crds)
}
