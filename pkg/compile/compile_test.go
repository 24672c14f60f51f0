package compile_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/testmanifest"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// crd is a CRD with the given text of its versions.
func crd(versions string) string { return testcrd.Head("Thing") + versions }

// version is one served version with the given properties of spec.
func version(name string, storage bool, spec string) string {
	return fmt.Sprintf(`  - name: %s
    served: true
    storage: %v
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
%s`, name, storage, indent(10, spec))
}

func indent(n int, text string) string {
	lines := strings.Split(strings.Trim(text, "\n"), "\n")
	for i, l := range lines {
		lines[i] = strings.Repeat(" ", n) + l
	}
	return strings.Join(lines, "\n") + "\n"
}

func run(t *testing.T, src string, opts compile.Options) (*compile.Result, diag.List) {
	t.Helper()
	m, err := testmanifest.Parse("crd.yaml", []byte(src))
	if err != nil {
		t.Fatalf("%v in\n%s", err, src)
	}
	return compile.New(m, opts).Result()
}

// additions returns the path and text of all added rules, without the versions.
func additions(r *compile.Result) []string {
	var l []string
	for _, a := range r.Additions {
		for _, rule := range a.Rules {
			l = append(l, strings.Join(a.Path.Fields(), ".")+": "+rule.Rule)
		}
	}
	return l
}

const forbid = `
type: object
%s
properties:
  type: {type: string, enum: [A]}
  a: {type: object}
x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {a: A}
  discriminatorChange: Forbid
`

// Each property on the path to the union that can be absent gets a guard on its parent, up to
// the root or the nearest list or map.
func TestRemovalGuards(t *testing.T) {
	object := func(extra string) string { return strings.TrimSpace(fmt.Sprintf(forbid, extra)) }
	for _, test := range []struct {
		name, spec, root string
		want             []string // places and guarded properties
		wantCodes        []diag.Code
	}{
		{
			name: "every link optional",
			spec: "spec:\n  type: object\n  properties:\n    source:\n" + indent(6, object("")),
			want: []string{" .spec", "properties.spec .source"},
		},
		{
			name: "required links need none",
			spec: "spec:\n  type: object\n  required: [source]\n  properties:\n    source:\n" + indent(6, object("")),
			root: "        required: [spec]\n",
		},
		{
			name: "a required link that is nullable can be nulled",
			spec: "spec:\n  type: object\n  required: [source]\n  properties:\n    source:\n" + indent(6, object("nullable: true")),
			root: "        required: [spec]\n",
			want: []string{"properties.spec .source"},
		},
		{
			name: "a defaulted link comes back",
			spec: "spec:\n  type: object\n  properties:\n    source:\n" + indent(6, object("default: {}")),
			root: "        required: [spec]\n",
		},
		{
			name:      "items of list-maps can be removed anyway",
			spec:      "spec:\n  type: array\n  maxItems: 9\n  x-kubernetes-list-type: map\n  x-kubernetes-list-map-keys: [name]\n  items:\n    type: object\n    required: [name]\n    properties:\n      name: {type: string}\n      source:\n" + indent(8, object("")),
			want:      []string{"properties.spec.items .source"},
			wantCodes: []diag.Code{codes.RemovableItem},
		},
		{
			name:      "values of maps too",
			spec:      "spec:\n  type: object\n  maxProperties: 9\n  additionalProperties:\n" + indent(4, object("")),
			wantCodes: []diag.Code{codes.RemovableItem},
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, diags := run(t, crd(version("v1", true, test.spec)+test.root), compile.Options{})
			if r == nil {
				t.Fatal(diags)
			}
			var got []string
			for _, a := range r.Additions {
				for _, rule := range a.Rules {
					if strings.Contains(rule.Message, "may not be removed") {
						got = append(got, strings.Join(a.Path.Fields(), ".")+" "+rule.FieldPath)
					}
				}
			}
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("guards (-want +got):\n%s", d)
			}
			var gotCodes []diag.Code
			for _, d := range diags {
				gotCodes = append(gotCodes, d.Code)
			}
			if d := cmp.Diff(test.wantCodes, gotCodes); d != "" {
				t.Errorf("codes (-want +got):\n%s", d)
			}
		})
	}
}

