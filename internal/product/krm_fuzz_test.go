package product

import (
	"bytes"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/unioncel/unioncel/internal/yamltext"
)

var fuzzFiles = fstest.MapFS{
	"a.yaml":    {Data: []byte(crdText("fa", unions...) + "---\napiVersion: v1\nkind: A\nmetadata: {name: a}\n")},
	"b.yaml":    {Data: []byte(crdText("fb", broken...))},
	"sets.yaml": {Data: []byte("apiVersion: unioncel.dev/v1alpha1\nkind: UnionSet\nschemas: [{crd: b.example.com, path: spec, x-kubernetes-unions: [{members: [http, tcp]}]}]\n")},
}

// seeds returns lists with all kinds of content.
func seeds() []string {
	comments := "# a\nkind: A # b\n# c\nmetadata:\n  # d\n  name: a # e\n\n  # f\ndata:\n  x: |2\n      y\n\n  z: >-\n    folded\n    text\n  'q': \"\\u00e4\\n\"\n# g\n"
	return []string{
		listOf("", crdText("a", unions...)),
		listOf(configured("files: [a.yaml]"), crdText("a", unions...), comments, crdText("b")),
		listOf(configured("files: [b.yaml]", "forget: true")),
		listOf(configured("unions: [sets.yaml]", `kubeVersion: "1.27"`, "encoding: compact"), crdText("b"), comments),
		listOf(configured("schemas: [{crd: a.example.com, path: spec, x-kubernetes-unions: [{members: [http, tcp]}]}]"), crdText("a"), crdText("c", broken...)),
		listOf(normalizing("builtin: true", "crds: [a.yaml]"), mergedThing, crdText("a", discriminated...), mergedDeployment, comments),
		listOf("results: []\nother: {a: [b]}\n", "kind: List\nitems:\n- "+strings.ReplaceAll(crdText("a", unions...), "\n", "\n  ")),
		listOf("", "metadata: &m\n  name: a\n  annotations: {config.kubernetes.io/local-config: 'true', config.kubernetes.io/index: '1'}\n", "metadata: *m\nkind: CustomResourceDefinition\n"),
		`{"apiVersion": "config.kubernetes.io/v1beta1", "kind": "ResourceList", "items": [{"kind": "A", "x": [1, 1.5, 1e3, null, "\ud83d\ude00"]}], "functionConfig": null}`,
		listOf("functionConfig: {kind: ConfigMap}\n", "a: !!binary aGk=\nb: !t x\nc: 2001-01-01\nd: 0x1f\ne: .inf\nf: ~\n? [k]\n: v\n"),
	}
}

// FuzzRun asserts the guarantees of Run for any input.
func FuzzRun(f *testing.F) {
	for _, s := range seeds() {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		if len(in) < 20_000 {
			promises(t, in)
		}
	})
}

// FuzzMutated asserts the guarantees of Run for mutations of the seeds, which resemble YAML.
func FuzzMutated(f *testing.F) {
	for i := range 30 {
		f.Add(uint64(i), byte(i))
	}
	l := seeds()
	f.Fuzz(func(t *testing.T, seed uint64, n byte) { promises(t, mutated(l, seed, int(n%8))) })
}

func promises(t *testing.T, in []byte) {
	t.Helper()
	src := bytes.Clone(in)
	r, err := RunFunction(in, Host{Files: fuzzFiles})
	if !bytes.Equal(src, in) {
		t.Fatal("Run modified its input")
	}
	if err != nil {
		if r != nil || strings.Contains(err.Error(), "\n") {
			t.Fatalf("a report beside an error, or a long one: %q", err)
		}
		return
	}
	before, after := items(t, in), items(t, r.Output)
	if r.Diagnostics.HasErrors() {
		if len(before)+len(after) > 0 && !reflect.DeepEqual(before, after) {
			t.Fatalf("the items have changed in spite of errors:\n%s\n%v", r.Output, r.Diagnostics)
		}
		return
	}
	// Items that are neither CRDs nor objects with unions stay unchanged and in order.
	at := 0
	for _, item := range after {
		if at < len(before) && reflect.DeepEqual(before[at], item) {
			at++
		} else if at < len(before) && mayChange(before[at]) {
			at++
		}
	}
	dropped := slices.DeleteFunc(before[at:], func(v any) bool {
		m, _ := v.(map[string]any)
		return m["kind"] == compilerKind.name || m["kind"] == normalizerKind.name
	})
	if len(dropped) > 0 {
		t.Fatalf("items are lost: %v\n%s", dropped, r.Output)
	}
	again, err := RunFunction(r.Output, Host{Files: fuzzFiles})
	if err != nil || again.Diagnostics.HasErrors() {
		t.Fatalf("the output is refused: %v %v\n%s", err, again, r.Output)
	}
	if !reflect.DeepEqual(items(t, again.Output), after) {
		t.Fatalf("the second run changes\n%s\nto\n%s", r.Output, again.Output)
	}
}

// mayChange reports whether an item may be compiled or normalized.
func mayChange(v any) bool {
	m, _ := v.(map[string]any)
	return slices.Contains([]any{"CustomResourceDefinition", "List", "CustomResourceDefinitionList", "Kinda", "Deployment"}, m["kind"])
}

