package project

import (
	"github.com/unioncel/unioncel/internal/report/lint"
	"github.com/unioncel/unioncel/internal/yaml/yamlconfig"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// The apiVersion and kind of a configuration. No others are read.
const (
	APIVersion = yamlconfig.APIVersion
	Kind       = "Config"
)

// Config are the options of a project. The zero value is the default.
type Config struct {
	// Go are patterns of Go packages with markers, relative to the file's directory.
	Go []string
	// Kubebuilder declares the unions of kubebuilder's own markers, too.
	Kubebuilder bool
	// SkipInvalid are Go types whose unions are left out while they have errors, as PACKAGE.Type,
	// where PACKAGE is a path or its end.
	SkipInvalid []string
	// Unions are UnionSet files, with slashes, relative to the file's directory.
	Unions []string
	// KubeVersion and Encoding have the meaning that they have in [compile.Options].
	KubeVersion string
	Encoding    compile.Encoding
	// Describe adds sentences about unions to descriptions.
	Describe bool
	// NoAnnotation leaves the annotation out.
	NoAnnotation bool
	// RequireUnions makes it an error if the inputs have no unions.
	RequireUnions bool
	// Strict turns the problems that a CRD has without its unions into errors.
	Strict bool
	// Lint selects the codes and severities that lint reports.
	Lint lint.Config
}

// Parse reads a configuration. name is the file's name in diagnostics. The result is nil when the
// list, which is sorted, has errors. Diagnostics do not quote a file that does not mention
// unioncel.
func Parse(name string, src []byte) (*Config, diag.List) {
	r := &yamlconfig.Reader{File: name, Code: diag.BadConfig}
	c := read(r, src)
	if r.Diags.HasErrors() {
		return nil, r.Diags.Sort()
	}
	return c, nil
}