// Below a list that is not a list-map a defaulted Clear is left out, and an explicit
// restriction of updates is an error at its key.
func TestCorrelation(t *testing.T) {
	list := func(kind, declaration string) string {
		return crd(version("v1", true, `
spec:
  type: array
  maxItems: 4
`+indent(2, strings.ReplaceAll(kind, "\n  ", "\n"))+`  items:
    type: object
    required: [name]
    properties:
      name: {type: string, maxLength: 63}
      type: {type: string, enum: [A, B]}
      a: {type: object}
      b: {type: object}
    x-kubernetes-unions:
    - discriminator: type
      fields-to-discriminateBy: {a: A, b: B}
`+indent(6, declaration)))
	}
	const listMap = "x-kubernetes-list-type: map\n  x-kubernetes-list-map-keys: [name]"
	for _, test := range []struct {
		name, kind, declaration string
		want                    []string // codes, and the text at errors
		transitions             bool
	}{
		{"atomic", "", "name: u", []string{"UC506 info"}, false},
		{"atomic silenced", "", "discriminatorChange: Allow", nil, false},
		{"set", "x-kubernetes-list-type: set", "name: u", []string{"UC503 warning", "UC506 info"}, false},
		{"map", listMap, "name: u", nil, true},
		{"Forbid", "", "discriminatorChange: Forbid", []string{"UC222 error at Forbid"}, false},
		{"table", "", "allowedChanges: {A: [B]}", []string{"UC222 error at allowedChanges: {A: [B]}"}, false},
		{"ratchet", "", "ratchet: true", []string{"UC222 error at ratchet: true", "UC506 info"}, false},
		{"Forbid in a map", listMap, "discriminatorChange: Forbid", []string{"UC504 warning"}, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			src := list(test.kind, test.declaration)
			r, diags := run(t, src, compile.Options{})
			var got []string
			for _, d := range diags {
				line := strings.Split(src, "\n")[d.Pos.Line-1]
				text := fmt.Sprintf("%s %s", d.Code, d.Severity)
				if d.Severity == diag.Error {
					text += " at " + line[d.Pos.Col-1:]
				}
				got = append(got, text)
			}
			slices.Sort(got)
			if d := cmp.Diff(test.want, got); d != "" {
				t.Errorf("diagnostics (-want +got):\n%s\n%v", d, diags)
			}
			if r == nil {
				return
			}
			transitions := slices.ContainsFunc(additions(r), func(s string) bool { return strings.Contains(s, "oldSelf") })
			if transitions != test.transitions {
				t.Errorf("transition rules: %v, want %v", transitions, test.transitions)
			}
		})
	}
}

// members declares a union of n objects, without a discriminator.
func members(n int, extra string) string {
	names := make([]string, n)
	properties := ""
	for i := range names {
		names[i] = fmt.Sprintf("member%02d", i)
		properties += fmt.Sprintf("  %s: {type: object}\n", names[i])
	}
	return "type: object\nproperties:\n" + properties + "x-kubernetes-unions:\n- members: [" + strings.Join(names, ", ") + "]\n" + extra
}

// Below an unbounded list a rule may cost 9 if no property of the object is required. Unions
// beyond that are errors that name the cost, the limit and the list; a bound on the list makes
// them fit.
func TestBudgets(t *testing.T) {
	list := func(bound string, n int, extra string) string {
		return crd(version("v1", true, "spec:\n  type: array\n"+bound+"  items:\n"+indent(4, members(n, extra))))
	}
	t.Run("nine members fit", func(t *testing.T) {
		if r, diags := run(t, list("", 9, ""), compile.Options{}); r == nil {
			t.Error(diags)
		}
	})
	over := list("", 12, "  cardinality: ExactlyOne\n")
	t.Run("twelve do not", func(t *testing.T) {
		r, diags := run(t, over, compile.Options{})
		if r != nil || !diags.HasErrors() {
			t.Fatal("compiled")
		}
		i := slices.IndexFunc(diags, func(d diag.Diagnostic) bool { return d.Code == codes.RuleOverBudget })
		if i < 0 {
			t.Fatal(diags)
		}
		for _, want := range []string{"the rules for its states", "costs 12,582,912", "nothing bounds spec; no property of the union object is required", "evaluated up to 1,048,576 times", "limit is 10,000,000"} {
			if !strings.Contains(diags[i].Message, want) {
				t.Errorf("message lacks %q: %s", want, diags[i].Message)
			}
		}
		if want := strings.Count(over[:strings.Index(over, "- members")], "\n") + 1; diags[i].Pos.Line != want {
			t.Errorf("at line %d, want %d", diags[i].Pos.Line, want)
		}
	})
	t.Run("a bound helps", func(t *testing.T) {
		if r, diags := run(t, list("  maxItems: 100\n", 12, "  cardinality: ExactlyOne\n"), compile.Options{}); r == nil {
			t.Error(diags)
		}
	})
	t.Run("the sum of a version", func(t *testing.T) {
		var spec strings.Builder
		for i := range 12 {
			fmt.Fprintf(&spec, "list%d:\n  type: array\n  items:\n%s", i, indent(4, members(9, "  cardinality: ExactlyOne\n")))
		}
		_, diags := run(t, crd(version("v1", true, spec.String())), compile.Options{})
		if !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool {
			return d.Code == codes.VersionOverBudget && strings.Contains(d.Message, "limit is 100,000,000")
		}) {
			t.Error(diags)
		}
	})
}

