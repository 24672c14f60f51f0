package lint_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/lint"
)

const head = "apiVersion: unioncel.dev/v1alpha1\nkind: LintConfig\n"

// schemaAccepts asks the published JSON Schema.
func schemaAccepts(t *testing.T, text string) bool {
	t.Helper()
	file, err := os.Open("../../docs/lintconfig.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	document, err := jsonschema.UnmarshalJSON(file)
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("schema.json")
	if err != nil {
		t.Fatal(err)
	}
	data, err := sigs.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(string(data)))
	if err != nil {
		t.Fatal(err)
	}
	return schema.Validate(value) == nil
}

func TestParseConfig(t *testing.T) {
	warning := lint.FailOnWarning
	text := head + `ignore: [UC521]
severities: {UC524: error, UC523: info}
overrides:
- files: ["legacy/**", old.yaml]
  ignore: [UC520]
  severities: {UC521: warning}
failOn: warning
`
	got, diags := lint.ParseConfig("c.yaml", []byte(text))
	want := &lint.Config{
		Setting: lint.Setting{Ignore: []diag.Code{diag.ValueWithoutMember}, Severities: map[diag.Code]diag.Severity{diag.Undiscriminated: diag.Error, diag.ListMember: diag.Info}},
		Overrides: []lint.Override{{Files: []string{"legacy/**", "old.yaml"},
			Setting: lint.Setting{Ignore: []diag.Code{diag.NoEnum}, Severities: map[diag.Code]diag.Severity{diag.ValueWithoutMember: diag.Warning}}}},
		FailOn: &warning,
	}
	if diff := cmp.Diff(want, got); diff != "" || diags != nil {
		t.Errorf("%v\n%s", diags, diff)
	}
	for _, text := range []string{text, head, "# comment\n---\n" + head, `{"apiVersion": "unioncel.dev/v1alpha1", "kind": "LintConfig"}`} {
		if _, diags := lint.ParseConfig("c.yaml", []byte(text)); diags != nil || !schemaAccepts(t, text) {
			t.Errorf("%s\n%v", text, diags)
		}
	}
}

