package archtest

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write the picture in docs/contributing/architecture.md")

// folderOf returns the folder that stands for a package in the diagram: a package of pkg, or a
// folder of internal. It is "" for packages that only tests use.
func folderOf(name string) string {
	parts := strings.Split(name, "/")
	switch {
	case parts[0] == "pkg", parts[0] == "internal" && parts[1] != "testing":
		return parts[0] + "/" + parts[1]
	}
	return ""
}

// folders returns the imports between folders.
func folders() map[string][]string {
	arrows := map[string][]string{}
	for name, imports := range allowed {
		from := folderOf(name)
		if from == "" {
			continue
		}
		for _, imported := range imports {
			if to := folderOf(imported); to != "" && to != from && !slices.Contains(arrows[from], to) {
				arrows[from] = append(arrows[from], to)
			}
		}
	}
	return arrows
}

// reaches reports whether a path of at least one import leads from one folder to another.
func reaches(arrows map[string][]string, from, to string) bool {
	seen := map[string]bool{}
	var visit func(name string) bool
	visit = func(name string) bool {
		if seen[name] {
			return false
		}
		seen[name] = true
		return slices.ContainsFunc(arrows[name], func(next string) bool { return next == to || visit(next) })
	}
	return visit(from)
}

// picture returns a diagram of the imports between folders, without the implied ones.
func picture(arrows map[string][]string) string {
	var b strings.Builder
	b.WriteString("```mermaid\nflowchart TD\n")
	for _, from := range slices.Sorted(maps.Keys(arrows)) {
		for _, to := range slices.Sorted(slices.Values(arrows[from])) {
			implied := slices.ContainsFunc(arrows[from], func(other string) bool { return other != to && reaches(arrows, other, to) })
			if !implied {
				fmt.Fprintf(&b, "  %s --> %s\n", from, to)
			}
		}
	}
	b.WriteString("```\n")
	return b.String()
}

// TestFolders checks that the diagram in docs/contributing/architecture.md matches the imports, and that imports
// between folders have no cycle.
func TestFolders(t *testing.T) {
	arrows := folders()
	for name := range arrows {
		if reaches(arrows, name, name) {
			t.Errorf("imports lead from %s back to it", name)
		}
	}
	const file, begin, end = "../../../docs/contributing/architecture.md", "<!-- folders -->\n", "<!-- end of folders -->\n"
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, ok := strings.Cut(string(data), begin)
	drawn, after, ends := strings.Cut(rest, end)
	if !ok || !ends {
		t.Fatalf("%s has no %q", file, begin)
	}
	want := picture(arrows)
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if drawn != want {
		t.Errorf("%s has another picture than the imports: run go test ./internal/testing/archtest -update", file)
	}
}
