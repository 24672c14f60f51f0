package e2e

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/testprog"
	"github.com/unioncel/unioncel/pkg/policy"
)

// clearing are the options of the clearing policies, by version.
var clearing = map[string]policy.Options{"unselected": {Unselected: true}, "carriedover": {}}

// factSchema is the schema of the objects of facts. It declares no union.
const factSchema = `type: object
properties:
  type: {type: string}
  a: {type: object, properties: {x: {type: integer}}}
  b: {type: object, properties: {x: {type: integer}}}
  d: {type: object, default: {x: 1}, properties: {x: {type: integer}}}
`

// byHand are policies with mutations and conditions that unioncel does not write, or writes only
// with guards. Each applies to the version of its name. want is the error, or the spec after a write
// of {a: {x: 1}}; the default adds d: {x: 1}.
var byHand = []struct{ name, policy, want string }{
	{"removed", "mutations: [{patchType: JSONPatch, jsonPatch: {expression: \"[JSONPatch{op: 'remove', path: '/spec/a'}]\"}}]", `{"d":{"x":1}}`},
	// Defaults are set before and after the policy.
	{"defaulted", "mutations: [{patchType: JSONPatch, jsonPatch: {expression: \"has(object.spec.d) ? [JSONPatch{op: 'remove', path: '/spec/d'}] : []\"}}]", `{"a":{"x":1},"d":{"x":1}}`},
	{"removeabsent", "mutations: [{patchType: JSONPatch, jsonPatch: {expression: \"[JSONPatch{op: 'remove', path: '/spec/b'}]\"}}]",
		"policy 'removeabsent' with binding 'removeabsent' denied request: JSON Patch: error in remove for path: '/spec/b': Unable to remove nonexistent key: b: missing value"},
	{"readabsent", "matchConditions: [{name: b, expression: object.spec.b.x == 1}]\n  mutations: [{patchType: JSONPatch, jsonPatch: {expression: \"[]\"}}]",
		"policy 'readabsent' with binding 'readabsent' denied request: expression 'object.spec.b.x == 1' resulted in error: no such key: b"},
	{"ignored", "failurePolicy: Ignore\n  mutations: [{patchType: JSONPatch, jsonPatch: {expression: \"[JSONPatch{op: 'remove', path: '/spec/b'}]\"}}]", `{"a":{"x":1},"d":{"x":1}}`},
	// Apply configurations cannot unset fields.
	{"applynull", "mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: \"Object{spec: Object.spec{a: null}}\"}}]",
		"policy 'applynull' with binding 'applynull' denied request: error applying patch: failed to convert patch object to typed object: .spec.a: expected map, got &{NULL_VALUE}"},
	{"applynone", "mutations: [{patchType: ApplyConfiguration, applyConfiguration: {expression: \"Object{spec: Object.spec{?a: optional.none()}}\"}}]", `{"a":{"x":1},"d":{"x":1}}`},
}

// facts checks the general statements about policies in docs/clear.md.
func (s *policyServer) facts(t *testing.T) policyTest {
	var versions []testcrd.Version
	for _, x := range byHand {
		versions = append(versions, testcrd.Version{Name: x.name, Spec: factSchema})
		s.addByHand(x.name, x.policy)
	}
	if err := s.Install(t.Context(), []byte(testcrd.Versions("Fact", versions...))); err != nil {
		t.Fatal(err)
	}
	return policyTest{"by hand", func(t *testing.T) {
		for _, x := range byHand {
			stored, _, err := s.do(t.Context(), applied(x.name, "Fact", "it", `{"a": {"x": 1}}`))
			got := fmt.Sprint(err)
			if err == nil {
				text, _ := json.Marshal(stored.Object["spec"])
				got = string(text)
			} else if !apierrors.IsInvalid(err) || err.(apierrors.APIStatus).Status().Code != 403 {
				t.Errorf("%s: %#v", x.name, err)
			}
			if got != x.want {
				t.Errorf("%s: %s, want %s", x.name, got, x.want)
			}
		}
		_, _, err := s.do(t.Context(), write{version: "removed", resource: "facts", name: "it", patch: types.StrategicMergePatchType, body: []byte("{}")})
		if !apierrors.IsUnsupportedMediaType(err) {
			t.Errorf("a strategic merge patch: %v", err)
		}
	}}
}

// addByHand adds a policy and its binding for the version of the same name.
func (s *policyServer) addByHand(name, spec string) {
	fmt.Fprintf(&s.policies, `---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  reinvocationPolicy: Never
  matchConstraints: {matchPolicy: Exact, resourceRules: [{apiGroups: [example.com], apiVersions: [%[1]s], operations: [CREATE, UPDATE], resources: ["*"]}]}
  %[2]s
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s}
`, name, spec)
}

