package product_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

func object(t testing.TB, text string) map[string]any {
	t.Helper()
	var o map[string]any
	if err := yaml.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return o
}

var (
	pod        = schema.GroupVersionKind{Version: "v1", Kind: "Pod"}
	deployment = schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "Deployment"}
	thing      = schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Thing"}
)

// TestCreate asserts that a patch turns one object into the other and has no other effect.
func TestCreate(t *testing.T) {
	tests := []struct {
		gvk      schema.GroupVersionKind
		t        product.PatchType
		from, to string
		want     string
	}{
		{thing, product.MergePatch, "{spec: {type: A, a: {x: 1}}, status: {y: 2}, metadata: {name: t, uid: u, labels: {a: b}}}", "{spec: {type: B, b: {}}, metadata: {name: t}}",
			`{"metadata":{"labels":null},"spec":{"a":null,"b":{},"type":"B"}}`},
		{thing, product.JSONPatch, "{spec: {type: A, a: {x: 1}}}", "{spec: {type: B, a: {x: 1}}}", `[{"op":"replace","path":"/spec/type","value":"B"}]`},
		{thing, product.JSONPatch, "{spec: {l: [1, 2, 3]}}", "{spec: {l: [2, 3]}}", ""},
		{thing, product.MergePatch, "{spec: {}}", "{spec: {}}", "{}"},
		{thing, product.JSONPatch, "{spec: {}}", "{spec: {}}", "[]"},
		{thing, product.MergePatch, "{spec: {}}", "{spec: {a: null}}", "error: a patch of type merge cannot express this change"},
		{thing, product.StrategicPatch, "{}", "{}", "error: Thing has no strategic merge patch: only Kubernetes' own types have; use merge or json"},
		{deployment, product.StrategicPatch, "{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}", "{spec: {strategy: {type: Recreate}}}",
			`{"spec":{"strategy":{"$retainKeys":["type"],"rollingUpdate":null,"type":"Recreate"}}}`},
		{pod, product.StrategicPatch, "{spec: {volumes: [{name: a, emptyDir: {}}, {name: b, emptyDir: {}}]}}", "{spec: {volumes: [{name: a, hostPath: {path: /x}}, {name: b, emptyDir: {}}]}}",
			`{"spec":{"$setElementOrder/volumes":[{"name":"a"},{"name":"b"}],"volumes":[{"$retainKeys":["hostPath","name"],"emptyDir":null,"hostPath":{"path":"/x"},"name":"a"}]}}`},
	}
	for _, tt := range tests {
		got, err := product.CreatePatch(tt.gvk, tt.t, object(t, tt.from), object(t, tt.to))
		if err != nil {
			got = []byte("error: " + err.Error())
		}
		if tt.want != "" && string(got) != tt.want {
			t.Errorf("%s from %s to %s: %s, want %s", tt.t, tt.from, tt.to, got, tt.want)
		}
		if empty := slices.Contains([]string{"{}", "[]"}, string(got)); err == nil && empty != (tt.from == tt.to) {
			t.Errorf("%s is empty: %t", got, empty)
		}
	}
}