// Compact rules replace fine rules that would exceed the budget, and Clear is left out if only
// Clear does not fit.
func TestFit(t *testing.T) {
	t.Run("Clear over budget", func(t *testing.T) {
		r, diags := run(t, crd(version("v1", true, `
spec:
  type: object
  additionalProperties:
    type: object
    properties:
      type: {type: string}
      a: {type: object}
      b: {type: object}
    x-kubernetes-unions:
    - discriminator: type
      fields-to-discriminateBy: {a: A, b: B}
`)), compile.Options{})
		if r == nil || !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == codes.ClearLeftOut }) {
			t.Fatal(diags)
		}
		for _, a := range additions(r) {
			if strings.Contains(a, "oldSelf") {
				t.Errorf("emitted %s", a)
			}
		}
	})
	t.Run("Clear dropped for the sum", func(t *testing.T) {
		var spec strings.Builder
		for i := range 12 {
			fmt.Fprintf(&spec, "map%02d:\n  type: object\n  additionalProperties:\n%s", i, indent(4, `
type: object
properties: {type: {type: string, enum: [A, B]}, a: {type: object}, b: {type: object}}
required: [type]
x-kubernetes-unions:
- {discriminator: type, fields-to-discriminateBy: {a: A, b: B}}
`))
		}
		r, diags := run(t, crd(version("v1", true, spec.String())), compile.Options{})
		if r == nil {
			t.Fatal(diags)
		}
		left := 0
		for _, a := range additions(r) {
			if strings.Contains(a, "oldSelf") {
				left++
			}
		}
		if left == 0 || left+len(diags) != 12 {
			t.Errorf("%d Clear rules were kept and %d reported as left out, of 12: no more than needed should go\n%v", left, len(diags), diags)
		}
	})
	t.Run("compact on request", func(t *testing.T) {
		r, diags := run(t, crd(version("v1", true, "spec:\n"+indent(2, members(3, "  discriminatorChange: Allow\n")))), compile.Options{Encoding: compile.Compact})
		if r == nil || len(additions(r)) != 1 {
			t.Fatal(diags, r)
		}
	})
	t.Run("long unions are compact", func(t *testing.T) {
		r, diags := run(t, crd(version("v1", true, "spec:\n"+indent(2, members(13, "  discriminatorChange: Allow\n")))), compile.Options{})
		if r == nil || len(additions(r)) != 1 {
			t.Fatal(diags, r)
		}
	})
}

