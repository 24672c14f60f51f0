package product

import (
	"bytes"
	"fmt"
	"io/fs"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/diag"
)

// crdText returns a CRD whose spec has the properties http and tcp, followed by the given lines.
func crdText(name string, lines ...string) string {
	crd := testcrd.New("Thing", "spec:\n  type: object\n  properties:\n    http: {type: object}\n    tcp: {type: object}\n  "+strings.Join(lines, "\n  "))
	return strings.NewReplacer("Thing", "Kind"+name, "things", name, "thing", name).Replace(crd)
}

var (
	unions = []string{"x-kubernetes-unions:", "- members: [http, tcp]", "  discriminatorChange: Allow"}
	broken = []string{"x-kubernetes-unions:", "- members: [http, tpc]"}
)

// listOf returns a ResourceList with these items, followed by rest.
func listOf(rest string, items ...string) string {
	var b strings.Builder
	b.WriteString("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n")
	if len(items) == 0 {
		b.WriteString("  []\n")
	}
	for _, item := range items {
		b.WriteString("- " + strings.ReplaceAll(strings.TrimSuffix(item, "\n"), "\n", "\n  ") + "\n")
	}
	return b.String() + rest
}

// configured returns a functionConfig with the given lines.
func configured(lines ...string) string {
	return "functionConfig:\n  apiVersion: unioncel.dev/v1alpha1\n  kind: UnionCompiler\n  metadata: {name: unions}\n  " + strings.Join(lines, "\n  ") + "\n"
}

