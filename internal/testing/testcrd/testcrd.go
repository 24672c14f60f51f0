// Package testcrd provides the CRDs of the top-level directory testdata to tests.
package testcrd

import (
	"fmt"
	"strings"

	"github.com/unioncel/unioncel/testdata"
)

// Read returns testdata/crds/NAME.yaml. It panics if there is no such file.
func Read(name string) string {
	text, err := testdata.CRDs.ReadFile("crds/" + name + ".yaml")
	if err != nil {
		panic(err)
	}
	return string(text)
}

// Head returns testdata/crds/thing.yaml up to its versions, renamed to another kind: Head("Widget")
// defines widgets.example.com.
func Head(kind string) string {
	head, _, _ := strings.Cut(Read("thing"), "  - name: v1\n")
	return strings.NewReplacer("Thing", kind, "thing", strings.ToLower(kind)).Replace(head)
}

// New returns a CRD with the names of Head(kind) and one version, v1, whose root schema has the
// given properties (YAML).
func New(kind, properties string) string {
	_, version, _ := strings.Cut(Read("thing"), "  versions:\n")
	version, _, _ = strings.Cut(version, "          spec:\n")
	var b strings.Builder
	b.WriteString(Head(kind) + version)
	for line := range strings.Lines(strings.Trim(properties, "\n") + "\n") {
		b.WriteString("          " + line)
	}
	return b.String()
}

// A Version is a version of a CRD. Spec is the schema of spec, in YAML.
type Version struct {
	Name, Spec string
	Unserved   bool
}

// Versions returns a CRD with the names of Head(kind) and the given versions. The last one is
// stored.
func Versions(kind string, versions ...Version) string {
	var b strings.Builder
	b.WriteString(Head(kind))
	for i, v := range versions {
		fmt.Fprintf(&b, `  - name: %s
    served: %t
    storage: %t
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
`, v.Name, !v.Unserved, i == len(versions)-1)
		for line := range strings.Lines(strings.Trim(v.Spec, "\n") + "\n") {
			b.WriteString("            " + line)
		}
	}
	return b.String()
}