// A laxer served version is reported: it bypasses the stricter one.
func TestVersionsDiffer(t *testing.T) {
	const plain = "spec:\n  type: object\n  properties:\n    type: {type: string, enum: [A]}\n    a: {type: object}\n    b: {type: object}\n"
	union := func(mapping, extra string) string {
		return plain + "  x-kubernetes-unions:\n  - discriminator: type\n    fields-to-discriminateBy: {" + mapping + "}\n" + extra
	}
	const exactlyOne = plain + "  x-kubernetes-unions:\n  - members: [a, b]\n    cardinality: ExactlyOne\n"
	for _, test := range []struct {
		name, v1, v2, want string
	}{
		{"the same", union("a: A", ""), union("a: A", ""), ""},
		{"the same in other words", union("a: A", "    cardinality: AtMostOne\n"), union("a: [A]", "    name: x\n"), ""},
		{"optional in one", union("a: A", ""), union("a: A", "    optionalMembers: [a]\n"), "a different one"},
		{"none in one", union("a: A", ""), plain, "no union there"},
		{"a member and value more in one", union("a: A", ""), strings.NewReplacer("enum: [A]", "enum: [A, C]", "    a:", "    c: {type: object}\n    a:").Replace(union("a: A, c: C", "")), ""},
		{"no other member in one", exactlyOne, "spec:\n  type: object\n  required: [a]\n  properties:\n    a: {type: object}\n", ""},
		{"no member in one", exactlyOne, "spec:\n  type: object\n  properties:\n    a: {type: object}\n", "every served version; v2 lacks b"},
		{"another member in one", exactlyOne, "spec:\n  type: object\n  required: [a]\n  properties:\n    a: {type: object}\n    b: {type: object}\n", "every served version; v2 requires a"},
		{"unknown fields in one", exactlyOne, "spec:\n  type: object\n  x-kubernetes-preserve-unknown-fields: true\n  required: [a]\n  properties:\n    a: {type: object}\n", "no union there"},
		{"a null member in one", exactlyOne, "spec:\n  type: object\n  required: [a]\n  properties:\n    a: {type: object, nullable: true}\n", "no union there"},
		{"a oneOf in one", exactlyOne, plain + "  oneOf: [{required: [a]}, {required: [b]}]\n", ""},
		{"a rule in one", exactlyOne, plain + "  x-kubernetes-validations: [{rule: 'has(self.a) != has(self.b)'}]\n", ""},
		{"a laxer rule in one", exactlyOne, plain + "  x-kubernetes-validations: [{rule: '!has(self.a) || !has(self.b)'}]\n", "no union there"},
		{"a transition rule in one", exactlyOne, plain + "  x-kubernetes-validations: [{rule: 'has(self.a) != has(self.b) || oldSelf == self'}]\n", "no union there"},
		{"changes are restricted", exactlyOne + "    discriminatorChange: Forbid\n", "spec:\n  type: object\n  required: [a]\n  properties:\n    a: {type: object}\n", "no union there"},
		{"the same by the enum", union("a: A", ""), union("a: A", "    unmappedValues: Forbid\n"), ""},
		{"at most one", exactlyOne, strings.Replace(exactlyOne, "ExactlyOne", "AtMostOne", 1), "a different one"},
		{"another object in one", union("a: A", ""), "other: {type: object}\n", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, diags := run(t, crd(version("v1", true, test.v1)+version("v2", false, test.v2)), compile.Options{})
			var got []string
			for _, d := range diags {
				if d.Code != codes.VersionsDiffer {
					t.Errorf("unexpected: %v", d)
				}
				got = append(got, d.Message+"; "+d.Hint)
			}
			switch {
			case test.want == "" && len(got) > 0, test.want != "" && (len(got) != 1 || !strings.Contains(got[0], test.want)):
				t.Errorf("got %q, want one with %q", got, test.want)
			}
		})
	}
}

// A key that only one version has is reported if it changes which objects are accepted.
func TestVersionsDifferInKey(t *testing.T) {
	const base = "discriminator: type, fields-to-discriminateBy: {a: A, b: B}"
	others := map[string]string{
		"allowedChanges":             base + ", allowedChanges: {A: [B]}",
		"cardinality":                base + ", cardinality: ExactlyOne",
		"deduceInvalidDiscriminator": base + ", deduceInvalidDiscriminator: true",
		"dependentForbidden":         "dependentForbidden: {a: b}",
		"dependentRequired":          "dependentRequired: {a: b}",
		"discriminator":              "discriminator: other, fields-to-discriminateBy: {a: A, b: B}",
		"discriminatorChange":        base + ", discriminatorChange: Forbid",
		"emptyIsUnset":               base + ", emptyIsUnset: [b]",
		"fields-to-discriminateBy":   "discriminator: type, fields-to-discriminateBy: {a: B, b: A}",
		"handWrittenRules":           base + ", handWrittenRules: Replace",
		"members":                    "members: [a, b]",
		"message":                    base + ", message: one",
		"messages":                   base + ", messages: {a: no a}",
		"name":                       base + ", name: x",
		"optionalMembers":            base + ", optionalMembers: [b]",
		"ratchet":                    base + ", ratchet: true",
		"unmappedValues":             base + ", unmappedValues: Forbid",
		"unset":                      base + ", unset: B",
	}
	spec := func(declaration string) string {
		return "spec:\n  type: object\n  properties: {type: {type: string}, other: {type: string}, a: {type: object}, b: {type: array, items: {type: string}}}\n  x-kubernetes-unions: [{" + declaration + "}]\n"
	}
	for _, key := range union.Keys() {
		other, known := others[key]
		if !known {
			t.Errorf("%s: write a union that has it, and say below whether versions may differ in it", key)
			continue
		}
		_, diags := run(t, crd(version("v1", true, spec(base))+version("v2", false, spec(other))), compile.Options{})
		if diags.HasErrors() {
			t.Errorf("%s: %v", key, diags)
		}
		differ := slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == codes.VersionsDiffer })
		if want := !slices.Contains([]string{"name", "message", "messages", "handWrittenRules"}, key); differ != want {
			t.Errorf("%s: reported %t, want %t: see meanings in crd.go", key, differ, want)
		}
	}
}