// applied returns a server-side apply of an object of example.com, whose spec is JSON.
func applied(version, kind, name, spec string) write {
	return write{version: version, resource: strings.ToLower(kind) + "s", name: name, patch: types.ApplyPatchType,
		body: fmt.Appendf(nil, `{"apiVersion": "example.com/%s", "kind": %q, "metadata": {"name": %q}, "spec": %s}`, version, kind, name, spec)}
}

// unionSchema is the schema of a union object.
const unionSchema = `type: object
properties:
  type: {type: string}
  a: {type: object, properties: {x: {type: integer}}}
  b: {type: object, properties: {x: {type: integer}}}
x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]`

// switching checks requests that switch the member without clearing the old one. The CRD has the
// rules of its unions, which reject objects that the policies do not clear.
func (s *policyServer) switching(t *testing.T) policyTest {
	u := strings.ReplaceAll(unionSchema, "\n", "\n    ")
	spec := "type: object\nproperties:\n  u:\n    " + u + "\n  l:\n    type: array\n    maxItems: 10\n    x-kubernetes-list-type: map\n    x-kubernetes-list-map-keys: [name]\n    items:\n      required: [name]\n      " +
		strings.Replace(strings.ReplaceAll(u, "\n", "\n  "), "type: {type: string}", "type: {type: string, maxLength: 10}\n        name: {type: string}", 1)
	k := s.compile(t, testcrd.Versions("Switcher", testcrd.Version{Name: "unselected", Spec: spec}, testcrd.Version{Name: "carriedover", Spec: spec}))
	for version, opts := range clearing {
		s.mutate(t, k[version], opts)
	}
	const (
		before = `{"type": "A", "a": {"x": 1}}`
		after  = `{"type": "B", "a": {"x": 1}, "b": {"x": 2}}`
		want   = `{"type": "B", "b": {"x": 2}}`
		rule   = "a is required when type is 'A', and forbidden otherwise"
	)
	places := map[string]func(u string) string{
		"property": func(u string) string { return `{"u": ` + u + `}` },
		"list":     func(u string) string { return `{"l": [{"name": "n", ` + u[1:] + `]}` },
	}
	return policyTest{"switching", func(t *testing.T) {
		for version := range clearing {
			for place, in := range places {
				for _, operation := range operations {
					name := strings.ReplaceAll(strings.ToLower(version+" "+place+" "+operation.name), " ", "-")
					stored, _, err := s.do(t.Context(), applied(version, "Switcher", name, in(before)))
					if err != nil {
						t.Fatal(err)
					}
					// The same request twice: with CarriedOver, the second one does not change the
					// type.
					for again := range 2 {
						w := write{version: version, resource: "switchers", name: name}
						if err := operation.do(&w, stored.Object, parse(t, applied(version, "Switcher", name, in(after)).body)); err != nil {
							t.Fatal(err)
						}
						got, _, err := s.do(t.Context(), w)
						if again == 1 && version == "carriedover" {
							if !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), rule) {
								t.Errorf("%s, %s, the same %s again: %v", version, place, operation.name, err)
							}
							continue
						}
						if err != nil {
							t.Fatalf("%s, %s, %s: %v", version, place, operation.name, err)
						}
						if !reflect.DeepEqual(got.Object["spec"], parse(t, []byte(in(want)))) {
							t.Errorf("%s, %s, %s: %v", version, place, operation.name, got.Object["spec"])
						}
						if again == 1 && got.GetGeneration() != stored.GetGeneration() {
							t.Errorf("%s, %s, the same %s again changes the object", version, place, operation.name)
						}
						stored = got
					}
				}
			}
		}
	}}
}

func parse(t *testing.T, text []byte) map[string]any {
	t.Helper()
	u := map[string]any{}
	if err := utiljson.Unmarshal(text, &u); err != nil {
		t.Fatal(err)
	}
	return u
}

