package docs_test

import (
	"encoding/json"
	"testing"
)

// TestSchema runs the commands of schema.md on its CRD. The blocks are parts of the output.
func TestSchema(t *testing.T) {
	d := open(t, "schema.md")
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 7 || l[0].info != "yaml" || l[1].info != "sh" || l[2].info != "json" || l[5].info != "sh" || l[6].info != "json" {
		t.Fatal("schema.md does not show a CRD, and two commands with what they print")
	}
	for _, part := range []struct {
		command, shown block
		path           []string
	}{
		{l[5], l[6], []string{"components", "schemas", "BackendSpec"}}, // the last first: positions stay
		{l[1], l[2], []string{"properties", "spec", "oneOf", "first"}},
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
			if l, ok := v.([]any); ok {
				v = l[0]
				continue
			}
			v = v.(map[string]any)[key]
		}
		shown, err := json.MarshalIndent(v, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		d.generated(t, part.shown.from, part.shown.to, string(shown)+"\n")
	}
	d.save(t)
}