// Keys that the target version does not know are left out, and ratchet is an error if it
// cannot be written.
func TestKubeVersion(t *testing.T) {
	spec := "spec:\n" + indent(2, "type: object\nproperties: {type: {type: string}, a: {type: string}}\nx-kubernetes-unions:\n- discriminator: type\n  fields-to-discriminateBy: {a: A}\n  discriminatorChange: Forbid\n")
	for v, want := range map[string]string{
		"1.25": "", "1.26": "", "1.27": "messageExpression", "v1.28.3": "fieldPath messageExpression reason", "": "fieldPath messageExpression reason", compile.Linked(): "fieldPath messageExpression reason",
	} {
		r, diags := run(t, crd(version("v1", true, spec)), compile.Options{KubeVersion: v})
		if r == nil {
			t.Fatalf("%s: %v", v, diags)
		}
		used := map[string]bool{}
		for _, a := range r.Additions {
			for _, rule := range a.Rules {
				used["fieldPath"] = used["fieldPath"] || rule.FieldPath != ""
				used["messageExpression"] = used["messageExpression"] || rule.MessageExpression != ""
				used["reason"] = used["reason"] || rule.Reason != ""
			}
		}
		var got []string
		for k, ok := range used {
			if ok {
				got = append(got, k)
			}
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("for %q rules use %v, want %s", v, got, want)
		}
	}
	ratchet := crd(version("v1", true, "spec:\n"+indent(2, members(2, "  ratchet: true\n"))))
	if _, diags := run(t, ratchet, compile.Options{KubeVersion: "1.29"}); !diags.HasErrors() || diags[0].Code != codes.KubeVersion {
		t.Errorf("ratchet for 1.29: %v", diags)
	}
	if r, diags := run(t, ratchet, compile.Options{KubeVersion: "1.30"}); r == nil {
		t.Errorf("ratchet for 1.30: %v", diags)
	}
	for _, bad := range []string{"1.24", "latest", "1", "-1.30", "1.99", "2.0"} {
		if _, err := compile.ParseKubeVersion(bad); err == nil {
			t.Errorf("ParseKubeVersion(%q) is no error", bad)
		}
	}
	for written, want := range map[string]string{"": "", "1.30": "1.30", "v1.30.2": "1.30"} {
		if got, err := compile.ParseKubeVersion(written); err != nil || got != want {
			t.Errorf("ParseKubeVersion(%q) = %q, %v, want %q", written, got, err, want)
		}
	}
}

