package lint

import (
	"fmt"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// neverUnchanged tells of union objects that are never unchanged to the API server, or
// not always when nothing has changed: one that is stored invalid then fails every
// update. Below a list whose items it cannot match with their old selves the whole list
// is compared instead, whatever is in it.
func neverUnchanged(s *subject) diag.List {
	if _, unmatched := s.object.Unmatched(s.crd.CRD); s.Ratchet || unmatched {
		return nil
	}
	what, at := "the API server never considers the root of a resource unchanged", ""
	if len(s.object.Path) > 0 {
		var open bool
		if at, open = union.Unnamed(s.schema); !open {
			return nil
		}
		holder := "it"
		if at != "" {
			holder = fmt.Sprintf("%q", at)
		}
		what = fmt.Sprintf("the API server never considers the object of this union unchanged while %s has fields that the schema does not name", holder)
	}
	return s.find(diag.NeverUnchanged, s.pos(), nil,
		"write ratchet: true in the declaration, which considers only the discriminator and which members are set (since Kubernetes 1.30)",
		"%s: a stored object that breaks the union cannot be updated until it is fixed, not even its /status", what)
}