// mustRun runs the function on a valid list.
func mustRun(t *testing.T, in string, files fs.FS) *FunctionReport {
	t.Helper()
	report, err := RunFunction([]byte(in), Host{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	return report
}

// texts returns the diagnostics, one per line.
func texts(r *FunctionReport) []string {
	var l []string
	for _, d := range r.Diagnostics {
		s := d.String()
		if d.Path != "" {
			s += " at " + d.Path
		}
		l = append(l, s)
	}
	return l
}

func wantTexts(t *testing.T, r *FunctionReport, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, texts(r)); diff != "" {
		t.Errorf("the diagnostics differ (-want +got):\n%s", diff)
	}
}

// dataOf decodes a text as kubectl does.
func dataOf(t testing.TB, text []byte) map[string]any {
	t.Helper()
	var v map[string]any
	if err := sigs.Unmarshal(text, &v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return v
}

// isCompiled reports whether a text contains the rules that are compiled from crdText with unions,
// but not the declaration of the unions.
func isCompiled(text []byte) bool {
	return bytes.Contains(text, []byte("at most one of http, tcp may be set")) && !declares.Match(text)
}

var declares = regexp.MustCompile(`(?m)^ *x-kubernetes-unions:`)

func TestTransform(t *testing.T) {
	configMap := "apiVersion: v1\nkind: ConfigMap # kept\nmetadata: {name: a, annotations: {}}\ndata: {on: yes, n: 'no', x: 0o7}\n"
	in := listOf(configured(), configMap, crdText("a", unions...), configMap, crdText("b"))
	for _, version := range []string{"v1", "v1beta1"} {
		in := strings.Replace(in, "io/v1\n", "io/"+version+"\n", 1)
		r := mustRun(t, in, nil)
		wantTexts(t, r)
		if !isCompiled(r.Output) {
			t.Errorf("not compiled:\n%s", r.Output)
		}
		if !strings.HasPrefix(string(r.Output), "apiVersion: config.kubernetes.io/"+version+"\nkind: ResourceList\n") {
			t.Errorf("another kind of list:\n%s", r.Output)
		}
		for _, kept := range []string{"kind: ConfigMap # kept", "data: {on: yes, n: 'no', x: 0o7}", "  kind: UnionCompiler\n"} {
			if strings.Count(string(r.Output), kept) != strings.Count(in, kept) {
				t.Errorf("%q is not as it was:\n%s", kept, r.Output)
			}
		}
		before, after := dataOf(t, []byte(in)), dataOf(t, r.Output)
		items := after["items"].([]any)
		items[1] = before["items"].([]any)[1]
		if diff := cmp.Diff(before, after); diff != "" {
			t.Errorf("more than the CRD has changed:\n%s", diff)
		}
		again := mustRun(t, string(r.Output), nil)
		if !bytes.Equal(again.Output, r.Output) {
			t.Errorf("the second run changes\n%s\nto\n%s", r.Output, again.Output)
		}
	}
}

// TestAnnotations asserts that tracking annotations stay, and a compiled CRD does not record them.
func TestAnnotations(t *testing.T) {
	const tracking = `
    internal.config.kubernetes.io/path: crds/a.yaml
    internal.config.kubernetes.io/index: '3'
    internal.config.kubernetes.io/unheard-of: x
    config.kubernetes.io/path: crds/a.yaml
    config.kubernetes.io/index: '3'
    config.k8s.io/id: '7'
    kustomize.config.k8s.io/id: |
      group: apiextensions.k8s.io
      kind: CustomResourceDefinition
`
	remembered := func(out []byte) (all map[string]any, ours any) {
		item := dataOf(t, out)["items"].([]any)[0].(map[string]any)
		all = item["metadata"].(map[string]any)["annotations"].(map[string]any)
		ours = all["unioncel.dev/unions"]
		delete(all, "unioncel.dev/unions")
		return all, ours
	}
	plain := crdText("a", unions...)
	_, want := remembered(mustRun(t, listOf("", plain), nil).Output)
	annotated := strings.Replace(plain, "metadata:\n", "metadata:\n  annotations:"+tracking, 1)
	got, ours := remembered(mustRun(t, listOf("", annotated), nil).Output)
	if ours == nil || ours != want {
		t.Errorf("the CRD remembers\n%v\nwant\n%v", ours, want)
	}
	if diff := cmp.Diff(dataOf(t, []byte(tracking)), got); diff != "" {
		t.Errorf("annotations have changed:\n%s", diff)
	}
}

func TestLocalItems(t *testing.T) {
	local := func(text, value string) string {
		return strings.Replace(text, "metadata:\n", "metadata:\n  annotations: {config.kubernetes.io/local-config: \""+value+"\"}\n", 1)
	}
	config := "apiVersion: unioncel.dev/v1alpha1\nkind: UnionCompiler\nmetadata:\n  name: unions\n"
	names := func(r *FunctionReport) (l []string) {
		for _, item := range dataOf(t, r.Output)["items"].([]any) {
			item := item.(map[string]any)
			l = append(l, item["kind"].(string)+"/"+item["metadata"].(map[string]any)["name"].(string))
		}
		return l
	}
	fileConfig := strings.Replace(local(config, "true"), "{config.", "{internal.config.kubernetes.io/path: fn.yaml, config.", 1)
	for _, tt := range []struct {
		name, item string
		kept       bool
		compiled   bool
	}{
		{"the functionConfig, as kustomize has it", local(config, "true"), false, false},
		{"the functionConfig, not local", config, true, false},
		{"the functionConfig, in a file", fileConfig, true, false},
		{"another configuration", strings.Replace(local(config, "true"), "name: unions", "name: other", 1), true, false},
		{"a local CRD", local(crdText("a", unions...), "true"), true, false},
		{"a CRD that is not local after all", local(crdText("a", unions...), "false"), true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := mustRun(t, listOf(configured(), tt.item, "kind: Other\nmetadata: {name: other}\n"), nil)
			wantTexts(t, r)
			got := names(r)
			if kept := len(got) == 2; kept != tt.kept || got[len(got)-1] != "Other/other" {
				t.Errorf("the items are %q", got)
			}
			if isCompiled(r.Output) != tt.compiled {
				t.Errorf("compiled: %t\n%s", !tt.compiled, r.Output)
			}
		})
	}
}

func TestErrors(t *testing.T) {
	path := "metadata:\n  annotations: {internal.config.kubernetes.io/path: crds/b.yaml, internal.config.kubernetes.io/index: '2'}\n"
	in := listOf(configured(),
		crdText("a", unions...),
		strings.Replace(crdText("b", broken...), "metadata:\n", path, 1),
		crdText("c", unions...),
		crdText("d", broken...))
	r := mustRun(t, in, nil)
	const at = " at spec"
	const message = `error: UC203: member "tpc" is not a property of this object`
	wantTexts(t, r,
		"CustomResourceDefinition/b.example.com (crds/b.yaml): "+message+at,
		"CustomResourceDefinition/d.example.com: "+message+at)

	// The items are unchanged, and kyaml reads the results as intended.
	before, after := dataOf(t, []byte(in)), dataOf(t, r.Output)
	delete(after, "results")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("the list has changed:\n%s", diff)
	}
	result := func(name string, file *framework.File) *framework.Result {
		res := &framework.Result{Message: "member \"tpc\" is not a property of this object\nhint: write \"tcp\"", Severity: framework.Error,
			File: file, Field: &framework.Field{Path: "spec.versions[0].schema.openAPIV3Schema.properties.spec"}, Tags: map[string]string{"code": "UC203"}}
		if err := sigs.Unmarshal([]byte("{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, name: "+name+"}"), &res.ResourceRef); err != nil {
			t.Fatal(err)
		}
		return res
	}
	want := framework.Results{result("b.example.com", &framework.File{Path: "crds/b.yaml", Index: 2}), result("d.example.com", nil)}
	if diff := cmp.Diff(want, resultsOf(t, r.Output)); diff != "" {
		t.Errorf("the results differ (-want +got):\n%s", diff)
	}
}

