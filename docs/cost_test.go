//go:build exhaustive

package docs_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// TestCost checks cost.md. A comment describes the table that follows it:
//
//	rules        the cost of evaluating the rules in the first column once, on the
//	             object of the previous block
//	messages     the same for message expressions
//	budgets      the cost limits of rules
//	executions   the number of evaluations of a rule, by required properties
//	bounds       the same, by the bounds of two lists
//	encodings    the costs of the encodings of one union, and the budgets
//	limits       the largest unions that compile, by place
func TestCost(t *testing.T) {
	d := open(t, "cost.md")
	type table struct {
		name     string
		from, to int
		generate func(t *testing.T) string
		text     string
	}
	var tables []*table
	for i, line := range d.lines {
		found := directive.FindStringSubmatch(line)
		if found == nil {
			continue
		}
		verb := found[1]
		end := i + 1
		for end < len(d.lines) && strings.HasPrefix(d.lines[end], "|") {
			end++
		}
		generate := map[string]func(t *testing.T) string{
			"rules":      func(t *testing.T) string { return d.expressions(t, i+1, end, ruleCost) },
			"messages":   func(t *testing.T) string { return d.expressions(t, i+1, end, messageCost) },
			"budgets":    budgets,
			"executions": executions,
			"bounds":     bounds,
			"encodings":  encodings,
			"limits":     func(t *testing.T) string { return limits(t, d.lines[i+1:end]) },
		}[verb]
		if generate == nil {
			t.Fatalf("%s:%d: no such directive", d.name, i+1)
		}
		tables = append(tables, &table{name: strings.Join(found[1:], ""), from: i + 1, to: end, generate: generate})
	}
	t.Run("tables", func(t *testing.T) {
		for _, table := range tables {
			t.Run(table.name, func(t *testing.T) {
				t.Parallel()
				table.text = table.generate(t)
			})
		}
	})
	if t.Failed() {
		return
	}
	for _, verb := range []string{"rules", "messages", "budgets", "executions", "bounds", "encodings", "limits"} {
		if !slices.ContainsFunc(tables, func(table *table) bool { return strings.HasPrefix(table.name, verb) }) {
			t.Errorf("%s shows nothing of the kind %q", d.name, verb)
		}
	}
	for _, table := range tables {
		if table.text == "" {
			t.Fatalf("%s:%d: the table was not generated", d.name, table.from)
		}
		d.generated(t, table.from, table.to, table.text)
	}
	d.save(t)
}

// costs returns the costs of rules on the schema at a path.
func costs(t *testing.T, root *apiextensionsv1.JSONSchemaProps, path schemapath.Path, l ...apiextensionsv1.ValidationRule) []server.Cost {
	t.Helper()
	in := &apiextensions.JSONSchemaProps{}
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(root, in, nil); err != nil {
		t.Fatal(err)
	}
	crd := &apiextensions.CustomResourceDefinition{Spec: apiextensions.CustomResourceDefinitionSpec{
		Versions: []apiextensions.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensions.CustomResourceValidation{OpenAPIV3Schema: in}}},
	}}
	result, err := server.NewEstimator(crd, nil).Rules(0, path, l)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func schemaOf(t *testing.T, text string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	s := &apiextensionsv1.JSONSchemaProps{}
	if err := sigsyaml.UnmarshalStrict([]byte(text), s); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return s
}

// expressions fills the last column of the table in lines [from, to) with the costs of the
// expressions in the first column, on the object of the last block before the table.
func (d *document) expressions(t *testing.T, from, to int, price func(*testing.T, *apiextensionsv1.JSONSchemaProps, string) uint64) string {
	t.Helper()
	before := d.blocks(t, 0, from)
	schema := schemaOf(t, before[len(before)-1].text)
	var rows [][]string
	for i, line := range d.lines[from:to] {
		if i == 1 {
			continue // the separator below the header
		}
		// A bar within a rule is escaped.
		row := strings.Split(strings.ReplaceAll(strings.Trim(line, "| "), `\|`, "\x00"), " | ")
		if i > 0 {
			row = []string{row[0], thousands(price(t, schema, strings.ReplaceAll(strings.Trim(row[0], "` "), "\x00", "|")))}
		}
		rows = append(rows, row)
	}
	return strings.ReplaceAll(grid(rows), "\x00", `\|`)
}

func ruleCost(t *testing.T, schema *apiextensionsv1.JSONSchemaProps, rule string) uint64 {
	t.Helper()
	return costs(t, schema, nil, apiextensionsv1.ValidationRule{Rule: rule})[0].Once
}

func messageCost(t *testing.T, schema *apiextensionsv1.JSONSchemaProps, expression string) uint64 {
	t.Helper()
	return costs(t, schema, nil, apiextensionsv1.ValidationRule{Rule: "true", MessageExpression: expression})[0].MessageExpression
}

var always = apiextensionsv1.ValidationRule{Rule: "true"}

