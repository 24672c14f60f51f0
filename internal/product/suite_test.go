package product_test

import (
	"os"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
)

// TestEveryRule asserts that a test fails if a compiled rule is missing.
func TestEveryRule(t *testing.T) {
	for name, manifest := range map[string]string{
		"backend":  testcrd.Read("backend"),
		"pipeline": testcrd.Read("pipeline"),
		"changes": testcrd.New("Thing", `
spec:
  type: object
  properties:
    source:
      type: object
      properties: {type: {type: string}, git: {type: object}, s3: {type: string, minLength: 2}, note: {type: string}}
      x-kubernetes-unions:
      - discriminator: type
        fields-to-discriminateBy: {git: Git, s3: [S3, Minio]}
        optionalMembers: {s3: [Minio]}
        unmappedValues: Forbid
        cardinality: ExactlyOne
        discriminatorChange: Forbid
    sink:
      type: object
      properties: {a: {type: string}, b: {type: string}}
      x-kubernetes-unions:
      - {members: [a, b], allowedChanges: {a: [b]}}
    site:
      type: object
      properties: {platform: {type: object, required: [type], properties: {type: {type: string}}}, aws: {type: object}, racks: {type: object, properties: {count: {type: integer}}}}
      x-kubernetes-unions:
      - {discriminator: platform.type, fields-to-discriminateBy: {aws: AWS, racks.count: Racks}, discriminatorChange: Forbid}
`),
	} {
		if testing.Short() && name == "pipeline" {
			continue // it has the most rules, and each of them is left out once
		}
		t.Run(name, func(t *testing.T) {
			plan, crd := compiled(t, manifest)
			tests, err := product.SuiteTests(t.Context(), plan, crd)
			if err != nil {
				t.Fatal(err)
			}
			if l := failing(t, tests, crd); len(l) > 0 {
				t.Fatalf("fails: %q", l)
			}
			for _, u := range plan.Unions {
				for _, r := range u.Rules {
					if !crd.Spec.Versions[r.Place.Version].Served || r.Rule.Rule == "has(self.type) && self.type != ''" && demanded(u) {
						continue
					}
					without := crd.DeepCopy()
					r.Place.Path.Edit(without.Spec.Versions[r.Place.Version].Schema.OpenAPIV3Schema, func(s *apiextensionsv1.JSONSchemaProps) {
						s.XValidations = slices.DeleteFunc(s.XValidations, func(v apiextensionsv1.ValidationRule) bool { return v.Rule == r.Rule.Rule })
					})
					if len(failing(t, tests, without)) == 0 {
						t.Errorf("%s: no test fails without %s", r.Place, r.Rule.Rule)
					}
				}
			}
			readAgain(t, crd, tests)
		})
	}
}

// TestStricter asserts that a test fails if an extra rule rejects updates that the union allows.
func TestStricter(t *testing.T) {
	plan, crd := compiled(t, testcrd.Versions("Thing", testcrd.Version{Name: "v1", Spec: "{type: object, properties: {a: {type: string}, b: {type: string}, c: {type: string}}, x-kubernetes-unions: [{members: [a, b, c]}]}"}))
	tests, err := product.SuiteTests(t.Context(), plan, crd)
	if err != nil {
		t.Fatal(err)
	}
	for _, rule := range []string{
		"!has(self.b) || !has(oldSelf.a)",
		"!has(self.a) || !has(oldSelf.b)",
		"!has(self.b) || !has(oldSelf.b)",
		"!has(oldSelf.c)",
		"!has(self.c) || has(oldSelf.a)",
	} {
		stricter := crd.DeepCopy()
		spec := stricter.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"]
		spec.XValidations = append(spec.XValidations, apiextensionsv1.ValidationRule{Rule: rule})
		stricter.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = spec
		if len(failing(t, tests, stricter)) == 0 {
			t.Errorf("no test fails with the rule %s", rule)
		}
	}
}

// readAgain writes tests to files, reads these files and runs the tests.
func readAgain(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition, tests []product.Test) {
	t.Helper()
	files, err := product.SuiteFiles(crd.Name, tests)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for name, src := range files {
		if !product.IsSuite(src) {
			continue
		}
		s, l := product.ReadSuite(name, src, func(path string) ([]byte, error) {
			if data, ok := files[path]; ok {
				return data, nil
			}
			return nil, os.ErrNotExist
		}, yamltext.Limits{})
		if len(l) > 0 {
			t.Fatal(l)
		}
		n += len(s.Tests)
		if l := failing(t, s.Tests, crd); len(l) > 0 || s.CRD != crd.Name {
			t.Errorf("%s of %s fails: %q", name, s.CRD, l)
		}
	}
	if n != 2*len(tests) {
		t.Errorf("%d tests were read, want each of %d twice", n, len(tests))
	}
}

// failing returns the messages of the tests that fail.
func failing(t *testing.T, tests []product.Test, crd *apiextensionsv1.CustomResourceDefinition) []string {
	t.Helper()
	k := server.NewKind(crd)
	var l []string
	for _, test := range tests {
		if d := test.Run(t.Context(), k); d != nil {
			l = append(l, d.Message)
		}
	}
	return l
}

// compiled returns the plan of a manifest, and the compiled CRD.
func compiled(t *testing.T, manifest string) (compile.Plan, *apiextensionsv1.CustomResourceDefinition) {
	t.Helper()
	f := crdpatch.Open("crd.yaml", []byte(manifest))
	plans, l := crdpatch.Ask(f, crdpatch.Options{}, (*crdpatch.CRD).Plan)
	out, more := crdpatch.Compile(f, crdpatch.Options{})
	if l.HasErrors() || more.HasErrors() || len(plans) != 1 {
		t.Fatal(l, more)
	}
	declared, l := crdpatch.Ask(crdpatch.Open("crd.yaml", out), crdpatch.Options{}, (*crdpatch.CRD).Declared)
	if l.HasErrors() {
		t.Fatal(l)
	}
	return *plans[0], declared[0].CRD
}

// demanded reports whether the schema requires the discriminator and restricts it with an enum.
func demanded(u compile.UnionPlan) bool {
	s := u.Place.Schema(u.CRD)
	return slices.Contains(s.Required, u.Union.Discriminator) && len(s.Properties[u.Union.Discriminator].Enum) > 0
}