func TestParseConfigErrors(t *testing.T) {
	tests := []struct {
		text, want string
		// beyond says that JSON Schema cannot tell.
		beyond bool
	}{
		{text: "", want: "c.yaml: error: UC103: the file is empty", beyond: true},
		{text: "# unioncel.dev/\n", want: "c.yaml: error: UC706: there is no configuration in this file", beyond: true},
		{text: "# unioncel.dev/\na: b: c\n", want: "c.yaml:2:5: error: UC101: mapping values are not allowed in this context", beyond: true},
		{text: head + "kind: LintConfig\n", want: `c.yaml:3:1: error: UC104: key "kind" occurs twice in this mapping`, beyond: true},
		{text: head + "---\n" + head, want: "c.yaml:4:1: error: UC706: a configuration is one document, and this is a second one", beyond: true},
		{text: "[] # unioncel.dev/", want: "c.yaml:1:1: error: UC706: a LintConfig must be a mapping, not an empty list"},
		{text: "root:x:0:0\npassword: &a a\nb: *c\n", want: "c.yaml: error: UC706: this is no LintConfig: it has no apiVersion: unioncel.dev/v1alpha1", beyond: true},
		{text: "kind: LintConfig # unioncel.dev/\n", want: "c.yaml:1:1: error: UC706: this configuration has no apiVersion"},
		{text: "apiVersion: unioncel.dev/v1\nkind: LintConfig\n", want: "c.yaml:1:13: error: UC706: apiVersion must be unioncel.dev/v1alpha1"},
		{text: "apiVersion: unioncel.dev/v1alpha1\nkind: [LintConfig]\n", want: "c.yaml:2:7: error: UC706: kind must be LintConfig"},
		{text: head + "ignored: [UC521]\n", want: "c.yaml:3:1: error: UC706: unknown key \"ignored\" in a LintConfig\n hint: write \"ignore\""},
		{text: head + "ignore: UC521\n", want: "c.yaml:3:9: error: UC706: ignore: want a list, not \"UC521\""},
		{text: head + "ignore: [UC52l]\n", want: "c.yaml:3:10: error: UC706: there is no diagnostic \"UC52l\"\n hint: did you mean UC520?"},
		{text: head + "ignore: [[]]\n", want: "c.yaml:3:10: error: UC706: there is no diagnostic \"\""},
		{text: head + "ignore: [UC203]\n", want: "c.yaml:3:10: error: UC706: UC203 is an error, which cannot be ignored"},
		{text: head + "severities: [UC203]\n", want: "c.yaml:3:13: error: UC706: severities: want a mapping, not a list"},
		{text: head + "severities: {UC203: info}\n", want: "c.yaml:3:14: error: UC706: UC203 is an error, which cannot be lowered"},
		{text: head + "severities: {UC521: waring}\n", want: "c.yaml:3:21: error: UC706: the severity of UC521 must be one of error, warning, info\n hint: write \"warning\"; what is not to be reported goes into ignore"},
		{text: head + "failOn: always\n", want: "c.yaml:3:9: error: UC706: failOn must be one of error, warning, info"},
		{text: head + "failOn: {}\n", want: "c.yaml:3:9: error: UC706: failOn must be one of error, warning, info"},
		{text: head + "failOn: never\n", want: "c.yaml:3:9: error: UC706: failOn: errors always fail\n hint: write error; for a single run there is --fail-on never"},
		{text: head + "overrides: {}\n", want: "c.yaml:3:12: error: UC706: overrides: want a list, not a mapping"},
		{text: head + "overrides: [x]\n", want: "c.yaml:3:13: error: UC706: an item of overrides must be a mapping, not \"x\""},
		{text: head + "overrides:\n- ignore: [UC521]\n", want: "c.yaml:4:3: error: UC706: this item of overrides names no files"},
		{text: head + "overrides:\n- files: [\"[\"]\n", want: "c.yaml:4:11: error: UC706: files: \"[\" is no pattern: syntax error in pattern", beyond: true},
		{text: head + "overrides:\n- files: [\"a**\"]\n", want: "c.yaml:4:11: error: UC706: files: \"a**\" is no pattern: ** must be all there is between two slashes", beyond: true},
		{text: head + "overrides:\n- files: [../a]\n", want: "c.yaml:4:11: error: UC706: files: \"../a\" is no pattern: an element is empty, . or .., and patterns are relative to the configuration", beyond: true},
		{text: head + "overrides:\n- files: [{}]\n", want: "c.yaml:4:11: error: UC706: files: want a pattern, not a mapping"},
		{text: head + "overrides:\n- files: [a]\n  failOn: info\n", want: "c.yaml:5:3: error: UC706: unknown key \"failOn\" in an item of overrides"},
	}
	for _, test := range tests {
		c, diags := lint.ParseConfig("c.yaml", []byte(test.text))
		var b strings.Builder
		if err := diag.Text(&b, diags, nil); err != nil {
			t.Fatal(err)
		}
		if c != nil || !strings.HasPrefix(b.String(), test.want+"\n") || len(diags) != 1 {
			t.Errorf("%q\ngot:  %s\nwant: %s", test.text, b.String(), test.want)
		}
		if !test.beyond && schemaAccepts(t, test.text) {
			t.Errorf("the JSON Schema accepts %q", test.text)
		}
	}
}