// Unions in shared content, or below a path without rules, are errors at the declaration.
func TestMisplaced(t *testing.T) {
	const union = "x-kubernetes-unions: [{members: [a]}]"
	for _, test := range []struct {
		name, spec string
		want       diag.Code
	}{
		{"metadata", "metadata:\n  type: object\n  properties: {a: {type: string}}\n  " + union, codes.InsideMetadata},
		{"below metadata", "metadata:\n  type: object\n  properties:\n    x: {type: object, properties: {a: {type: string}}, " + union + "}", codes.InsideMetadata},
		{"allOf", "spec:\n  type: object\n  allOf:\n  - properties: {a: {}}\n    " + union, codes.InsideComposition},
		{"not", "spec:\n  type: object\n  not:\n    properties: {a: {}}\n    " + union, codes.InsideComposition},
		{"definitions", "spec:\n  type: object\n  definitions:\n    d:\n      " + union, codes.InsideComposition},
		{"alias", "one: &s\n  type: object\n  properties: {a: {type: string}}\n  " + union + "\ntwo: *s", codes.SharedContent},
		{"merge", "one:\n  type: object\n  properties:\n    x: &s {type: object, properties: {a: {type: string}}, " + union + "}\ntwo:\n  <<: *s", codes.SharedContent},
		{"no object", "spec:\n  type: string\n  " + union, codes.NotAnObject},
		{"map", "spec:\n  type: object\n  additionalProperties: {type: string}\n  " + union, codes.NotAnObject},
		{"among the properties", "spec:\n  type: object\n  properties:\n    a: {type: string}\n    " + union, codes.Misplaced},
		{"among the root's properties", union, codes.Misplaced},
		{"in x-kubernetes-validations", "spec:\n  type: object\n  properties: {a: {type: string}}\n  x-kubernetes-validations:\n  - rule: 'true'\n    " + union, codes.Misplaced},
		{"misspelt", "spec:\n  type: object\n  properties: {a: {type: string}}\n  x-kubernetes-union: [{members: [a]}]", codes.Misplaced},
		{"misspelt in capitals", "spec:\n  type: object\n  properties: {a: {type: string}}\n  X-Kubernetes-Unions: [{members: [a]}]", codes.Misplaced},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, diags := run(t, crd(version("v1", true, test.spec)), compile.Options{})
			if r != nil || !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == test.want && d.Pos.Line > 10 }) {
				t.Errorf("want %s, got %v", test.want, diags)
			}
		})
	}
}

// A problem of the unmodified CRD is a warning, even if compiling changes the API server's
// message.
func TestInvalidBefore(t *testing.T) {
	const broken = "spec:\n  type: object\n  properties:\n    bad: {type: array, items: {type: string}, x-kubernetes-list-type: map}\n    a: {type: object}\n    b: {type: object}\n"
	const union = "  x-kubernetes-unions: [{members: [a, b]}]\n"
	for _, test := range []struct {
		name, versions string
		warnings       int
	}{
		// The versions are equal apart from the union. Only before compiling, the API
		// server hoists their schema and reports the problem at another path.
		{"hoisted", version("v1", true, broken+union) + version("v2", false, broken), 2},
		// The API server's error contains a dump of the schema, including our rules.
		{"dumped", version("v1", true, strings.ReplaceAll(broken, ", x-kubernetes-list-type: map", "")+union) + "        anyOf: [{required: [spec]}]\n", 1},
		// The API server's error contains the name of a type, which is different each time.
		{"a name in it", version("v1", true, strings.ReplaceAll(broken, ", x-kubernetes-list-type: map", "")+"  x-kubernetes-validations: [{rule: self.a == self.b}]\n"+union), 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, diags := run(t, crd(test.versions), compile.Options{})
			warnings := 0
			for _, d := range diags {
				if d.Code == codes.InvalidBefore {
					warnings++
				}
			}
			if r == nil || warnings < test.warnings {
				t.Errorf("%d warnings, want %d; %v", warnings, test.warnings, diags)
			}
		})
	}
}

// The enum of a nullable discriminator contains null.
func TestNullableEnum(t *testing.T) {
	for _, enc := range []compile.Encoding{compile.Auto, compile.Compact} {
		r, diags := run(t, crd(version("v1", true, "spec:\n  type: object\n  properties:\n    type: {type: string, nullable: true, enum: [A, B, null]}\n    a: {type: object}\n    b: {type: object}\n  x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]")), compile.Options{Encoding: enc})
		if r == nil || len(diags) > 0 {
			t.Error(diags)
		}
	}
}

// Problems of several stages are reported together.
func TestAllProblems(t *testing.T) {
	_, diags := run(t, crd(version("v1", true, `
spec:
  type: object
  properties:
    one:
      type: object
      properties: {type: {type: string}, a: {type: object}, b: {type: object}, c: {type: object}}
      x-kubernetes-unions:
      - {discriminator: tpye, fields-to-discriminateBy: {a: A}}
      - {membres: [b, c]}
    two:
      type: object
      properties: {a: {type: object}}
      allOf: [{x-kubernetes-unions: [{members: [a]}]}]
      x-kubernetes-union: []
`)), compile.Options{})
	for _, want := range []diag.Code{codes.UnknownDiscriminator, codes.UnknownKey, codes.InsideComposition, codes.Misplaced} {
		if !slices.ContainsFunc(diags, func(d diag.Diagnostic) bool { return d.Code == want }) {
			t.Errorf("no %s in %v", want, diags)
		}
	}
}

