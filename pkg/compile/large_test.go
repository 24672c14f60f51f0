package compile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Rules that would be too long or too deep for CEL are split or written in another way. The
// documentation promises 500 members. No evaluation of a rule comes near the API server's limit,
// also without a bound of the list that it reads. Every other union is tried, or all with
// [unioncases.Exhaustive].
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes some seconds")
	}
	large := func(n int, discriminated bool, keys string) string {
		var properties, fields, names []string
		for i := range n {
			name := fmt.Sprintf("m%d", i)
			properties, names = append(properties, name+": {type: object}"), append(names, name)
			fields = append(fields, fmt.Sprintf("%s: V%d", name, i))
		}
		union := "members: [" + strings.Join(names, ", ") + "]"
		if discriminated {
			union = "discriminator: type, fields-to-discriminateBy: {" + strings.Join(fields, ", ") + "}"
		}
		return "spec:\n  type: object\n  properties: {type: {type: string}, " + strings.Join(properties, ", ") + "}\n" +
			"  x-kubernetes-unions: [{" + union + keys + "}]\n"
	}
	// table allows every change from i to j, unless modulus divides i+j*j.
	table := func(n, modulus int, name string) string {
		var rows []string
		for i := range n {
			var to []string
			for j := range n {
				if j != i && (modulus == 0 || (i+j*j)%modulus > 0) {
					to = append(to, fmt.Sprintf("%s%d", name, j))
				}
			}
			rows = append(rows, fmt.Sprintf("%s%d: [%s]", name, i, strings.Join(to, ", ")))
		}
		return ", allowedChanges: {" + strings.Join(rows, ", ") + "}"
	}
	for i, tt := range []struct {
		name, spec string
		encoding   compile.Encoding
	}{
		{"discriminated", large(500, true, ""), compile.Auto},
		{"deduced", large(500, true, ", deduceInvalidDiscriminator: true"), compile.Auto},
		{"ratchet", large(500, true, ", ratchet: true"), compile.Auto},
		{"plain", large(500, false, ", cardinality: ExactlyOne"), compile.Auto},
		{"plain, fine", large(200, false, ""), compile.Fine},
		{"plain, forbid", large(500, false, ", discriminatorChange: Forbid"), compile.Auto},
		{"items", "spec:\n  type: array\n  x-kubernetes-list-type: map\n  x-kubernetes-list-map-keys: [type]\n  items: {type: object, required: [type], properties: {type: {type: string}}}\n" +
			"  x-kubernetes-unions: [{members: [{type: Approved}, {type: Denied}, {type: Failed}]}]\n", compile.Auto},
		{"all changes but one", large(100, true, table(100, 0, "V")), compile.Auto},
		{"many changes", large(100, true, table(100, 101, "V")), compile.Auto},
		{"all changes of members", large(100, false, table(100, 0, "m")), compile.Auto},
	} {
		if i%4 > 0 && !unioncases.Exhaustive {
			continue
		}
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r, diags := run(t, crd(version("v1", true, tt.spec)), compile.Options{Encoding: tt.encoding})
			if r == nil {
				i := slices.IndexFunc(diags, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })
				t.Fatalf("%.300s", diags[i].String())
			}
			root, err := sample.RootOf(r.CRD, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, a := range r.Additions {
				c, err := sample.NewChain(root, a.Path)
				if err != nil {
					t.Fatal(err)
				}
				for _, rule := range c.Object().Rules() {
					if rule.Broken != nil || rule.Costly {
						t.Errorf("%v, costly: %v: %.100s", rule.Broken, rule.Costly, rule.Text)
					}
				}
				for _, rule := range a.Rules {
					if len(rule.Message) > 1000 {
						t.Errorf("a message of %d bytes: %.100s", len(rule.Message), rule.Message)
					}
				}
			}
		})
	}
}
