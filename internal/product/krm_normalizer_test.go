package product

import (
	"bytes"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/testing/testcrd"
)

// normalizing returns a functionConfig of a UnionNormalizer with the given lines.
func normalizing(lines ...string) string {
	return strings.Replace(configured(lines...), compilerKind.name, normalizerKind.name, 1)
}

// Objects of kinds with unions, as kustomize merges them from a base and an overlay.
const (
	mergedThing      = "apiVersion: example.com/v1\nkind: Kinda\nmetadata: {name: t}\nspec:\n  type: TCP # from the overlay\n  http: {} # from the base\n  tcp: {port: 0x1}\n"
	mergedDeployment = "apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: web\n  annotations:\n    config.kubernetes.io/index: '1'\nspec:\n  replicas: 1\n  strategy:\n    rollingUpdate: {maxSurge: 1}\n    type: Recreate\n"
)

// discriminated are lines for crdText that add a union with a discriminator.
var discriminated = []string{"  type: {type: string, enum: [HTTP, TCP]}", "x-kubernetes-unions:", "- discriminator: type", "  fields-to-discriminateBy: {http: HTTP, tcp: TCP}"}

// TestNormalize asserts that members which are not selected are cleared. All other bytes stay.
func TestNormalize(t *testing.T) {
	other := "apiVersion: v1\nkind: ConfigMap # kept\nmetadata: {name: a, annotations: {}}\ndata: {on: yes, n: 'no', x: 0o7}\n"
	list := "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(strings.TrimSpace(mergedThing), "\n", "\n  ") + "\n"
	local := strings.Replace(mergedThing, "name: t", "name: t, annotations: {config.kubernetes.io/local-config: 'true'}", 1)
	in := listOf(normalizing("builtin: true"), other, mergedThing, crdText("a", discriminated...), mergedDeployment, list, local)
	r := mustRun(t, in, nil)
	wantTexts(t, r,
		"Deployment/web: warning: UC801: rollingUpdate is cleared at spec.strategy",
		"Kinda/t: warning: UC801: http is cleared at spec",
		"List items[4]: warning: UC801: http is cleared at spec")
	want := listOf(normalizing("builtin: true"), other, strings.Replace(mergedThing, "  http: {} # from the base\n", "", 1), crdText("a", discriminated...),
		strings.Replace(mergedDeployment, "    rollingUpdate: {maxSurge: 1}\n", "", 1), strings.Replace(list, "    http: {} # from the base\n", "", 1), local)
	got, _, _ := strings.Cut(string(r.Output), "results:\n")
	if diff := cmp.Diff(normal(t, want), got); diff != "" {
		t.Errorf("the list differs (-want +got):\n%s", diff)
	}
	if again := mustRun(t, string(r.Output), nil); len(again.Diagnostics) > 0 || string(again.Output) != got {
		t.Errorf("the second run says %v, and gives\n%s", again.Diagnostics, again.Output)
	}
}

