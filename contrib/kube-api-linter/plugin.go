// Package kubeapilinter is kube-api-linter with the analyzer unions, as a module plugin of
// golangci-lint.
package kubeapilinter

import (
	pluginbase "sigs.k8s.io/kube-api-linter/pkg/plugin/base"
	_ "sigs.k8s.io/kube-api-linter/pkg/registration" // its own analyzers

	_ "github.com/unioncel/unioncel/contrib/kube-api-linter/unions"
)

// New returns the plugin, which is registered as kubeapilinter.
var New = pluginbase.New
