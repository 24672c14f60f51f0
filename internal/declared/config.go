package declared

import (
	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// ConfigKind is the kind of a configuration. Other ones are rejected.
const ConfigKind = "Config"

// Config are the options of a project. The zero value is the default.
type Config struct {
	// Go are patterns of Go packages with markers, relative to the file's directory.
	Go []string
	// Kubebuilder also declares the unions of kubebuilder's own markers.
	Kubebuilder bool
	// SkipInvalid are Go types, as PACKAGE.Type, whose unions are left out while they have errors.
	// PACKAGE is a path or the end of a path.
	SkipInvalid []string
	// Unions are UnionSet files, with slashes, relative to the file's directory.
	Unions []string
	// KubeVersion, Encoding and Origins have the same meaning as in [compile.Options].
	KubeVersion string
	Encoding    compile.Encoding
	Origins     compile.Origins
	// NoAnnotation omits the annotation.
	NoAnnotation bool
	// RequireUnions makes inputs without unions an error.
	RequireUnions bool
	// Strict turns problems that a CRD has regardless of its unions into errors.
	Strict bool
	// Lint selects the codes and severities that lint reports.
	Lint report.LintConfig
}

// ParseConfig reads a configuration. name is the file's name in diagnostics. The list is sorted; if it
// has errors, the result is nil. Diagnostics do not quote files that do not mention unioncel.
func ParseConfig(name string, src []byte) (*Config, diag.List) {
	r := &yamltext.ConfigReader{File: name, Code: codes.BadConfig}
	c := readConfig(r, src)
	if r.Diags.HasErrors() {
		return nil, r.Diags.Sort()
	}
	return c, nil
}
