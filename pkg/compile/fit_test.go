package compile_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/testmanifest"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// widgets is a CRD with one union, with or without a discriminator, whose objects are in
// "things": in a list, list in list, list-map, list-map in list-map, or map. The union object
// requires only the key of list-maps.
type widgets struct {
	members      int
	discriminate bool
	in           string
	declaration  string // further keys
	enum         bool
}

func (w widgets) String() string {
	kind := "plain"
	if w.discriminate {
		kind = "discriminated"
	}
	return fmt.Sprintf("%d %s in %s %s", w.members, kind, w.in, w.declaration)
}

func (w widgets) yaml() string {
	properties := map[string]any{}
	var names, values, fields []string
	for i := range w.members {
		names, values = append(names, fmt.Sprintf("member%d", i)), append(values, fmt.Sprintf("Member%d", i))
		fields = append(fields, names[i]+": "+values[i])
		properties[names[i]] = map[string]any{"type": "object"}
	}
	declaration := "members: [" + strings.Join(names, ", ") + "]"
	if w.discriminate {
		typ := map[string]any{"type": "string"}
		if w.enum {
			typ["enum"] = values
		}
		properties["type"] = typ
		declaration = "discriminator: type\nfields-to-discriminateBy: {" + strings.Join(fields, ", ") + "}"
	}
	var union any
	if err := sigs.Unmarshal([]byte(declaration+"\n"+w.declaration), &union); err != nil {
		panic(err)
	}
	object := map[string]any{"type": "object", "properties": properties, "x-kubernetes-unions": []any{union}}
	list := func(items any) map[string]any { return map[string]any{"type": "array", "items": items} }
	keyed := func(items map[string]any) map[string]any {
		items["properties"].(map[string]any)["name"] = map[string]any{"type": "string"}
		items["required"] = []any{"name"}
		l := list(items)
		l["x-kubernetes-list-type"], l["x-kubernetes-list-map-keys"] = "map", []any{"name"}
		return l
	}
	holding := func(inner any) map[string]any {
		return map[string]any{"type": "object", "properties": map[string]any{"inner": inner}}
	}
	ways := map[string]func() any{
		"list":                 func() any { return list(object) },
		"list in list":         func() any { return list(holding(list(object))) },
		"list-map":             func() any { return keyed(object) },
		"list-map in list-map": func() any { return keyed(holding(keyed(object))) },
		"map":                  func() any { return map[string]any{"type": "object", "additionalProperties": object} },
	}
	spec := map[string]any{"type": "object", "properties": map[string]any{"things": ways[w.in]()}}
	text, err := sigs.Marshal(map[string]any{"spec": spec})
	if err != nil {
		panic(err)
	}
	return crd(version("v1", true, string(text)))
}

// In unbounded lists unions of eight members compile; for larger ones the error names
// alternative changes that make them compile. Every other larger union is tried, or all with
// [unioncases.Exhaustive].
func TestUnboundedLists(t *testing.T) {
	var all []widgets
	for _, members := range []int{8, 20} {
		for _, discriminate := range []bool{false, true} {
			for _, in := range []string{"list", "list in list"} {
				all = append(all, widgets{members: members, discriminate: discriminate, in: in})
			}
			for _, in := range []string{"list-map", "list-map in list-map"} {
				for _, declaration := range []string{"", "ratchet: true", "discriminatorChange: Forbid"} {
					all = append(all, widgets{members: members, discriminate: discriminate, in: in, declaration: declaration})
				}
			}
		}
	}
	for _, discriminate := range []bool{false, true} {
		for _, declaration := range []string{"ratchet: true", "discriminatorChange: Forbid", "unmappedValues: Forbid", "deduceInvalidDiscriminator: true"} {
			if discriminate || !strings.Contains(declaration, "nmapped") && !strings.Contains(declaration, "deduce") {
				all = append(all, widgets{members: 9, discriminate: discriminate, in: "map", declaration: declaration})
			}
		}
	}
	for i, w := range all {
		if w.members > 8 && (testing.Short() || (i+i/8)%4 > 0 && !unioncases.Exhaustive) {
			continue
		}
		t.Run(w.String(), func(t *testing.T) {
			t.Parallel()
			text := w.yaml()
			_, diags := run(t, text, compile.Options{})
			if !diags.HasErrors() {
				return
			}
			if w.members <= 8 {
				t.Fatal(diags)
			}
			applied := 0
			for _, d := range diags {
				if d.Code != codes.RuleOverBudget && d.Code != codes.VersionOverBudget {
					continue
				}
				for _, alternative := range alternatives(d.Hint) {
					applied++
					if _, diags := run(t, tighten(t, text, alternative), compile.Options{}); diags.HasErrors() {
						t.Errorf("%s does not help: %v", alternative, diags)
					}
				}
			}
			if applied == 0 {
				t.Errorf("nothing is suggested: %v", diags)
			}
		})
	}
}

