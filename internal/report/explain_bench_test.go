package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/rules"
)

// BenchmarkOf measures unions of growing size. Each member adds two conditions that can be
// violated.
func BenchmarkOf(b *testing.B) {
	for _, encoding := range []rules.Encoding{rules.Fine, rules.Compact} {
		for _, n := range []int{40, 200} {
			b.Run(fmt.Sprintf("%v/%d", encoding, n), func(b *testing.B) {
				in := planOf(b, crd(wide(n)), encoding)
				b.ReportAllocs()
				for b.Loop() {
					if _, err := report.Explain(in); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// wide returns a discriminated union of n members.
func wide(n int) string {
	var values, properties strings.Builder
	for i := range n {
		fmt.Fprintf(&values, "m%d: M%d, ", i, i)
		fmt.Fprintf(&properties, "    m%d: {type: object}\n", i)
	}
	return fmt.Sprintf(`
spec:
  type: object
  x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {%s}}]
  properties:
    type: {type: string}
%s`, values.String(), properties.String())
}
