package rules_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/crdify/pkg/config"
	"sigs.k8s.io/crdify/pkg/runner"
	"sigs.k8s.io/crdify/pkg/validations"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/contrib/crdify/rules"
)

// registered is the only registry of crdify with the validations.
var registered = func() validations.Registry {
	r := runner.DefaultRegistry()
	rules.Register(r)
	return r
}()

func run(t *testing.T, cfg config.Config, old, new *apiextensionsv1.CustomResourceDefinition) *runner.Results {
	t.Helper()
	if cfg.UnhandledEnforcement == "" {
		cfg.UnhandledEnforcement = config.EnforcementPolicyError
	}
	r, err := runner.New(&cfg, registered)
	if err != nil {
		t.Fatal(err)
	}
	return r.Run(old, new)
}

func read(t *testing.T, name string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.Unmarshal(src, &crd); err != nil {
		t.Fatal(err)
	}
	return &crd
}

// TestOwnCases runs crdify's own test cases: the results are the same.
func TestOwnCases(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/crdify").Output()
	if err != nil {
		t.Fatal(err)
	}
	cases, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "test", "*", "expected.json"))
	if err != nil || len(cases) < 20 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	for _, name := range cases {
		dir := filepath.Dir(name)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			results := run(t, config.Config{}, read(t, filepath.Join(dir, "a.yaml")), read(t, filepath.Join(dir, "b.yaml")))
			text, err := results.Render(runner.FormatJSON)
			if err != nil {
				t.Fatal(err)
			}
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(ordered(t, string(want)), ordered(t, text)); d != "" {
				t.Error(d)
			}
		})
	}
}

// ordered decodes results. It sorts lists and replaces the spaces of cmp.Diff, which vary from run to
// run.
func ordered(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(strings.ReplaceAll(text, "\u00a0", " ")), &v); err != nil {
		t.Fatal(err)
	}
	var sort func(v any)
	sort = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			for _, e := range v {
				sort(e)
			}
		case []any:
			for _, e := range v {
				sort(e)
			}
			slices.SortFunc(v, func(a, b any) int {
				x, _ := json.Marshal(a)
				y, _ := json.Marshal(b)
				return strings.Compare(string(x), string(y))
			})
		}
	}
	sort(v)
	return v
}

// crd returns a CRD whose spec has the properties a, b and type, and other keys.
func crd(t *testing.T, keys string) *apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	src, err := os.ReadFile("testdata/crd.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var crd apiextensionsv1.CustomResourceDefinition
	if err := yaml.UnmarshalStrict([]byte(strings.Replace(string(src), "# keys", strings.ReplaceAll(keys, "\n", "\n            "), 1)), &crd); err != nil {
		t.Fatal(err)
	}
	return &crd
}

const (
	exclusive = "x-kubernetes-validations:\n- {rule: '!(has(self.a) && has(self.b))', message: a or b}"
	required  = "x-kubernetes-validations:\n- {rule: 'has(self.a) != has(self.b)', message: a or b}"
)

func TestRules(t *testing.T) {
	for _, test := range []struct {
		name, old, new string
		want           []string // parts of the only error; none for a compatible change
	}{
		{"same", exclusive, exclusive, nil},
		{"reworded", exclusive, "x-kubernetes-validations:\n- {rule: '!has(self.a) || !has(self.b)', message: at most one of a and b}", nil},
		{"removed", exclusive, "", nil},
		{"loosened", required, exclusive, nil},
		{"tightened", exclusive, required, []string{"v1.^.spec: ", "; was accepted: {", "; now rejected: "}},
		{"added", "", exclusive, []string{`"a":`, `"b":`, "a or b"}},
		{"transition rule added", "", "x-kubernetes-validations:\n- {rule: self == oldSelf, message: immutable}", []string{" in place of {", "immutable"}},
		{"anyOf added", "", "anyOf: [{required: [a]}, {required: [b]}]", []string{"anyOf"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			results := run(t, config.Config{}, crd(t, test.old), crd(t, test.new))
			var errs []string
			for _, r := range results.CRDValidation {
				errs = append(errs, r.Errors...)
			}
			for _, v := range results.SameVersionValidation {
				for _, p := range v.PropertyComparisons {
					for _, r := range p.ComparisonResults {
						for _, e := range r.Errors {
							t.Errorf("%s: %s: %s", p.Property, r.Name, e)
						}
					}
				}
			}
			if len(errs) != min(len(test.want), 1) {
				t.Fatalf("got %q", errs)
			}
			for _, want := range test.want {
				if !strings.Contains(errs[0], want) {
					t.Errorf("lacks %q: %s", want, errs[0])
				}
			}
		})
	}
}

// TestPolicy asserts that the policies of crdify apply.
func TestPolicy(t *testing.T) {
	warn := config.Config{Validations: []config.ValidationConfig{{Name: rules.Rules, Enforcement: config.EnforcementPolicyWarn}}}
	results := run(t, warn, crd(t, exclusive), crd(t, required))
	if results.HasFailures() {
		t.Error("fails")
	}
	if !slices.ContainsFunc(results.CRDValidation, func(r validations.ComparisonResult) bool { return len(r.Warnings) == 1 }) {
		t.Errorf("no warning: %v", results.CRDValidation)
	}
}