// TestPathsInItems asserts that diagnostics without a schema path, and related ones, have a path.
func TestPathsInItems(t *testing.T) {
	twice := strings.Replace(crdText("a", unions...), "storage: true\n", "storage: true\n    storage: true\n", 1)
	declared := "functionConfig: {apiVersion: unioncel.dev/v1alpha1, kind: UnionCompiler, schemas: [{crd: b.example.com, path: spec, x-kubernetes-unions: [{members: [http, tcp]}]}]}\n"
	r := mustRun(t, listOf(declared, twice, crdText("b", unions...)), nil)
	wantTexts(t, r,
		`CustomResourceDefinition/a.example.com: error: UC104: key "storage" occurs twice in this mapping at spec.versions[0].storage`,
		"UnionCompiler schemas[0]: error: UC704: this schema of the CRD already has x-kubernetes-unions at spec")
	if related := r.Diagnostics[1].Related; len(related) != 1 || related[0].Pos.String() != "spec.versions[0].schema.openAPIV3Schema.properties.spec.x-kubernetes-unions" {
		t.Errorf("the related places are %v", related)
	}
	// If the configuration has no name, results cannot refer to it or its fields.
	if res := resultsOf(t, r.Output)[1]; res.ResourceRef != nil || res.Field != nil {
		t.Errorf("the result is about %v %v", res.ResourceRef, res.Field)
	}
}

// TestNothingToGenerate runs a configuration without files as a generator for kustomize.
func TestNothingToGenerate(t *testing.T) {
	item := "apiVersion: unioncel.dev/v1alpha1\nkind: UnionCompiler\nmetadata:\n  name: unions\n  annotations: {config.kubernetes.io/local-config: 'true'}\n"
	r := mustRun(t, listOf(configured(), item), nil)
	wantTexts(t, r, "UnionCompiler/unions: error: UC705: as a generator this UnionCompiler has nothing to generate at files")
}

// resultsOf reads the results of a list with kyaml.
func resultsOf(t *testing.T, out []byte) framework.Results {
	t.Helper()
	reader := &kio.ByteReader{Reader: bytes.NewReader(out)}
	if _, err := reader.Read(); err != nil {
		t.Fatal(err)
	}
	if reader.WrappingKind != "ResourceList" || reader.Results == nil {
		t.Fatalf("kyaml reads a %s without results:\n%s", reader.WrappingKind, out)
	}
	var l framework.Results
	if err := reader.Results.YNode().Decode(&l); err != nil {
		t.Fatal(err)
	}
	return l
}

// TestResultsAreReplaced asserts that results of earlier runs or other functions are replaced.
func TestResultsAreReplaced(t *testing.T) {
	r := mustRun(t, listOf("results:\n- message: old\n", crdText("a", unions...)), nil)
	if _, ok := dataOf(t, r.Output)["results"]; ok {
		t.Errorf("there are results:\n%s", r.Output)
	}
	warning := crdText("a", unions...) + "            - members: [sctp]\n"
	warning = strings.Replace(warning, "tcp: {type: object}", "tcp: {type: object}\n              sctp: {type: object}", 1)
	r = mustRun(t, listOf("", warning), nil)
	wantTexts(t, r, "CustomResourceDefinition/a.example.com: warning: UC509: this union forbids nothing at spec")
	if got := resultsOf(t, r.Output); len(got) != 1 || got[0].Severity != framework.Warning {
		t.Errorf("the results are %v", got)
	}
	if !isCompiled(r.Output) {
		t.Errorf("not compiled, in spite of a warning only:\n%s", r.Output)
	}
}

