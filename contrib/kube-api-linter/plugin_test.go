package kubeapilinter_test

import (
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/go/analysis"

	kubeapilinter "github.com/unioncel/unioncel/contrib/kube-api-linter"
)

// TestPlugin asserts that settings of golangci-lint enable and configure the analyzer.
func TestPlugin(t *testing.T) {
	for _, test := range []struct {
		name, crds, want string
	}{
		{"relative", "config/crd", ""},
		{"parent", "../deploy/crds", ""},
		{"absolute", "/config/crd", "lintersConfig.unions.crds: Invalid value"},
	} {
		t.Run(test.name, func(t *testing.T) {
			plugin, err := kubeapilinter.New(map[string]any{
				"lintersConfig": map[string]any{"unions": map[string]any{"crds": test.crds}},
			})
			if err != nil {
				t.Fatal(err)
			}
			analyzers, err := plugin.BuildAnalyzers()
			if test.want != "" {
				if err == nil || !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %s", err, test.want)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := analysis.Validate(analyzers); err != nil {
				t.Error(err)
			}
			if !slices.ContainsFunc(analyzers, func(a *analysis.Analyzer) bool { return a.Name == "unions" }) || len(analyzers) < 10 {
				t.Errorf("got %v", analyzers)
			}
		})
	}
}
