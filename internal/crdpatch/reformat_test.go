package crdpatch

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// encoders re-encode a document as tools do: in another layout, with sorted keys and without
// comments.
var encoders = []struct {
	name string
	of   func(v any) ([]byte, error)
}{
	{"yaml", func(v any) ([]byte, error) { return sigs.Marshal(v) }},
	{"flow", func(v any) ([]byte, error) {
		var n yaml.Node
		if err := n.Encode(v); err != nil {
			return nil, err
		}
		n.Style = yaml.FlowStyle
		return yaml.Marshal(&n)
	}},
	{"json", func(v any) ([]byte, error) { return json.Marshal(v) }},
	{"indented", func(v any) ([]byte, error) { return json.MarshalIndent(v, "", "    ") }},
}

// asStored adds the fields that an API server sets to the CRDs in v.
func asStored(v any) {
	m, _ := v.(map[string]any)
	if items, ok := m["items"].([]any); ok {
		for _, item := range items {
			asStored(item)
		}
	}
	metadata, ok := m["metadata"].(map[string]any)
	if !ok || m["kind"] != "CustomResourceDefinition" {
		return
	}
	applied, _ := json.Marshal(m)
	annotations, ok := metadata["annotations"].(map[string]any)
	if !ok {
		annotations = map[string]any{}
		metadata["annotations"] = annotations
	}
	annotations["kubectl.kubernetes.io/last-applied-configuration"] = string(applied) + "\n"
	metadata["creationTimestamp"] = "2026-01-01T00:00:00Z"
	metadata["generation"] = int64(1)
	metadata["uid"] = "11a51a5b-6a5b-4d2b-9e65-4b22a1a3a6d4"
	metadata["managedFields"] = []any{map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "fieldsType": "FieldsV1", "manager": "kubectl", "operation": "Update",
		"fieldsV1": map[string]any{"f:metadata": map[string]any{"f:annotations": map[string]any{".": map[string]any{}, "f:" + Annotation: map[string]any{}}}},
	}}
	m["status"] = map[string]any{
		"acceptedNames":  map[string]any{"kind": "Thing", "plural": "things"},
		"conditions":     []any{map[string]any{"type": "Established", "status": "True", "message": "x", "reason": "y", "lastTransitionTime": nil}},
		"storedVersions": []any{"v1"},
	}
}

func encode(tb testing.TB, docs []any, of func(v any) ([]byte, error)) []byte {
	tb.Helper()
	var b bytes.Buffer
	for i, v := range docs {
		text, err := of(v)
		if err != nil {
			tb.Fatal(err)
		}
		if i > 0 {
			b.WriteString("---\n")
		}
		b.Write(text)
		if len(docs) > 1 && !bytes.HasSuffix(text, []byte("\n")) {
			b.WriteString("\n")
		}
	}
	return b.Bytes()
}

// Compiled output that other tools have re-encoded compiles to itself, and decompiles to the
// source data.
func TestReformatted(t *testing.T) {
	for i, g := range share(t, 5) {
		// One encoder per file is enough: they re-encode little more than its data.
		enc, stored := encoders[i%len(encoders)], i/len(encoders)%2 > 0
		name := g.name + "/" + enc.name
		if stored {
			name += "-stored"
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			want, docs := values(t, g.in), values(t, g.out)
			if stored {
				for i := range docs {
					asStored(docs[i])
					asStored(want[i])
				}
			}
			in := encode(t, docs, enc.of)
			same(t, "compile(reformatted)", mustCompile(t, in, g.opts), in)
			out := mustDecompile(t, in)
			got := values(t, out)
			for i := range got {
				// The last-applied annotation holds the applied manifest.
				dropApplied(got[i])
				dropApplied(want[i])
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("decompile(reformatted) means something else (-want +got):\n%s", d)
			}
			if enc.name == "json" && len(docs) == 1 && !json.Valid(out) {
				t.Errorf("JSON came out as something else:\n%s", out)
			}
			again := values(t, mustCompile(t, out, g.opts))
			before := values(t, in)
			for i := range again {
				forgetAll(again[i])
				forgetAll(before[i])
			}
			if d := cmp.Diff(before, again); d != "" {
				t.Errorf("compile(decompile(reformatted)) means something else (-want +got):\n%s", d)
			}
		})
	}
}

func dropApplied(v any) {
	m, _ := v.(map[string]any)
	if items, ok := m["items"].([]any); ok {
		for _, item := range items {
			dropApplied(item)
		}
	}
	if metadata, ok := m["metadata"].(map[string]any); ok {
		if annotations, ok := metadata["annotations"].(map[string]any); ok {
			delete(annotations, "kubectl.kubernetes.io/last-applied-configuration")
			if len(annotations) == 0 {
				delete(metadata, "annotations")
			}
		}
	}
}

// The annotation may be anywhere among others.
func TestAnnotationMoved(t *testing.T) {
	const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: things.example.com
  annotations:
    a: b
    c: |
      text
    d: e
spec:
`
	in := []byte(crd + body)
	out := mustCompile(t, in, Options{})
	lines := bytes.SplitAfter(out, []byte("\n"))
	at := -1
	for i, l := range lines {
		if bytes.Contains(l, []byte(Annotation)) {
			at = i
		}
	}
	for _, to := range []int{5, 6, 8} {
		var moved [][]byte
		for i, l := range lines {
			if i == to {
				moved = append(moved, lines[at])
			}
			if i != at {
				moved = append(moved, l)
			}
		}
		text := bytes.Join(moved, nil)
		same(t, "compile", mustCompile(t, text, Options{}), text)
		same(t, "decompile", mustDecompile(t, text), in)
	}
}

// Compiled output without its comments compiles to itself and decompiles to the same data.
func TestCommentsDropped(t *testing.T) {
	for _, g := range share(t, 7) {
		f, err := yamltext.Parse(g.out)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		enc := yaml.NewEncoder(&b)
		enc.SetIndent(2)
		for _, d := range f.Docs {
			if d.Root == nil {
				continue
			}
			dropComments(d.Root)
			if err := enc.Encode(d.Root); err != nil {
				t.Fatal(err)
			}
		}
		in := b.Bytes()
		if len(in) == 0 || !reflect.DeepEqual(values(t, in), values(t, g.out)) {
			continue // yaml.v3 does not preserve code in folded text
		}
		if got := mustCompile(t, in, g.opts); !bytes.Equal(got, in) {
			t.Errorf("%s: compile(reformatted) (-want +got):\n%s", g.name, cmp.Diff(string(in), string(got)))
		}
		got, want := values(t, mustDecompile(t, in)), values(t, g.in)
		if len(got) == len(want) {
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: decompile(reformatted) means something else (-want +got):\n%s", g.name, d)
			}
		}
	}
}

func dropComments(n *yaml.Node) {
	n.HeadComment, n.LineComment, n.FootComment = "", "", ""
	for _, c := range n.Content {
		dropComments(c)
	}
}