// TestRetainKeys has the examples from the proposal "Add new patchStrategy to clear fields not
// present in the patch".
func TestRetainKeys(t *testing.T) {
	tests := []struct {
		name              string
		gvk               schema.GroupVersionKind
		live, patch, want string
	}{
		{"non-inlined non-discriminated union", pod,
			"{status: {containerStatuses: [{name: c, state: {running: {startedAt: x}}}]}}",
			"{status: {containerStatuses: [{name: c, state: {$retainKeys: [terminated], terminated: {exitCode: 0}}}]}}",
			// Kubernetes never gave the type of the first example the strategy, so the directive is a field.
			"{status: {containerStatuses: [{name: c, state: {$retainKeys: [terminated], terminated: {exitCode: 0}}}]}}"},
		{"non-inlined union in a list merged by key", pod,
			"{spec: {containers: [{name: c, image: x}], volumes: [{name: v, projected: {}}]}}",
			"{spec: {volumes: [{$retainKeys: [name, secret], name: v, secret: {secretName: s}}]}}",
			"{spec: {containers: [{name: c, image: x}], volumes: [{name: v, secret: {secretName: s}}]}}"},
		{"non-inlined discriminated union", deployment,
			"{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}",
			"{spec: {strategy: {$retainKeys: [type], type: Recreate}}}",
			"{spec: {strategy: {type: Recreate}}}"},
		{"inlined union with patchMergeKey only", pod,
			"{spec: {volumes: [{name: foo, emptyDir: {medium: Memory}}]}}",
			"{spec: {volumes: [{$retainKeys: [name, hostPath], name: foo, hostPath: {path: /x}}]}}",
			"{spec: {volumes: [{name: foo, hostPath: {path: /x}}]}}"},
		{"without the directive", pod,
			"{spec: {volumes: [{name: foo, emptyDir: {medium: Memory}}]}}",
			"{spec: {volumes: [{name: foo, hostPath: {path: /x}}]}}",
			"{spec: {volumes: [{name: foo, hostPath: {path: /x}, emptyDir: {medium: Memory}}]}}"},
		{"a field that is not retained", deployment,
			"{spec: {strategy: {type: RollingUpdate}}}",
			"{spec: {strategy: {$retainKeys: [type], type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}",
			"error: invalid patch format of retainKeys"},
		{"retained keys that are not in the patch", deployment,
			"{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}",
			"{spec: {strategy: {$retainKeys: [type, rollingUpdate], type: RollingUpdate}}}",
			"{spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}}"},
	}
	for _, tt := range tests {
		data, err := yaml.Marshal(object(t, tt.patch))
		if err != nil {
			t.Fatal(err)
		}
		if data, err = yaml.YAMLToJSON(data); err != nil {
			t.Fatal(err)
		}
		got, err := product.ApplyPatch(tt.gvk, product.StrategicPatch, object(t, tt.live), data)
		if err != nil {
			if "error: "+err.Error() != tt.want {
				t.Errorf("%s: %v, want %s", tt.name, err, tt.want)
			}
		} else if diff := cmp.Diff(fmt.Sprint(object(t, tt.want)), fmt.Sprint(got)); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
	}
}

// TestOddValues has values that the patch libraries change or reject.
func TestOddValues(t *testing.T) {
	const large = 9007199254740993 // not representable as float64
	spec := func(key string, v any) map[string]any {
		return map[string]any{"spec": map[string]any{key: v}}
	}
	lists := map[string]map[string]any{}
	for name, key := range map[string]any{"one key": []any{"a"}, "another": map[string]any{"a": "b"}} {
		lists[name] = spec("volumes", []any{map[string]any{"name": key}, map[string]any{"name": "x"}})
	}
	const fails = "the API server cannot merge these lists"
	for _, tt := range []struct {
		name     string
		from, to map[string]any
		want     map[product.PatchType]string // errors
	}{
		{"a number that stays", spec("activeDeadlineSeconds", int64(large)), map[string]any{"spec": map[string]any{"activeDeadlineSeconds": int64(large), "nodeName": "a"}}, nil},
		// The merge patch library reads numbers as float64.
		{"another number", spec("activeDeadlineSeconds", int64(1)), spec("activeDeadlineSeconds", int64(large)),
			map[product.PatchType]string{product.MergePatch: "a patch of type merge cannot express this change"}},
		{"a key that is no scalar", spec("volumes", []any{}), lists["one key"], map[product.PatchType]string{product.StrategicPatch: fails}},
		{"other keys", lists["another"], lists["one key"], map[product.PatchType]string{product.StrategicPatch: fails}},
		{"items that are null", spec("volumes", []any{nil, nil}), lists["one key"], map[product.PatchType]string{product.StrategicPatch: fails}},
	} {
		for _, kind := range product.PatchTypes() {
			made, err := product.CreatePatch(pod, kind, tt.from, tt.to)
			if want := tt.want[kind]; want != "" {
				if err == nil || !strings.HasPrefix(err.Error(), want) {
					t.Errorf("%s: %s: %s, %v; want %s", tt.name, kind, made, err, want)
				}
				continue
			}
			var got map[string]any
			if err == nil {
				got, err = product.ApplyPatch(pod, kind, tt.from, made)
			}
			if diff := cmp.Diff(tt.to, got); err != nil || diff != "" {
				t.Errorf("%s: %s: %v, -want +got\n%s", tt.name, kind, err, diff)
			}
		}
	}
}

