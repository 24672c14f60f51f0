package e2e

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/jsonmergepatch"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/policy"
	"github.com/unioncel/unioncel/pkg/union"
)

// policyServer is an API server with admission policies, and a client for every operation on custom
// objects.
type policyServer struct {
	*servertest.Server
	client   *rest.RESTClient
	requests int
	turn     int // index of the next operation
	policies bytes.Buffer
	settings int // number of calls of setPolicies
	crds     int // number of installed CRDs
	probe    int // the setting that installed the CRD of the probe
	probed   int // the number of CRDs at that time
}

// Install installs a CRD, and counts it.
func (s *policyServer) Install(ctx context.Context, crd []byte) error {
	s.crds++
	return s.Server.Install(ctx, crd)
}

func startWithPolicies(t *testing.T) *policyServer {
	s := &policyServer{Server: servertest.StartWithPolicies(t)}
	config := s.Config()
	config.WarningHandler = rest.NoWarnings{}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	var err error
	if s.client, err = rest.UnversionedRESTClientFor(config); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.client.Client.CloseIdleConnections)
	return s
}

// install installs a CRD without compiling its unions, and returns its kind in each version.
func (s *policyServer) install(t *testing.T, crd string) map[string]union.Kind {
	t.Helper()
	declared, diags := crdpatch.Ask(crdpatch.Open("crd.yaml", []byte(crd)), crdpatch.Options{}, (*crdpatch.CRD).Declared)
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, crd)
	}
	if err := s.Install(t.Context(), marshal(t, declared[0].CRD)); err != nil {
		t.Fatal(err)
	}
	return kindsOf(t, crd)
}

// kindsOf returns the kind of a CRD in each version.
func kindsOf(t *testing.T, crd string) map[string]union.Kind {
	t.Helper()
	declared, diags := crdpatch.Ask(crdpatch.Open("crd.yaml", []byte(crd)), crdpatch.Options{}, (*crdpatch.CRD).Declared)
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, crd)
	}
	l := map[string]union.Kind{}
	for _, k := range declared[0].Kinds("crd.yaml") {
		l[k.Version] = k
	}
	return l
}

// compile is install with the rules of the unions.
func (s *policyServer) compile(t *testing.T, crd string) map[string]union.Kind {
	t.Helper()
	compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(crd)), crdpatch.Options{})
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, crd)
	}
	return s.install(t, string(compiled))
}

// add adds policies and bindings to the ones that TestPolicies installs.
func (s *policyServer) add(t *testing.T, objects ...any) {
	t.Helper()
	text, err := policy.YAML(objects...)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(&s.policies, "---\n%s", text)
}

// mutate adds the policies that clear members in objects of a kind.
func (s *policyServer) mutate(t *testing.T, k union.Kind, opts policy.Options) {
	t.Helper()
	policies, bindings, err := policy.Mutating([]union.Kind{k}, opts)
	if err != nil || len(policies) > 1 {
		t.Fatal(policies, err)
	}
	if len(policies) == 0 {
		return // the union is never normalized
	}
	policies[0].Name += "-" + k.Version
	bindings[0].Name, bindings[0].Spec.PolicyName = policies[0].Name, policies[0].Name
	s.add(t, policies[0], bindings[0])
}

// validate adds the policies that reject objects of a kind.
func (s *policyServer) validate(t *testing.T, k union.Kind, actions ...admissionv1.ValidationAction) {
	t.Helper()
	policies, bindings := policy.Validating([]union.Kind{k}, policy.Options{Actions: actions})
	if len(policies) > 1 {
		t.Fatal(policies)
	}
	if len(policies) == 0 {
		return // the union forbids nothing
	}
	policies[0].Name += "-" + k.Version
	bindings[0].Name, bindings[0].Spec.PolicyName = policies[0].Name, policies[0].Name
	s.add(t, policies[0], bindings[0])
}

// write is a request that writes an object of example.com.
type write struct {
	version, resource, name, subresource string
	namespace                            string          // "default" unless it is set
	manager                              string          // "first" unless it is set
	patch                                types.PatchType // a PUT if empty
	body                                 []byte
	dryRun, force                        bool
}

