package docs_test

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"
)

// TestSchema runs the commands of schema.md on its CRD. The blocks are parts of the output.
func TestSchema(t *testing.T) {
	d := open(t, "schema.md")
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 10 || l[0].info != "yaml" || l[1].info != "sh" || l[2].info != "json" || l[6].info != "sh" || l[7].info != "json" || l[8].info != "sh" || l[9].info != "json" {
		t.Fatal("schema.md does not show a CRD, and three commands with what they print")
	}
	for _, part := range []struct {
		command, shown block
		path, keys     []string
	}{
		{l[8], l[9], []string{"components", "schemas", "BackendSpec"}, nil}, // the last first: positions stay
		{l[6], l[7], []string{"properties", "spec"}, nil},
		{l[1], l[2], []string{"properties", "spec"}, []string{"if", "then"}},
	} {
		out, errs, code := shellAmong(t, part.command.text, map[string]string{"crd.yaml": l[0].text})
		if code != 0 {
			t.Fatalf("exit code %d\n%s", code, errs)
		}
		var v any
		if err := json.Unmarshal([]byte(out), &v); err != nil {
			t.Fatal(err)
		}
		for _, key := range part.path {
			v = v.(map[string]any)[key]
		}
		if len(part.keys) > 0 {
			maps.DeleteFunc(v.(map[string]any), func(key string, _ any) bool { return !slices.Contains(part.keys, key) })
		}
		shown, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		d.generated(t, part.shown.from, part.shown.to, string(shown)+"\n")
	}
	d.save(t)
}