// owners checks the ownership of fields that policies clear.
func (s *policyServer) owners(t *testing.T) policyTest {
	return policyTest{"owners", func(t *testing.T) {
		version := ""
		for _, x := range []struct {
			manager, spec string
			force         bool
			want          string
		}{
			{"first", `{"u": {"type": "A", "a": {"x": 1}}}`, false, `{"type":"A","a":{"x":1}}`},
			{"second", `{"u": {"type": "B", "b": {"x": 2}}}`, true, `{"type":"B","b":{"x":2}}`},
			{"second", `{"u": {"type": "B", "b": {"x": 2}}}`, false, "unchanged"},
			{"first", `{"u": {"type": "A", "a": {"x": 1}}}`, false, `conflict with "second": .spec.u.type`},
			{"third", `{"u": {"a": {"x": 1}}}`, false, `conflict with "first": .spec.u.a.x`},
		} {
			w := applied("unselected", "Switcher", "owned", x.spec)
			w.manager, w.force = x.manager, x.force
			got, _, err := s.do(t.Context(), w)
			switch {
			case err != nil:
				if !apierrors.IsConflict(err) || !strings.HasSuffix(err.Error(), x.want) {
					t.Errorf("%s applies %s: %v", x.manager, x.spec, err)
				}
			case x.want == "unchanged":
				if got.GetResourceVersion() != version {
					t.Errorf("%s applies %s: it changes", x.manager, x.spec)
				}
			default:
				version = got.GetResourceVersion()
				if u := got.Object["spec"].(map[string]any)["u"]; !reflect.DeepEqual(u, any(parse(t, []byte(x.want)))) {
					t.Errorf("%s applies %s: %v", x.manager, x.spec, u)
				}
			}
		}
	}}
}

// kubectl applies objects with kubectl.
func (s *policyServer) kubectl(t *testing.T) policyTest {
	return policyTest{"kubectl", func(t *testing.T) {
		kubectl, err := testprog.Path("kubectl")
		if err != nil {
			t.Fatal(err)
		}
		config, err := s.Kubeconfig()
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, "config"), config, 0o600); err != nil {
			t.Fatal(err)
		}
		const (
			version = "unselected"
			before  = `{"u": {"type": "A", "a": {"x": 1}}}`
			after   = `{"u": {"type": "B", "a": {"x": 1}, "b": {"x": 2}}}`
			cleared = `{"u": {"type": "B", "b": {"x": 2}}}`
		)
		for _, x := range []struct{ args, spec, want, stored string }{
			{"apply", before, "created\n", before},
			{"apply --dry-run=server", after, "configured (server dry run)\n", before},
			{"apply", after, "configured\n", cleared},
		} {
			cmd := exec.CommandContext(t.Context(), kubectl, append(strings.Fields(x.args), "-f", "-")...)
			cmd.Env = append(os.Environ(), "KUBECONFIG="+filepath.Join(dir, "config"), "KUBECACHEDIR="+dir)
			cmd.Stdin = bytes.NewReader(applied(version, "Switcher", "by-kubectl", x.spec).body)
			out, _ := cmd.CombinedOutput() // the output tells whether it failed
			if !strings.HasSuffix(string(out), x.want) {
				t.Errorf("kubectl %s of %s: %s, want %s", x.args, x.spec, out, x.want)
			}
			if stored := s.get(t, version, "switchers", "by-kubectl").Object["spec"]; !reflect.DeepEqual(stored, any(parse(t, []byte(x.stored)))) {
				t.Errorf("kubectl %s of %s: %v is stored", x.args, x.spec, stored)
			}
		}
	}}
}

// status checks that the policy applies to the status, which is written by separate requests.
func (s *policyServer) status(t *testing.T) policyTest {
	crd := strings.Replace(testcrd.New("Stated", "status:\n  "+strings.ReplaceAll(unionSchema, "\n", "\n  ")), "    storage: true\n", "    storage: true\n    subresources: {status: {}}\n", 1)
	s.mutate(t, s.compile(t, crd)["v1"], policy.Options{Unselected: true})
	return policyTest{"status", func(t *testing.T) {
		w := applied("v1", "Stated", "it", `{"type": "B", "a": {}, "b": {}}`)
		w.body = bytes.Replace(w.body, []byte("spec"), []byte("status"), 1)
		if got, _, err := s.do(t.Context(), w); err != nil || got.Object["status"] != nil {
			t.Fatal(got, err)
		}
		w.subresource = "status"
		got, _, err := s.do(t.Context(), w)
		if err != nil || !reflect.DeepEqual(got.Object["status"], any(parse(t, []byte(`{"type": "B", "b": {}}`)))) {
			t.Errorf("%v, %v", got, err)
		}
	}}
}

// selected checks that a binding may apply to some namespaces only.
func (s *policyServer) selected(t *testing.T) policyTest {
	k := s.compile(t, testcrd.Versions("Selected", testcrd.Version{Name: "v1", Spec: unionSchema}))
	s.mutate(t, k["v1"], policy.Options{Unselected: true, MatchLabels: map[string]string{"kubernetes.io/metadata.name": "elsewhere"}})
	return policyTest{"namespaces", func(t *testing.T) {
		for _, namespace := range []string{"default", "elsewhere"} {
			w := applied("v1", "Selected", "it", `{"type": "A", "a": {}, "b": {}}`)
			w.namespace = namespace
			_, _, err := s.do(t.Context(), w)
			if cleared := err == nil; cleared != (namespace == "elsewhere") {
				t.Errorf("%s: %v", namespace, err)
			}
		}
	}}
}

