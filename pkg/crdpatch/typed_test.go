package crdpatch

import (
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// A compiled CRD in memory keeps the rules of withdrawn declarations as hand-written ones, on request.
func TestCompileCRDForgotten(t *testing.T) {
	const src = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"ws.example.com"},"spec":{"group":"example.com","names":{"kind":"W","plural":"ws","listKind":"WList","singular":"w"},"scope":"Namespaced","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}}}}}]}}`
	of := union.Target{Name: "ws.example.com"}
	value, err := yamltext.FromJSON([]byte(`[{"members":["a","b"]}]`))
	if err != nil {
		t.Fatal(err)
	}
	declared := union.External{Target: of, Path: schemapath.Path{schemapath.Property("spec")}, Value: value}
	out, diags := Compile(Open("crd.json", []byte(src)), Options{External: union.Externals{Declarations: []union.External{declared}}})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(out, &crd); err != nil {
		t.Fatal(err)
	}
	if _, diags = CompileCRD(&crd, Options{External: union.Externals{Scopes: []union.Scope{{Target: of}}}}); len(diags) != 1 || diags[0].Code != codes.Forgotten {
		t.Error(diags)
	}
	got, diags := CompileCRD(&crd, Options{Forget: true, External: union.Externals{Scopes: []union.Scope{{Target: of}}}})
	if diags.HasErrors() || len(got.Annotations) > 0 || len(got.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].XValidations) == 0 {
		t.Errorf("%v, %v", got, diags)
	}
}
