package schemapath_test

import (
	"strings"
	"testing"

	. "github.com/unioncel/unioncel/pkg/schemapath"
)

var paths = []struct {
	text string
	path Path
}{
	{"", nil},
	{"spec", New("spec")},
	{"spec.storage", New("spec", "storage")},
	{"spec.rules[*].filter", New("spec", "rules").Append(Elements, Property("filter"))},
	{"spec.matrix[*][*]", New("spec", "matrix").Append(Elements, Elements)},
	{"spec['a.b']", New("spec", "a.b")},
	{"spec['a.b'].c", New("spec", "a.b", "c")},
	{"['a b'][*]['c[d]']", New("a b").Append(Elements, Property("c[d]"))},
	{`spec['it\'s \\']`, New("spec", `it's \`)},
	{"spec['[*]']", New("spec", "[*]")},
	{"properties.items", New("properties", "items")},
	{"0._-Z", New("0", "_-Z")},
	{"['größe']", New("größe")},
	{"[*]", Path{Elements}},
}

func TestPath(t *testing.T) {
	for _, test := range paths {
		t.Run(test.text, func(t *testing.T) {
			if got := test.path.String(); got != test.text {
				t.Errorf("written %q", got)
			}
			if got, err := Parse(test.text); err != nil || !got.Equal(test.path) {
				t.Errorf("read %v, %v", got, err)
			}
			if got, err := FromFields(test.path.Fields()); err != nil || !got.Equal(test.path) {
				t.Errorf("from fields %v, %v", got, err)
			}
		})
	}
	for _, step := range []Step{Items, Values, Elements} {
		if got := New("a").Append(step).String(); got != "a[*]" {
			t.Errorf("%v: %q", step.Fields(), got)
		}
	}
}

// Keys that lead to no schema are errors.
func TestNoPath(t *testing.T) {
	for _, fields := range [][]string{{"properties"}, {"allOf"}, {""}, {"properties", "a", "oneOf", "0"}, {"properties", "a", "properties"}} {
		if p, err := FromFields(fields); err == nil {
			t.Errorf("%q: %v", fields, p)
		}
	}
}

// badPaths maps invalid paths to the beginnings of their errors.
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
	"spec['a":      "the quoted name in brackets is not closed",
	"spec['']":     "the name in brackets is empty",
	"spec['a'b']":  "want ] after the quoted name",
	"spec['a'":     "want ] after the quoted name",
	`spec['a\b']`:  `write \\ for a backslash`,
	`spec['a\`:     `write \\ for a backslash`,
	"spec['a']b":   `want a dot, a bracket or the end after "spec['a']"`,
	"spec[*]b":     `want a dot, a bracket or the end after "spec[*]"`,
	"spec rules":   `want a dot, a bracket or the end after "spec"`,
	"spec.größe":   `want a dot, a bracket or the end after "spec.gr"`,
	"ä":            `no name begins with "ä"`,
	"spec. rules":  `no name begins with " "`,
	"$.spec":       `no name begins with "$"`,
	"spec/storage": `want a dot, a bracket or the end after "spec"`,
}

func TestBadPath(t *testing.T) {
	for path, want := range badPaths {
		t.Run(path, func(t *testing.T) {
			if p, err := Parse(path); err == nil || !strings.HasPrefix(err.Error(), want) || p != nil {
				t.Errorf("%v, %v", p, err)
			}
		})
	}
}

// FuzzPath checks that a parsed path is written no longer than the input and parses to the same
// path, and that every non-empty name can be written and parsed again.
func FuzzPath(f *testing.F) {
	for _, test := range paths {
		f.Add(test.text)
	}
	for path := range badPaths {
		f.Add(path)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p, err := Parse(text); err == nil {
			path := p.String()
			if again, err := Parse(path); err != nil || !again.Equal(p) || len(path) > len(text) {
				t.Errorf("%q: written %q: %v, %v", text, path, again, err)
			}
		}
		if text == "" {
			return
		}
		p := New(text).Append(Elements, Property(text), Property(text))
		if again, err := Parse(p.String()); err != nil || !again.Equal(p) {
			t.Errorf("%v: %v, %v", p, again, err)
		}
	})
}