// alternatives returns the suggestions of a hint, each a list of changes to make together.
func alternatives(hint string) [][]string {
	_, list, ok := strings.Cut(hint, "tightens the API: ")
	if !ok {
		return nil
	}
	var l [][]string
	list, _, _ = strings.Cut(list, "; or, without")
	for _, alternative := range strings.Split(list, "; ") {
		l = append(l, strings.Split(regexp.MustCompile(`^\(\d\) `).ReplaceAllString(alternative, ""), " and "))
	}
	return l
}

var change = regexp.MustCompile(`^(required|enum|maxLength|maxItems|maxProperties): (.+) on (\S+)(?: \(now \d+\))?$`)

// tighten applies suggested changes to the text of a CRD, as a reader would.
func tighten(t *testing.T, text string, changes []string) string {
	t.Helper()
	var manifest map[string]any
	if err := sigs.Unmarshal([]byte(text), &manifest); err != nil {
		t.Fatal(err)
	}
	for _, c := range changes {
		m := change.FindStringSubmatch(c)
		if m == nil {
			t.Fatalf("cannot read the suggestion %q", c)
		}
		versions := manifest["spec"].(map[string]any)["versions"].([]any)
		schema := versions[0].(map[string]any)["schema"].(map[string]any)["openAPIV3Schema"].(map[string]any)
		for _, step := range strings.Split(strings.ReplaceAll(m[3], "[*]", ".[*]"), ".") {
			switch {
			case step != "[*]":
				schema = schema["properties"].(map[string]any)[step].(map[string]any)
			case schema["items"] != nil:
				schema = schema["items"].(map[string]any)
			default:
				schema = schema["additionalProperties"].(map[string]any)
			}
		}
		var value any
		if err := sigs.Unmarshal([]byte(m[2]), &value); err != nil {
			t.Fatal(err)
		}
		if l, ok := schema[m[1]].([]any); ok {
			value = append(slices.Clone(l), value.([]any)...)
		}
		schema[m[1]] = value
	}
	out, err := json.Marshal(manifest)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// An error names the list, missing requirement, product of bounds or unbounded string that
// makes a union too expensive.
func TestWhy(t *testing.T) {
	tests := []struct {
		name, spec string
		want       []string
	}{
		{"unbounded, nothing required", "\n" + indent(2, "type: array\nitems:\n"+indent(2, members(12, "  cardinality: ExactlyOne\n"))),
			[]string{"12,582,912 (12, evaluated up to 1,048,576 times)", "nothing bounds spec; no property of the union object is required"}},
		{"bounds multiply", "\n" + indent(2, "type: array\nmaxItems: 2000\nitems:\n  type: array\n  maxItems: 2000\n  items:\n"+indent(4, members(12, "  cardinality: ExactlyOne\n"))),
			[]string{"evaluated up to 4,000,000 times", "the bounds multiply: spec (maxItems: 2000), spec[*] (maxItems: 2000)"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, diags := run(t, crd(version("v1", true, "spec:"+tt.spec)), compile.Options{})
			i := slices.IndexFunc(diags, func(d diag.Diagnostic) bool { return d.Code == codes.RuleOverBudget })
			if i < 0 {
				t.Fatal(diags)
			}
			for _, want := range tt.want {
				if !strings.Contains(diags[i].Message, want) {
					t.Errorf("no %q in %q", want, diags[i].Message)
				}
			}
		})
	}
	t.Run("unbounded discriminator", func(t *testing.T) {
		_, diags := run(t, widgets{members: 9, discriminate: true, in: "map", declaration: "discriminatorChange: Forbid"}.yaml(), compile.Options{})
		if !strings.Contains(fmt.Sprint(diags), "type, which is compared with its old value, has neither enum nor maxLength") {
			t.Error(diags)
		}
	})
}

// If a version exceeds its budget, Clear rules are dropped first, then the messages of single
// members; both are reported, and the result fits.
func TestVersionTotal(t *testing.T) {
	things := func(n int, object string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "  thing%d:\n    type: object\n    additionalProperties:\n%s", i, indent(6, object))
		}
		return "spec:\n  type: object\n  properties:\n" + indent(2, b.String())
	}
	clearing := members(6, "  discriminatorChange: Clear\n")
	var properties, fields []string
	for i := range 8 {
		properties, fields = append(properties, fmt.Sprintf("m%d: {type: object}", i)), append(fields, fmt.Sprintf("m%d: V%d", i, i))
	}
	discriminated := "type: object\nrequired: [type]\nproperties: {type: {type: string, maxLength: 9}, " + strings.Join(properties, ", ") +
		"}\nx-kubernetes-unions:\n- discriminator: type\n  fields-to-discriminateBy: {" + strings.Join(fields, ", ") + "}\n"
	for _, tt := range []struct {
		n      int
		object string
		want   []diag.Code
	}{
		{1, clearing, []diag.Code{codes.ClearLeftOut}},
		{4, clearing, []diag.Code{codes.ClearLeftOut}},
		{12, discriminated, []diag.Code{codes.ClearLeftOut, codes.CoarserEncoding}},
	} {
		n, want := tt.n, tt.want
		plan, diags := explain(t, crd(version("v1", true, things(n, tt.object))), compile.Options{})
		if plan == nil {
			t.Fatalf("%d unions: %v", n, diags)
		}
		v := plan.Versions[0]
		if v.Before+v.Added > server.VersionLimit {
			t.Errorf("%d unions cost %d", n, v.Before+v.Added)
		}
		for _, code := range want {
			if !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == code && d.Severity == diag.Info }) {
				t.Errorf("%d unions: no %s in %v", n, code, diags)
			}
		}
		for _, u := range plan.Unions {
			if u.Dropped == "" && !slices.ContainsFunc(u.Rules, func(r compile.RulePlan) bool { return r.Kind == compile.Transition }) {
				t.Errorf("the rules on changes of %s were dropped without a word", u.Place)
			}
		}
	}
}