// set has the unions of volumes and strategy in Kubernetes' own kinds, and the union backend of a
// custom resource, in an object, a list and a map.
func set(t testing.TB) *union.KindSet {
	t.Helper()
	members := func(values bool, names ...string) (l []union.Member) {
		for _, name := range names {
			m := union.Member{Name: name}
			if values {
				m.Values = []string{strings.ToUpper(name)}
			}
			l = append(l, m)
		}
		return l
	}
	typed := &union.Union{Discriminator: "type", Members: members(true, "http", "tcp", "udp"), Cardinality: union.AtMostOne, Change: union.Clear}
	plain := &union.Union{Members: members(false, "a", "b", "c"), Cardinality: union.AtMostOne, Change: union.Allow}
	volumes := &union.Union{Members: members(false, "emptyDir", "hostPath", "secret"), Cardinality: union.ExactlyOne, Change: union.Allow}
	below := &union.Union{Discriminator: "sub.type", Members: members(true, "http", "sub.tcp", "deep.in.udp", "deep.raw"), Cardinality: union.AtMostOne, Change: union.Clear,
		Paths: map[string]schemapath.Path{"sub.type": schemapath.New("sub", "type"), "sub.tcp": schemapath.New("sub", "tcp"), "deep.in.udp": schemapath.New("deep", "in", "udp"), "deep.raw": schemapath.New("deep", "raw")}}
	s := &union.KindSet{}
	if err := s.Add(union.Kind{GroupVersionKind: thing, Objects: []union.Instances{
		{Path: schemapath.New("below"), Unions: []*union.Union{below}},
		{Path: schemapath.New("spec"), Unions: []*union.Union{typed, plain}},
		{Path: schemapath.New("both"), Unions: []*union.Union{plain, {Members: members(false, "d", "sub.e", "sub.f"), Cardinality: union.AtMostOne, Change: union.Allow,
			Paths: map[string]schemapath.Path{"sub.e": schemapath.New("sub", "e"), "sub.f": schemapath.New("sub", "f")}}}},
		{Path: schemapath.New("choice"), Unions: []*union.Union{ // http is the discriminator of an inner choice
			{Discriminator: "http", Members: members(true, "a", "b"), Cardinality: union.AtMostOne, Change: union.Clear},
			{Members: []union.Member{{Name: "a", Requires: []string{"d"}}, {Name: "d"}}, Cardinality: union.AnyNumber, Change: union.Allow},
			typed,
		}},
		{Path: schemapath.New("fallback"), Unions: []*union.Union{ // the inner choice http is A when it is unset
			{Discriminator: "http", Members: members(true, "a", "b"), Cardinality: union.AtMostOne, Change: union.Clear, Unset: "A"},
			typed,
		}},
		{Path: schemapath.New("held"), Unions: []*union.Union{
			{Members: members(false, "b", "sub.a"), Paths: map[string]schemapath.Path{"sub.a": schemapath.New("sub", "a")}, Cardinality: union.AtMostOne},
			{Members: members(false, "d", "sub.c"), Paths: map[string]schemapath.Path{"sub.c": schemapath.New("sub", "c")}, Cardinality: union.AtMostOne},
		}},
		{Path: schemapath.New("spec", "list").Append(schemapath.Items), Keys: [][]string{{"name"}}, Unions: []*union.Union{plain}},
		{Path: schemapath.New("spec", "map").Append(schemapath.Values), Unions: []*union.Union{plain}},
	}}, union.Kind{GroupVersionKind: pod, Objects: []union.Instances{
		{Path: schemapath.New("spec", "volumes").Append(schemapath.Items), Keys: [][]string{{"name"}}, Unions: []*union.Union{volumes}},
		{Path: schemapath.New("spec", "volumes").Append(schemapath.Items).Append(schemapath.Property("secret")), Keys: [][]string{{"name"}}, Unions: []*union.Union{plain}},
	}}); err != nil {
		t.Fatal(err)
	}
	return s
}