func TestApply(t *testing.T) {
	finding := func(code diag.Code, severity diag.Severity, file string) diag.Diagnostic {
		return diag.Diagnostic{Code: code, Severity: severity, Pos: diag.Pos{File: file, Line: 1}}
	}
	c, diags := lint.ParseConfig("c.yaml", []byte(head+`ignore: [UC521]
severities: {UC524: error}
overrides:
- files: ["legacy/**"]
  ignore: [UC523]
  severities: {UC524: info, UC520: error}
- files: ["**/b.yaml"]
  severities: {UC524: warning}
`))
	if diags != nil {
		t.Fatal(diags)
	}
	in := diag.List{
		finding(diag.UnknownMember, diag.Error, "crd/legacy/a.yaml"),
		finding(diag.ValueWithoutMember, diag.Info, "crd/a.yaml"),
		finding(diag.ListMember, diag.Warning, "crd/a.yaml"),
		finding(diag.ListMember, diag.Warning, "crd/legacy/a.yaml"),
		finding(diag.NoEnum, diag.Warning, "crd/legacy/a.yaml"),
		finding(diag.Undiscriminated, diag.Warning, "crd/a.yaml"),
		finding(diag.Undiscriminated, diag.Warning, "crd/legacy/x/a.yaml"),
		finding(diag.Undiscriminated, diag.Warning, "crd/legacy/b.yaml"),
	}
	want := diag.List{
		in[0],
		in[2],
		finding(diag.NoEnum, diag.Error, "crd/legacy/a.yaml"),
		finding(diag.Undiscriminated, diag.Error, "crd/a.yaml"),
		finding(diag.Undiscriminated, diag.Info, "crd/legacy/x/a.yaml"),
		finding(diag.Undiscriminated, diag.Warning, "crd/legacy/b.yaml"),
	}
	got := c.Apply(in, func(file string) string { return strings.TrimPrefix(file, "crd/") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	careless := lint.Config{Setting: lint.Setting{Ignore: []diag.Code{diag.UnknownMember}, Severities: map[diag.Code]diag.Severity{diag.UnknownMember: diag.Info}}}
	if got := careless.Apply(in[:1], nil); len(got) != 1 || got[0].Severity != diag.Error {
		t.Errorf("an error is switched off: %v", got)
	}
	if got := c.Apply(in, nil); len(got) != 7 {
		t.Errorf("without a path the files are others: %v", got)
	}
}

func TestThreshold(t *testing.T) {
	list := func(l ...diag.Severity) (out diag.List) {
		for _, s := range l {
			out = append(out, diag.Diagnostic{Severity: s})
		}
		return out
	}
	tests := []struct {
		threshold string
		list      diag.List
		want      bool
	}{
		{"error", list(diag.Info, diag.Warning), false},
		{"error", list(diag.Info, diag.Error), true},
		{"warning", list(diag.Info), false},
		{"warning", list(diag.Warning), true},
		{"warning", list(diag.Error), true},
		{"info", list(diag.Info), true},
		{"info", nil, false},
		{"never", list(diag.Error), false},
	}
	for _, test := range tests {
		threshold, err := lint.ParseThreshold(test.threshold)
		if err != nil || threshold.Reached(test.list) != test.want {
			t.Errorf("%s of %v: %v, %v", test.threshold, test.list, !test.want, err)
		}
	}
	if _, err := lint.ParseThreshold("bad"); err == nil {
		t.Error("bad is a threshold")
	}
}

func TestOverrideFiles(t *testing.T) {
	tests := []struct {
		pattern, name string
		want          bool
	}{
		{"a.yaml", "a.yaml", true},
		{"a.yaml", "b/a.yaml", false},
		{"*.yaml", "a.yaml", true},
		{"*.yaml", "b/a.yaml", false},
		{"b/*.yaml", "b/a.yaml", true},
		{"b/?.yaml", "b/a.yaml", true},
		{"b/[a-c].yaml", "./b/a.yaml", true},
		{"legacy/**", "legacy/a.yaml", true},
		{"legacy/**", "legacy/b/c/a.yaml", true},
		{"legacy/**", "legacy", false},
		{"legacy/**", "old/legacy/a.yaml", false},
		{"**", "a/b.yaml", true},
		{"**/a.yaml", "a.yaml", true},
		{"**/a.yaml", "b/c/a.yaml", true},
		{"**/a.yaml", "b/c/aa.yaml", false},
		{"b/**/a.yaml", "b/a.yaml", true},
		{"b/**/**/a.yaml", "b/c/d/a.yaml", true},
		{"b/**/c/**", "b/x/c/y/z", true},
		{"b/**/c/**", "b/x/y/z", false},
		{"[", "[", false},
		{"**a", "**a", false},
		{"a b%é.yaml", "a b%é.yaml", true},
	}
	for _, test := range tests {
		c := lint.Config{Overrides: []lint.Override{{Files: []string{test.pattern}, Setting: lint.Setting{Ignore: []diag.Code{diag.NoEnum}}}}}
		l := diag.List{{Code: diag.NoEnum, Severity: diag.Warning, Pos: diag.Pos{File: test.name}}}
		if got := len(c.Apply(l, nil)) == 0; got != test.want {
			t.Errorf("%q matches %q: %t", test.pattern, test.name, got)
		}
	}
}
