package docs_test

import (
	"bytes"
	"encoding/json"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/pkg/schemapath"
)

// TestUnionSet runs the commands of unionset.md on the files in the document, which begin with
// their names. It compares the output with the block that follows each command.
func TestUnionSet(t *testing.T) {
	d := open(t, "unionset.md")
	dir := t.TempDir()
	commands := 0
	l := d.blocks(t, 0, len(d.lines))
	for i, b := range l {
		b.writeFile(t, dir)
		if b.info != "sh" {
			continue
		}
		commands++
		var out, errs bytes.Buffer
		if code := sh(t, dir, b.text, &out, &errs); code != 0 || out.Len() == 0 || i+1 == len(l) {
			t.Fatalf("%s: exit code %d\n%s%s", b.text, code, &out, &errs)
		}
		d.generated(t, l[i+1].from, l[i+1].to, out.String())
	}
	if commands == 0 {
		t.Error("unionset.md has no commands")
	}
	d.save(t)
}

// The tables of unionset.md have the keys of the JSON Schema, and paths.
func TestUnionSetTables(t *testing.T) {
	data, err := os.ReadFile("unionset.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	type object struct{ Properties map[string]any }
	var schema struct {
		object
		Defs struct{ Schema object } `json:"$defs"`
	}
	if err := json.Unmarshal(data, &schema); err != nil {
		t.Fatal(err)
	}
	want := slices.Sorted(maps.Keys(schema.Properties))
	want = append(want, slices.Sorted(maps.Keys(schema.Defs.Schema.Properties))...)

	d := open(t, "unionset.md")
	var keys []string
	paths := 0
	table := ""
	for _, line := range d.lines {
		cell := regexp.MustCompile("^\\| `([^`]+)` \\|").FindStringSubmatch(line)
		switch {
		case strings.HasPrefix(line, "| ") && cell == nil:
			table = line
		case cell == nil:
		case strings.HasPrefix(table, "| Key "):
			keys = append(keys, cell[1])
		case strings.HasPrefix(table, "| Path "):
			paths++
			if path, err := schemapath.Parse(cell[1]); err != nil || path.String() != cell[1] {
				t.Errorf("%s: %v, %v", cell[1], path, err)
			}
		}
	}
	slices.Sort(keys[:min(4, len(keys))])
	slices.Sort(keys[min(4, len(keys)):])
	if !slices.Equal(keys, want) {
		t.Errorf("the tables have the keys\n%q, want\n%q", keys, want)
	}
	if paths == 0 {
		t.Error("no table of paths")
	}
}
