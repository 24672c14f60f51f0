package policy_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/testing/policytest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/policy"
	"github.com/unioncel/unioncel/pkg/union"
)

// kindOf returns the kind Thing with a schema for its spec.
func kindOf(t testing.TB, spec string) union.Kind {
	t.Helper()
	return kindIn(t, testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: spec}))
}

// rootOf returns the kind Thing with the given properties and with a union on the root object.
func rootOf(t testing.TB, properties, declaration string) union.Kind {
	t.Helper()
	return kindIn(t, strings.Replace(testcrd.New("Thing", properties), "        properties:\n", "        x-kubernetes-unions: [{"+declaration+"}]\n        properties:\n", 1))
}

// kindIn returns the kind of a CRD.
func kindIn(t testing.TB, crd string) union.Kind {
	t.Helper()
	declared, diags := crdpatch.Ask(crdpatch.Open("crd.yaml", []byte(crd)), crdpatch.Options{}, (*crdpatch.CRD).Declared)
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, crd)
	}
	l := declared[0].Kinds("crd.yaml")
	if len(l) != 1 {
		t.Fatal(l)
	}
	// Files keep a member whose discriminator is not in the enum. A policy may clear it: the schema
	// rejects the object then.
	for _, o := range l[0].Objects {
		for _, u := range o.Unions {
			u.Enumerated = false
		}
	}
	return l[0]
}

