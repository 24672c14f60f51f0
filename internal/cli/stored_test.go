package cli

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/change"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/yamltext"
)

// thingsOf writes a list of Things of about five kilobytes each, in the YAML or JSON format of
// kubectl get. Every tenth breaks the union.
func thingsOf(tb testing.TB, n int, asJSON bool) string {
	tb.Helper()
	name := filepath.Join(tb.TempDir(), "live.yaml")
	file, err := os.Create(name)
	if err != nil {
		tb.Fatal(err)
	}
	defer file.Close()
	out := bufio.NewWriter(file)
	var values strings.Builder
	for i := range 40 {
		fmt.Fprintf(&values, "    key-%d: a value of some length, as annotations, and configurations in strings, have them %d\n", i, i)
	}
	write := func(format string, args ...any) {
		if _, err := fmt.Fprintf(out, format, args...); err != nil {
			tb.Fatal(err)
		}
	}
	if asJSON {
		write(`{"apiVersion": "v1", "items": [`)
	} else {
		write("apiVersion: v1\nitems:\n")
	}
	for i := range n {
		b := ""
		if i%10 == 0 {
			b = "\n    b: w"
		}
		item := fmt.Sprintf("apiVersion: example.com/v1\nkind: Thing\nmetadata:\n  annotations:\n%s  name: thing-%d\n  namespace: shop\n  resourceVersion: \"%d\"\nspec:\n    a: x%s\n", values.String(), i, i, b)
		if asJSON {
			text, err := yaml.YAMLToJSON([]byte(item))
			if err != nil {
				tb.Fatal(err)
			}
			if i > 0 {
				write(",")
			}
			write("\n%s", text)
			continue
		}
		write("- %s\n", strings.ReplaceAll(strings.TrimSuffix(item, "\n"), "\n", "\n  "))
	}
	if asJSON {
		write("\n], \"kind\": \"List\"}\n")
	} else {
		write("kind: List\nmetadata:\n  resourceVersion: \"\"\n")
	}
	if err := out.Flush(); err != nil {
		tb.Fatal(err)
	}
	return name
}

// thingJudges returns the judges for the compiled CRD of Things.
func thingJudges(tb testing.TB) judges {
	tb.Helper()
	text, l := crdpatch.Compile(crdpatch.Open("crd.yaml", []byte(testcrd.Read("thing"))), crdpatch.Options{})
	if l.HasErrors() {
		tb.Fatal(l)
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	if err := yaml.Unmarshal(text, crd); err != nil {
		tb.Fatal(err)
	}
	j, err := change.NewJudge(crd, change.JudgeOptions{})
	if err != nil {
		tb.Fatal(err)
	}
	return judges{j.GroupKind(): j}
}

func namedInput(file string) []input { return []input{{name: file, path: file}} }

// Objects are validated concurrently, and their verdicts are returned in order.
func TestStoredObjects(t *testing.T) {
	const n = 300 // more than is read at once
	for _, asJSON := range []bool{false, true} {
		a := newApp(Streams{})
		next, restricted := 0, 0
		l, err := a.storedObjects(t.Context(), namedInput(thingsOf(t, n, asJSON)), thingJudges(t), func(i yamltext.ObjectItem, v change.Prediction) {
			if want := fmt.Sprintf("thing-%d", next); v.Name != want {
				t.Errorf("%s comes before %s", v.Name, want)
			}
			if v.State == change.Restricted {
				restricted++
			}
			next++
		})
		if err != nil || len(l) > 0 || next != n || restricted != n/10 {
			t.Error(l, err, next, restricted)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newApp(Streams{}).storedObjects(ctx, namedInput(thingsOf(t, 3, false)), thingJudges(t), func(yamltext.ObjectItem, change.Prediction) {}); err == nil {
		t.Error("it is not interrupted")
	}
}

// Objects that cannot be validated are reported with their positions.
func TestBadStoredObjects(t *testing.T) {
	whole, err := os.ReadFile(thingsOf(t, 300, false))
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ name, text, want string }{
		{"another kind", "apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "<stdin>: error: UC901: no object is a Thing of example.com"},
		{"nothing", "", "<stdin>: error: UC103: the file is empty"},
		{"another version", "apiVersion: example.com/v9\nkind: Thing\nmetadata: {name: a}\n", `<stdin>:1:1: error: UC901: Thing a is of version "v9", which the CRD does not have`},
		{"metadata that is none", "apiVersion: example.com/v1\nkind: Thing\nmetadata: a\n", "<stdin>:1:1: error: UC901: Thing cannot be read from storage: the old object: invalid metadata: expected object, got string"},
		{"cut off", string(whole[:bytes.LastIndex(whole, []byte("  name: "))]) + "  name: \"thing", "error: UC101: found unexpected end of stream"},
		{"cut off between items", string(whole[:bytes.LastIndex(whole, []byte("\n- "))+1]), `<stdin>:1:1: error: UC101: this has apiVersion and items, but no kind`},
	} {
		t.Run(test.name, func(t *testing.T) {
			l, err := newApp(Streams{In: bufio.NewReader(strings.NewReader(test.text))}).storedObjects(t.Context(), []input{{name: stdinName}}, thingJudges(t), func(yamltext.ObjectItem, change.Prediction) {})
			if err != nil || len(l) != 1 || !strings.Contains(l[0].String(), test.want) {
				t.Error(l, err)
			}
		})
	}
	if _, err := newApp(Streams{}).storedObjects(t.Context(), namedInput(filepath.Join(t.TempDir(), "none")), thingJudges(t), nil); err == nil {
		t.Error("a file that is not there is read")
	}
}

func BenchmarkStored(b *testing.B) {
	for _, asJSON := range []bool{false, true} {
		b.Run(map[bool]string{false: "yaml", true: "json"}[asJSON], func(b *testing.B) {
			file := thingsOf(b, 10_000, asJSON)
			info, err := os.Stat(file)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(info.Size())
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				l, err := newApp(Streams{}).storedObjects(context.Background(), namedInput(file), thingJudges(b), func(yamltext.ObjectItem, change.Prediction) { n++ })
				if err != nil || len(l) > 0 || n != 10_000 {
					b.Fatal(l, err, n)
				}
			}
		})
	}
}
