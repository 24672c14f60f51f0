package policy_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/policytest"
	"github.com/unioncel/unioncel/internal/resource"
	"github.com/unioncel/unioncel/internal/testcrd"
	"github.com/unioncel/unioncel/internal/unioncases"
	"github.com/unioncel/unioncel/pkg/builtin"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/kinds"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/normalize"
	"github.com/unioncel/unioncel/pkg/policy"
	"github.com/unioncel/unioncel/pkg/union"
)

var thing = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}

// kindOf is the kind Thing, whose spec has a schema.
func kindOf(t testing.TB, spec string) kinds.Kind {
	t.Helper()
	crd := testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: spec})
	declared, diags := crdpatch.Declared("crd.yaml", []byte(crd), crdpatch.Options{})
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, crd)
	}
	l := declared[0].Kinds("crd.yaml")
	if len(l) != 1 {
		t.Fatal(l)
	}
	return l[0]
}

// TestMutatingBuiltIn: the policies for Kubernetes' own kinds compile, and clear;
// [unioncases.Exhaustive] tries all kinds.
func TestMutatingBuiltIn(t *testing.T) {
	if testing.Short() {
		t.Skip("large policies are compiled")
	}
	all, _, diags := builtin.Kinds(builtin.Declarations())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	servers := map[string]*policytest.Server{}
	for _, k := range all {
		switch k.Kind { // what these have, Pod, Deployment and CronJob have, too
		case "PodTemplate", "ReplicationController", "DaemonSet", "ReplicaSet", "StatefulSet", "Job":
			if !unioncases.Exhaustive() {
				continue
			}
		}
		policies, _, err := policy.Mutating([]kinds.Kind{k}, policy.Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range policies {
			servers[k.Kind] = policytest.New(t, p)
		}
	}
	const pod, deployment = "apiVersion: v1, kind: Pod, spec: ", "apiVersion: apps/v1, kind: Deployment, spec: "
	for _, tt := range []struct{ kind, head, old, new, want string }{
		{"Deployment", deployment, "{strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}", "{strategy: {type: Recreate, rollingUpdate: {maxSurge: 1}}}", "{strategy: {type: Recreate}}"},
		{"Pod", pod, "{volumes: [{name: a, emptyDir: {}}, {name: b, emptyDir: {}}]}", "{volumes: [{name: b, emptyDir: {}}, {name: a, emptyDir: {}, hostPath: {path: /x}}]}",
			"{volumes: [{name: b, emptyDir: {}}, {name: a, hostPath: {path: /x}}]}"},
		{"Deployment", deployment, "{template: {spec: {containers: [{name: c, livenessProbe: {exec: {command: [x]}, periodSeconds: 3}}]}}}",
			"{template: {spec: {containers: [{name: c, livenessProbe: {exec: {command: [x]}, httpGet: {port: 80}, periodSeconds: 3}}]}}}",
			"{template: {spec: {containers: [{name: c, livenessProbe: {httpGet: {port: 80}, periodSeconds: 3}}]}}}"},
		{"Pod", pod, "{containers: [{name: c, env: [{name: E, value: x}]}]}", "{containers: [{name: c, env: [{name: E, value: x, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]}",
			"{containers: [{name: c, env: [{name: E, valueFrom: {secretKeyRef: {name: s, key: k}}}]}]}"},
	} {
		object := func(spec string) map[string]any {
			f, l := resource.Parse("in.yaml", []byte("{"+tt.head+spec+"}"), limit.Limits{})
			if len(l) > 0 {
				t.Fatal(l)
			}
			return f.Objects[0].Value
		}
		got, err := servers[tt.kind].Write(object(tt.old), object(tt.new))
		if want := object(tt.want); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %s > %s: %v, %v, want %v", tt.kind, tt.old, tt.new, got, err, want)
		}
	}
}

var places = unioncases.Places()

