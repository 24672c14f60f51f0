package policy_test

import (
	"fmt"
	"testing"

	"github.com/unioncel/unioncel/internal/policytest"
	"github.com/unioncel/unioncel/pkg/kinds"
	"github.com/unioncel/unioncel/pkg/policy"
)

func things(n int, value string, members ...string) []any {
	var l []any
	for i := range n {
		o := map[string]any{"name": fmt.Sprint("backend-", i), "type": value}
		for _, m := range members {
			o[m] = map[string]any{"x": "y"}
		}
		l = append(l, o)
	}
	return l
}

// TestLongLists: the API server limits what an expression costs. Requests with lists of this
// length stay below, whatever they change.
func TestLongLists(t *testing.T) {
	if testing.Short() {
		t.Skip("the lists are long")
	}
	for _, declaration := range []string{"{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}", "{members: [a, b]}"} {
		for keys, n := range map[string]int{"": 500, "x-kubernetes-list-type: map\nx-kubernetes-list-map-keys: [name]\n": 500} {
			k := kindOf(t, "type: array\n"+keys+"items:\n  type: object\n  required: [name]\n  properties: {name: {type: string}, type: {type: string}, a: {type: object}, b: {type: object}}\n  x-kubernetes-unions: ["+declaration+"]\n")
			policies, _, err := policy.Mutating([]kinds.Kind{k}, policy.Options{})
			if err != nil {
				t.Fatal(err)
			}
			s := policytest.New(t, policies[0])
			for name, update := range map[string][2]any{
				"nothing changes": {things(n, "A", "a"), things(n, "A", "a")}, "all switch": {things(n, "A", "a"), things(n, "B", "a", "b")},
				"one is added": {things(n, "A", "a"), things(n+1, "A", "a")}, "all are new": {[]any{}, things(n, "A", "a")},
			} {
				if _, err := s.Write(object(update[0]), object(update[1])); err != nil {
					t.Errorf("%s with keys %q: %s in %d items: %v", declaration, keys, name, n, err)
				}
			}
		}
	}
}