func TestExplicit(t *testing.T) {
	const head = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n"
	const podHead = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
	tests := []struct{ name, src, want string }{
		{"discriminator", head + "spec:\n  type: TCP # now\n", head + "spec:\n  type: TCP # now\n  http: null\n  udp: null\n"},
		{"with its member", head + "spec:\n  type: TCP\n  tcp: {}\nmore: x\n", head + "spec:\n  type: TCP\n  tcp: {}\n  http: null\n  udp: null\nmore: x\n"},
		{"flow", head + "spec: {a: x, name: n}\n", head + "spec: {a: x, name: n, b: null, c: null}\n"},
		{"JSON", `{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"a": "x"}}`, `{"apiVersion": "example.com/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"a": "x", "b": null, "c": null}}`},
		{"some are null", head + "spec: {a: x, b: null}\n", head + "spec: {a: x, b: null, c: null}\n"},
		{"explicit already", head + "spec: {a: x, b: null, c: null}\n", ""},
		{"a member alone", head + "spec: {tcp: {}}\n", ""}, // the base determines the type
		{"nothing", head + "spec: {name: n}\n", ""},
		{"map", head + "spec:\n  map:\n    k: {b: x}\n", head + "spec:\n  map:\n    k: {b: x, a: null, c: null}\n"},
		{"list of a custom resource", head + "spec:\n  list:\n  - {name: n, b: x}\n", ""},
		{"no last newline", head + "spec:\n  a: x", head + "spec:\n  a: x\n  b: null\n  c: null"},
		{"list merged by key", podHead + "spec:\n  volumes:\n  - name: v\n    hostPath: {path: /x}\n", podHead + "spec:\n  volumes:\n  - name: v\n    hostPath: {path: /x}\n    emptyDir: null\n    secret: null\n"},
		{"one within the other", podHead + "spec:\n  volumes:\n  - name: v\n    secret:\n      a: x\n", podHead + "spec:\n  volumes:\n  - name: v\n    secret:\n      a: x\n      b: null\n      c: null\n    emptyDir: null\n    hostPath: null\n"},
		{"deleted", podHead + "spec:\n  volumes:\n  - name: v\n    $patch: delete\n", ""},
		{"another kind", "apiVersion: v1\nkind: Secret\ndata: {a: x}\n", ""},
		{"two members", head + "spec: {a: x, b: y}\n", "kustomization.yaml:4:14: error: UC802: a and b are set together"},
		{"another member", head + "spec: {type: TCP, http: {}}\n", "kustomization.yaml:4:19: error: UC802: http is set while type is 'TCP', which clears it"},
		{"below, in objects that are not there", head + "below:\n  sub:\n    type: HTTP\n  x: y\n", head + "below:\n  sub:\n    type: HTTP\n    tcp: null\n  x: y\n  deep:\n    in:\n      udp: null\n    raw: null\n"},
		{"below", head + "below:\n  sub:\n    type: SUB.TCP\n    tcp: {}\n  deep:\n    x: y\n", head + "below:\n  sub:\n    type: SUB.TCP\n    tcp: {}\n  deep:\n    x: y\n    in:\n      udp: null\n    raw: null\n  http: null\n"},
		{"below, in flow", head + "below: {sub: {type: HTTP}, deep: {x: y}}\n", head + "below: {sub: {type: HTTP, tcp: null}, deep: {x: y, in: {\"udp\": null}, raw: null}}\n"},
		{"below, removed", head + "below: {sub: {type: HTTP}, deep: null}\n", head + "below: {sub: {type: HTTP, tcp: null}, deep: null}\n"},
		{"below, replaced", head + "below: {sub: {type: HTTP}, deep: {$patch: replace}}\n", head + "below: {sub: {type: HTTP, tcp: null}, deep: {$patch: replace}}\n"},
		{"another member below", head + "below: {sub: {type: HTTP}, deep: {in: {udp: {}}}}\n", "kustomization.yaml:4:40: error: UC802: deep.in.udp is set while sub.type is 'HTTP', which clears it"},
		{"below, in an empty object", head + "both: {d: x, sub: {}}\n", head + "both: {d: x, sub: {\"e\": null, \"f\": null}}\n"},
		{"two unions", head + "both:\n  a: x\n  d: x\n  sub:\n    g: y\n", head + "both:\n  a: x\n  d: x\n  sub:\n    g: y\n    e: null\n    f: null\n  b: null\n  c: null\n"},
		{"two unions, in an object that is not there", head + "held:\n  b: x\n  d: y\n", head + "held:\n  b: x\n  d: y\n  sub:\n    a: null\n    c: null\n"},
		{"inner choice", head + "choice: {type: TCP}\n", head + "choice: {type: TCP, http: null, udp: null, a: null, b: null}\n"},
		{"inner choice, cleared", head + "choice: {http: null, udp: null, type: TCP}\n", head + "choice: {http: null, udp: null, type: TCP, a: null, b: null}\n"},
		{"inner choice with unset", head + "fallback: {type: TCP}\n", head + "fallback: {type: TCP, http: null, udp: null, b: null}\n"},
		{"within an inner choice", head + "choice: {http: A, a: x}\n", head + "choice: {http: A, a: x, b: null}\n"},
		{"inline", "patches:\n- patch: |-\n    apiVersion: example.com/v1\n    kind: Thing\n    metadata: {name: t}\n    spec:\n      a: x # this\n- path: x.yaml\n", "patches:\n- patch: |-\n    apiVersion: example.com/v1\n    kind: Thing\n    metadata: {name: t}\n    spec:\n      a: x # this\n      b: null\n      c: null\n- path: x.yaml\n"},
		{"inline at the end, of Windows", strings.ReplaceAll("patches:\n- patch: |\n    "+strings.ReplaceAll(head, "\n", "\n    ")+"spec:\n      a: x\n\n", "\n", "\r\n"), strings.ReplaceAll("patches:\n- patch: |\n    "+strings.ReplaceAll(head, "\n", "\n    ")+"spec:\n      a: x\n      b: null\n      c: null\n\n", "\n", "\r\n")},
		{"inline, no last newline", "patches:\n- patch: |-\n    " + strings.ReplaceAll(head, "\n", "\n    ") + "spec:\n      a: x", "patches:\n- patch: |-\n    " + strings.ReplaceAll(head, "\n", "\n    ") + "spec:\n      a: x\n      b: null\n      c: null"},
		{"shared", head + "spec: &s {a: x}\nother: *s\n", "kustomization.yaml:4:1: error: UC802: cannot edit the text (b, c): it is shared with other places by an alias or a merge key"},
	}
	for _, tt := range tests {
		want := tt.want
		if want == "" {
			want = tt.src
		}
		r := product.ExplicitPatches(set(t), "kustomization.yaml", []byte(tt.src), nil, product.BuiltIn, yamltext.Limits{})
		got := string(r.Text)
		if r.Diagnostics.HasErrors() {
			got = strings.Trim(fmt.Sprint(r.Diagnostics), "[]")
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: -want +got\n%s", tt.name, diff)
		}
		if !r.Diagnostics.HasErrors() {
			if again := product.ExplicitPatches(set(t), "kustomization.yaml", r.Text, nil, product.BuiltIn, yamltext.Limits{}); string(again.Text) != got {
				t.Errorf("%s: it is not explicit:\n%s", tt.name, again.Text)
			}
		}
	}
	if r := product.ExplicitPatches(set(t), "in.yaml", []byte(tests[11].src), nil, nil, yamltext.Limits{}); string(r.Text) != tests[11].src {
		t.Errorf("a merge patch has become\n%s", r.Text)
	}
}

