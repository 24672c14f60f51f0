package docs_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"sigs.k8s.io/yaml"
)

// TestTestdata runs the commands of testdata.md on its CRD, in one directory. The schema rejects the
// property of the object that the page marks.
func TestTestdata(t *testing.T) {
	d := open(t, "testdata.md")
	l := d.blocks(t, 0, len(d.lines))
	shape := ""
	for _, b := range l {
		shape += b.info + " "
	}
	if shape != "yaml sh yaml sh text go sh yaml " {
		t.Fatal("testdata.md does not show a CRD, and commands with their output: ", shape)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "crd.yaml"), []byte(l[0].text), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, at := range []int{1, 3, 6} {
		out, code := shell(t, dir, l[at].text)
		if code != 0 {
			t.Fatalf("exit code %d\n%s", code, out)
		}
		if at != 6 {
			d.generated(t, l[at+1].from, l[at+1].to, out)
		}
	}
	object := l[7].text
	_, rest, _ := strings.Cut(object, "$schema=")
	name, _, _ := strings.Cut(rest, "\n")
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	accepts := func(text string) bool {
		var v any
		data, err := yaml.YAMLToJSON([]byte(text))
		if err := json.Unmarshal(data, &v); err != nil {
			t.Fatal(err)
		}
		return err == nil && schema.Validate(v) == nil
	}
	if accepts(object) || !accepts(strings.Replace(object, "http: {}", "tcp: {port: 1}", 1)) {
		t.Error("the schema accepts the object, or rejects it with tcp in place of http")
	}
	d.save(t)
}