// normal returns a list in the style of the output.
func normal(t *testing.T, list string) string {
	t.Helper()
	l, err := readList([]byte(list), Host{}.Limits)
	if err != nil {
		t.Fatal(err)
	}
	out, err := l.write(l.items, nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestKnownUnions declares unions in every source that may declare unions.
func TestKnownUnions(t *testing.T) {
	crd, plain := crdText("a", discriminated...), crdText("a", discriminated[0])
	compiled := string(mustRun(t, listOf("", crd), nil).Output)
	if strings.Contains(compiled, "\n              x-kubernetes-unions:") {
		t.Fatal("not compiled")
	}
	compiled = strings.ReplaceAll(strings.TrimPrefix(compiled[strings.Index(compiled, "- apiVersion"):], "- "), "\n  ", "\n")
	declared := "schemas: [{crd: a.example.com, path: spec, x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {http: HTTP, tcp: TCP}}]}]"
	files := fstest.MapFS{
		"crds/a.yaml":       {Data: []byte(crd)},
		"crds/readme.yaml":  {Data: []byte("{{ not a manifest\n")},
		"plain.yaml":        {Data: []byte(plain)},
		"sets.yaml":         {Data: []byte("apiVersion: unioncel.dev/v1alpha1\nkind: UnionSet\n" + declared + "\n")},
		"other/another.yml": {Data: []byte(crdText("b", unions...))},
	}
	for _, tt := range []struct {
		config string
		items  []string
		want   []string // in addition to the warning that a member is cleared
	}{
		{"builtin: false", []string{crd}, nil},
		{"builtin: false", []string{compiled}, nil},
		{"builtin: false", []string{strings.Replace(crd, "metadata:\n", "metadata:\n  annotations: {config.kubernetes.io/local-config: 'true'}\n", 1)}, nil},
		{"crds: [crds/a.yaml]", nil, nil},
		{"crds: [crds]", nil, []string{"crds/readme.yaml:1:2: warning: UC101: did not find expected ',' or '}': the file is skipped"}},
		{"crds: [crds/a.yaml]", []string{crd}, nil}, // the item counts
		{"crds: [plain.yaml]\n  " + declared, nil, nil},
		{"unions: [sets.yaml]", []string{plain}, nil},
	} {
		r := mustRun(t, listOf(normalizing(tt.config), append([]string{mergedThing}, tt.items...)...), files)
		wantTexts(t, r, append([]string{"Kinda/t: warning: UC801: http is cleared at spec"}, tt.want...)...)
		if bytes.Contains(r.Output, []byte("from the base")) {
			t.Errorf("%s: not cleared:\n%s", tt.config, r.Output)
		}
	}
	// A UnionSet may declare unions of Kubernetes' own kinds.
	r := mustRun(t, listOf(normalizing("schemas: [{group: apps, kind: Deployment, path: spec.strategy, x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {rollingUpdate: RollingUpdate}}]}]"), mergedDeployment), nil)
	wantTexts(t, r, "Deployment/web: warning: UC801: rollingUpdate is cleared at spec.strategy")
	// The unions of other kinds are unknown.
	r = mustRun(t, listOf(normalizing("crds: [other]"), mergedThing), files)
	wantTexts(t, r)
	if string(r.Output) != normal(t, listOf(normalizing("crds: [other]"), mergedThing)) {
		t.Errorf("the list has changed:\n%s", r.Output)
	}
}

// TestNotNormalized asserts that ambiguous unions are errors, with hints that offer a choice.
func TestNotNormalized(t *testing.T) {
	pod := "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec:\n  containers:\n  - name: web\n    env:\n    - {name: A, value: x, valueFrom: {fieldRef: {fieldPath: a}}}\n" +
		"  volumes:\n  - {name: tmp, emptyDir: {}}\n  - {name: \"on\", emptyDir: {}, persistentVolumeClaim: {claimName: a}}\n"
	in := listOf(normalizing("builtin: true"), pod, mergedDeployment)
	r := mustRun(t, in, nil)
	got := texts(r)
	for i, d := range r.Diagnostics {
		got[i] += "|" + d.Hint
	}
	const clear = "|in the patch, clear the member that is not meant: "
	if diff := cmp.Diff([]string{
		"Pod/shop/web: error: UC802: emptyDir and persistentVolumeClaim are set together at spec.volumes[1]" + clear + `{name: "on", emptyDir: null} or {name: "on", persistentVolumeClaim: null}`,
		"Pod/shop/web: error: UC802: value and valueFrom are set together at spec.containers[0].env[0]" + clear + "{name: A, value: null} or {name: A, valueFrom: null}",
	}, got); diff != "" {
		t.Errorf("the diagnostics differ (-want +got):\n%s", diff)
	}
	list, _, _ := strings.Cut(string(r.Output), "results:\n")
	if list != normal(t, in) {
		t.Errorf("the list has changed in spite of errors:\n%s", r.Output)
	}
	res := resultsOf(t, r.Output)[0]
	if res.ResourceRef.Namespace != "shop" || res.ResourceRef.Name != "web" || res.Field.Path != "spec.volumes[1]" {
		t.Errorf("the result is about %v %v", res.ResourceRef, res.Field)
	}
}

func TestNormalizerMistakes(t *testing.T) {
	const name = "UnionNormalizer/unions: error: "
	local := "apiVersion: unioncel.dev/v1alpha1\nkind: UnionNormalizer\nmetadata:\n  name: unions\n  annotations: {config.kubernetes.io/local-config: 'true'}\n"
	files := fstest.MapFS{
		"a.yaml": {Data: []byte(crdText("a", unions...))}, "b.yaml": {Data: []byte(strings.Replace(crdText("a", unions...), "name: a.", "name: other.", 1))},
		"broken.yaml": {Data: []byte(crdText("a", broken...))},
		"listed.yaml": {Data: []byte(testcrd.New("Thing", "spec: {type: array, maxItems: 9, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type], items: {type: object, required: [type], properties: {type: {type: string, maxLength: 9}}}, x-kubernetes-unions: [{members: [{type: A}, {type: B}]}]}"))},
	}
	for _, tt := range []struct {
		config string
		item   string
		want   []string
	}{
		{normalizing("files: [a.yaml]"), mergedThing, []string{name + `UC705: unknown key "files" in a UnionNormalizer at files`}},
		{normalizing("builtin: 'yes'"), mergedThing, []string{name + `UC705: builtin: want true or false, not "yes" at builtin`}},
		{normalizing("crds: [missing.yaml]"), mergedThing, []string{name + "UC705: missing.yaml: file does not exist at crds[0]"}},
		{strings.Replace(normalizing(), "Normalizer", "Normaliser", 1), mergedThing, []string{name + `UC705: kind must be UnionNormalizer, not "UnionNormaliser" at kind`}},
		{normalizing(), mergedThing, []string{name + "UC705: no CRD declares unions"}},
		{normalizing("crds: [listed.yaml]"), mergedThing, []string{name + "UC705: the CRDs declare only unions of list items, which are left alone"}},
		{normalizing("builtin: true"), local, []string{name + "UC705: as a generator this UnionNormalizer has nothing to generate"}},
		{normalizing("crds: [a.yaml, b.yaml]"), mergedThing, []string{"b.yaml: error: UC806: both a.yaml and b.yaml have Kinda of example.com/v1"}},
		{normalizing("crds: [broken.yaml]"), mergedThing, []string{`broken.yaml:23:31: error: UC203: member "tpc" is not a property of this object at spec`}},
		{normalizing("builtin: true", "schemas: [{crd: a.example.com, path: spec, x-kubernetes-unions: [{members: [http, tcp]}]}]"), mergedThing,
			[]string{"UnionNormalizer/unions schemas[0]: error: UC702: this union is for CustomResourceDefinition a.example.com, which no input has"}},
		{normalizing(), crdText("a", broken...), []string{`CustomResourceDefinition/a.example.com: error: UC203: member "tpc" is not a property of this object at spec`}},
	} {
		wantTexts(t, mustRun(t, listOf(tt.config, tt.item), files), tt.want...)
	}
}