// TestMutatingBuiltIn tests that policies for Kubernetes' own kinds compile and clear members. With
// [unioncases.Exhaustive] it covers all kinds.
func TestMutatingBuiltIn(t *testing.T) {
	if testing.Short() {
		t.Skip("large policies are compiled")
	}
	all, _, diags := declared.BuiltinKinds(declared.Builtin())
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	servers := map[string]*policytest.Server{}
	for _, k := range all {
		switch k.Kind { // Pod and Deployment have the same unions
		case "PodTemplate", "ReplicationController", "DaemonSet", "ReplicaSet", "StatefulSet", "Job", "CronJob":
			if !unioncases.Exhaustive {
				continue
			}
		}
		policies, _, err := policy.Mutating([]union.Kind{k}, policy.Options{})
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
			f, l := yamltext.ParseObjects("in.yaml", []byte("{"+tt.head+spec+"}"), yamltext.Limits{})
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

// TestMutating tests that a policy changes requests exactly as internal/product does, for all pairs of
// states of small unions, including illegal old states. Requests that the normalizer leaves to
// validation stay unchanged. The test covers a sample of the unions and of the pairs;
// [unioncases.Exhaustive] covers more unions, and all pairs in a property.
func TestMutating(t *testing.T) {
	every, pairs := unioncases.Choose(600, 523, 16), unioncases.Choose(29, 3, 5)
	written, turn := 0, 0
	for _, shape := range []unioncases.Shape{
		{Members: 2}, {Members: 3, EmptyIsUnset: true},
		{Members: 2, Discriminated: true, TwoValues: true}, {Members: 2, Discriminated: true, EmptyIsUnset: true}, {Members: 3, Discriminated: true, Enum: true},
		{Members: 2, Discriminated: true, TwoValues: true, Shared: true}, {Members: 2, Discriminated: true, Enum: true, Escaped: true},
		{Members: 2, Discriminated: true, EmptyIsUnset: true, Nested: true}, {Members: 2, Nested: true}, {Members: 2, Discriminated: true, TwoValues: true, Nested: true},
		{Members: 2, Discriminated: true, Type: union.BooleanValue}, {Members: 2, Discriminated: true, Type: union.IntegerValue, TwoValues: true},
		{Members: 2, Discriminated: true, Unset: "A", Enum: true}, {Members: 2, Discriminated: true, Unset: "None", Type: union.IntegerValue}, {Members: 1, Discriminated: true, Unset: "B", Type: union.BooleanValue},
	} {
		for _, declaration := range shape.Declarations() {
			if shape.Unset != "" && needsOld.MatchString(declaration) {
				continue // a policy cannot tell an absent old object from an empty one, and leaves creations alone
			}
			for _, opts := range modes {
				turn++
				if turn%every > 0 {
					continue
				}
				c := mutatingCase{shape: shape, declaration: declaration, opts: opts, place: places[0], every: unioncases.Choose(11, 3, 1)}
				if shape.Members > 2 {
					c.every = 11
				}
				written += c.run(t)
				c.place, c.every = places[turn%len(places)], pairs*c.every
				written += c.run(t)
			}
		}
	}
	t.Logf("%d objects written", written)
}

// modes are the combinations of options that affect the cleared members.
var modes = []policy.Options{{}, {Unselected: true}, {Algorithm: union.KEP2019}, {Algorithm: union.KEP2019, Unselected: true}, {Algorithm: union.KEP2022}, {Algorithm: union.KEP2022, Unselected: true}}

// mutatingCase is a union in a place. every is the sampling interval for its pairs of states.
type mutatingCase struct {
	shape       unioncases.Shape
	declaration string
	place       unioncases.Place
	opts        policy.Options
	every       int
}

func (c mutatingCase) run(t *testing.T) (written int) {
	t.Helper()
	if !fits(c.declaration, c.place) {
		return 0
	}
	k := kindOf(t, c.place.Schema(c.shape.Schema()+"x-kubernetes-unions:\n- "+c.declaration))
	s := serverOf(t, k, c.opts)
	if s == nil {
		return 0
	}
	states := c.shape.States()
	for a, old := range append([]unioncases.State{{}}, states...) {
		for b, new := range states {
			if (a*2+b)%c.every > 0 {
				continue
			}
			neighbour := states[(a*7+b)%len(states)].Objects[0]
			var before map[string]any
			if a > 0 {
				before = object(c.place.Spec(old.Objects[(a+b)%len(old.Objects)], neighbour))
			}
			written++
			if got, want := agrees(t, s, k, c.opts, before, object(c.place.Spec(new.Objects[(a+b)%len(new.Objects)], neighbour))); got != "" {
				t.Fatalf("%s %s %+v: %v > %v is %s, want %s", c.place.Name, c.declaration, c.opts, before, new.Objects[(a+b)%len(new.Objects)], got, want)
			}
		}
	}
	return written
}

// fits reports whether a union is allowed in a place. In a list without keys, rules cannot read the
// old object.
func fits(declaration string, place unioncases.Place) bool {
	return !strings.HasPrefix(place.Name, "list") || !needsOld.MatchString(declaration)
}

var needsOld = regexp.MustCompile(`ratchet|Forbid\b|discriminatorChange: Clear|allowedChanges`)

// serverOf returns a server with the policy for a kind, or nil if there is no policy.
func serverOf(t *testing.T, k union.Kind, opts policy.Options) *policytest.Server {
	t.Helper()
	policies, bindings, err := policy.Mutating([]union.Kind{k}, opts)
	if err != nil && strings.Contains(err.Error(), "kep-2019 sets the discriminator by the member") {
		return nil
	}
	if err != nil || len(bindings) != len(policies) {
		t.Fatal(err)
	}
	if len(policies) == 0 {
		return nil
	}
	return policytest.New(t, policies[0])
}

// agrees compares a policy with internal/product. It returns their results if these differ.
func agrees(t *testing.T, s *policytest.Server, k union.Kind, opts policy.Options, before, after map[string]any) (got, want string) {
	t.Helper()
	normal := runtime.DeepCopyJSON(after)
	product.NormalizeObject(k, before, normal, product.NormalizeOptions{Algorithm: opts.Algorithm, CarriedOver: !opts.Unselected})
	written, err := s.Write(before, after)
	if err != nil {
		return err.Error(), fmt.Sprint(normal)
	}
	if !reflect.DeepEqual(written, normal) {
		return fmt.Sprint(written), fmt.Sprint(normal)
	}
	return "", ""
}

// TestMutatingAncestors removes, adds and replaces union objects and the values around them. A policy
// changes such requests exactly as internal/product does, and fails for none.
func TestMutatingAncestors(t *testing.T) {
	every, turn, written := unioncases.Choose(4800, 4200, 120), 0, 0
	for _, shape := range slices.Concat(unioncases.Shapes(), unioncases.Further()) {
		for _, declaration := range shape.Declarations() {
			for _, place := range places {
				for _, opts := range modes {
					if turn++; turn%every > 0 && shape.Unset == "" || turn%(every/3) > 0 || !fits(declaration, place) {
						continue
					}
					k := kindOf(t, place.Schema(shape.Schema()+"x-kubernetes-unions:\n- "+declaration))
					s := serverOf(t, k, opts)
					if s == nil {
						continue
					}
					states := shape.States()
					for i := range states[:min(len(states), 8)] {
						st := states[(i*5+turn)%len(states)]
						is := object(place.Spec(st.Objects[turn%len(st.Objects)], states[i].Objects[0]))
						if text, err := json.Marshal(is); err != nil || utiljson.Unmarshal(text, &is) != nil { // 0.0 is 0
							t.Fatal(err)
						}
						k.Default(is)
						for _, spec := range unioncases.Ancestors(map[string]any{"spec": is["spec"]}, len(k.Objects[0].Path)) {
							other := maps.Clone(is)
							delete(other, "spec")
							maps.Copy(other, runtime.DeepCopyJSON(spec.(map[string]any)))
							k.Default(other)
							for _, pair := range [][2]map[string]any{{is, other}, {other, is}} {
								if shape.Unset != "" && needsOld.MatchString(declaration) && reflect.DeepEqual(pair[1], is) {
									continue // see TestMutating
								}
								written++
								if got, want := agrees(t, s, k, opts, pair[0], pair[1]); got != "" {
									t.Fatalf("%s %s %+v: %v > %v is %s, want %s", place.Name, declaration, opts, pair[0], pair[1], got, want)
								}
							}
						}
					}
				}
			}
		}
	}
	t.Logf("%d objects written", written)
}

// TestMutatingRoot declares unions on the root object.
func TestMutatingRoot(t *testing.T) {
	for _, tt := range []struct{ name, properties, declaration string }{
		{"members", "a: {type: string}\nb: {type: string}", "members: [a, b]"},
		{"discriminator", "type: {type: string, nullable: true}\na: {type: string}\nb: {type: string}", "discriminator: type, fields-to-discriminateBy: {a: A, b: B}"},
		{"in objects below", "spec: {type: object, nullable: true, properties: {type: {type: string}, a: {type: string}}}\nb: {type: string}", "discriminator: spec.type, fields-to-discriminateBy: {spec.a: A, b: B}"},
	} {
		k := rootOf(t, tt.properties, tt.declaration)
		u := k.Objects[0].Unions[0]
		var objects []map[string]any
		for i := range 12 {
			o := map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "t"}}
			for bit, name := range u.MemberNames() {
				if i>>bit&1 > 0 {
					u.Put(o, name, "x")
				}
			}
			if u.Discriminator != "" && i>>2 > 0 {
				u.Put(o, u.Discriminator, []string{"A", "B"}[i>>2-1])
			}
			objects = append(objects, o)
		}
		for _, opts := range modes {
			s := serverOf(t, k, opts)
			for _, before := range append([]map[string]any{nil}, objects...) {
				for _, after := range objects {
					if got, want := agrees(t, s, k, opts, before, after); got != "" {
						t.Fatalf("%s %+v: %v > %v is %s, want %s", tt.name, opts, before, after, got, want)
					}
				}
			}
		}
	}
}

