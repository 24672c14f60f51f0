package unionset_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/unionset"
)

var paths = []struct {
	path  string
	steps []string
}{
	{"", nil},
	{"spec", []string{"properties", "spec"}},
	{"spec.storage", []string{"properties", "spec", "properties", "storage"}},
	{"spec.rules[*].filter", []string{"properties", "spec", "properties", "rules", "[*]", "properties", "filter"}},
	{"spec.matrix[*][*]", []string{"properties", "spec", "properties", "matrix", "[*]", "[*]"}},
	{"spec['a.b']", []string{"properties", "spec", "properties", "a.b"}},
	{"spec['a.b'].c", []string{"properties", "spec", "properties", "a.b", "properties", "c"}},
	{"['a b'][*]['c[d]']", []string{"properties", "a b", "[*]", "properties", "c[d]"}},
	{`spec['it\'s \\']`, []string{"properties", "spec", "properties", `it's \`}},
	{"spec['[*]']", []string{"properties", "spec", "properties", "[*]"}},
	{"properties.items", []string{"properties", "properties", "properties", "items"}},
	{"0._-Z", []string{"properties", "0", "properties", "_-Z"}},
	{"['größe']", []string{"properties", "größe"}},
	{"[*]", []string{"[*]"}},
}

func TestPath(t *testing.T) {
	for _, test := range paths {
		t.Run(test.path, func(t *testing.T) {
			if got := unionset.Path(test.steps); got != test.path {
				t.Errorf("path %q", got)
			}
			if got, err := unionset.ParsePath(test.path); err != nil || !slices.Equal(got, test.steps) {
				t.Errorf("steps %q, %v", got, err)
			}
		})
	}
}

func TestPathOfElements(t *testing.T) {
	for _, step := range []string{"items", "additionalProperties", union.Elements} {
		if got := unionset.Path([]string{"properties", "a", step}); got != "a[*]" {
			t.Errorf("%s: %q", step, got)
		}
	}
}

// Steps that lead to no schema have no path.
func TestPathOfNoSchema(t *testing.T) {
	for _, steps := range [][]string{{"properties"}, {"allOf"}, {""}, {"properties", ""}, {"properties", "a", "oneOf", "0"}} {
		path := unionset.Path(steps)
		if got, err := unionset.ParsePath(path); err == nil {
			t.Errorf("%q: %q means %q", steps, path, got)
		}
	}
}

// badPaths are paths with the beginnings of their errors.
var badPaths = map[string]string{
	".spec":        "the path begins with a dot",
	"spec.":        "the path ends with a dot",
	"spec..a":      "there is no name between two dots",
	"spec.*":       "write [*]",
	"*":            "write [*]",
	"spec.[*]":     "there is no dot before a bracket",
	"spec[0]":      "a path leads to a schema",
	"spec[]":       "a path leads to a schema",
	"spec[a]":      "want [*] or a name",
	"spec[":        "want [*] or a name",
	`spec["a"]`:    "want [*] or a name",
	"spec['a":      "the quote of a name in brackets is not closed",
	"spec['']":     "the name in brackets is empty",
	"spec['a'b']":  "want ] behind the name",
	"spec['a'":     "want ] behind the name",
	`spec['a\b']`:  `write \\ for a backslash`,
	`spec['a\`:     `write \\ for a backslash`,
	"spec['a']b":   `want a dot, a bracket or the end behind "spec['a']"`,
	"spec[*]b":     `want a dot, a bracket or the end behind "spec[*]"`,
	"spec rules":   `want a dot, a bracket or the end behind "spec"`,
	"spec.größe":   `want a dot, a bracket or the end behind "spec.gr"`,
	"ä":            `no name begins with "ä"`,
	"spec. rules":  `no name begins with " "`,
	"$.spec":       `no name begins with "$"`,
	"spec/storage": `want a dot, a bracket or the end behind "spec"`,
}

func TestBadPath(t *testing.T) {
	for path, want := range badPaths {
		t.Run(path, func(t *testing.T) {
			if steps, err := unionset.ParsePath(path); err == nil || !strings.HasPrefix(err.Error(), want) || steps != nil {
				t.Errorf("%q, %v", steps, err)
			}
		})
	}
}

// FuzzPath: what is a path is written as it was but for needless brackets, and all
// names can be written.
func FuzzPath(f *testing.F) {
	for _, test := range paths {
		f.Add(test.path)
	}
	for path := range badPaths {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if steps, err := unionset.ParsePath(text); err == nil {
			path := unionset.Path(steps)
			if again, err := unionset.ParsePath(path); err != nil || !slices.Equal(again, steps) || len(path) > len(text) {
				t.Errorf("%q: %q, written %q: %q, %v", text, steps, path, again, err)
			}
		}
		if text == "" {
			return
		}
		steps := []string{"properties", text, union.Elements, "properties", text, "properties", text}
		if again, err := unionset.ParsePath(unionset.Path(steps)); err != nil || !slices.Equal(again, steps) {
			t.Errorf("%q: %q, %v", steps, again, err)
		}
	})
}
