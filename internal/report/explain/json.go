package explain

import (
	"io"

	"github.com/unioncel/unioncel/pkg/diag"
)

// JSON writes explanations as one array of objects, as [CRD] has them. Every key
// is there every time. An error is that of w.
func JSON(w io.Writer, crds []CRD) error {
	if crds == nil {
		crds = []CRD{}
	}
	return diag.WriteJSON(w, crds)
}
