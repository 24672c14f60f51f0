package cli

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/testcrd"
)

// explainApp returns a program with standard input, and its output.
func explainApp(in string) (a *app, out, errs *bytes.Buffer) {
	out, errs = new(bytes.Buffer), new(bytes.Buffer)
	return newApp(Streams{In: strings.NewReader(in), Out: out, Err: errs}), out, errs
}

// explained has a union of a and b in its line 19.
var explained = testcrd.New("Thing", `
spec:
  type: object
  x-kubernetes-unions: [{members: [a, b]}]
  properties:
    a: {type: object}
    b: {type: object}`)

func TestExplain(t *testing.T) {
	for _, tt := range []struct {
		args  []string
		start string
		has   []string
	}{
		{nil, "things.example.com\n", []string{"declared at  <stdin>:19:35", "spec: Invalid value: at most one of a, b may be set", "318 bytes"}},
		{[]string{"--format", "markdown"}, "# `things.example.com`\n", []string{"- changes: every change is allowed\n", "1. a and b set\n", "```text\n   spec: Invalid value: at most one of a, b may be set\n"}},
		{[]string{"--format=json", "-"}, "[\n  {\n", []string{`"name": "things.example.com"`, `"line": 19`, `"bytes": 318`}},
	} {
		a, out, errs := explainApp(explained)
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

func TestExplainWithoutUnions(t *testing.T) {
	for format, want := range map[string]string{"text": "", "markdown": "", "json": "[]\n"} {
		a, out, errs := explainApp("a: 1\n")
		code := a.main(context.Background(), func() {}, []string{"explain", "--format", format})
		if code != exitClean || out.String() != want || errs.String() != "unioncel: no unions in 1 file\n" {
			t.Errorf("%s: exit code %d, printed %q and %q", format, code, out, errs)
		}
	}
}

func TestExplainBroken(t *testing.T) {
	a, out, errs := explainApp(strings.Replace(explained, "[a, b]", "[a, c]", 1))
	code := a.main(context.Background(), func() {}, []string{"explain"})
	want := "<stdin>:19:49: error: UC203: member \"c\" is not a property of this object\n"
	if code != exitFindings || out.Len() > 0 || !strings.HasPrefix(errs.String(), want) {
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
		a, out, errs := explainApp(explained)
		code := a.main(context.Background(), func() {}, []string{"explain", flag})
		if code != exitFailure || out.Len() > 0 || !strings.HasPrefix(errs.String(), want) || !strings.HasSuffix(errs.String(), "run 'unioncel explain --help'\n") {
			t.Errorf("%s: exit code %d, printed %q and %q", flag, code, out, errs)
		}
	}
}

func TestExplainInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	a, out, _ := explainApp(explained)
	cancel()
	if code := a.execute(ctx, []string{"explain"}); code != exitFailure || out.Len() > 0 {
		t.Errorf("exit code %d, printed %q", code, out)
	}
}
