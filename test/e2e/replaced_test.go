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

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/handwritten"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
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
	server := servertest.Shared(t)
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
			if len(r.types) > 0 {
				specs = unioncases.Some(specs, 3, 0)
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
	sources, diags := crdpatch.Ask(crdpatch.Open("crd.yaml", src), crdpatch.Options{}, (*crdpatch.CRD).Source)
	if len(sources) != 1 {
		t.Fatal(diags)
	}
	crd := sources[0]
	found, _, err := handwritten.Infer(t.Context(), crd)
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
	out, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", src), crdpatch.Options{External: union.Externals{Declarations: declared}})
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

// The API server prints the messages of hand-written rules for the same objects once compiled rules
// have replaced them.
func TestReplacedMessages(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	specs := []string{"{}", "{type: D}", "{a: {}}", "{b: {}}", "{a: {}, b: {}}", "{a: {}, b: {}, c: {}}"}
	for _, v := range []string{"A", "B"} {
		for _, members := range []string{"", ", a: {}", ", b: {}", ", a: {}, b: {}", ", c: {}"} {
			specs = append(specs, "{type: "+v+members+"}")
		}
	}
	for _, r := range []struct{ name, rules string }{
		{"Counted", `
- {rule: "(has(self.a)?1:0)+(has(self.b)?1:0)+(has(self.c)?1:0) == 1", message: "said: one of a, b and c"}`},
		{"Twofold", `
- {rule: "has(self.a) || has(self.b)", message: "said: a or b"}
- {rule: "!(has(self.a) && has(self.b))", message: "said: a and b exclude each other"}`},
		{"Paired", `
- {rule: "!(has(self.a) && self.type != 'A')", message: "said: a must be nil if type is not A"}
- {rule: "!(!has(self.a) && self.type == 'A')", message: "said: a must be specified for A"}
- {rule: "!(has(self.b) && self.type != 'B')", message: "said: b must be nil if type is not B"}
- {rule: "!(!has(self.b) && self.type == 'B')", message: "said: b must be specified for B"}`},
		{"Chosen", `
- {rule: "has(self.type) && self.type == 'A' ? has(self.a) : !has(self.a)", message: "said: a if and only if A"}
- {rule: "has(self.type) && self.type == 'B' ? has(self.b) : !has(self.b)", message: "said: b if and only if B"}`},
		{"Whole", `
- {rule: "(has(self.a) == (self.type == 'A')) && (has(self.b) == (self.type == 'B'))", message: "said: the member that type names"}`},
	} {
		t.Run(r.name, func(t *testing.T) {
			required := ""
			if r.name == "Paired" || r.name == "Whole" {
				required = "\n  required: [type]"
			}
			src := testcrd.New(r.name, replacedCRD+required+"\n  x-kubernetes-validations:"+strings.ReplaceAll(r.rules, "\n", "\n  ")+"\n")
			if err := server.Install(t.Context(), []byte(src)); err != nil {
				t.Fatal(err)
			}
			was := sayings(t, server, r.name, specs)
			compiled := replaceRules(t, []byte(src))
			if err := server.Replace(t.Context(), compiled); err != nil {
				t.Fatalf("%v\n%s", err, compiled)
			}
			if d := cmp.Diff(was, sayings(t, server, r.name, specs)); d != "" {
				t.Errorf("messages (-by hand +compiled):\n%s\n%s", d, compiled)
			}
		})
	}
}

// sayings returns the messages of rules, which start with "said: ", for each rejected object.
func sayings(t *testing.T, server *servertest.Server, kind string, specs []string) map[string][]string {
	t.Helper()
	l := map[string][]string{}
	for _, spec := range specs {
		object := fmt.Appendf(nil, "apiVersion: example.com/v1\nkind: %s\nmetadata: {name: x, namespace: default}\nspec: %s\n", kind, spec)
		if _, err := server.Create(t.Context(), object); err != nil {
			for _, c := range statusCauses(t, err) {
				if _, text, ok := strings.Cut(c.Message, "said: "); ok && !slices.Contains(l[spec], text) {
					l[spec] = append(l[spec], text)
				}
			}
			slices.Sort(l[spec])
		} else if err := server.Delete(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	if len(l) == 0 {
		t.Fatal("no object is rejected")
	}
	return l
}

const replacedCRD = `
spec:
  type: object
  properties:
    type: {type: string}
    a: {type: object}
    b: {type: object}
    c: {type: object}`
