package verify_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/union"
)

// BenchmarkObject proves compiled unions of growing size.
func BenchmarkObject(b *testing.B) {
	for _, kind := range []struct{ name, keys string }{
		{"discriminated", ""}, {"forbid", "discriminatorChange: Forbid"}, {"ratchet", "ratchet: true"}, {"compact", ""}, {"plain", ""},
	} {
		for _, n := range []int{8, 30, 100, 300} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, n), func(b *testing.B) {
				encoding := compile.Fine
				if kind.name == "compact" {
					encoding = compile.Compact
				}
				crd, unions := large(b, n, kind.name != "plain", kind.keys, encoding)
				b.ReportAllocs()
				var p verify.Proof
				for b.Loop() {
					l, err := verify.Object(context.Background(), crd, 0, pathOf([]string{"properties", "spec"}), unions)
					if err != nil {
						b.Fatal(err)
					}
					if p = l[0]; !p.Proved() {
						b.Fatal(summary(p))
					}
				}
			})
		}
	}
}

// large returns a compiled union of n members.
func large(t testing.TB, n int, discriminated bool, keys string, encoding compile.Encoding) (*apiextensionsv1.CustomResourceDefinition, []*union.Union) {
	t.Helper()
	schema := "type: object\nproperties:\n"
	var fields, members, values []string
	for i := range n {
		name := fmt.Sprintf("member%02d", i)
		schema += fmt.Sprintf("  %s: {type: object, required: [port], properties: {port: {type: integer, minimum: 1}, host: {type: string}}}\n", name)
		fields = append(fields, fmt.Sprintf("%s: Value%02d", name, i))
		members = append(members, name)
		values = append(values, fmt.Sprintf("Value%02d", i))
	}
	declaration := "members: [" + strings.Join(members, ", ") + "]"
	if discriminated {
		schema += "  type: {type: string, enum: [" + strings.Join(values, ", ") + "]}\nrequired: [type]\n"
		declaration = "discriminator: type, fields-to-discriminateBy: {" + strings.Join(fields, ", ") + "}"
	}
	if keys != "" {
		declaration += ", " + keys
	}
	return compiled(t, schema, "[{"+declaration+"}]", encoding)
}
