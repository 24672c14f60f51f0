//go:build exhaustive

package docs_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/handwritten"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// byHand are the forms of hand-written unions, with the messages of their authors and tools. A name
// is in lowerCamelCase, and a value in UpperCamelCase.
var byHand = []struct {
	name          string
	discriminated bool
	write         func(names, values []string) string
}{
	{"controller-gen 0.23", false, func(names, _ []string) string {
		return fmt.Sprintf("x-kubernetes-validations:\n- message: exactly one of the fields in [%s] must be set\n  rule: (has(self.%s)?1:0) == 1\n",
			strings.Join(names, " "), strings.Join(names, ")?1:0)+(has(self."))
	}},
	{"controller-gen 0.21", false, func(names, _ []string) string {
		return fmt.Sprintf("x-kubernetes-validations:\n- message: exactly one of the fields in [%s] must be set\n  rule: '[has(self.%s)].filter(x,x==true).size() == 1'\n",
			strings.Join(names, " "), strings.Join(names, "),has(self."))
	}},
	{"Gateway API", true, func(names, values []string) string {
		text := "x-kubernetes-validations:\n"
		for i, name := range names {
			text += fmt.Sprintf("- message: %s must be nil if the type is not %s\n  rule: '!(has(self.%[1]s) && self.type != ''%[2]s'')'\n", name, values[i])
			text += fmt.Sprintf("- message: %s must be specified for the type %s\n  rule: '!(!has(self.%[1]s) && self.type == ''%[2]s'')'\n", name, values[i])
		}
		return text
	}},
	{"OpenShift", true, func(names, values []string) string {
		text := "x-kubernetes-validations:\n"
		for i, name := range names {
			text += fmt.Sprintf("- message: %s is required when type is %s, and forbidden otherwise\n"+
				"  rule: 'has(self.type) && self.type == ''%[2]s'' ? has(self.%[1]s) : !has(self.%[1]s)'\n", name, values[i])
		}
		return text
	}},
	{"`oneOf`", false, func(names, _ []string) string {
		return "oneOf:\n- required: [" + strings.Join(names, "]\n- required: [") + "]\n"
	}},
}

// TestReplace holds declarations to the bytes, and rules to the costs, of the rules that they
// replace, as handwritten.md says.
func TestReplace(t *testing.T) {
	for _, form := range byHand {
		for _, n := range []int{3, 5, 8} {
			r := replacing(t, form.write, n, form.discriminated)
			if r.declared >= r.byHand && form.discriminated {
				t.Errorf("%s, %d members: the declaration has %d bytes, the hand-written rules %d", form.name, n, r.declared, r.byHand)
			}
			if len(r.costByHand) > 0 && mostExpensive(r.costs) > mostExpensive(r.costByHand) {
				t.Errorf("%s, %d members: replacing makes rules dearer", form.name, n)
			}
		}
	}
}

// replaced contains the bytes of a union's hand-written rules and of its declaration, and the costs
// of its hand-written and compiled rules.
type replaced struct {
	byHand, declared  int
	costByHand, costs []server.Cost
}

// replacing infers a union of n members from hand-written rules, declares it and compiles it.
func replacing(t *testing.T, write func(names, values []string) string, n int, discriminated bool) *replaced {
	t.Helper()
	names := []string{"headers", "redirect", "mirror", "rewrite", "extension", "timeout", "retry", "session"}[:n]
	var values []string
	for _, name := range names {
		values = append(values, strings.ToUpper(name[:1])+name[1:])
	}
	properties := "type: object\nproperties:\n  " + strings.Join(names, ": {type: object}\n  ") + ": {type: object}\n"
	if discriminated {
		properties = strings.Replace(properties, "properties:\n", "required: [type]\nproperties:\n  type: {type: string, enum: ["+strings.Join(values, ", ")+"]}\n", 1)
	}
	crd := func(schema string) []byte {
		return []byte(testcrd.New("Route", "spec:\n  type: object\n  properties:\n    filter:\n"+indent(schema, 6)))
	}
	bare, src := crd(properties), crd(properties+write(names, values))

	sources, diags := crdpatch.Ask(crdpatch.Open("crd.yaml", src), crdpatch.Options{}, (*crdpatch.CRD).Source)
	if len(sources) != 1 {
		t.Fatal(diags)
	}
	found, _, err := handwritten.Infer(context.Background(), sources[0])
	if err != nil || len(found) != 1 || found[0].Comparison.Verdict != verify.Equivalent {
		t.Fatalf("%v %+v\n%s", err, found, src)
	}
	u, version := *found[0].Union, sources[0].Spec.Versions[0]
	u.Replace = true
	declared, diags := crdpatch.Declare(crdpatch.Open("crd.yaml", src), func(*crdpatch.CRD) []union.External {
		return []union.External{{
			Target: union.Target{Name: sources[0].Name}, Version: version.Name, Path: found[0].Path,
			Value: &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{u.Node()}},
		}}
	})
	if declared == nil {
		t.Fatal(diags)
	}
	r := &replaced{byHand: len(src) - len(bare), declared: len(declared) - len(src)}
	for _, c := range found[0].Replaces {
		if c.Key == "x-kubernetes-validations" {
			schema := schemapath.Place{Path: found[0].Path}.Schema(sources[0])
			r.costByHand = append(r.costByHand, costs(t, version.Schema.OpenAPIV3Schema, found[0].Path, schema.XValidations[c.Index])...)
		}
	}
	plans, diags := crdpatch.Explain(crdpatch.Open("crd.yaml", declared), crdpatch.Options{})
	if len(plans) != 1 {
		t.Fatal(diags)
	}
	for _, rule := range plans[0].Unions[0].Rules {
		r.costs = append(r.costs, rule.Cost)
	}
	return r
}

// mostExpensive returns the cost of the most expensive rule.
func mostExpensive(l []server.Cost) uint64 {
	var most uint64
	for _, c := range l {
		most = max(most, c.Rule())
	}
	return most
}