func TestManyItems(t *testing.T) {
	corpus := unioncases.Choose(50, 150, 500)
	var items []string
	for i := range corpus {
		items = append(items, crdText(fmt.Sprintf("n%d", i), unions...))
	}
	r := mustRun(t, listOf("", items...), nil)
	wantTexts(t, r)
	l := dataOf(t, r.Output)["items"].([]any)
	for i, item := range l {
		if got, want := item.(map[string]any)["metadata"].(map[string]any)["name"], fmt.Sprintf("n%d.example.com", i); got != want {
			t.Fatalf("item %d is %s, want %s", i, got, want)
		}
	}
	if got := bytes.Count(r.Output, []byte("at most one of http, tcp may be set")); len(l) != corpus || got != corpus {
		t.Errorf("%d items, %d compiled", len(l), got)
	}
	some := listOf("", items[:min(50, len(items))]...)
	if !bytes.Equal(mustRun(t, some, nil).Output, mustRun(t, some, nil).Output) {
		t.Error("another run gives another output")
	}
}

func TestEmptyList(t *testing.T) {
	for _, in := range []string{
		"apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: []\n",
		`{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "items": []}` + "\n",
	} {
		r := mustRun(t, in, nil)
		if !reflect.DeepEqual(dataOf(t, r.Output), dataOf(t, []byte(in))) || len(r.Diagnostics) > 0 {
			t.Errorf("%q becomes %q, %v", in, r.Output, r.Diagnostics)
		}
	}
	r := mustRun(t, "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems: null\n", nil)
	if l, ok := dataOf(t, r.Output)["items"].([]any); !ok || len(l) > 0 {
		t.Errorf("null becomes %s", r.Output)
	}
}

func TestAliases(t *testing.T) {
	in := listOf("", "kind: A\nmetadata: &m {name: a}\ndata: &d {x: y}\n", "kind: B\nmetadata: *m\ndata:\n  <<: *d\n  z: 1\n", crdText("a", unions...))
	r := mustRun(t, in, nil)
	want := dataOf(t, []byte(in))["items"].([]any)
	if got := dataOf(t, r.Output)["items"].([]any); !reflect.DeepEqual(got[:2], want[:2]) {
		t.Errorf("got %v, want %v", got[:2], want[:2])
	}
	if !bytes.Contains(r.Output, []byte("at most one of http, tcp may be set")) {
		t.Error("not compiled")
	}
}

// TestNestedList has a list in a list, which tools other than kustomize may send.
func TestNestedList(t *testing.T) {
	list := "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(crdText("a", unions...), "\n", "\n  ")
	r := mustRun(t, listOf("", strings.TrimRight(list, " ")), nil)
	wantTexts(t, r)
	if !isCompiled(r.Output) || !slices.Contains(strings.Split(string(r.Output), "\n"), "  kind: List") {
		t.Errorf("not compiled in place:\n%s", r.Output)
	}
}

// text returns a value as YAML.
func text(t *testing.T, v any) string {
	t.Helper()
	out, err := sigs.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestJSON reads JSON, with an escape that yaml.v3 lacks. The output is YAML.
func TestJSON(t *testing.T) {
	in := `{"apiVersion": "config.kubernetes.io/v1", "kind": "ResourceList", "functionConfig": {"apiVersion": "unioncel.dev/v1alpha1", "kind": "UnionCompiler", "xyzzy": 1}, "items": [{"kind": "A", "a": "\ud83d\ude00", "b": [1e3, 12345678901234567890, null]}]}`
	r := mustRun(t, in, nil)
	wantTexts(t, r, `UnionCompiler: error: UC705: unknown key "xyzzy" in a UnionCompiler at xyzzy`)
	if !strings.HasPrefix(string(r.Output), "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n") {
		t.Errorf("the output is\n%s", r.Output)
	}
	if diff := cmp.Diff(dataOf(t, []byte(strings.ReplaceAll(in, `\ud83d\ude00`, "😀")))["items"], dataOf(t, r.Output)["items"]); diff != "" {
		t.Errorf("the items have changed:\n%s", diff)
	}
}

// TestPanicIsOfItsItem asserts that a panic caused by an item becomes an error for this item.
func TestPanicIsOfItsItem(t *testing.T) {
	r := &run{}
	work := []*piece{{name: "a", item: yaml.MakeNullNode()}, {name: "b", item: yaml.MakeNullNode()}}
	if r.convert(work, func(name string, src []byte) ([]byte, diag.List) {
		if name == "b" {
			panic("a bug")
		}
		return src, nil
	}) {
		t.Error("there is no error")
	}
	wantTexts(t, &FunctionReport{Diagnostics: r.diags}, "b: error: UC405: internal error: a bug")
}
