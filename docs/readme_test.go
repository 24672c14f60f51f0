package docs_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/servertest"
	"github.com/unioncel/unioncel/pkg/crdpatch"
)

// marked returns the fenced block that follows an HTML comment in the README,
// and what the comment says after its keyword.
func marked(t *testing.T, readme, keyword string) (argument, block string) {
	t.Helper()
	m := regexp.MustCompile("(?s)<!-- " + keyword + ": ([^\n]*) -->\n```[a-z]*\n(.*?)```\n").FindStringSubmatch(readme)
	if m == nil {
		t.Fatalf("README.md has no block marked %q", keyword)
	}
	return m[1], m[2]
}

// TestReadme: the first screen of the README is what the tool and a real API
// server print.
func TestReadme(t *testing.T) {
	data, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	readme := string(data)
	name, crd := marked(t, readme, "file")
	compiled, diags := crdpatch.Compile(name, []byte(crd), crdpatch.Options{})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	if _, rules := marked(t, readme, "output"); !strings.HasSuffix(string(compiled), rules) {
		t.Errorf("the compiled file does not end with the rules of the README:\n%s", compiled)
	}

	server := servertest.Start(t)
	if err := server.Install(t.Context(), compiled); err != nil {
		t.Fatal(err)
	}
	change, want := marked(t, readme, "server")
	m := regexp.MustCompile(`^update (\{.*\}) to (\{.*\})$`).FindStringSubmatch(change)
	if m == nil {
		t.Fatalf("cannot read %q", change)
	}
	object := func(spec string) []byte {
		return []byte("apiVersion: example.com/v1\nkind: Probe\nmetadata: {name: web}\nspec: " + spec + "\n")
	}
	if _, err := server.Create(t.Context(), object(m[1])); err != nil {
		t.Fatal(err)
	}
	_, err = server.Update(t.Context(), object(m[2]))
	if err == nil || err.Error() != strings.TrimSpace(want) {
		t.Errorf("the server says\n%v\nthe README\n%s", err, want)
	}
}