// TestExplicitBase has a base: siblings that the base does not set need no null.
func TestExplicitBase(t *testing.T) {
	const podHead = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n"
	base, l := yamltext.ParseObjects("base.yaml", []byte(podHead+"spec:\n  volumes: [{name: other, secret: {b: x}}, {name: v, emptyDir: {}}]\n---\n"+
		"apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\nspec: {type: HTTP, http: {}, map: {k: {a: x}}, c: null}\nbelow: {sub: {type: UDP}, deep: {in: {udp: {}}}}\n"), yamltext.Limits{})
	if l.HasErrors() {
		t.Fatal(l)
	}
	old := &yamltext.OldObjects{}
	old.Add(base.Objects)
	const head = "apiVersion: example.com/v1\nkind: Thing\nmetadata: {name: t}\n"
	for _, tt := range []struct{ src, want string }{
		{head + "spec: {type: TCP}\n", head + "spec: {type: TCP, http: null}\n"},
		{head + "spec: {a: x}\n", ""},
		{head + "below: {sub: {type: HTTP}}\n", head + "below: {sub: {type: HTTP}, deep: {\"in\": {\"udp\": null}}}\n"},
		{head + "spec: {map: {k: {b: x}, new: {b: x}}}\n", head + "spec: {map: {k: {b: x, a: null}, new: {b: x}}}\n"},
		{strings.Replace(head, "name: t", "name: another", 1) + "spec: {a: x}\n", strings.Replace(head, "name: t", "name: another", 1) + "spec: {a: x, b: null, c: null}\n"},
		{podHead + "spec:\n  volumes:\n  - name: v\n    hostPath: {path: /x}\n  - name: new\n    secret: {}\n", podHead + "spec:\n  volumes:\n  - name: v\n    hostPath: {path: /x}\n    emptyDir: null\n  - name: new\n    secret: {}\n"},
	} {
		if tt.want == "" {
			tt.want = tt.src
		}
		r := product.ExplicitPatches(set(t), "in.yaml", []byte(tt.src), old, product.BuiltIn, yamltext.Limits{})
		if diff := cmp.Diff(tt.want, string(r.Text)); diff != "" {
			t.Errorf("-want +got\n%s\n%v", diff, r.Diagnostics)
		}
	}
}