// audited checks that Audit neither rejects a request nor warns the client.
func (s *policyServer) audited(t *testing.T) policyTest {
	k := s.install(t, testcrd.Versions("Audited", testcrd.Version{Name: "v1", Spec: unionSchema}))
	s.validate(t, k["v1"], admissionv1.Audit)
	return policyTest{"audit", func(t *testing.T) {
		_, warnings, err := s.do(t.Context(), applied("v1", "Audited", "it", `{"type": "A", "a": {}, "b": {}}`))
		if err != nil || len(warnings) > 0 {
			t.Errorf("%v, %v", warnings, err)
		}
		_, file := s.Policies()
		log, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(log), `spec: b is required when type is 'B', and forbidden otherwise\",\"policy\":\"auditeds.example.com-unions-v1`) {
			t.Errorf("the audit log does not say so: %s", log[max(0, len(log)-3000):])
		}
	}}
}

// reinvoked checks a policy that sets a member before or after the clearing policy, because the
// order of policies is undefined. With IfNeeded the order makes no difference, unless a condition
// prevented the first run of the clearing policy.
func (s *policyServer) reinvoked(t *testing.T) policyTest {
	var versions []testcrd.Version
	for _, name := range []string{"never", "ifneeded", "conditional"} {
		versions = append(versions, testcrd.Version{Name: name, Spec: unionSchema})
	}
	k := s.compile(t, testcrd.Versions("Reinvoked", versions...))
	alone := &policyServer{}
	alone.mutate(t, k["never"], policy.Options{Unselected: true})
	alone.mutate(t, k["ifneeded"], policy.Options{Unselected: true, Reinvocation: admissionv1.IfNeededReinvocationPolicy})
	alone.addByHand("conditional", `matchConditions: [{name: b, expression: has(object.spec.b)}]
  mutations: [{patchType: JSONPatch, jsonPatch: {expression: "has(object.spec.a) ? [JSONPatch{op: 'remove', path: '/spec/a'}] : []"}}]`)
	text := strings.Replace(alone.policies.String(), "metadata: {name: conditional}\nspec:\n  reinvocationPolicy: Never", "metadata: {name: conditional}\nspec:\n  reinvocationPolicy: IfNeeded", 1)
	for version := range k {
		other := &policyServer{}
		other.addByHand(version, `mutations: [{patchType: JSONPatch, jsonPatch: {expression: "has(object.spec.b) ? [] : [JSONPatch{op: 'add', path: '/spec/b', value: {'x': 1}}, JSONPatch{op: 'add', path: '/spec/type', value: 'B'}]"}}]`)
		text += strings.ReplaceAll(other.policies.String(), "ame: "+version, "ame: other-"+version)
	}
	return policyTest{"reinvocation", func(t *testing.T) {
		accepted, rejected := map[string]bool{}, map[string]bool{}
		for range 100 {
			if err := s.setPolicies(t.Context(), []byte(text)); err != nil { // in another order
				t.Fatal(err)
			}
			for version := range k {
				w := applied(version, "Reinvoked", "it", `{"type": "A", "a": {}}`)
				w.dryRun = true
				_, _, err := s.do(t.Context(), w)
				if err != nil && !apierrors.IsInvalid(err) {
					t.Fatal(err)
				}
				accepted[version], rejected[version] = accepted[version] || err == nil, rejected[version] || err != nil
			}
			if rejected["never"] && accepted["never"] && rejected["conditional"] && accepted["conditional"] {
				break
			}
		}
		if want := map[string]bool{"never": true, "ifneeded": false, "conditional": true}; !reflect.DeepEqual(rejected, want) {
			t.Errorf("rejected: %v", rejected)
		}
	}}
}

// late checks that a policy does not know a kind directly after its CRD was created.
func (s *policyServer) late(t *testing.T) policyTest {
	s.addByHand("late", `mutations: [{patchType: JSONPatch, jsonPatch: {expression: "[]"}}]`)
	return policyTest{"late", func(t *testing.T) {
		if err := s.Install(t.Context(), []byte(testcrd.Versions("Late", testcrd.Version{Name: "late", Spec: factSchema}))); err != nil {
			t.Fatal(err)
		}
		// The policy may learn about the kind before this request.
		if _, _, err := s.do(t.Context(), applied("late", "Late", "it", `{}`)); err != nil && (!apierrors.IsServiceUnavailable(err) || !strings.Contains(err.Error(), "There can be a delay between when CustomResourceDefinitions are created and when they are available.")) {
			t.Error(err)
		}
	}}
}
