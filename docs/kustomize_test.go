package docs_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testprog"
)

var exitMarker = regexp.MustCompile(`^<!-- exit: (\d+) -->$`)

// TestKustomize runs the commands of kustomize.md with the real kustomize, on the files in the
// document, which begin with their names. It compares the output with the block that follows each
// command. A real API server accepts the result.
func TestKustomize(t *testing.T) {
	d := open(t, "kustomize.md")
	server := servertest.Start(t)
	testprog.Add(t, "kustomize")
	dir := t.TempDir()
	built := filepath.Join(dir, "built.yaml")
	l := d.blocks(t, 0, len(d.lines))
	accepted := 0
	for i, b := range l {
		b.writeFile(t, dir)
		if b.info != "sh" {
			continue
		}
		want := 0
		if m := exitMarker.FindStringSubmatch(d.lines[b.from-2]); m != nil {
			want, _ = strconv.Atoi(m[1])
		}
		out, code := shell(t, dir, b.text)
		if code != want || i+1 == len(l) || l[i+1].info != "text" {
			t.Fatalf("exit code %d, want %d, and a block of text:\n%s\n%s", code, want, b.text, out)
		}
		d.generated(t, l[i+1].from, l[i+1].to, out)

		data, err := os.ReadFile(built)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if err := errors.Join(err, server.Install(t.Context(), data), os.Remove(built)); err != nil {
			t.Errorf("%s: %v", b.text, err)
		}
		accepted++
	}
	for _, uses := range []string{"transformers:", "generators:", "container:"} {
		if !slices.ContainsFunc(l, func(b block) bool { return strings.Contains(b.text, uses) }) {
			t.Errorf("kustomize.md shows no %s", uses)
		}
	}
	if accepted == 0 {
		t.Error("kustomize.md builds nothing")
	}
	for object, want := range map[string]string{
		"kind: Probe\nspec: {http: {path: /}}":                          "",
		"kind: Probe\nspec: {http: {path: /}, tcp: {port: 1}}":          "exactly one of http, tcp must be set",
		"kind: Backup\nspec: {s3: {bucket: a}}":                         "",
		"kind: Backup\nspec: {s3: {bucket: a}, nfs: {server: here.so}}": "at most one of s3, nfs may be set",
	} {
		_, err := server.Create(t.Context(), []byte("apiVersion: example.com/v1\nmetadata: {generateName: x-}\n"+object))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the server says %v, want %q", object, err, want)
		}
	}
	d.save(t)
}

// shell runs commands and returns the output and the exit code.
func shell(t *testing.T, dir, script string) (string, int) {
	t.Helper()
	var out bytes.Buffer
	code := sh(t, dir, script, &out, &out)
	// kustomize adds a blank to some errors, which editors remove.
	return regexp.MustCompile(`(?m) +$`).ReplaceAllString(out.String(), ""), code
}

// The tables of options have the keys of the JSON Schemas.
func TestKustomizeOptions(t *testing.T) {
	tables := map[string][]string{} // by kind
	var keys []string
	kind := ""
	for _, line := range open(t, "kustomize.md").lines {
		cells := regexp.MustCompile("^\\| `([^`]+)` \\| (.*) \\|$").FindStringSubmatch(line)
		if cells == nil {
			keys, kind = nil, ""
			continue
		}
		if keys = append(keys, cells[1]); cells[1] == "kind" {
			kind = strings.Trim(cells[2], "`")
		}
		if kind != "" {
			tables[kind] = keys
		}
	}
	for _, kind := range []string{"UnionCompiler", "UnionNormalizer"} {
		data, err := os.ReadFile(strings.ToLower(kind) + ".schema.json")
		if err != nil {
			t.Fatal(err)
		}
		var schema struct{ Properties map[string]any }
		if err := json.Unmarshal(data, &schema); err != nil {
			t.Fatal(err)
		}
		slices.Sort(tables[kind])
		if want := slices.Sorted(maps.Keys(schema.Properties)); !slices.Equal(tables[kind], want) {
			t.Errorf("the table of %s has the keys\n%q, want\n%q", kind, tables[kind], want)
		}
	}
}
