package handwritten_test

import (
	"context"
	"fmt"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"

	"github.com/unioncel/unioncel/internal/handwritten"
)

// BenchmarkCRD compares CRD with the API server's validation, for a CRD of 1,100 objects: without
// rules, with unrelated rules, and with a union in every tenth object.
func BenchmarkCRD(b *testing.B) {
	for _, c := range []struct {
		name  string
		rules func(i int) []string
		found int
	}{
		{"no rules", func(int) []string { return nil }, 0},
		{"other rules", func(i int) []string {
			return []string{fmt.Sprintf("!has(self.m%d) || has(self.d)", i%4), "self.d.size() < 9"}
		}, 0},
		{"unions", func(i int) []string {
			if i%10 != 0 {
				return nil
			}
			return []string{"has(self.d) && self.d == 'A' ? has(self.m0) : !has(self.m0)", "has(self.d) && self.d == 'B' ? has(self.m1) : !has(self.m1)"}
		}, 110},
	} {
		crd := large(c.rules)
		b.Run(c.name+"/infer", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				found, _, err := handwritten.Infer(context.Background(), crd)
				if err != nil || len(found) != c.found {
					b.Fatalf("found %d, %v", len(found), err)
				}
			}
		})
		b.Run(c.name+"/validate", func(b *testing.B) {
			b.ReportAllocs()
			in := &apiextensions.CustomResourceDefinition{}
			if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(crd, in, nil); err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				validation.ValidateCustomResourceDefinition(context.Background(), in)
			}
		})
	}
}

// large returns a CRD whose spec has 100 objects of 10 objects each.
func large(rules func(i int) []string) *apiextensionsv1.CustomResourceDefinition {
	n := 0
	object := func() apiextensionsv1.JSONSchemaProps {
		s := with(members(4), rules(n)...)
		n++
		return s
	}
	spec := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for i := range 100 {
		s := object()
		for j := range 10 {
			s.Properties[fmt.Sprintf("p%d", j)] = object()
		}
		spec.Properties[fmt.Sprintf("p%d", i)] = s
	}
	return crdOf(spec)
}