// items returns the items of a list as kubectl reads them.
func items(t *testing.T, text []byte) []any {
	t.Helper()
	file, err := yamltext.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for _, d := range file.Docs {
		if d.Root == nil {
			continue
		}
		_, v, wrong := yamltext.KubectlValue("", file, d)
		if wrong != nil {
			return nil // kubectl cannot read such a document, but kustomize may
		}
		m, _ := v.(map[string]any)
		l, _ := m["items"].([]any)
		return l
	}
	return nil
}

// words are inserted into lists by mutated.
var words = strings.Split(`~|null|""|''|[]|{}|&a|*a|&a x|<<: *a|? |- |: |# c| # c|"a"|!!str|!t|yes|1e3|ä|🎉|{{ x }}|`+
	"|\n---\n|\n...\n|\r\n|\t|\u0085|\u2028|\ufeff|  |,|:|a: b|kind: List|kind: CustomResourceDefinition|files: [a.yaml]|files: [b.yaml]|"+
	"x-kubernetes-unions: [{members: [http, tcp]}]|annotations: {}|annotations: {unioncel.dev/unions: x}|metadata: {}|\n\n|>-\n|", "|")

// mutated returns one of the lists after n random changes.
func mutated(l []string, seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, 0))
	lines := strings.SplitAfter(l[r.IntN(len(l))], "\n")
	for range n {
		i := r.IntN(len(lines))
		j := min(i+1+r.IntN(4), len(lines))
		line := lines[i]
		switch text := strings.TrimRight(line, "\r\n"); r.IntN(8) {
		case 0:
			lines = slices.Delete(lines, i, j)
		case 1: // repeat
			lines = slices.Insert(lines, i, slices.Clone(lines[i:j])...)
		case 2: // indent
			for k := i; k < j; k++ {
				lines[k] = strings.Repeat(" ", 1+r.IntN(2)) + lines[k]
			}
		case 3: // outdent
			for k := i; k < j; k++ {
				lines[k] = strings.TrimPrefix(lines[k], "  ")
			}
		case 4: // a comment or blank line
			lines = slices.Insert(lines, i, strings.Repeat(" ", r.IntN(12))+[]string{"# c", "", "#", " "}[r.IntN(4)]+"\n")
		case 5: // at the end of the line
			lines[i] = text + words[r.IntN(len(words))] + line[len(text):]
		case 6: // after the colon
			if before, after, ok := strings.Cut(line, ":"); ok {
				lines[i] = before + ": " + words[r.IntN(len(words))] + after
			}
		case 7: // anywhere
			at := r.IntN(len(line) + 1)
			lines[i] = line[:at] + words[r.IntN(len(words))] + line[at:]
		}
		if len(lines) == 0 {
			lines = []string{"\n"}
		}
	}
	return []byte(strings.Join(lines, ""))
}

// TestHostile has lists that are too deep, too wide, or of wrong types.
func TestHostile(t *testing.T) {
	if testing.Short() {
		t.Skip("large inputs")
	}
	const head = "apiVersion: config.kubernetes.io/v1\nkind: ResourceList\n"
	values := []string{"null", "[]", "{}", "1", "''", "[[]]", "{a: {}}", "!!binary x", "!t [a]", "2001-01-01", "{? [a] : b}"}
	var in []string
	for _, v := range values {
		in = append(in,
			head+"items: [{kind: "+v+", apiVersion: "+v+", metadata: "+v+"}]\n",
			head+"items: [{kind: CustomResourceDefinition, metadata: {name: "+v+", annotations: "+v+"}, spec: "+v+"}]\n",
			head+"items: [{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1, metadata: {name: "+v+", annotations: {a: "+v+", unioncel.dev/unions: "+v+"}}, spec: {versions: ["+v+"]}}]\n",
			head+"items: [{kind: List, items: "+v+"}]\n",
			head+"items: [{metadata: {annotations: {config.kubernetes.io/local-config: "+v+", config.kubernetes.io/path: "+v+", config.kubernetes.io/index: "+v+"}}}]\n",
			head+"items: []\nfunctionConfig: "+v+"\n",
			head+"items: []\nfunctionConfig: {apiVersion: unioncel.dev/v1alpha1, kind: UnionCompiler, metadata: {name: "+v+"}, files: "+v+", unions: ["+v+"], schemas: "+v+", verify: "+v+"}\n",
			head+"items: []\nfunctionConfig: {apiVersion: unioncel.dev/v1alpha1, kind: UnionCompiler, schemas: [{crd: "+v+", path: "+v+", x-kubernetes-unions: "+v+"}]}\n",
			head+"items: []\nresults: "+v+"\n")
	}
	in = append(in,
		head+"items: [{kind: A, a: "+strings.Repeat("[", 5000)+strings.Repeat("]", 5000)+"}]\n",
		head+"items: [{kind: CustomResourceDefinition, apiVersion: apiextensions.k8s.io/v1, a: "+strings.Repeat("{a: ", 2000)+strings.Repeat("}", 2000)+"}]\n",
		head+"items: ["+strings.Repeat("[", 200_000)+"\n",
		head+"items:\n"+strings.Repeat("- {kind: A}\n", 5_000),
		head+"items:\n- kind: A\n  a: "+strings.Repeat("x", 1_000_000)+"\n")
	for _, in := range in {
		promises(t, []byte(in))
	}
}
