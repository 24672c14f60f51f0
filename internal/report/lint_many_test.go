package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/report"
)

// unionsOf returns a CRD with n unions on one object.
func unionsOf(n int) []byte {
	var properties, unions strings.Builder
	for i := range n {
		fmt.Fprintf(&properties, "  a%d: {type: object}\n  b%d: {type: object}\n", i, i)
		fmt.Fprintf(&unions, "- members: [a%d, b%d]\n", i, i)
	}
	return []byte(crdOf("routes", version{Name: "v1", Spec: "type: object\nproperties:\n" + properties.String() + "x-kubernetes-unions:\n" + unions.String()}))
}

// TestManyUnions asserts that the time of linting does not grow with the square of the number of
// unions on an object: their costs are estimated together. It measures memory, because time is
// unreliable.
func TestManyUnions(t *testing.T) {
	taken := func(n int) float64 {
		src := unionsOf(n)
		return testing.AllocsPerRun(1, func() {
			if l := report.Lint(crdpatch.Open("crd.yaml", src), crdpatch.Options{}); l.HasErrors() {
				t.Error(l)
			}
		})
	}
	few, many := taken(20), taken(120)
	if many > 6.5*few {
		t.Errorf("6 times the unions take %.1f times the memory", many/few)
	}
}

func BenchmarkFile(b *testing.B) {
	for _, n := range []int{1, 50, 200} {
		b.Run(fmt.Sprintf("unions=%d", n), func(b *testing.B) {
			src := unionsOf(n)
			b.ReportAllocs()
			for b.Loop() {
				report.Lint(crdpatch.Open("crd.yaml", src), crdpatch.Options{})
			}
		})
	}
}
