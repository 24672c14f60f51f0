package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/servertest"
	"github.com/unioncel/unioncel/internal/testcrd"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/infer"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// replacements are unions as they are written by hand, on properties type, a, b and c.
var replacements = []struct {
	name, schema string
	types        []string // values of the discriminator to try besides none
}{
	{"Count", `
x-kubernetes-validations:
- rule: (has(self.a)?1:0)+(has(self.b)?1:0)+(has(self.c)?1:0) == 1
`, nil},
	{"Filter", `
x-kubernetes-validations:
- rule: '[has(self.a),has(self.b),has(self.c)].filter(x,x==true).size() <= 1'
`, nil},
	{"Pairs", `
required: [type]
x-kubernetes-validations:
- rule: "!(has(self.a) && self.type != 'A')"
- rule: "!(!has(self.a) && self.type == 'A')"
- rule: "!(has(self.b) && self.type != 'B')"
- rule: "!(!has(self.b) && self.type == 'B')"
- rule: "!(has(self.c) && self.type != 'C')"
`, []string{"", "A", "B", "C", "D"}},
	{"Conditional", `
x-kubernetes-validations:
- rule: "has(self.type) && self.type == 'A' ? has(self.a) : !has(self.a)"
- rule: "has(self.type) && self.type == 'B' ? has(self.b) : !has(self.b)"
- rule: "has(self.type) && self.type == 'C' ? true : !has(self.c)"
`, []string{"", "A", "B", "C", "D"}},
	{"Schemas", `
oneOf:
- required: [a]
- required: [b]
- required: [c]
`, nil},
}

// TestReplaced: the API server judges objects alike with the rules by hand and with
// those compiled in their place.
func TestReplaced(t *testing.T) {
	server := servertest.Start(t)
	for _, r := range replacements {
		t.Run(r.name, func(t *testing.T) {
			ctx := t.Context()
			src := []byte(testcrd.Of(r.name, replacedCRD+strings.ReplaceAll(r.schema, "\n", "\n  ")))
			if err := server.Install(ctx, src); err != nil {
				t.Fatal(err)
			}
			before := replacedVerdicts(ctx, server, r.name, r.types)
			if accepted := strings.Count(fmt.Sprint(before), "true"); accepted == 0 || accepted == len(before) {
				t.Fatalf("%d of %d objects are accepted", accepted, len(before))
			}
			compiled := replaceRules(t, src)
			if err := server.Replace(ctx, compiled); err != nil {
				t.Fatalf("%v\n%s", err, compiled)
			}
			if d := cmp.Diff(before, replacedVerdicts(ctx, server, r.name, r.types)); d != "" {
				t.Errorf("accepted (-by hand +compiled):\n%s", d)
			}
		})
	}
}

// replaceRules declares the union that is enforced by hand, and compiles it.
func replaceRules(t *testing.T, src []byte) []byte {
	t.Helper()
	sources, diags := crdpatch.Sources("crd.yaml", src, limit.Limits{})
	if len(sources) != 1 {
		t.Fatal(diags)
	}
	crd := sources[0].CRD
	found, err := infer.CRD(t.Context(), crd)
	if err != nil || len(found) != 1 || found[0].Comparison.Verdict != verify.Equivalent {
		t.Fatalf("%v %+v", err, found)
	}
	u := *found[0].Union
	u.Replace = true
	out, diags := crdpatch.Compile("crd.yaml", src, crdpatch.Options{External: union.Externals{Declarations: []union.External{{
		Target: union.Target{Name: crd.Name}, Path: found[0].Path,
		Value: &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{u.Node()}},
	}}}})
	if out == nil {
		t.Fatal(diags)
	}
	var after apiextensionsv1.CustomResourceDefinition
	if err := sigsyaml.Unmarshal(out, &after); err != nil {
		t.Fatal(err)
	}
	spec := func(crd *apiextensionsv1.CustomResourceDefinition) apiextensionsv1.JSONSchemaProps {
		return crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
	}
	kept := slices.ContainsFunc(spec(&after).XValidations, func(r apiextensionsv1.ValidationRule) bool {
		return slices.ContainsFunc(spec(crd).XValidations, func(o apiextensionsv1.ValidationRule) bool { return o.Rule == r.Rule })
	})
	if kept || spec(&after).OneOf != nil {
		t.Errorf("rules by hand are still there:\n%s", out)
	}
	return out
}

// replacedVerdicts says which objects are accepted: every set of members with every
// type.
func replacedVerdicts(ctx context.Context, server *servertest.Server, kind string, types []string) map[string]bool {
	verdicts := map[string]bool{}
	for _, discriminator := range append([]string{"none"}, types...) {
		for set := range 8 {
			var spec []string
			if discriminator != "none" {
				spec = append(spec, fmt.Sprintf("type: %q", discriminator))
			}
			for i, member := range []string{"a", "b", "c"} {
				if set>>i&1 == 1 {
					spec = append(spec, member+": {}")
				}
			}
			text := "{" + strings.Join(spec, ", ") + "}"
			object := fmt.Sprintf("apiVersion: example.com/v1\nkind: %s\nmetadata: {name: x, namespace: default}\nspec: %s\n", kind, text)
			_, err := server.Create(ctx, []byte(object))
			verdicts[text] = err == nil
			if err == nil {
				if err := server.Delete(ctx, []byte(object)); err != nil {
					verdicts[text+": "+err.Error()] = true
				}
			}
		}
	}
	return verdicts
}

const replacedCRD = `
spec:
  type: object
  properties:
    type: {type: string}
    a: {type: object}
    b: {type: object}
    c: {type: object}`
