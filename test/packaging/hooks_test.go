//go:build unix && exhaustive

package packaging

import (
	"os"
	"strings"
	"testing"
)

// hook contains the fields of .pre-commit-hooks.yaml that the tests use.
type hook struct {
	ID, Name, Description, Entry, Language string
	TypesOr                                []string `json:"types_or"`
	Args                                   []string
	Files                                  string
	PassFilenames                          *bool `json:"pass_filenames"`
	RequireSerial                          bool  `json:"require_serial"`
}

// TestHooks runs every hook like pre-commit does: the entry, then the files.
func TestHooks(t *testing.T) {
	var l []hook
	load(t, ".pre-commit-hooks.yaml", &l)
	hooks := map[string]hook{}
	for _, h := range l {
		hooks[h.ID] = h
		if h.Language != "golang" || !h.RequireSerial || len(h.TypesOr) == 0 {
			t.Errorf("%+v", h)
		}
	}
	done, bad := compiled(t), strings.Replace(source, "tcp: TCP", "tpc: TCP", 1)
	for _, test := range []struct {
		hook   string
		text   string
		code   int
		output string
		want   string // content of the file
	}{
		{"unioncel-compile", source, 0, "1 CRD, 1 union", done},
		{"unioncel-compile", done, 0, "1 CRD, 1 union", done},
		{"unioncel-compile", bad, 1, "crd.yaml:25:17: error: UC203: ", bad},
		{"unioncel-check", source, 1, "--- crd.yaml", source},
		{"unioncel-check", done, 0, "1 CRD, 1 union", done},
		{"unioncel-check", bad, 1, "crd.yaml:25:17: error: UC203: ", bad},
		{"unioncel-lint", source, 0, "0 findings", source},
		{"unioncel-lint", done, 0, "0 findings", done},
		{"unioncel-lint", bad, 1, "crd.yaml:25:17: error: UC203: ", bad},
	} {
		h, ok := hooks[test.hook]
		if !ok {
			t.Fatalf("there is no hook %s", test.hook)
		}
		const other = "a: 1 # no manifest\n"
		dir := write(t, map[string]string{"crd.yaml": test.text, "--config=values.yaml": other})
		entry := append(strings.Fields(h.Entry), h.Args...)
		output, code := run(t, dir, os.Environ(), entry[0], append(entry[1:], "crd.yaml", "--config=values.yaml")...)
		if code != test.code || !strings.Contains(output, test.output) {
			t.Errorf("%s: exit code %d, want %d, and %q in:\n%s", test.hook, code, test.code, test.output, output)
		}
		if got := read(t, dir, "crd.yaml"); got != test.want {
			t.Errorf("%s: the file is now\n%s", test.hook, got)
		}
		if read(t, dir, "--config=values.yaml") != other {
			t.Errorf("%s: a file that is no manifest was changed", test.hook)
		}
	}
}
