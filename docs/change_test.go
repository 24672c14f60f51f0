package docs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestChange runs the commands of change.md on its files, and compares their output with the blocks
// that follow. Package test/recipes holds the blocks that are marked with a recipe.
func TestChange(t *testing.T) {
	d := open(t, "change.md")
	dir := t.TempDir()
	tested, command := 0, ""
	for _, b := range d.blocks(t, 0, len(d.lines)) {
		mark, recipe := strings.CutPrefix(d.lines[b.from-2], "<!-- recipe: ")
		switch {
		case recipe && b.info == "yaml":
			name := strings.Fields(mark)[1]
			if err := os.WriteFile(filepath.Join(dir, name), []byte(b.text), 0o644); err != nil {
				t.Fatal(err)
			}
		case recipe:
		case b.info == "sh" && command == "":
			command = b.text
		case b.info == "text" && command != "":
			printed, code := shell(t, dir, command)
			if code != 1 && !strings.Contains(command, "|") {
				t.Errorf("%s: exit code %d", command, code)
			}
			d.generated(t, b.from, b.to, printed)
			tested, command = tested+1, ""
		default:
			t.Errorf("%s:%d: neither a recipe, nor a command and its output", d.name, b.from)
		}
	}
	if tested != 4 || command != "" {
		t.Errorf("%s shows the output of %d commands, want 4", d.name, tested)
	}
	d.save(t)
}
