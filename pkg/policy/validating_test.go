package policy_test

import (
	"context"
	"regexp"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/unioncel/unioncel/internal/unioncases"
	"github.com/unioncel/unioncel/pkg/kinds"
	"github.com/unioncel/unioncel/pkg/policy"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestValidating: a policy accepts exactly what the unions allow, in all places. Unions
// take turns in places, [unioncases.Exhaustive] with more of them.
func TestValidating(t *testing.T) {
	every, pairs := 19, 3 // of so many unions, in a place, one is tried; and of the changes
	if unioncases.Exhaustive() {
		every, pairs = 4, 1
	}
	for _, shape := range []unioncases.Shape{
		{Members: 2, EmptyIsUnset: true}, {Members: 2, Discriminated: true, TwoValues: true}, {Members: 3, Discriminated: true, EmptyIsUnset: true},
		{Members: 2, Discriminated: true, TwoValues: true, Shared: true}, {Members: 2, Discriminated: true, Enum: true, Escaped: true},
		{Members: 2, Discriminated: true, EmptyIsUnset: true, Nested: true}, {Members: 2, Nested: true}, {Members: 2, Discriminated: true, TwoValues: true, Nested: true},
	} {
		states := shape.States()
		for turn, declaration := range shape.Declarations() {
			for n, p := range places {
				demands := slices.ContainsFunc([]string{"ratchet", "Forbid\\b", "discriminatorChange: Clear", "allowedChanges"}, func(s string) bool { return regexp.MustCompile(s).MatchString(declaration) })
				// Demands that need the old object stand in no list without keys.
				if (turn+n)%(every*len(places)) > 0 || shape.Nested && (turn+n)/(every*len(places))%every > 1 || testing.Short() && turn%8 > 0 || demands && strings.HasPrefix(p.Name, "list") {
					continue
				}
				k := kindOf(t, p.Schema(shape.Schema()+"x-kubernetes-unions:\n- "+declaration))
				u := k.Objects[0].Unions[0]
				policies, bindings, _ := policy.Validating([]kinds.Kind{k}, policy.Options{})
				if len(policies) == 0 {
					if len(u.Violations(union.State{Present: make([]bool, len(u.Members))})) > 0 || u.Guarded() {
						t.Fatalf("%s: no policy", declaration)
					}
					continue
				}
				if len(bindings) != 1 || bindings[0].Spec.PolicyName != policies[0].Name {
					t.Fatal(bindings)
				}
				compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range policies[0].Spec.Variables {
					if r := compiler.CompileAndStoreVariable(&validating.Variable{Name: v.Name, Expression: v.Expression}, plugincel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.NewExpressions); r.Error != nil {
						t.Fatalf("%s: %v", v.Expression, r.Error)
					}
				}
				var conditions []plugincel.ExpressionAccessor
				for _, v := range policies[0].Spec.Validations {
					conditions = append(conditions, &validating.ValidationCondition{Expression: v.Expression})
				}
				evaluator := compiler.CompileCondition(conditions, plugincel.OptionalVariableDeclarations{HasAuthorizer: true}, environment.NewExpressions)
				if errs := evaluator.CompilationErrors(); len(errs) > 0 {
					t.Fatalf("%v\n%s", errs, policies[0].Spec.Validations[0].Expression)
				}
				legal := func(before *union.State, after union.State) bool {
					l := u.Violations(after)
					if before != nil && u.Guarded() {
						l = append(l, u.ChangeViolations(*before, after)...)
					}
					return len(l) == 0
				}
				neighbour := states[slices.IndexFunc(states, func(s unioncases.State) bool { return legal(nil, s.State) })].Objects[0]
				for a, old := range append([]unioncases.State{{}}, states...) {
					for b, new := range states {
						if a > 0 && (a*2+b)%pairs > 0 || a > 0 && !u.Guarded() && (a+b)%5 > 0 {
							continue
						}
						after := &unstructured.Unstructured{Object: object(p.Spec(new.Objects[(a+b)%len(new.Objects)], neighbour))}
						var before runtime.Object
						var was *union.State
						operation := admission.Create
						if a > 0 {
							before, was, operation = &unstructured.Unstructured{Object: object(p.Spec(old.Objects[(a+b)%len(old.Objects)], neighbour))}, &old.State, admission.Update
						}
						resource := schema.GroupVersionResource{Group: "example.com", Version: "v1", Resource: "things"}
						attrs := admission.NewAttributesRecord(after, before, thing, "", "t", resource, "", operation, &metav1.CreateOptions{}, false, nil)
						versioned := &admission.VersionedAttributes{Attributes: attrs, VersionedKind: thing, VersionedObject: admission.NewLazyObject(after), VersionedOldObject: admission.NewLazyObject(before)}
						results, _, err := evaluator.ForInput(compiler.CreateContext(context.Background()), versioned, plugincel.CreateAdmissionRequest(attrs, metav1.GroupVersionResource(resource), metav1.GroupVersionKind(thing)), plugincel.OptionalVariableBindings{}, nil, celconfig.RuntimeCELCostBudget)
						if err != nil {
							t.Fatal(err)
						}
						accepted := true
						for i, r := range results {
							if r.Error != nil {
								t.Fatalf("%s %s: %v > %v: %v\n%s", p.Name, declaration, before, after, r.Error, policies[0].Spec.Validations[i].Expression)
							}
							accepted = accepted && r.EvalResult.Value() == true
						}
						if accepted != legal(was, new.State) {
							t.Fatalf("%s %s: %v > %v: accepted %t\n%s", p.Name, declaration, before, after, accepted, policies[0].Spec.Validations[0].Expression)
						}
					}
				}
			}
		}
	}
}
