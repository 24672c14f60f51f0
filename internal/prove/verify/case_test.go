package verify_test

import (
	"context"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// crdWith returns a CRD with the given schema, in YAML, for its spec.
func crdWith(t testing.TB, spec string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	var s apiextensionsv1.JSONSchemaProps
	if err := sigsyaml.UnmarshalStrict([]byte(spec), &s); err != nil {
		t.Fatalf("%v\n%s", err, spec)
	}
	return &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
		Group: "example.com", Names: apiextensionsv1.CustomResourceDefinitionNames{Kind: "Widget"},
		Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{
			OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Required: []string{"spec"}, Properties: map[string]apiextensionsv1.JSONSchemaProps{"spec": s}},
		}}},
	}}
}

func pathOf(fields []string) schemapath.Path {
	p, err := schemapath.FromFields(fields)
	if err != nil {
		panic(err)
	}
	return p
}

// at returns the schema at the end of steps.
func at(t testing.TB, s *apiextensionsv1.JSONSchemaProps, steps []string) *apiextensionsv1.JSONSchemaProps {
	for i := 0; i < len(steps); i++ {
		switch steps[i] {
		case "properties":
			i++
			p, ok := s.Properties[steps[i]]
			if !ok {
				t.Fatalf("no property %s", steps[i])
			}
			s = &p
		case "items":
			s = s.Items.Schema
		case "additionalProperties":
			s = s.AdditionalProperties.Schema
		}
	}
	return s
}

// unionsOf resolves declarations against a schema.
func unionsOf(t testing.TB, declarations string, s *apiextensionsv1.JSONSchemaProps) []*union.Union {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(declarations), &doc); err != nil {
		t.Fatal(err)
	}
	parsed, diags := union.Parse("test.yaml", "spec", doc.Content[0], nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	unions, diags := union.Resolve(parsed, s, false)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return unions
}

// proofs verifies the unions declared at a path below spec.
func proofs(t testing.TB, spec, declarations string, steps ...string) []verify.Proof {
	t.Helper()
	crd := crdWith(t, spec)
	steps = append([]string{"properties", "spec"}, steps...)
	unions := unionsOf(t, declarations, at(t, crd.Spec.Versions[0].Schema.OpenAPIV3Schema, steps))
	l, err := verify.Object(context.Background(), crd, 0, pathOf(steps), unions)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// summary prints the findings of a proof, one a line.
func summary(p verify.Proof) string {
	var l []string
	for _, d := range p.Differences() {
		line := "rejected by " + d.Rule + ": "
		if d.Kind == verify.Accepted {
			line = "accepted: "
		}
		if d.Old != nil {
			line = "update " + line
		}
		l = append(l, line+d.Words(p.Union))
	}
	for _, r := range p.OfKind(verify.Restricted) {
		if r.New == nil || r.Other.New == nil {
			l = append(l, "no example:")
		}
		l = append(l, "restricted by "+r.Rule+", which also reads "+r.Text)
	}
	for _, s := range p.OfKind(verify.Undecided) {
		l = append(l, "inconclusive: "+s.Text)
	}
	return strings.Join(l, "\n")
}

// compiled compiles declarations on spec. It returns the compiled CRD and the unions.
func compiled(t testing.TB, spec, declarations string, encoding compile.Encoding) (*apiextensionsv1.CustomResourceDefinition, []*union.Union) {
	t.Helper()
	indent := func(text string, by int) string {
		return strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+strings.Repeat(" ", by))
	}
	text := `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        required: [spec]
        properties:
          spec:
            x-kubernetes-unions: ` + indent(declarations, 12) + `
            ` + indent(strings.TrimLeft(spec, "\n"), 12) + "\n"
	out, diags := crdpatch.Compile(crdpatch.Open("widgets.yaml", []byte(text)), crdpatch.Options{Encoding: encoding})
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, text)
	}
	declared, diags := crdpatch.Ask(crdpatch.Open("widgets.yaml", out), crdpatch.Options{}, (*crdpatch.CRD).Declared)
	if diags.HasErrors() || len(declared) != 1 || len(declared[0].Objects) != 1 {
		t.Fatal(diags)
	}
	return declared[0].CRD, declared[0].Objects[0].Unions
}
