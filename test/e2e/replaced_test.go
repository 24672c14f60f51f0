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

	"github.com/unioncel/unioncel/internal/declared/infer"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// replacements are hand-written unions on the properties type, a, b and c.
var replacements = []struct {
	name, schema string
	types        []string // values of the discriminator to try, besides unset
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

// The API server validates objects alike with hand-written rules and with the compiled rules that
// replace them.
func TestReplaced(t *testing.T) {
	t.Parallel()
	server := servertest.Start(t)
	for _, r := range replacements {
		t.Run(r.name, func(t *testing.T) {
			var specs []string
			for _, discriminator := range append([]string{"none"}, r.types...) {
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
					specs = append(specs, "{"+strings.Join(spec, ", ")+"}")
				}
			}
			judgedAlike(t, server, testcrd.New(r.name, replacedCRD+strings.ReplaceAll(r.schema, "\n", "\n  ")),
				"example.com/v1", r.name, specs)
		})
	}
	t.Run("Listener", func(t *testing.T) {
		judgedAlike(t, server, testcrd.Read("listener"), "mesh.example.com/v1", "Listener", []string{
			"{port: 80}",
			"{port: 80, tls: {issuer: a}}",
			"{port: 80, tls: {issuer: a, secretName: b}}",
			"{port: 80, tls: {minVersion: '1.3'}}",
			"{port: 80, filters: [{type: Delay, delay: {}}, {type: Headers, headers: {}}, {type: Mirror, mirror: {service: a}}, {type: Redirect, redirect: {}}]}",
			"{port: 80, filters: [{type: Delay}]}",
			"{port: 80, filters: [{type: Delay, delay: {}}, {type: Redirect, delay: {}}]}",
			"{port: 80, filters: [{type: Mirror, mirror: {service: a}, headers: {}}]}",
			"{port: 80, filters: [{type: Redirect, redirect: {}}, {type: Redirect, redirect: {}}]}",
		})
	})
}

// judgedAlike replaces the hand-written rules of a CRD and checks that the same specs are accepted.
func judgedAlike(t *testing.T, server *servertest.Server, src, apiVersion, kind string, specs []string) {
	t.Helper()
	if err := server.Install(t.Context(), []byte(src)); err != nil {
		t.Fatal(err)
	}
	before := accepted(t.Context(), server, apiVersion, kind, specs)
	if n := strings.Count(fmt.Sprint(before), "true"); n == 0 || n == len(before) {
		t.Fatalf("%d of %d objects are accepted", n, len(before))
	}
	compiled := replaceRules(t, []byte(src))
	if err := server.Replace(t.Context(), compiled); err != nil {
		t.Fatalf("%v\n%s", err, compiled)
	}
	if d := cmp.Diff(before, accepted(t.Context(), server, apiVersion, kind, specs)); d != "" {
		t.Errorf("accepted (-by hand +compiled):\n%s", d)
	}
}

// replaceRules declares the unions that hand-written rules enforce, and compiles them.
func replaceRules(t *testing.T, src []byte) []byte {
	t.Helper()
	sources, diags := crdfile.Ask(crdfile.Open("crd.yaml", src), crdfile.Options{}, (*crdfile.CRD).Source)
	if len(sources) != 1 {
		t.Fatal(diags)
	}
	crd := sources[0]
	found, err := infer.CRD(t.Context(), crd)
	if err != nil || len(found) == 0 {
		t.Fatal(err)
	}
	var declared []union.External
	for _, f := range found {
		if f.Comparison.Verdict != verify.Equivalent {
			t.Fatalf("%+v", f)
		}
		u := *f.Union
		u.Replace = true
		declared = append(declared, union.External{
			Target: union.Target{Name: crd.Name}, Path: f.Path,
			Value: &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{u.Node()}},
		})
	}
	out, diags := crdpatch.Compile(crdfile.Open("crd.yaml", src), crdfile.Options{External: union.Externals{Declarations: declared}})
	if out == nil {
		t.Fatal(diags)
	}
	var after apiextensionsv1.CustomResourceDefinition
	if err := sigsyaml.Unmarshal(out, &after); err != nil {
		t.Fatal(err)
	}
	for _, f := range found {
		at := schemapath.Place{Path: f.Path}
		was, is := at.Schema(crd), at.Schema(&after)
		kept := slices.ContainsFunc(is.XValidations, func(r apiextensionsv1.ValidationRule) bool {
			return slices.ContainsFunc(was.XValidations, func(o apiextensionsv1.ValidationRule) bool { return o.Rule == r.Rule })
		})
		if kept || is.OneOf != nil {
			t.Errorf("rules by hand are still there:\n%s", out)
		}
	}
	return out
}

// accepted reports which objects with these specs can be created.
func accepted(ctx context.Context, server *servertest.Server, apiVersion, kind string, specs []string) map[string]bool {
	verdicts := map[string]bool{}
	for _, spec := range specs {
		object := fmt.Appendf(nil, "apiVersion: %s\nkind: %s\nmetadata: {name: x, namespace: default}\nspec: %s\n", apiVersion, kind, spec)
		_, err := server.Create(ctx, object)
		verdicts[spec] = err == nil
		if err == nil {
			if err := server.Delete(ctx, object); err != nil {
				verdicts[spec+": "+err.Error()] = true
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