// TestMutating: a policy does exactly what pkg/normalize does, for states of small unions
// in all places; what that leaves to validation, the policy leaves invalid.
// [unioncases.Exhaustive] tries several times as many pairs of states.
func TestMutating(t *testing.T) {
	written := 0
	for _, shape := range []unioncases.Shape{
		{Members: 2}, {Members: 3, EmptyIsUnset: true},
		{Members: 2, Discriminated: true, TwoValues: true}, {Members: 2, Discriminated: true, EmptyIsUnset: true}, {Members: 3, Discriminated: true, Enum: true},
		{Members: 2, Discriminated: true, TwoValues: true, Shared: true}, {Members: 2, Discriminated: true, Enum: true, Escaped: true},
		{Members: 2, Discriminated: true, EmptyIsUnset: true, Nested: true}, {Members: 2, Nested: true}, {Members: 2, Discriminated: true, TwoValues: true, Nested: true},
	} {
		states := shape.States()
		seen := map[string]bool{}
		for turn, declaration := range shape.Declarations() {
			if strings.Contains(declaration, "ratchet") || strings.Contains(declaration, "allowedChanges") || strings.Contains(declaration, "Forbid") {
				continue // it is the same expression, and another judgement
			}
			for n, p := range places {
				// Of the first union of a shape each pair of states is tried in some place, or in
				// each one; the others take turns in places, and each pair in some of them.
				all := !testing.Short() && shape.Members == 2 && !shape.Nested && (turn == 0 || turn == 2 && !shape.Discriminated)
				if !all && ((turn/2+n)%(2*len(places)) > 0 && n > 0 || turn%2 > 0) || testing.Short() && turn%24 > 0 || shape.Nested && (turn/2+n)%unioncases.Choose(6, 6, 1) > 0 {
					continue
				}
				k := kindOf(t, p.Schema(shape.Schema()+"x-kubernetes-unions:\n- "+declaration))
				for i, opts := range []policy.Options{{}, {Algorithm: union.KEP2019}, {Algorithm: union.KEP2022}, {CarriedOver: true}} {
					policies, bindings, err := policy.Mutating([]kinds.Kind{k}, opts)
					if err != nil && strings.Contains(err.Error(), "kep-2019") && shape.Shared {
						continue
					}
					if err != nil || len(bindings) != len(policies) {
						t.Fatal(err)
					}
					if len(policies) == 0 {
						continue
					}
					text := fmt.Sprint(policies[0].Spec.Variables, policies[0].Spec.Mutations[0].JSONPatch.Expression, k.Objects[0].Unions[0].Cardinality, opts)
					if seen[text] {
						continue
					}
					seen[text] = true
					s := policytest.New(t, policies[0])
					o := normalize.Options{Algorithm: opts.Algorithm, CarriedOver: opts.CarriedOver}
					for a, old := range append([]unioncases.State{{}}, states...) {
						for b, new := range states {
							if all && i == 0 {
								if (a+b+n)%unioncases.Choose(9, 9, 1) > 0 {
									continue
								}
							} else if n > 0 && (a+b+n)%13 > 0 || (a+b)%map[int]int{2: unioncases.Choose(7, 7, 3), 3: unioncases.Choose(29, 29, 11)}[shape.Members] > 0 {
								continue
							}
							neighbour := states[(a*7+b)%len(states)].Objects[0]
							var before map[string]any
							if a > 0 {
								before = object(p.Spec(old.Objects[(a+b)%len(old.Objects)], neighbour))
							}
							after := object(p.Spec(new.Objects[(a+b)%len(new.Objects)], neighbour))
							want := runtime.DeepCopyJSON(after)
							_, problems := normalize.Object(k, before, want, o)
							got, err := s.Write(before, after)
							written++
							if err != nil {
								t.Fatalf("%s %s %+v: %v > %v: %v\n%s", p.Name, declaration, opts, before, after, err, policies[0].Spec.Mutations[0].JSONPatch.Expression)
							}
							if len(problems) > 0 {
								u := k.Objects[0].Unions[0]
								if at := problems[0].At; n == 0 && problems[0].Moved == nil {
									v, _ := at.In(got)
									var was *union.State
									if o, ok := at.In(before); ok && before != nil {
										s := u.StateOf(o.(map[string]any))
										was = &s
									}
									if len(u.Judge(was, u.StateOf(v.(map[string]any)))) == 0 {
										t.Fatalf("%s %+v: %v > %v becomes legal: %v", declaration, opts, before, after, got)
									}
								}
								continue // validation rejects it
							}
							if !reflect.DeepEqual(got, want) {
								t.Fatalf("%s %s %+v: %v > %v is %v, want %v\n%s", p.Name, declaration, opts, before, after, got, want, policies[0].Spec.Mutations[0].JSONPatch.Expression)
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d objects written", written)
}

func object(spec any) map[string]any {
	return map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "t"}, "spec": runtime.DeepCopyJSONValue(spec)}
}

// TestMutatingNulls: what is null on the way to union objects, in them and beside their
// members is to a policy what it is to pkg/normalize. So are places of one name.
func TestMutatingNulls(t *testing.T) {
	const list, values, properties, null = "type: array, items: {", "type: object, additionalProperties: {", "type: object, properties: {", "nullable: true, "
	const union = "type: object, properties: {a: {type: string, nullable: true}, b: {type: string, nullable: true}, other: {type: string, nullable: true}}, x-kubernetes-unions: [{members: [a, b]}]"
	const below = "type: object, properties: {in/it: {type: object, nullable: true, properties: {a: {type: string}}}, b: {type: string}}, x-kubernetes-unions: [{members: [\"['in/it'].a\", b]}]"
	spec := func(text string) map[string]any {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			t.Fatal(err)
		}
		return object(v)
	}
	for _, tt := range []struct{ name, spec, old, new string }{
		{"item", list + null + union + "}", "[null, {a: x}]", "[null, {a: x, b: x}]"},
		{"item that was null", list + null + union + "}", "[null, {a: x}]", "[{}, {a: x, b: x}]"},
		{"inner list", list + null + list + null + union + "}}", "[null, [null, {a: x}]]", "[null, [null, {a: x, b: x}]]"},
		{"list in a map", values + null + list + union + "}}", "{k: null, l: [{a: x}]}", "{k: null, l: [{a: x, b: x}]}"},
		{"map in a list", list + null + values + null + union + "}}", "[null, {k: null, l: {a: x}}]", "[null, {k: null, l: {a: x, b: x}}]"},
		{"value", values + null + union + "}", "{k: null, l: {a: x}}", "{k: null, l: {a: x, b: x}}"},
		{"value that was null", values + null + union + "}", "{k: null}", "{k: {a: x, b: x}}"},
		{"property", list + properties + "p: {" + null + union + "}}}", "[{p: null}, {p: {a: x}}]", "[{p: null}, {p: {a: x, b: x}}]"},
		{"property that is left out", list + properties + "p: {" + null + union + "}}}", "[{p: null}, {p: {a: x}}]", "[{}, {p: {a: x, b: x}}]"},
		{"member", list + union + "}", "[{a: x, b: null}]", "[{a: x, b: x}]"},
		{"member that is left out", list + union + "}", "[{a: x}, {a: null}]", "[{a: x, b: x}, {}]"},
		{"neighbour that is left out", list + union + "}", "[{a: x, other: null}]", "[{a: x, b: x}]"},
		{"neighbour", list + union + "}", "[{a: x, other: null}]", "[{a: x, b: x, other: null}]"},
		{"list", properties + "l: {" + null + list + union + "}}}", "{l: null}", "{l: [{a: x, b: x}]}"},
		{"list that becomes null", properties + "l: {" + null + list + union + "}}}", "{l: [{a: x}]}", "{l: null}"},
		{"places of one name", properties + "p: {" + properties + "u: {" + union + "}}}, q: {" + properties + "u: {" + union + "}}}}", "{p: {u: {a: x}}, q: {u: {b: x}}}", "{p: {u: {a: x, b: x}}, q: {u: {a: x, b: x}}}"},
		{"holder", list + below + "}", "[{in/it: null, b: x}]", "[{in/it: null, b: x}, {in/it: null}]"},
		{"holders", list + below + "}", "[{in/it: {a: x}}, {in/it: null}]", "[{in/it: {a: x}, b: x}, {in/it: null}]"},
		{"holder that is left out", list + below + "}", "[{in/it: {a: x}}, {in/it: null}]", "[{in/it: {a: x}, b: x}, {}]"},
	} {
		k := kindOf(t, "{"+tt.spec+"}")
		policies, _, err := policy.Mutating([]kinds.Kind{k}, policy.Options{})
		if err != nil || len(policies) != 1 {
			t.Fatal(policies, err)
		}
		old, new := spec(tt.old), spec(tt.new)
		want := runtime.DeepCopyJSON(new)
		normalize.Object(k, old, want, normalize.Options{})
		if got, err := policytest.New(t, policies[0]).Write(old, new); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, %v, want %v\n%s", tt.name, got, err, want, policies[0].Spec.Mutations[0].JSONPatch.Expression)
		}
	}
}
