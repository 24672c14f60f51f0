package lint_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/report/lint"
	"github.com/unioncel/unioncel/pkg/diag"
)

func TestApply(t *testing.T) {
	finding := func(code diag.Code, severity diag.Severity, file string) diag.Diagnostic {
		return diag.Diagnostic{Code: code, Severity: severity, Pos: diag.Pos{File: file, Line: 1}}
	}
	c := lint.Config{
		Setting: lint.Setting{Ignore: []diag.Code{codes.ValueWithoutMember}, Severities: map[diag.Code]diag.Severity{codes.Undiscriminated: diag.Error}},
		Overrides: []lint.Override{
			{Files: []string{"legacy/**"}, Setting: lint.Setting{Ignore: []diag.Code{codes.ListMember},
				Severities: map[diag.Code]diag.Severity{codes.Undiscriminated: diag.Info, codes.NoEnum: diag.Error}}},
			{Files: []string{"**/b.yaml"}, Setting: lint.Setting{Severities: map[diag.Code]diag.Severity{codes.Undiscriminated: diag.Warning}}},
		},
	}
	in := diag.List{
		finding(codes.UnknownMember, diag.Error, "crd/legacy/a.yaml"),
		finding(codes.ValueWithoutMember, diag.Info, "crd/a.yaml"),
		finding(codes.ListMember, diag.Warning, "crd/a.yaml"),
		finding(codes.ListMember, diag.Warning, "crd/legacy/a.yaml"),
		finding(codes.NoEnum, diag.Warning, "crd/legacy/a.yaml"),
		finding(codes.Undiscriminated, diag.Warning, "crd/a.yaml"),
		finding(codes.Undiscriminated, diag.Warning, "crd/legacy/x/a.yaml"),
		finding(codes.Undiscriminated, diag.Warning, "crd/legacy/b.yaml"),
	}
	want := diag.List{
		in[0],
		in[2],
		finding(codes.NoEnum, diag.Error, "crd/legacy/a.yaml"),
		finding(codes.Undiscriminated, diag.Error, "crd/a.yaml"),
		finding(codes.Undiscriminated, diag.Info, "crd/legacy/x/a.yaml"),
		finding(codes.Undiscriminated, diag.Warning, "crd/legacy/b.yaml"),
	}
	got := c.Apply(in, func(file string) string { return strings.TrimPrefix(file, "crd/") })
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	careless := lint.Config{Setting: lint.Setting{Ignore: []diag.Code{codes.UnknownMember}, Severities: map[diag.Code]diag.Severity{codes.UnknownMember: diag.Info}}}
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
		c := lint.Config{Overrides: []lint.Override{{Files: []string{test.pattern}, Setting: lint.Setting{Ignore: []diag.Code{codes.NoEnum}}}}}
		l := diag.List{{Code: codes.NoEnum, Severity: diag.Warning, Pos: diag.Pos{File: test.name}}}
		if got := len(c.Apply(l, nil)) == 0; got != test.want {
			t.Errorf("%q matches %q: %t", test.pattern, test.name, got)
		}
	}
}