// Unions too large for computed messages keep their fixed messages.
func TestManyMembers(t *testing.T) {
	var properties, mapping []string
	for i := range 260 {
		properties = append(properties, fmt.Sprintf("m%03d: {type: object}", i))
		mapping = append(mapping, fmt.Sprintf("m%03d: V%03d", i, i))
	}
	spec := "spec:\n  type: object\n  properties: {type: {type: string}, " + strings.Join(properties, ", ") + "}\n  x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {" + strings.Join(mapping, ", ") + "}}]"
	for _, enc := range []compile.Encoding{compile.Auto, compile.Compact} {
		if r, diags := run(t, crd(version("v1", true, spec)), compile.Options{Encoding: enc}); r == nil {
			t.Errorf("%q: %.2000v", enc, diags)
		}
	}
}

// A property may be named x-kubernetes-unions.
func TestProperty(t *testing.T) {
	r, diags := run(t, crd(version("v1", true, "spec:\n  type: object\n  properties:\n    x-kubernetes-unions: {type: object}\n    z:\n      type: object\n      default: {x-kubernetes-unions: []}")), compile.Options{})
	if r == nil || len(diags) > 0 {
		t.Error(diags)
	}
}

// A union that forbids nothing is reported as a likely mistake, unless its members are added
// later.
func TestNoEffect(t *testing.T) {
	_, diags := run(t, crd(version("v1", true, "spec:\n"+indent(2, members(1, "")))), compile.Options{})
	if len(diags) != 1 || diags[0].Code != codes.NoEffect {
		t.Error(diags)
	}
	const later = "spec:\n  type: object\n  properties: {type: {type: string}}\n  x-kubernetes-unions:\n  - {discriminator: type, fields-to-discriminateBy: {}"
	if r, diags := run(t, crd(version("v1", true, later+"}\n")), compile.Options{}); r == nil || len(diags) > 0 || len(r.Additions) > 0 {
		t.Errorf("members to come: %v, %v", r, diags)
	}
}

// A union with a discriminator and no members compiles in every encoding.
func TestMembersToCome(t *testing.T) {
	const spec = "spec:\n  type: object\n  properties: {type: {type: string, maxLength: 9}}\n  x-kubernetes-unions:\n  - {discriminator: type, fields-to-discriminateBy: {}, cardinality: ExactlyOne, ratchet: %v}\n"
	for ratchet, want := range map[bool]int{false: 1, true: 2} {
		for _, e := range []compile.Encoding{compile.Auto, compile.Fine, compile.Compact} {
			r, diags := run(t, crd(version("v1", true, fmt.Sprintf(spec, ratchet))), compile.Options{Encoding: e})
			if r == nil || len(diags) > 0 || len(r.Additions[0].Rules) != want {
				t.Errorf("%q, ratchet %v: %v, %v", e, ratchet, r, diags)
			}
		}
	}
}

// A field that strict field validation rejects is a warning; the declarations are not reported.
func TestUnknownFields(t *testing.T) {
	_, diags := run(t, crd(version("v1", true, "spec:\n"+indent(2, members(2, ""))+"  maxLenght: 5\n")), compile.Options{})
	if len(diags) != 1 || diags[0].Code != codes.InvalidBefore || !strings.Contains(diags[0].Message, "maxLenght") {
		t.Error(diags)
	}
}

// An existing rule is not written twice.
func TestHandWrittenRule(t *testing.T) {
	spec := "spec:\n" + indent(2, members(2, "")) + "  x-kubernetes-validations:\n  - rule: '!(has(self.member00) && has(self.member01))'\n    message: pick one\n"
	r, diags := run(t, crd(version("v1", true, spec)), compile.Options{})
	if r == nil || len(r.Additions) != 0 || len(diags) != 1 || diags[0].Code != codes.HandWrittenRulePresent {
		t.Errorf("got %v, %v", r, diags)
	}
}

// The API server's message about a rule that does not compile quotes the rule as written.
func TestServersWords(t *testing.T) {
	spec := "spec:\n" + indent(2, members(2, "")) + "  x-kubernetes-validations:\n  - rule: self.nothing == ''\n    message: none\n"
	_, diags := run(t, crd(version("v1", true, spec)), compile.Options{})
	if len(diags) != 1 || !strings.Contains(diags[0].Message, `: Invalid value: "self.nothing == ''": compilation failed`) {
		t.Error(diags)
	}
}