// left returns three columns: a number of executions, and the remaining cost for one rule and for
// all rules.
func left(c server.Cost) []string {
	return []string{thousands(c.Executions), thousands(server.RuleLimit / c.Executions), thousands(server.VersionLimit / c.Executions)}
}

func budgets(*testing.T) string {
	return grid([][]string{
		{"cost of", "budget"},
		{"a rule, times its executions", thousands(server.RuleLimit)},
		{"a message expression, once", thousands(server.MessageLimit)},
		{"all rules of a version, times their executions, and its message expressions, once", thousands(server.VersionLimit)},
	})
}

// unionOf returns an object that requires the properties in required, by name.
func unionOf(required string, names ...string) string {
	if required != "" {
		required += ", "
	}
	return "{type: object, required: [" + strings.Join(names, ", ") + "], properties: {" + required + "other: {type: object}}}"
}

// executions returns a table by required properties. The number of enclosing lists or maps must
// make no difference.
func executions(t *testing.T) string {
	t.Helper()
	rows := [][]string{{"required", "shortest", "executions", "left for a rule", "for all rules"}}
	for _, row := range []struct {
		required string
		names    []string
		shortest string
		shown    bool // in the table
	}{
		{"", nil, `{},`, true},
		{"http: {type: object}", []string{"http"}, `{"http":{},},`, true},
		{"http: {type: object, required: [host], properties: {host: {type: string}}}", []string{"http"}, `{"http":{"host":"",},},`, false},
		{"port: {type: integer}", []string{"port"}, `{"port":0,},`, false},
		{"wait: {type: boolean}", []string{"wait"}, `{"wait":true,},`, false},
		{"type: {type: string}", []string{"type"}, `{"type":"",},`, true},
		{"type: {type: string, enum: [HTTP, TCP]}", []string{"type"}, `{"type":"",},`, false},
		{"type: {type: string, minLength: 3}", []string{"type"}, `{"type":"",},`, false},
		{"type: {type: string, default: HTTP}", []string{"type"}, `{},`, false},
		{"protocol: {type: string}", []string{"protocol"}, `{"protocol":"",},`, false},
		{"type: {type: string}, name: {type: string}", []string{"type", "name"}, `{"type":"","name":"",},`, true},
	} {
		object := unionOf(row.required, row.names...)
		is := within(t, object, aList)
		for _, containers := range [][]string{{aMap}, {aList, aList}, {aList, aMap, aList, aList}} {
			if other := within(t, object, containers...); other != is {
				t.Errorf("%s costs %v in %v, %v in a list", object, other, containers, is)
			}
		}
		// The largest request has 3 MiB.
		if want := uint64(3 << 20 / len(row.shortest)); is.Executions != want {
			t.Errorf("%s runs %d times, not the %d that %s gives", object, is.Executions, want, row.shortest)
		}
		if !row.shown {
			continue
		}
		name := "nothing"
		if row.required != "" {
			name = code(row.required)
		}
		rows = append(rows, append([]string{name, code(row.shortest)}, left(is)...))
	}
	return grid(rows)
}

// Schemas that contain an object.
const (
	aList   = "{type: array, items: %s}"
	aMap    = "{type: object, additionalProperties: %s}"
	bounded = "{type: array, maxItems: %d, items: %%s}"
)

// within returns the cost of a rule on an object in containers, outermost first.
func within(t *testing.T, object string, containers ...string) server.Cost {
	t.Helper()
	schema, path := object, schemapath.New("in")
	for _, c := range slices.Backward(containers) {
		schema = fmt.Sprintf(c, schema)
	}
	for _, c := range containers {
		step := schemapath.Values
		if strings.Contains(c, "items:") {
			step = schemapath.Items
		}
		path = append(path, step)
	}
	return costs(t, schemaOf(t, "{type: object, properties: {in: "+schema+"}}"), path, always)[0]
}

// bounds returns a table of nested lists, with and without bounds.
func bounds(t *testing.T) string {
	t.Helper()
	rows := [][]string{{"outer list", "inner list", "executions", "left for a rule", "for all rules"}}
	object := unionOf("")
	free := within(t, object, aList).Executions
	var useless, worse bool
	for _, b := range [][2]int{{0, 0}, {0, 16}, {16, 16}, {256, 256}, {1000, 2000}} {
		var names, containers []string
		for _, n := range b {
			if n == 0 {
				names, containers = append(names, "no bound"), append(containers, aList)
				continue
			}
			names = append(names, fmt.Sprintf("`maxItems: %d`", n))
			containers = append(containers, fmt.Sprintf(bounded, n))
		}
		is := within(t, object, containers...)
		useless = useless || b[0] == 0 && b[1] > 0 && is.Executions == free
		worse = worse || is.Executions > free
		rows = append(rows, append(names, left(is)...))
	}
	if !useless || !worse {
		t.Error("the table shows no bound that is useless, or none that is worse than no bound")
	}
	return grid(rows)
}

// thousands prints n with separators.
func thousands(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
