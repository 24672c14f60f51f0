//go:build exhaustive

package docs_test

import (
	"encoding/json"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/policytest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/pkg/policy"
	"github.com/unioncel/unioncel/pkg/union"
)

// promises are the statements about clients in KEP-1027, each with a union and an update. The table
// leaves out those that another row implies.
var promises = []struct {
	client, union, old, new string
	implied                 bool
}{
	{"sets a new member, and knows neither the others nor the discriminator", "deduced", "A a", "A a b", false},
	{"", "typed", "A a", "A a b", false},
	{"", "plain", "- a", "- a b", false},
	{"replaces a member, and does not know the discriminator", "deduced", "A a", "- b", false},
	{"", "typed", "A a", "- b", true},
	{"", "required", "A a", "- b", false},
	{"sets the new member, and changes the discriminator", "deduced", "A a", "B a b", false},
	{"", "typed", "A a", "B a b", true},
	{"changes only the discriminator", "deduced", "A a", "C a", false},
	{"", "typed", "A a", "C a", true},
	{"", "typed", "A a", "B a", false},
	{"is old, and drops a member that it does not know", "deduced", "A a", "A", false},
	{"", "typed", "A a", "A", false},
	{"", "plain", "- a", "-", true},
	{"sets two new members", "deduced", "C", "C a b", false},
	{"", "typed", "C", "C a b", true},
	{"", "plain", "-", "- a b", true},
	{"clears everything", "deduced", "A a", "-", false},
	{"", "typed", "A a", "-", true},
	{"", "typed", "A a", "- a", true},
	{"", "required", "A a", "- a", false},
	{"", "typed", "A a", "None a", false},
}

var promised = map[string]string{
	"deduced":  "{discriminator: type, fields-to-discriminateBy: {a: A, b: B, c: C}, optionalMembers: [c], deduceInvalidDiscriminator: true}",
	"typed":    "{discriminator: type, fields-to-discriminateBy: {a: A, b: B, c: C}, optionalMembers: [c]}",
	"required": "{discriminator: type, fields-to-discriminateBy: {a: A, b: B, c: C}, optionalMembers: [c], cardinality: ExactlyOne}",
	"plain":    "{members: [a, b, c]}",
}

// thingOf returns a Thing for a union object in the form "TYPE a b", with - for no type.
func thingOf(text string) map[string]any {
	spec := map[string]any{}
	for i, word := range strings.Fields(text) {
		switch {
		case i > 0:
			spec[word] = "x"
		case word != "-":
			spec["type"] = word
		}
	}
	return map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "t"}, "spec": spec}
}

// textOf is the inverse of thingOf.
func textOf(o map[string]any) string {
	spec, _ := o["spec"].(map[string]any)
	words := []string{"-"}
	if v, ok := spec["type"].(string); ok && v != "" {
		words[0] = v
	}
	for _, m := range []string{"a", "b", "c"} {
		if spec[m] != nil {
			words = append(words, m)
		}
	}
	return strings.Join(words, " ")
}

// TestKEP generates the table of contributing/kep.md. It runs each update through the server's validation,
// normalize, the policy and the patch, which must agree.
func TestKEP(t *testing.T) {
	d := open(t, "contributing/kep.md")
	rows := [][]string{{"a client", "union", "update", "server alone", "kep-2019", "kep-2022", "policy"}}
	for _, p := range promises {
		src := testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: `type: object
properties: {type: {type: string}, a: {type: string}, b: {type: string}, c: {type: string}}
x-kubernetes-unions:
- ` + promised[p.union]})
		compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(src)), crdpatch.Options{})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		var crd apiextensionsv1.CustomResourceDefinition
		if err := yaml.Unmarshal(compiled, &crd); err != nil {
			t.Fatal(err)
		}
		declared, _ := crdpatch.Ask(crdpatch.Open("crd.yaml", []byte(src)), crdpatch.Options{}, (*crdpatch.CRD).Declared)
		kind := declared[0].Kinds("crd.yaml")[0]
		old, new := thingOf(p.old), thingOf(p.new)
		server := func(object map[string]any) string {
			answer, err := server.NewKind(&crd).Update(t.Context(), object, old)
			if err != nil {
				t.Fatal(err)
			}
			if answer.Refused == nil {
				return code(textOf(answer.Object))
			}
			var l []string
			for _, c := range answer.Causes() {
				l = append(l, strings.TrimPrefix(c.Field, "spec."))
			}
			return "rejected: " + strings.Join(l, ", ")
		}
		cells := []string{p.client, p.union, code(p.old) + " → " + code(p.new), server(new)}
		standard := kind.Objects[0].Unions[0].Algorithm()
		usual := ""
		for _, a := range []union.Algorithm{union.KEP2019, union.KEP2022} {
			object := runtime.DeepCopyJSON(new)
			product.NormalizeObject(kind, old, object, product.NormalizeOptions{Algorithm: a})
			cell := server(object)
			if a == standard {
				usual = cell
				cell = "**" + cell + "**"
			}
			cells = append(cells, cell)
		}
		for _, opts := range []policy.Options{{}, {Unselected: true}} {
			policies, _, err := policy.Mutating([]union.Kind{kind}, opts)
			if err != nil {
				t.Fatal(err)
			}
			written, err := policytest.New(t, policies[0]).Write(old, new)
			if err != nil {
				t.Fatal(err)
			}
			if !opts.Unselected {
				cells = append(cells, server(written))
			} else if usual != server(written) {
				t.Errorf("%v: the policy makes %s, normalize %s", p, server(written), usual)
			}
		}
		object := runtime.DeepCopyJSON(new)
		if _, problems := product.NormalizeObject(kind, old, object, product.NormalizeOptions{}); len(problems) > 0 {
			if !strings.HasPrefix(usual, "rejected: ") {
				t.Errorf("%v: no patch, normalize makes %s", p, usual)
			}
		} else {
			data, err := product.CreatePatch(kind.GroupVersionKind, product.MergePatch, old, object)
			if err != nil {
				t.Fatal(err)
			}
			patched, err := product.ApplyPatch(kind.GroupVersionKind, product.MergePatch, old, data)
			if err != nil {
				t.Fatal(err)
			}
			var v any
			if err := json.Unmarshal(data, &v); err != nil {
				t.Fatal(err)
			}
			if server(patched) != usual {
				t.Errorf("%v: the patch makes %s, normalize %s", p, server(patched), usual)
			}
		}
		if !p.implied {
			rows = append(rows, cells)
		}
	}
	from, to := -1, -1
	for i, line := range d.lines {
		switch {
		case line == "<!-- switching -->":
			from = i + 1
		case from >= 0 && to < 0 && i > from && !strings.HasPrefix(line, "|"):
			to = i
		}
	}
	if from < 0 || to < 0 {
		t.Fatal("kep.md has no table of what becomes of updates")
	}
	d.generated(t, from, to, strings.ReplaceAll(grid(rows), "\n|  |", "\n| |"))
	d.save(t)
}