// do sends the request and returns the server's answer and its warnings.
func (s *policyServer) do(ctx context.Context, w write) (*unstructured.Unstructured, []string, error) {
	request := s.client.Patch(w.patch)
	if w.patch == "" {
		request = s.client.Put().SetHeader("Content-Type", "application/json")
	}
	request.AbsPath("/apis/example.com", w.version, "namespaces", cmp.Or(w.namespace, "default"), w.resource, w.name, w.subresource)
	request.Param("fieldManager", cmp.Or(w.manager, "first")).Param("fieldValidation", "Strict").Body(w.body)
	if w.dryRun {
		request.Param("dryRun", "All")
	}
	if w.force {
		request.Param("force", "true")
	}
	s.requests++
	result := request.Do(ctx)
	var warnings []string
	for _, h := range result.Warnings() {
		warnings = append(warnings, h.Text)
	}
	if err := result.Error(); err != nil {
		return nil, warnings, err
	}
	raw, err := result.Raw()
	if err != nil {
		return nil, nil, err
	}
	u := &unstructured.Unstructured{}
	return u, warnings, u.UnmarshalJSON(raw)
}

// get reads an object of example.com.
func (s *policyServer) get(t *testing.T, version, resource, name string) *unstructured.Unstructured {
	t.Helper()
	raw, err := s.client.Get().AbsPath("/apis/example.com", version, "namespaces/default", resource, name).DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(raw); err != nil {
		t.Fatal(err)
	}
	return u
}

// operation is a way to change a stored object into another one.
type operation struct {
	name string
	do   func(w *write, old, new map[string]any) error
}

var operations = []operation{
	{"PUT", func(w *write, old, new map[string]any) (err error) {
		metadata := unioncases.Put(new["metadata"].(map[string]any), "resourceVersion", old["metadata"].(map[string]any)["resourceVersion"])
		w.body, err = json.Marshal(unioncases.Put(new, "metadata", metadata))
		return err
	}},
	{"merge patch", func(w *write, old, new map[string]any) (err error) {
		w.patch = types.MergePatchType
		w.body, err = jsonpatch.CreateMergePatch(specOf(old), specOf(new))
		return err
	}},
	{"JSON patch", func(w *write, old, new map[string]any) (err error) {
		w.patch = types.JSONPatchType
		w.body, err = product.CreatePatch(schema.GroupVersionKind{}, product.JSONPatch, map[string]any{"spec": old["spec"]}, map[string]any{"spec": new["spec"]})
		return err
	}},
	// The patch that kubectl apply sends for an object that others have written.
	{"client-side apply", func(w *write, old, new map[string]any) (err error) {
		w.patch = types.MergePatchType
		w.body, err = jsonmergepatch.CreateThreeWayJSONMergePatch([]byte("{}"), specOf(new), specOf(old))
		return err
	}},
	{"server-side apply", func(w *write, _, new map[string]any) (err error) {
		w.patch = types.ApplyPatchType
		w.body, err = json.Marshal(new)
		return err
	}},
	{"server-side apply by another manager", func(w *write, _, new map[string]any) (err error) {
		w.patch, w.manager, w.force = types.ApplyPatchType, "second", true
		w.body, err = json.Marshal(new)
		return err
	}},
}

// specOf returns an object with only its spec, as JSON.
func specOf(o map[string]any) []byte {
	text, err := json.Marshal(map[string]any{"spec": o["spec"]})
	if err != nil {
		panic(err)
	}
	return text
}

// TestPolicies installs the policies that unioncel writes in an API server with the admission
// plugins.
func TestPolicies(t *testing.T) {
	t.Parallel()
	s := startWithPolicies(t)
	tests := []policyTest{s.facts(t), s.switching(t), s.owners(t), s.status(t), s.selected(t), s.audited(t), s.frozen(t), s.conditions(t), s.scaled(t)}
	if unioncases.Exhaustive {
		tests = append(tests, s.kubectl(t)) // its requests are among the operations of every matrix
	}
	last := []policyTest{s.reinvoked(t), s.late(t)} // these change policies and CRDs that others use
	for n, place := range unioncases.Places() {
		for i, declaration := range []string{
			"members: [a, b]",
			"discriminator: type, fields-to-discriminateBy: {a: A, b: B}",
			"discriminator: type, fields-to-discriminateBy: {a: A, b: B}, deduceInvalidDiscriminator: true",
			"discriminator: type, fields-to-discriminateBy: {a: A, b: B}, unset: A",
		} {
			if n != i+1 && !unioncases.Exhaustive {
				continue // each declaration has one place
			}
			shape := unioncases.Shape{Members: 2, Discriminated: i > 0}
			if i == 3 {
				shape.Unset = "A"
			}
			m := &matrix{name: place.Name + ", " + declaration, place: place, states: shape.States(), every: 3}
			switch {
			case i > 0 && !unioncases.Exhaustive:
				m.every = 263
			case n > 0 && !unioncases.Exhaustive:
				m.every = 23
			case i > 0 && n > 0: // pkg/policy tries more pairs in every place
				m.every = 61
			}
			m.prepare(t, s, fmt.Sprintf("Thing%c%c", 'a'+n, 'a'+i), shape.Schema(), "x-kubernetes-unions: [{"+declaration+"}]\n")
			tests = append(tests, policyTest{m.name, m.run})
		}
	}
	if err := s.setPolicies(t.Context(), s.policies.Bytes()); err != nil {
		t.Fatal(err)
	}
	for _, x := range append(tests, last...) {
		t.Run(x.name, x.run)
	}
	t.Logf("%d requests", s.requests)
}

