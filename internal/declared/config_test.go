package declared_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/testing/schematest"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

const head = "apiVersion: unioncel.dev/v1alpha1\nkind: Config\n"

func TestParseConfig(t *testing.T) {
	schema := schematest.Read(t, "config")
	text := head + `go: [./api/..., example.com/types]
kubebuilder: true
skipInvalid: [api/v1.Backup, v1.Job]
unions: [config/unions.yaml]
kubeVersion: "1.30"
encoding: fine
annotation: false
requireUnions: true
strict: true
lint:
  ignore: [UC521]
  severities: {UC524: error, UC523: info}
  failOn: warning
`
	warning := report.FailOnWarning
	want := &declared.Config{
		Go: []string{"./api/...", "example.com/types"}, Kubebuilder: true, SkipInvalid: []string{"api/v1.Backup", "v1.Job"}, Unions: []string{"config/unions.yaml"},
		KubeVersion: "1.30", Encoding: compile.Fine, Origins: compile.Origins{KubeVersion: "c.yaml:7:14", Encoding: "c.yaml:8:11"}, NoAnnotation: true, RequireUnions: true, Strict: true,
		Lint: report.LintConfig{
			Ignore: []diag.Code{codes.ValueWithoutMember}, Severities: map[diag.Code]diag.Severity{codes.Undiscriminated: diag.Error, codes.ListMember: diag.Info},
			FailOn: &warning,
		},
	}
	got, diags := declared.ParseConfig("c.yaml", []byte(text))
	if diff := cmp.Diff(want, got); diff != "" || diags != nil {
		t.Errorf("%v\n%s", diags, diff)
	}
	if err := schema.Validate(t, text); err != nil {
		t.Error(err)
	}
	for _, text := range []string{head, head + "annotation: true\n", "# comment\n---\n" + head, `{"apiVersion": "unioncel.dev/v1alpha1", "kind": "Config"}`} {
		got, diags := declared.ParseConfig("c.yaml", []byte(text))
		if diff := cmp.Diff(&declared.Config{}, got); diff != "" || diags != nil || schema.Validate(t, text) != nil {
			t.Errorf("%s\n%v\n%s", text, diags, diff)
		}
	}
}