// explain plans the one CRD of a text.
func explain(t *testing.T, text string, opts compile.Options) (*compile.Plan, diag.List) {
	t.Helper()
	m, err := testmanifest.Parse("crd.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return compile.New(m, opts).Plan()
}

// Suggestions keep existing bounds where possible, respect minimums, and contain no
// unnecessary changes.
func TestSuggestions(t *testing.T) {
	inList := func(bound, object string) string {
		return "type: array\n" + bound + "items:\n" + indent(2, object)
	}
	// discriminated is a union object of n members.
	discriminated := func(n int, values ...string) string {
		var fields []string
		properties := ""
		for i := range n {
			name, value := fmt.Sprintf("m%d", i), fmt.Sprintf("V%d", i)
			if i < len(values) {
				value = values[i]
			}
			properties += "  " + name + ": {type: object}\n"
			fields = append(fields, fmt.Sprintf("%s: %q", name, value))
		}
		return "type: object\nproperties:\n  type: {type: string}\n" + properties +
			"x-kubernetes-unions:\n- discriminator: type\n  fields-to-discriminateBy: {" + strings.Join(fields, ", ") + "}\n"
	}
	one := func(schema string) string { return "spec:\n" + indent(2, schema) }
	three := "spec:\n  type: object\n  properties:\n"
	for _, name := range []string{"first", "second", "third"} {
		three += "    " + name + ":\n" + indent(6, inList("", discriminated(8)))
	}
	tests := []struct {
		name, spec, want string
		opts             compile.Options
		not              string
	}{
		{name: "the encoding asked for", spec: one(inList("", discriminated(12))), opts: compile.Options{Encoding: compile.Fine, Origins: compile.Origins{Encoding: "--encoding"}}, want: "drop the encoding fine (--encoding): "},
		{name: "an outer bound is kept", spec: one(inList("maxItems: 3000\n", inList("", members(12, "  cardinality: ExactlyOne\n")))),
			want: "this makes it fit, as the API server's estimator confirms, and tightens the API: maxItems: 250 on spec[*]", not: "now"},
		{name: "an outer bound is lowered", spec: one(inList("maxItems: 900000\n", inList("minItems: 30\n", members(12, "  cardinality: ExactlyOne\n")))),
			want: "maxItems: 500 on spec (now 900000) and maxItems: 500 on spec[*]"},
		{name: "one of three is enough", spec: three, want: "(1) required: [type] on spec.first[*]; (2) maxItems: 10000 on spec.first", not: "spec.second"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := crd(version("v1", true, tt.spec))
			_, diags := run(t, text, tt.opts)
			i := slices.IndexFunc(diags, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })
			if i < 0 {
				t.Fatal(diags)
			}
			hint := diags[i].Hint
			if !strings.Contains(hint, tt.want) || tt.not != "" && strings.Contains(hint, tt.not) {
				t.Errorf("hint: %s\nwant %s", hint, tt.want)
			}
			for _, alternative := range alternatives(hint) {
				if _, diags := run(t, tighten(t, text, alternative), tt.opts); diags.HasErrors() {
					t.Errorf("%s does not help: %v", alternative, diags)
				}
			}
		})
	}
}
