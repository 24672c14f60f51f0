package cli

import (
	"bytes"
	"context"
	"reflect"
	"strings"
	"sync"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// explainApp returns a program that finds one CRD, named like the file, in each file that is not
// empty. It also returns the output, and the options that the program passed.
func explainApp(in string) (a *app, out, errs *bytes.Buffer, got *crdpatch.Options) {
	out, errs, got = new(bytes.Buffer), new(bytes.Buffer), new(crdpatch.Options)
	a = newApp(Streams{In: strings.NewReader(in), Out: out, Err: errs})
	var mu sync.Mutex // several files are explained concurrently
	a.explain = func(f *crdpatch.File, opts crdpatch.Options) ([]crdpatch.Explanation, diag.List) {
		mu.Lock()
		*got = opts
		mu.Unlock()
		name, src := f.Name(), f.Bytes()
		if len(src) == 0 {
			return nil, nil
		}
		if bytes.Contains(src, []byte("broken")) {
			return nil, diag.List{{Code: codes.UnknownMember, Pos: diag.Pos{File: name, Line: 1, Col: 1}, Message: "broken"}}
		}
		u := &union.Union{
			Members: []union.Member{{Name: "a"}, {Name: "b"}}, Cardinality: union.AtMostOne, Change: union.Allow,
		}
		object := apiextensionsv1.JSONSchemaProps{Type: "object"}
		plan := compile.UnionPlan{Union: u, CRD: &apiextensionsv1.CustomResourceDefinition{Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Versions: []apiextensionsv1.CustomResourceDefinitionVersion{{Name: "v1", Schema: &apiextensionsv1.CustomResourceValidation{
				OpenAPIV3Schema: &apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{"a": object, "b": object}},
			}}},
		}}, Place: schemapath.Place{Name: "v1"}, Pos: diag.Pos{File: name, Line: 7, Col: 3}, Encoding: "fine"}
		for _, r := range rules.Static(u, rules.Fine) {
			plan.Rules = append(plan.Rules, compile.RulePlan{Rule: r, Place: plan.Place, Kind: compile.Static})
		}
		return []crdpatch.Explanation{{Plan: compile.Plan{Name: name + ".example.com", Unions: []compile.UnionPlan{plan}}, Growth: 42}}, nil
	}
	return a, out, errs, got
}

func TestExplain(t *testing.T) {
	for _, tt := range []struct {
		args  []string
		start string
		has   []string
	}{
		{nil, "<stdin>.example.com\n", []string{"declared at  <stdin>:7:3", "b: Forbidden: at most one of a, b may be set", "42 bytes"}},
		{[]string{"--format", "markdown"}, "# `<stdin>.example.com`\n", []string{"- changes: every change is allowed\n", "1. a and b set\n", "```text\n   b: Forbidden: at most one of a, b may be set\n"}},
		{[]string{"--format=json", "-"}, "[\n  {\n", []string{`"name": "<stdin>.example.com"`, `"line": 7`, `"bytes": 42`}},
	} {
		a, out, errs, _ := explainApp("a: 1\n")
		code := a.main(context.Background(), func() {}, append([]string{"explain"}, tt.args...))
		if code != exitClean || errs.Len() > 0 || !strings.HasPrefix(out.String(), tt.start) {
			t.Errorf("%v: exit code %d, printed %q and\n%s", tt.args, code, errs, out)
		}
		for _, text := range tt.has {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%v: %q is not in\n%s", tt.args, text, out)
			}
		}
	}
}

func TestExplainAsksForWhatTheFlagsSay(t *testing.T) {
	a, _, errs, got := explainApp("a: 1\n")
	code := a.main(context.Background(), func() {}, []string{"explain", "--kube-version", "1.28", "--encoding", "compact"})
	inUse := crdpatch.Options{KubeVersion: "1.28", Encoding: compile.Compact, Origins: flagOrigins}
	want := inUse
	if want.InUse = &inUse; code != exitClean || !reflect.DeepEqual(*got, want) {
		t.Errorf("exit code %d, %v, %s", code, *got, errs)
	}
}

func TestExplainWithoutUnions(t *testing.T) {
	for format, want := range map[string]string{"text": "", "markdown": "", "json": "[]\n"} {
		a, out, errs, _ := explainApp("")
		code := a.main(context.Background(), func() {}, []string{"explain", "--format", format})
		if code != exitClean || out.String() != want || errs.String() != "unioncel: <stdin>: no unions\n" {
			t.Errorf("%s: exit code %d, printed %q and %q", format, code, out, errs)
		}
	}
}

func TestExplainBroken(t *testing.T) {
	a, out, errs, _ := explainApp("broken\n")
	code := a.main(context.Background(), func() {}, []string{"explain"})
	want := "<stdin>:1:1: error: UC203: broken\n | broken\n | ^\n"
	if code != exitFindings || out.Len() > 0 || errs.String() != want {
		t.Errorf("exit code %d, printed %q and %q", code, out, errs)
	}
}

func TestExplainUsage(t *testing.T) {
	for flag, want := range map[string]string{
		"--format=xml":          `unioncel: --format: "xml" is not text, markdown or json`,
		"--output=json":         "unioncel: --output: takes a file, --format a format; for a file of that name write ./json",
		"--encoding=coarse":     "unioncel: --encoding: ",
		"--kube-version=latest": "unioncel: --kube-version: ",
		"--write":               "unioncel: unknown flag: --write",
	} {
		a, out, errs, _ := explainApp("a: 1\n")
		code := a.main(context.Background(), func() {}, []string{"explain", flag})
		if code != exitFailure || out.Len() > 0 || !strings.HasPrefix(errs.String(), want) || !strings.HasSuffix(errs.String(), "run 'unioncel explain --help'\n") {
			t.Errorf("%s: exit code %d, printed %q and %q", flag, code, out, errs)
		}
	}
}

func TestExplainInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	a, out, _, _ := explainApp("a: 1\n")
	cancel()
	if code := a.execute(ctx, []string{"explain"}); code != exitFailure || out.Len() > 0 {
		t.Errorf("exit code %d, printed %q", code, out)
	}
}