func TestParseConfigErrors(t *testing.T) {
	schema := schematest.Read(t, "config")
	tests := []struct {
		text, want string
		// beyond marks errors that JSON Schema cannot detect.
		beyond bool
	}{
		{text: "", want: "c.yaml: error: UC103: the file is empty", beyond: true},
		{text: "# unioncel.dev/\n", want: "c.yaml: error: UC103: the file is empty", beyond: true},
		{text: "# unioncel.dev/\na: b: c\n", want: "c.yaml:2:5: error: UC101: mapping values are not allowed in this context", beyond: true},
		{text: head + "kind: Config\n", want: `c.yaml:3:1: error: UC104: key "kind" occurs twice in this mapping`, beyond: true},
		{text: head + "---\n" + head, want: "c.yaml:4:1: error: UC706: a configuration is one document, and this is a second one", beyond: true},
		{text: "[] # unioncel.dev/", want: "c.yaml:1:1: error: UC706: want a Config, not an empty list"},
		{text: "root:x:0:0\npassword: &a a\nb: *c\n", want: "c.yaml: error: UC706: this is not a Config: it has no apiVersion: unioncel.dev/v1alpha1", beyond: true},
		{text: "kind: Config # unioncel.dev/\n", want: "c.yaml:1:1: error: UC706: apiVersion is missing"},
		{text: "apiVersion: unioncel.dev/v1\nkind: Config\n", want: "c.yaml:1:13: error: UC706: apiVersion must be unioncel.dev/v1alpha1, not \"unioncel.dev/v1\""},
		{text: "apiVersion: unioncel.dev/v1alpha1\nkind: [Config]\n", want: "c.yaml:2:7: error: UC706: kind: want a string, not a list"},
		{text: head + "lint:\n  ignored: [UC521]\n", want: "c.yaml:4:3: error: UC706: unknown key \"ignored\" in lint\n hint: write \"ignore\""},
		{text: head + "lint:\n  ignore: UC521\n", want: "c.yaml:4:11: error: UC706: ignore: want a list, not \"UC521\""},
		{text: head + "lint:\n  ignore: [UC52l]\n", want: "c.yaml:4:12: error: UC706: there is no diagnostic \"UC52l\"\n hint: did you mean UC520?"},
		{text: head + "lint:\n  ignore: [[]]\n", want: "c.yaml:4:12: error: UC706: ignore: want a string, not an empty list\n hint: write it like ignore: [UC521]\n path: lint.ignore[0]"},
		{text: head + "lint:\n  ignore: [UC203]\n", want: "c.yaml:4:12: error: UC706: UC203 is an error, which cannot be ignored"},
		{text: head + "lint:\n  severities: [UC203]\n", want: "c.yaml:4:15: error: UC706: severities: want a mapping, not a list"},
		{text: head + "lint:\n  severities: {UC203: info}\n", want: "c.yaml:4:16: error: UC706: UC203 is an error, which cannot be lowered"},
		{text: head + "lint:\n  severities: {UC521: waring}\n", want: "c.yaml:4:23: error: UC706: severities must be one of error, warning, info\n hint: write \"warning\""},
		{text: head + "lint:\n  severities: {UC521: off}\n", want: "c.yaml:4:23: error: UC706: kubectl reads off as the boolean false"},
		{text: head + "lint:\n  severities: {UC521: none}\n", want: "c.yaml:4:23: error: UC706: severities must be one of error, warning, info\n hint: list the code under ignore to switch it off"},
		{text: head + "lint:\n  failOn: always\n", want: "c.yaml:4:11: error: UC706: failOn must be one of error, warning, info"},
		{text: head + "lint:\n  failOn: {}\n", want: "c.yaml:4:11: error: UC706: failOn: want a string, not a mapping"},
		{text: head + "lint:\n  failOn: never\n", want: "c.yaml:4:11: error: UC706: failOn must be one of error, warning, info\n hint: errors always fail: write error; for a single run there is --fail-on never"},
		{text: head + "gos: []\n", want: "c.yaml:3:1: error: UC706: unknown key \"gos\" in a Config\n hint: write \"go\""},
		{text: head + "go: ./api\n", want: "c.yaml:3:5: error: UC706: go: want a list, not \"./api\"\n hint: write it like go: [./api/...]"},
		{text: head + "go: [1]\n", want: "c.yaml:3:6: error: UC706: kubectl reads 1 as the number 1\n hint: quote it: \"1\""},
		{text: head + "go: [file=a.go]\n", want: "c.yaml:3:6: error: UC706: go: \"file=a.go\" is not a package pattern", beyond: true},
		{text: head + "unions: [/etc/unions.yaml]\n", want: "c.yaml:3:10: error: UC706: \"/etc/unions.yaml\" is absolute, or has backslashes", beyond: true},
		{text: head + "skipInvalid: [Backup]\n", want: "c.yaml:3:15: error: UC706: skipInvalid: \"Backup\" is not a package and type\n hint: write it like api/v1.Backup"},
		{text: head + "skipInvalid: [api.v1/Backup]\n", want: "c.yaml:3:15: error: UC706: skipInvalid: \"api.v1/Backup\" is not a package and type"},
		{text: head + "kubebuilder: \"true\"\ngo: [./api]\n", want: "c.yaml:3:14: error: UC706: kubebuilder: want true or false, not \"true\""},
		{text: head + "kubebuilder: true\n", want: "c.yaml:3:14: error: UC706: kubebuilder needs go: it says which Go packages have the markers", beyond: true},
		{text: head + "kubeVersion: 1.30\n", want: "c.yaml:3:14: error: UC706: kubectl reads 1.30 as the number 1.3\n hint: quote it, like \"1.30\""},
		{text: head + "kubeVersion: \"1.2\"\n", want: "c.yaml:3:14: error: UC706: kubeVersion: \"1.2\" is not a version", beyond: true},
		{text: head + "encoding: best\n", want: "c.yaml:3:11: error: UC706: encoding: no such encoding \"best\": use auto, fine or compact"},
		{text: head + "annotation: null\n", want: "c.yaml:3:13: error: UC706: annotation: want true or false, not null"},
		{text: head + "lint: []\n", want: "c.yaml:3:7: error: UC706: lint must be a mapping, not an empty list"},
	}
	for _, test := range tests {
		c, diags := declared.ParseConfig("c.yaml", []byte(test.text))
		var b strings.Builder
		if err := diag.Text(&b, diags, nil); err != nil {
			t.Fatal(err)
		}
		if c != nil || !strings.HasPrefix(b.String(), test.want) || len(diags) != 1 {
			t.Errorf("%q\ngot:  %s\nwant: %s", test.text, b.String(), test.want)
		}
		if !test.beyond && schema.Validate(t, test.text) == nil {
			t.Errorf("the JSON Schema accepts %q", test.text)
		}
	}
}
