// Package kubeapilinter is kube-api-linter with the analyzer unions, as a module plugin of
// golangci-lint.
package kubeapilinter

import (
	// golangci-lint requires an old version of genproto, which has packages that are in other
	// modules now. An import keeps the requirement of a newer one.
	_ "google.golang.org/genproto/protobuf/field_mask"
	pluginbase "sigs.k8s.io/kube-api-linter/pkg/plugin/base"
	_ "sigs.k8s.io/kube-api-linter/pkg/registration" // the analyzers of kube-api-linter

	_ "github.com/unioncel/unioncel/contrib/kube-api-linter/unions"
)

// New returns the plugin, which is registered as kubeapilinter.
var New = pluginbase.New