// TestPoliciesOfGenerated runs the matrix for unions of every shape, half of them with defaults for the
// discriminator and in a member. It needs [unioncases.Exhaustive].
func TestPoliciesOfGenerated(t *testing.T) {
	if !unioncases.Exhaustive {
		t.Skip("it takes minutes")
	}
	t.Parallel()
	s := startWithPolicies(t)
	// Outside of lists and maps, every rule fits its budget. A removal guard needs a name that CEL has.
	places := []unioncases.Place{unioncases.Places()[1], {Name: "u", Schema: func(union string) string {
		return "type: object\nproperties:\n  u:\n    " + strings.ReplaceAll(strings.TrimSpace(union), "\n", "\n    ")
	}, Spec: func(o, _ map[string]any) any { return map[string]any{"u": o} }}}
	var tests []*matrix
	for n, shape := range slices.Concat(unioncases.Shapes(), unioncases.Further()) {
		for turn := range 2 {
			declarations := shape.Declarations()
			declaration, place, schema := declarations[(n*7+turn*31)%len(declarations)], places[(n+turn)%len(places)], shape.Schema()
			states := shape.States()
			if turn > 0 {
				schema = strings.Replace(schema, "x: {type: string}", "x: {type: string, default: v}", 1)
				if shape.Discriminated && shape.Unset == "" && !shape.Nested && !shape.Escaped {
					typed := "  type: {type: " + shape.Type.String()
					schema = strings.Replace(schema, typed+", nullable: true", typed+", default: "+shape.Fields()[0][0], 1)
					for i := range states {
						states[i].Objects = slices.DeleteFunc(states[i].Objects, func(o map[string]any) bool { v, ok := o["type"]; return ok && v == nil })
					}
					states = slices.DeleteFunc(states, func(s unioncases.State) bool { return len(s.Objects) == 0 })
				}
			}
			m := &matrix{name: fmt.Sprintf("%s, %s, %s", place.Name, shape, declaration), place: place, states: states, generated: true, every: max(1, len(states)*len(states)/4)}
			m.prepare(t, s, fmt.Sprintf("Every%dx%d", n, turn), schema, "x-kubernetes-unions: ["+declaration+"]\n")
			tests = append(tests, m)
		}
	}
	if err := s.setPolicies(t.Context(), s.policies.Bytes()); err != nil {
		t.Fatal(err)
	}
	compared, rejected := 0, 0
	for _, m := range tests {
		t.Run(m.name, m.run)
		compared, rejected = compared+m.compared, rejected+m.rejected
	}
	t.Logf("%d unions: %d writes with a clearing policy, %d with a rejecting policy, %d requests", len(tests), compared, rejected, s.requests)
}

// policyTest is a test whose CRDs and policies are installed.
type policyTest struct {
	name string
	run  func(t *testing.T)
}

// matrix is a union in a place, with valid and invalid states. For every operation, an API server
// with a clearing policy answers exactly like a server without policies that gets the object
// normalized by internal/product. A rejecting policy rejects exactly the objects that compiled rules
// reject.
type matrix struct {
	*policyServer
	name   string
	kinds  map[string]union.Kind // by version
	place  unioncases.Place
	states []unioncases.State
	every  int // one in so many pairs of states is tried
	// without are the versions whose algorithm cannot be a policy for the union.
	without []string
	// generated is set if the schema may reject states.
	generated bool
	// compared and rejected count the writes under clearing and rejecting policies.
	compared, rejected int
}

// clearingModes are the options of the clearing policies, by version.
var clearingModes = map[string]policy.Options{"carriedover": {}, "unselected": {Unselected: true}, "kep2019": {Algorithm: union.KEP2019}}

