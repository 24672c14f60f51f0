package recipes

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// language maps the extension of a file to the info string of its block.
var language = map[string]string{".sh": "sh", ".yaml": "yaml", ".txt": "text", "": "make"}

var marked = regexp.MustCompile("(?m)^<!-- recipe: (\\S+) (\\S+) -->\n```([a-z]*)\n((?s:.*?))^```$")

// TestDocument compares the blocks of pipelines.md and change.md with the files of the scripts that
// they are marked with; tests of package docs run the other blocks. A script must run the commands shown, and every script must be in one of
// the documents.
func TestDocument(t *testing.T) {
	scripts := map[string]*txtar.Archive{}
	names, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if scripts[filepath.Base(name)], err = txtar.ParseFile(name); err != nil {
			t.Fatal(err)
		}
	}
	shown := map[string]bool{}
	for _, document := range []string{"../../docs/pipelines.md", "../../docs/change.md"} {
		shows(t, document, scripts, shown)
	}
	for script := range scripts {
		if !shown[script] {
			t.Errorf("no document shows anything of %s", script)
		}
	}
}

// shows compares the blocks of a document, and records their scripts.
func shows(t *testing.T, document string, scripts map[string]*txtar.Archive, shown map[string]bool) {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	blocks := marked.FindAllStringSubmatch(string(text), -1)
	for _, b := range blocks {
		script, name, info, got := b[1], b[2], b[3], b[4]
		if scripts[script] == nil {
			t.Errorf("there is no script %s", script)
			continue
		}
		shown[script] = true
		if want, ok := fileOf(scripts[script], name); !ok || got != want {
			t.Errorf("%s in %s is\n%s\n%s shows\n%s", name, script, want, document, got)
		}
		if info != language[path.Ext(name)] {
			t.Errorf("%s is shown as %q", name, info)
		}
		if run := " sh -e " + name + "\n"; path.Ext(name) == ".sh" && !strings.Contains(string(scripts[script].Comment), run) {
			t.Errorf("%s does not run %s", script, name)
		}
	}
}

func fileOf(a *txtar.Archive, name string) (text string, ok bool) {
	for _, f := range a.Files {
		if f.Name == name {
			return string(f.Data), true
		}
	}
	return "", false
}
