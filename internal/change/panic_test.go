package change

import (
	"context"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

func TestPanic(t *testing.T) {
	crd := func(enum string) *Input {
		c := &apiextensionsv1.CustomResourceDefinition{}
		c.Name, c.Spec.Group, c.Spec.Names.Kind = "things.example.com", "example.com", "Thing"
		c.Spec.Versions = []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Served: true, Storage: true, Schema: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
				"a": {Type: "string", Enum: []apiextensionsv1.JSON{{Raw: []byte(enum)}}}}}}}}
		return InputOf(c)
	}
	old, new := crd(`"x"`), crd(`"y"`)
	new.at = func(schemapath.Place, string) diag.Pos { panic("a fault") }
	r, err := Compare(context.Background(), old, new)
	if err != nil || r.Class() != Undecided || r.Changes[0].Undecided != "internal error: a fault; please report both files" {
		t.Errorf("%+v, %v", r, err)
	}
}
