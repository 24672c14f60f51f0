package rules_test

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/rules"
)

// TestStored evaluates objects that an older schema accepted and the current one rejects. Such
// objects stay stored, because the API server ratchets them. The rules have to agree with the model
// in every encoding.
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
				allOf, err := rules.OpenAPI(u)
				if err != nil {
					t.Fatal(err)
				}
				valid := schemaValidator(t, allOf)
				refuses["openapi"] = func(object map[string]any) bool { return !valid(object) }
				for _, object := range unioncases.StoredObjects() {
					typ, written := object["type"]
					legal := len(u.Violations(u.StateOf(object))) == 0
					for encoding, refused := range refuses {
						if written && typ == nil && encoding == "openapi" {
							continue // required counts null as a value: pkg/compile proves each schema
						}
						if refused(object) == legal {
							t.Errorf("%s: %v is refused: %t, legal: %t", encoding, object, !legal, legal)
						}
					}
				}
			})
		}
	}
}

// schemaValidator is the API server's schema validator, without CEL rules.
func schemaValidator(t *testing.T, schema *apiextensionsv1.JSONSchemaProps) func(map[string]any) bool {
	t.Helper()
	var in apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, &in, nil); err != nil {
		t.Fatal(err)
	}
	v, _, err := validation.NewSchemaValidator(&in)
	if err != nil {
		t.Fatal(err)
	}
	return func(object map[string]any) bool { return v.Validate(object).IsValid() }
}