// prepare installs a CRD with the same schema in several versions. Versions with a clearing policy
// have rules, too, and "rules" has only rules; "deny" and "warn" have rejecting policies, and
// "plain" has neither.
func (m *matrix) prepare(t *testing.T, s *policyServer, kind, schema, unions string) {
	var declared, compiled []testcrd.Version
	for _, name := range []string{"carriedover", "unselected", "kep2019", "rules", "deny", "warn", "plain"} {
		with := testcrd.Version{Name: name, Spec: m.place.Schema(schema + unions)}
		declared = append(declared, with)
		if name == "deny" || name == "warn" || name == "plain" {
			with.Spec = m.place.Schema(schema)
		}
		compiled = append(compiled, with)
	}
	s.compile(t, testcrd.Versions(kind, compiled...))
	m.policyServer, m.kinds = s, kindsOf(t, testcrd.Versions(kind, declared...))
	for version, opts := range clearingModes {
		if _, _, err := policy.Mutating([]union.Kind{m.kinds[version]}, opts); err != nil {
			m.without = append(m.without, version)
			continue
		}
		s.mutate(t, m.kinds[version], opts)
	}
	s.validate(t, m.kinds["deny"], admissionv1.Deny)
	s.validate(t, m.kinds["warn"], admissionv1.Warn)
}

func (m *matrix) run(t *testing.T) {
	u := m.kinds["plain"].Objects[0].Unions[0]
	legal := m.states[slices.IndexFunc(m.states, func(s unioncases.State) bool { return len(u.Violations(s.State)) == 0 })].Objects[0]
	for a, old := range m.states {
		// One in so many pairs is tried, so most old states have none.
		first := (m.every - a*len(m.states)%m.every) % m.every
		if first >= len(m.states) {
			continue
		}
		name := fmt.Sprintf("x%d", a)
		was := m.place.Spec(old.Objects[a%len(old.Objects)], m.states[a*7%len(m.states)].Objects[0])
		stored, _, err := m.do(t.Context(), m.applying("plain", name, was))
		if m.generated && apierrors.IsInvalid(err) {
			continue // in the schema
		}
		if err != nil {
			t.Fatal(err)
		}
		for b := first; b < len(m.states); b += m.every {
			new := m.states[b]
			o := new.Objects[(a+b)%len(new.Objects)]
			for _, operation := range m.operations() {
				m.compare(t, operation, stored.Object, m.place.Spec(o, m.states[(a*7+b)%len(m.states)].Objects[0]))
			}
			m.reject(t, stored.Object, m.place.Spec(o, legal))
		}
		for i, other := range unioncases.Ancestors(map[string]any{"spec": was}, len(m.kinds["plain"].Objects[0].Path)) {
			if i%unioncases.Choose(9, 3, 1) == 0 {
				m.compare(t, operations[i%2], stored.Object, other.(map[string]any)["spec"]) // without a spec, null
			}
		}
		if now := m.get(t, "plain", m.kinds["plain"].Resource, name); !reflect.DeepEqual(now, stored) {
			t.Fatalf("a dry run persists something: %v, it was %v", now, stored)
		}
		m.label(t, stored)
		m.remove(t, stored, slices.Sorted(maps.Keys(clearingModes))[a%len(clearingModes)])
	}
}

// operations returns all operations with [unioncases.Exhaustive], and otherwise the next one in
// turn.
func (m *matrix) operations() []operation {
	if unioncases.Exhaustive {
		return operations
	}
	m.turn++
	return operations[m.turn%len(operations):][:1]
}

// applying returns a server-side apply.
func (m *matrix) applying(version, name string, spec any) write {
	w := write{version: version, resource: m.kinds[version].Resource, name: name, patch: types.ApplyPatchType}
	w.body, _ = json.Marshal(m.object(version, name, spec)) // always valid
	return w
}

func (m *matrix) object(version, name string, spec any) map[string]any {
	return map[string]any{"apiVersion": "example.com/" + version, "kind": m.kinds[version].Kind, "metadata": map[string]any{"name": name}, "spec": spec}
}

// try performs an operation in a version as a dry run.
func (m *matrix) try(t *testing.T, by operation, version string, stored map[string]any, spec any) (*unstructured.Unstructured, []string, error) {
	t.Helper()
	name := stored["metadata"].(map[string]any)["name"].(string)
	w := write{version: version, resource: m.kinds[version].Resource, name: name, dryRun: true}
	if err := by.do(&w, stored, m.object(version, name, spec)); err != nil {
		t.Fatal(err)
	}
	got, warnings, err := m.do(t.Context(), w)
	if err != nil && !apierrors.IsInvalid(err) && !(version == "deny" && apierrors.IsForbidden(err)) { // the reason of some rules
		t.Fatalf("%s in %s: %v\nof %s\nfrom %v", by.name, version, err, w.body, stored["spec"])
	}
	return got, warnings, err
}

