package docs_test

import (
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/testprog"
)

// TestPipelines runs the commands of pipelines.md, with the real kustomize, on the files in the
// document, which begin with their names. It compares the output with the block that follows each
// command. Package test/recipes holds the blocks that are marked with a recipe.
func TestPipelines(t *testing.T) {
	d := open(t, "pipelines.md")
	testprog.Add(t, "kustomize")
	dir := t.TempDir()
	commands := 0
	l := d.blocks(t, 0, len(d.lines))
	for i, b := range l {
		if strings.HasPrefix(d.lines[b.from-2], "<!-- recipe: ") {
			continue
		}
		switch {
		case b.info == "sh":
			commands++
			out, code := shell(t, dir, b.text)
			if code != 0 || i+1 == len(l) {
				t.Fatalf("exit code %d, want 0, and a block of output:\n%s\n%s", code, b.text, out)
			}
			d.generated(t, l[i+1].from, l[i+1].to, out)
		case b.info == "yaml" && !namedFile.MatchString(b.text) && (i == 0 || l[i-1].info != "sh") && !strings.Contains(b.text, "container:"):
			t.Errorf("%s:%d: neither a recipe, nor a file with a name, nor output", d.name, b.from)
		default:
			b.writeFile(t, dir)
		}
	}
	if commands != 2 {
		t.Errorf("%s has %d commands, want 2", d.name, commands)
	}
	d.save(t)
}
