package union_test

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// resolve parses and resolves the declarations in items, which begin on line 2, below their
// key. Each diagnostic is a line, followed by its hint and related positions.
func resolve(t *testing.T, items, schemaText string, resource bool) ([]*union.Union, []string) {
	t.Helper()
	text := union.Key + ":\n" + items
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	value := doc.Content[0].Content[1]
	schema := schemaOf(t, schemaText)
	declarations, diags := union.Parse("", "spec", value, nil)
	unions, resolved := union.Resolve(declarations, schema, resource)
	return unions, lines(t, append(diags, resolved...))
}

func lines(t *testing.T, diags diag.List) []string {
	t.Helper()
	var l []string
	for _, d := range diags.Sort() {
		if d.Path != "spec" {
			t.Errorf("path of %v is %q", d, d.Path)
		}
		if info, ok := diag.Lookup(d.Code); !ok || info.Severity != d.Severity {
			t.Errorf("severity of %v is %v", d, d.Severity)
		}
		line := d.String()
		if d.Hint != "" {
			line += "; hint: " + d.Hint
		}
		for _, r := range d.Related {
			line += "; see " + r.Pos.String() + ": " + r.Message
		}
		l = append(l, line)
	}
	return l
}

// TestManyRelations asserts that the time of resolving a chain of relations does not grow with the
// square of its length. It measures memory, because time is unreliable.
func TestManyRelations(t *testing.T) {
	taken := func(n int) float64 {
		var properties, relations strings.Builder
		for i := range n {
			fmt.Fprintf(&properties, "a%d: {type: string}, ", i)
			fmt.Fprintf(&relations, "a%d: a%d, ", i, i+1)
		}
		items := fmt.Sprintf("- dependentRequired: {%s}", relations.String())
		schema := fmt.Sprintf("{type: object, properties: {%s a%d: {type: string}}}", properties.String(), n)
		return testing.AllocsPerRun(1, func() {
			if _, l := resolve(t, items, schema, false); len(l) > 0 {
				t.Error(l)
			}
		})
	}
	few, many := taken(50), taken(200)
	if many > 6*few {
		t.Errorf("4 times the relations take %.1f times the memory", many/few)
	}
}

// parse parses declarations that have no errors.
func parse(t *testing.T, items string) []*union.Declaration {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(items), &doc); err != nil {
		t.Fatal(err)
	}
	declarations, diags := union.Parse("", "spec", doc.Content[0], nil)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return declarations
}
