package report_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
)

func TestApply(t *testing.T) {
	finding := func(code diag.Code, severity diag.Severity) diag.Diagnostic {
		return diag.Diagnostic{Code: code, Severity: severity, Pos: diag.Pos{File: "a.yaml", Line: 1}}
	}
	c := report.LintConfig{
		Ignore: []diag.Code{codes.ValueWithoutMember, codes.NoEnum},
		Severities: map[diag.Code]diag.Severity{
			codes.Undiscriminated: diag.Error, codes.ListMember: diag.Info, codes.NoEnum: diag.Error,
		},
	}
	in := diag.List{
		finding(codes.UnknownMember, diag.Error),
		finding(codes.ValueWithoutMember, diag.Info),
		finding(codes.NoEnum, diag.Warning),
		finding(codes.ListMember, diag.Warning),
		finding(codes.ListMember, diag.Error),
		finding(codes.Undiscriminated, diag.Warning),
		finding(codes.SharedValue, diag.Info),
	}
	want := diag.List{
		in[0],
		finding(codes.ListMember, diag.Info),
		in[4],
		finding(codes.Undiscriminated, diag.Error),
		in[6],
	}
	if diff := cmp.Diff(want, c.Apply(in)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	careless := report.LintConfig{Ignore: []diag.Code{codes.UnknownMember}, Severities: map[diag.Code]diag.Severity{codes.UnknownMember: diag.Info}}
	if got := careless.Apply(in[:1]); len(got) != 1 || got[0].Severity != diag.Error {
		t.Errorf("an error is switched off: %v", got)
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
		threshold, err := report.ParseThreshold(test.threshold)
		if err != nil || threshold.Reached(test.list) != test.want {
			t.Errorf("%s of %v: %v, %v", test.threshold, test.list, !test.want, err)
		}
	}
	if _, err := report.ParseThreshold("bad"); err == nil {
		t.Error("bad is a threshold")
	}
}
