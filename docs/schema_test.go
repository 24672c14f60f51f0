package docs_test

import (
	"encoding/json"
	"testing"
)

// TestSchema runs the first command of schema.md on its CRD. The block after it is a part of the
// output.
func TestSchema(t *testing.T) {
	d := open(t, "schema.md")
	l := d.blocks(t, 0, len(d.lines))
	if len(l) != 6 || l[0].info != "yaml" || l[1].info != "sh" || l[2].info != "json" {
		t.Fatal("schema.md does not show a CRD, and a command with its output")
	}
	out, errs, code := shellAmong(t, l[1].text, map[string]string{"crd.yaml": l[0].text})
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, errs)
	}
	var schema struct{ Properties struct{ Spec map[string]any } }
	if err := json.Unmarshal([]byte(out), &schema); err != nil {
		t.Fatal(err)
	}
	shown, err := json.MarshalIndent(map[string]any{"if": schema.Properties.Spec["if"], "then": schema.Properties.Spec["then"]}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	d.generated(t, l[2].from, l[2].to, string(shown)+"\n")
	d.save(t)
}
