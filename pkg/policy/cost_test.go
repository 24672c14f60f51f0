package policy

import (
	"math"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/pkg/union"
)

const costlyUnion = `type: object
required: [name]
properties: {name: {type: string}, type: {type: string}, a: {type: object}, b: {type: object}}
x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]
`

func kindOf(t *testing.T, spec string) union.Kind {
	t.Helper()
	declared, diags := crdpatch.Ask(crdpatch.Open("crd.yaml", []byte(testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: spec}))), crdpatch.Options{}, (*crdpatch.CRD).Declared)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return declared[0].Kinds("crd.yaml")[0]
}

// TestLongest tests that the API server rejects objects slightly longer than longest and accepts
// slightly shorter ones, for every kind of change.
func TestLongest(t *testing.T) {
	if testing.Short() {
		t.Skip("the lists are long")
	}
	under := func(head string) string { return head + strings.ReplaceAll(costlyUnion, "\n", "\n  ") }
	const keyed = "x-kubernetes-list-type: map\nx-kubernetes-list-map-keys: [name]\n"
	for _, tt := range []struct {
		spec string
		opts Options
	}{
		{under("type: array\n" + keyed + "items:\n  "), Options{Unselected: true}},
		{"type: array\n" + keyed + "items:\n  type: object\n  required: [name]\n  properties:\n    name: {type: string}\n    l:\n      type: array\n      " +
			strings.ReplaceAll(under(keyed+"items:\n  "), "\n", "\n      "), Options{}},
	} {
		k := kindOf(t, tt.spec)
		o := k.Objects[0]
		l, err := CheckMutating([]union.Kind{k}, tt.opts)
		if err != nil || len(l) != 1 {
			t.Fatal(l, err)
		}
		policies, _ := mutating([]union.Kind{k}, tt.opts)
		n, err := longest(policies[0], k, o)
		if err != nil || n == math.MaxInt {
			t.Fatal(n, err)
		}
		p, err := compile(policies[0])
		if err != nil {
			t.Fatal(err)
		}
		failed := false
		for _, f := range fillings(o) {
			write := func(n int) error {
				f.n = n
				_, err := p.cost(k, f.object(o, false), f.object(o, true))
				return err
			}
			if err := write(n * 98 / 100); err != nil {
				t.Errorf("%s: %+v: %v", o.Path, f, err)
			}
			failed = failed || write(n*104/100) != nil
		}
		if !failed {
			t.Errorf("%s: %d are not too many\n%s", o.Path, n*104/100, l[0].Message)
		}
	}
}

// TestBounded tests that a small bound in the schema suppresses the warning.
func TestBounded(t *testing.T) {
	for bound, want := range map[string]int{"": 1, "maxItems: 300\n": 0, "maxItems: 3000\n": 1} {
		k := kindOf(t, "type: array\nx-kubernetes-list-type: map\nx-kubernetes-list-map-keys: [name]\n"+bound+"items:\n  "+strings.ReplaceAll(costlyUnion, "\n", "\n  "))
		if l, err := CheckMutating([]union.Kind{k}, Options{}); len(l) != want || err != nil {
			t.Errorf("%q: %v, %v", bound, l, err)
		}
	}
}