// TestMutatingRandom tests that a policy changes random objects exactly as internal/product does. The
// objects have nested unions and unions in lists of all kinds. Items are added, removed, moved,
// changed.
func TestMutatingRandom(t *testing.T) {
	const (
		fields = "type: {type: string, enum: [A, B]}, a: {type: string, enum: [x, 'y']}, b: {type: string}, kind: {type: string, enum: [C, D]}, c: {type: string}, d: {type: string, enum: [x, 'y']}, e: {type: boolean, enum: [false, true]}, f: {type: number, enum: [0, 1, 0.5]}, g: {type: string}, h: {type: string}"
		first  = "{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}"
		unions = first + ", {discriminator: kind, fields-to-discriminateBy: {c: C, d: D}, deduceInvalidDiscriminator: true}, {members: [e, [f, h]], emptyIsUnset: [e, f], optionalMembers: [h]}, {name: more, members: [g], cardinality: AtLeastOne}"
		union  = "type: object, x-kubernetes-map-type: atomic, properties: {" + fields + "}, x-kubernetes-unions: [" + unions + "]"
		keyed  = "type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [name], items: {type: object, required: [name], properties: {name: {type: string, enum: [x, 'y', z]}, " + fields + "}, x-kubernetes-unions: [" + unions + "]}"
	)
	list := func(items string) string { return "type: array, items: {" + items + "}" }
	values := func(of string) string { return "type: object, additionalProperties: {" + of + "}" }
	outer := func(properties string) string {
		return "type: object, properties: {which: {type: string, enum: [U, V, W]}, u: {" + properties + "}, v: {type: string, enum: [x, 'y']}}, x-kubernetes-unions: [{discriminator: which, fields-to-discriminateBy: {u: U, v: V}, emptyIsUnset: [u]}]"
	}
	for turn, tt := range []struct{ name, spec string }{
		{"atomic list", strings.Replace(list(union), "items", "x-kubernetes-list-type: atomic, items", 1)},
		{"list", list(union)},
		{"list with keys", keyed},
		{"set", strings.Replace(list(union), "items", "x-kubernetes-list-type: set, items", 1)},
		{"list in a list", list(list(union))},
		{"list with keys in a list", list(keyed)},
		{"list in a map", values(list(union))},
		{"map in a list", list(values(union))},
		{"union in a union", outer(union)},
		{"union in a union in a map", values(outer(union))},
		{"union in a union in a list", list(outer(union))},
		{"two unions in an object below", "type: object, properties: {type: {type: string, enum: [A, B]}, kind: {type: string, enum: [C, D]}, sub: {type: object, nullable: true, properties: {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: string}}}}, " +
			"x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {sub.a: A, sub.b: B}}, {discriminator: kind, fields-to-discriminateBy: {sub.c: C, sub.d: D}}]"},
		{"list with keys in a union", outer("type: object, properties: {l: {" + keyed + "}}")},
	} {
		k := kindOf(t, "{"+tt.spec+"}")
		var schema apiextensionsv1.JSONSchemaProps
		if err := yaml.Unmarshal([]byte("{"+tt.spec+"}"), &schema); err != nil {
			t.Fatal(err)
		}
		written, changed := 0, 0
		for i, opts := range unioncases.Some(modes, 3, turn) {
			s := serverOf(t, k, opts)
			if s == nil {
				continue
			}
			r := filler{Rand: rand.New(rand.NewPCG(uint64(i), 7))}
			for range unioncases.Choose(7, 15, 750) {
				old := r.value(&schema)
				before, after := object(old), object(r.changed(&schema, old))
				if r.IntN(9) == 0 {
					before = nil
				}
				written++
				if got, want := agrees(t, s, k, opts, before, after); got != "" {
					t.Fatalf("%s %+v: %v > %v is %s, want %s", tt.name, opts, before, after, got, want)
				}
				if changes, _ := product.PlanChanges(k, before, after, product.NormalizeOptions{Algorithm: opts.Algorithm, CarriedOver: !opts.Unselected}); len(changes) > 0 {
					changed++
				}
			}
		}
		if changed < written/20 || written == 0 && tt.name != "set" {
			t.Errorf("%s: %d of %d change", tt.name, changed, written)
		}
	}
}

func object(spec any) map[string]any {
	return map[string]any{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": map[string]any{"name": "t"}, "spec": runtime.DeepCopyJSONValue(spec)}
}

// TestMutatingNulls tests that a policy and internal/product treat null alike: above union objects, in
// them and alongside their members. They also agree on paths that end in the same name.
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
	for i, tt := range []struct{ name, spec, old, new string }{
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
		for _, opts := range unioncases.Some(modes, 3, i) {
			if got, want := agrees(t, serverOf(t, k, opts), k, opts, spec(tt.old), spec(tt.new)); got != "" {
				t.Errorf("%s: %+v: %s, want %s", tt.name, opts, got, want)
			}
		}
	}
}
