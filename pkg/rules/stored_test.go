package rules_test

import (
	"slices"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestStored evaluates objects that an older schema accepted and the current one rejects. Such
// objects stay stored, because the API server ratchets them. The rules have to agree with the model
// in every encoding, except on a discriminator that only the schema requires.
func TestStored(t *testing.T) {
	for _, s := range unioncases.Stored {
		for _, declaration := range unioncases.StoredDeclarations() {
			t.Run(s.Name+", "+declaration, func(t *testing.T) {
				t.Parallel()
				schema := schemaOf(t, s.Schema)
				u := unionOf(t, declaration, schema)
				refuses := map[string]func(map[string]any) bool{}
				for _, encoding := range []rules.Encoding{rules.Paired, rules.Fine, rules.Compact, 2} {
					s := newServer(t, structural(t, schema), rules.Static(u, encoding))
					refuses[encoding.String()] = func(object map[string]any) bool { return len(s.fails(t, nil, object)) > 0 }
				}
				for _, object := range unioncases.StoredObjects() {
					legal := !slices.ContainsFunc(u.Violations(u.StateOf(object)), func(v union.Violation) bool {
						return v.Condition != union.Selected || !u.DiscriminatorRequired
					})
					for encoding, refused := range refuses {
						if refused(object) == legal {
							t.Errorf("%s: %v is refused: %t, legal: %t", encoding, object, !legal, legal)
						}
					}
				}
			})
		}
	}
}