// compare performs an operation under each clearing policy and compares the results.
func (m *matrix) compare(t *testing.T, by operation, stored map[string]any, spec any) {
	t.Helper()
	plain, _, err := m.try(t, by, "plain", stored, spec)
	if err != nil {
		return // server-side apply may turn {} into null, which no policy can prevent
	}
	for version, opts := range clearingModes {
		if slices.Contains(m.without, version) {
			continue
		}
		m.compared++
		normal := runtime.DeepCopyJSON(plain.Object)
		product.NormalizeObject(m.kinds[version], stored, normal, product.NormalizeOptions{Algorithm: opts.Algorithm, CarriedOver: !opts.Unselected})
		want, _, refused := m.try(t, operations[0], "rules", stored, normal["spec"])
		got, _, err := m.try(t, by, version, stored, spec)
		switch {
		case (err != nil) != (refused != nil):
			t.Fatalf("%s in %s of %v over %v: %v, and not %v", by.name, version, spec, stored["spec"], err, refused)
		case err == nil && !reflect.DeepEqual(got.Object["spec"], want.Object["spec"]):
			t.Fatalf("%s in %s makes of %v over %v\n%v, and not\n%v", by.name, version, spec, stored["spec"], got.Object["spec"], want.Object["spec"])
		}
	}
}

// reject compares the rejecting policies with rules.
func (m *matrix) reject(t *testing.T, stored map[string]any, spec any) {
	t.Helper()
	_, _, refused := m.try(t, operations[0], "rules", stored, spec)
	if m.generated {
		if _, _, err := m.try(t, operations[0], "plain", stored, spec); err != nil {
			return
		}
	}
	for _, version := range []string{"deny", "warn"} {
		m.rejected++
		_, warnings, err := m.try(t, operations[0], version, stored, spec)
		if denied, warned := version == "deny" && refused != nil, version == "warn" && refused != nil; (err != nil) != denied || (len(warnings) > 0) != warned {
			t.Fatalf("%s, %v over %v: %v, %v, rules say %v", version, spec, stored["spec"], err, warnings, refused)
		}
	}
}

// label patches the labels of an object in each version. This succeeds in every state of the union.
func (m *matrix) label(t *testing.T, stored *unstructured.Unstructured) {
	t.Helper()
	for version := range m.kinds {
		w := write{version: version, resource: m.kinds[version].Resource, name: stored.GetName(), dryRun: true, patch: types.MergePatchType, body: []byte(`{"metadata": {"labels": {"l": "v"}}}`)}
		got, warnings, err := m.do(t.Context(), w)
		// The server warns about errors that its own rules ratchet.
		warned := len(warnings) > 0 && (version == "deny" || version == "warn")
		if err != nil || warned || !reflect.DeepEqual(got.Object["spec"], stored.Object["spec"]) {
			t.Fatalf("%s: a label of %v: %v, %v, %v", version, stored.Object["spec"], got, warnings, err)
		}
	}
}

// remove adds a finalizer to an object, deletes the object, and removes the finalizer.
func (m *matrix) remove(t *testing.T, stored *unstructured.Unstructured, version string) {
	t.Helper()
	w := write{version: version, resource: m.kinds[version].Resource, name: stored.GetName(), patch: types.MergePatchType, body: []byte(`{"metadata": {"finalizers": ["example.com/f"]}}`)}
	if _, _, err := m.do(t.Context(), w); err != nil {
		t.Fatalf("%s: a finalizer of %v: %v", version, stored.Object["spec"], err)
	}
	path := []string{"/apis/example.com", version, "namespaces/default", w.resource, w.name}
	if err := m.client.Delete().AbsPath(path...).Do(t.Context()).Error(); err != nil {
		t.Fatal(err)
	}
	w.body = []byte(`{"metadata": {"finalizers": null}}`)
	if _, _, err := m.do(t.Context(), w); err != nil {
		t.Fatalf("%s: the last finalizer of %v: %v", version, stored.Object["spec"], err)
	}
	if err := m.client.Get().AbsPath(path...).Do(t.Context()).Error(); !apierrors.IsNotFound(err) {
		t.Fatalf("%v is not gone: %v", stored.Object["spec"], err)
	}
}
