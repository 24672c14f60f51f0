package policy_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/internal/testing/policytest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/policy"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestValidating tests that a policy accepts exactly the objects and changes that the unions allow.
// It covers a sample of unions and places, a larger one with [unioncases.Exhaustive].
func TestValidating(t *testing.T) {
	every, pairs := 29, 3 // the sampling intervals of unions and places, and of changes
	if unioncases.Exhaustive {
		every, pairs = 7, 1
	}
	for _, shape := range []unioncases.Shape{
		{Members: 2, EmptyIsUnset: true}, {Members: 2, Discriminated: true, TwoValues: true}, {Members: 3, Discriminated: true, EmptyIsUnset: true},
		{Members: 2, Discriminated: true, TwoValues: true, Shared: true}, {Members: 2, Discriminated: true, Enum: true, Escaped: true},
		{Members: 2, Discriminated: true, EmptyIsUnset: true, Nested: true}, {Members: 2, Nested: true}, {Members: 2, Discriminated: true, TwoValues: true, Nested: true},
		{Members: 2, Discriminated: true, Type: union.BooleanValue}, {Members: 2, Discriminated: true, Type: union.IntegerValue, TwoValues: true},
		{Members: 2, Discriminated: true, Unset: "A", Enum: true}, {Members: 2, Discriminated: true, Unset: "None", Type: union.IntegerValue}, {Members: 1, Discriminated: true, Unset: "B", Type: union.BooleanValue},
	} {
		states := shape.States()
		for turn, declaration := range shape.Declarations() {
			for n, p := range places {
				if (turn+n)%(every*len(places)) > 0 || shape.Nested && (turn+n)/(every*len(places))%every > 1 || testing.Short() && turn%8 > 0 || !fits(declaration, p) {
					continue
				}
				k := kindOf(t, p.Schema(shape.Schema()+"x-kubernetes-unions:\n- "+declaration))
				u := k.Objects[0].Unions[0]
				policies, bindings := policy.Validating([]union.Kind{k}, policy.Options{})
				if len(policies) == 0 {
					if len(u.Violations(union.State{Present: make([]bool, len(u.Members))})) > 0 || u.Guarded() {
						t.Fatalf("%s: no policy", declaration)
					}
					continue
				}
				if len(bindings) != 1 || bindings[0].Spec.PolicyName != policies[0].Name {
					t.Fatal(bindings)
				}
				s := policytest.NewValidating(t, policies[0])
				neighbour := states[slices.IndexFunc(states, func(s unioncases.State) bool { return len(u.Violations(s.State)) == 0 })].Objects[0]
				for a, old := range append([]unioncases.State{{}}, states...) {
					for b, new := range states {
						if a > 0 && a != b+1 && ((a*2+b)%pairs > 0 || !u.Guarded() && !u.Ratchet && (a+b)%5 > 0) {
							continue
						}
						after := object(p.Spec(new.Objects[(a+b)%len(new.Objects)], neighbour))
						var before map[string]any
						var was *union.State
						if a > 0 {
							before, was = object(p.Spec(old.Objects[a%len(old.Objects)], neighbour)), &old.State
						}
						accepted, err := s.Accepts(before, after)
						if err != nil {
							t.Fatalf("%s %s: %v > %v: %v", p.Name, declaration, before, after, err)
						}
						// Unchanged objects are not validated.
						if want := reflect.DeepEqual(before, after) || len(u.Judge(was, new.State)) == 0; accepted != want {
							t.Fatalf("%s %s: %v > %v: accepted %t\n%v", p.Name, declaration, before, after, accepted, policies[0].Spec)
						}
					}
				}
			}
		}
	}
}

// TestValidatingRoot tests that a union on the root object ignores the metadata.
func TestValidatingRoot(t *testing.T) {
	k := rootOf(t, "type: {type: string, enum: [A, B]}\na: {type: string}\nb: {type: string}", "discriminator: type, fields-to-discriminateBy: {a: A, b: B}, discriminatorChange: Forbid")
	policies, _ := policy.Validating([]union.Kind{k}, policy.Options{})
	s := policytest.NewValidating(t, policies[0])
	thing := func(label string, fields map[string]any) map[string]any {
		if fields == nil {
			return nil
		}
		return unioncases.Put(unioncases.Put(unioncases.Put(fields, "apiVersion", "example.com/v1"), "kind", "Thing"), "metadata", map[string]any{"name": "t", "labels": map[string]any{"l": label}})
	}
	illegal := map[string]any{"type": "A", "a": "x", "b": "x"}
	for _, tt := range []struct {
		name     string
		old, new map[string]any
		want     bool
	}{
		{"creation", nil, map[string]any{"type": "A", "a": "x"}, true},
		{"illegal creation", nil, illegal, false},
		{"label", illegal, illegal, true},
		{"change", illegal, map[string]any{"type": "A", "a": "y", "b": "x"}, false},
		{"repair", illegal, map[string]any{"type": "A", "a": "x"}, true},
		{"forbidden change", map[string]any{"type": "A", "a": "x"}, map[string]any{"type": "B", "b": "x"}, false},
	} {
		if got, err := s.Accepts(thing("old", tt.old), thing("new", tt.new)); err != nil || got != tt.want {
			t.Errorf("%s: %t, %v", tt.name, got, err)
		}
	}
}

// TestValidatingRequests tests that a policy matches all requests that write members of a union.
func TestValidatingRequests(t *testing.T) {
	const members, items = "x-kubernetes-unions: [{members: [a, b]}]", "x-kubernetes-unions: [{members: [{name: x}, {name: 'y'}]}]"
	builtins, _, _ := declared.BuiltinKinds(declared.Builtin())
	pod := builtins[slices.IndexFunc(builtins, func(k union.Kind) bool { return k.Kind == "Pod" })]
	pod.Objects = slices.DeleteFunc(pod.Objects, func(o union.Instances) bool { return o.Path.String() != "spec.ephemeralContainers[*].env[*]" })
	for _, tt := range []struct {
		name string
		kind union.Kind
		want []string
	}{
		{"spec", kindOf(t, "{type: object, properties: {a: {type: string}, b: {type: string}}, "+members+"}"), []string{"things"}},
		{"status", kindIn(t, testcrd.New("Thing", "status: {type: object, properties: {a: {type: string}, b: {type: string}}, "+members+"}")), []string{"things", "things/status"}},
		{"items in the status", kindIn(t, testcrd.New("Thing", "status: {type: object, properties: {l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string}}}, "+items+"}}}")), []string{"things", "things/status"}},
		{"member in the status", rootOf(t, "a: {type: string}\nstatus: {type: object, properties: {b: {type: string}}}", "members: [a, status.b]"), []string{"things", "things/status"}},
		{"ephemeral containers", pod, []string{"pods", "pods/ephemeralcontainers"}},
	} {
		policies, _ := policy.Validating([]union.Kind{tt.kind}, policy.Options{})
		if got := policies[0].Spec.MatchConstraints.ResourceRules[0].Resources; !slices.Equal(got, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}
