package report

import (
	"fmt"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
)

// neverUnchanged finds union objects that the API server never considers unchanged, or not always.
// If such an object is stored and invalid, every update fails. In a list whose items the server
// cannot correlate, the server compares the whole list instead, so this does not depend on the
// content of the union object.
func neverUnchanged(s *lintedUnion) diag.List {
	if _, unmatched := s.object.Unmatched(s.crd.CRD); s.Ratchet || unmatched {
		return nil
	}
	what, at := "the API server never considers the root of a resource unchanged", ""
	if len(s.object.Path) > 0 {
		var open bool
		if at, open = s.unnamed(); !open {
			return nil
		}
		holder := "it"
		if at != "" {
			holder = fmt.Sprintf("%q", at)
		}
		what = fmt.Sprintf("the API server never considers the object of this union unchanged while %s has fields that the schema does not name", holder)
	}
	return s.find(codes.NeverUnchanged, s.pos(), nil,
		"write ratchet: true in the declaration, which considers only the discriminator and which members are set (since Kubernetes 1.30)",
		"%s: a stored object that violates the union cannot be updated until it is fixed, not even its /status", what)
}
