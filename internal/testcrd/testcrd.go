// Package testcrd hands the CRDs of the top-level directory testdata to tests.
package testcrd

import (
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

// Head returns testdata/crds/thing.yaml up to its versions, with the names of another
// kind: Head("Widget") defines widgets.example.com.
func Head(kind string) string {
	head, _, _ := strings.Cut(Read("thing"), "  - name: v1\n")
	return strings.NewReplacer("Thing", kind, "thing", strings.ToLower(kind)).Replace(head)
}

// Of returns a CRD with the names that Head gives it, and one version, v1, whose root schema
// has these properties, in YAML.
func Of(kind, properties string) string {
	_, version, _ := strings.Cut(Read("thing"), "  versions:\n")
	version, _, _ = strings.Cut(version, "          spec:\n")
	var b strings.Builder
	b.WriteString(Head(kind) + version)
	for line := range strings.Lines(strings.Trim(properties, "\n") + "\n") {
		b.WriteString("          " + line)
	}
	return b.String()
}
