package report_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/rules"
)

// validationOf returns the API server's complete validation of a CRD with the rules of a plan.
func validationOf(t *testing.T, in crdpatch.Explanation) func(old, new map[string]any) []string {
	t.Helper()
	v1 := in.Unions[0].CRD.DeepCopy()
	for _, u := range in.Unions {
		for _, r := range u.Rules {
			if !r.Present {
				r.Place.Path.Edit(v1.Spec.Versions[r.Place.Version].Schema.OpenAPIV3Schema, func(s *apiextensionsv1.JSONSchemaProps) {
					s.XValidations = append(s.XValidations, r.Validation())
				})
			}
		}
	}
	var schema apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(v1.Spec.Versions[0].Schema.OpenAPIV3Schema, &schema, nil); err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(&schema)
	if err != nil {
		t.Fatal(err)
	}
	validator, _, err := validation.NewSchemaValidator(&schema)
	if err != nil {
		t.Fatal(err)
	}
	cel := schemacel.NewValidator(structural, true, celconfig.PerCallLimit)
	return func(old, new map[string]any) []string {
		errs := validation.ValidateCustomResource(nil, new, validator)
		if len(errs) == 0 {
			var before any
			if old != nil {
				before = old
			}
			errs, _ = cel.Validate(t.Context(), nil, structural, new, before, math.MaxInt64)
		}
		var l []string
		for _, e := range errs {
			if line := strings.TrimPrefix(e.Error(), "<nil>: "); !slices.Contains(l, line) {
				l = append(l, line)
			}
		}
		slices.Sort(l)
		return l
	}
}

// TestExamples asserts that the API server rejects each example, a whole resource, with exactly the
// errors of the explanation. It must accept the old object of an update.
func TestExamples(t *testing.T) {
	sources := []string{demanding}
	for _, d := range declarations {
		sources = append(sources, thing(d))
	}
	for _, src := range sources {
		in := planOf(t, crd(src), rules.Fine)
		asked := validationOf(t, in)
		got, err := report.Explain(in)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range got.Unions[0].Errors {
			want := slices.DeleteFunc(slices.Clone(s.Errors), func(line string) bool { return line == notChecked })
			slices.Sort(want)
			if d := cmp.Diff(want, asked(s.OldObject, s.NewObject)); d != "" {
				t.Errorf("%s (-predicted +answered): %s\n%v", s.Situation, d, s.NewObject)
			}
			if s.OldObject == nil {
				continue
			}
			if l := asked(nil, s.OldObject); len(l) > 0 {
				t.Errorf("%s: what is stored has %q", s.Situation, l)
			}
		}
	}
}

// demanding is a union whose members, neighbours and ancestors have many constraints. Hand-written
// rules read other fields as well.
const demanding = `
spec:
  type: object
  required: [owner, targets]
  x-kubernetes-validations:
  - {rule: "self.owner != 'nobody' || size(self.targets) > 1"}
  properties:
    owner: {type: string, pattern: "^[a-z]+$", minLength: 3}
    targets:
      type: array
      minItems: 2
      x-kubernetes-list-type: map
      x-kubernetes-list-map-keys: [name]
      items:
        type: object
        required: [name, type, weight]
        x-kubernetes-unions:
        - {discriminator: type, fields-to-discriminateBy: {service: Service, url: URL, file: File}, allowedChanges: {Service: URL}}
        x-kubernetes-validations:
        - {rule: "self.type != 'File' || self.weight > 10", message: files have a weight above 10}
        - {rule: "!has(self.url) || !has(self.file)", message: not both}
        properties:
          name: {type: string, minLength: 4}
          weight: {type: integer, minimum: 5}
          type: {type: string, enum: [Service, URL, File]}
          service:
            type: object
            required: [port]
            properties: {port: {type: integer, minimum: 1024}}
          url: {type: string, format: uri, pattern: "^https://"}
          file:
            type: object
            minProperties: 1
            additionalProperties: {type: string, minLength: 2}
`

// TestWithoutExample has a member without a known valid value. The text must mention its omission.
func TestWithoutExample(t *testing.T) {
	got := explained(t, `
spec:
  type: object
  x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}]
  properties: {type: {type: string}, a: {type: object}, b: {type: string, minLength: 3, maxLength: 2}}
`, rules.Fine)
	all := reads(got)
	if all["type unset, a set"] == nil || all["type 'B', no member set"] == nil || all["type unset, b set"] != nil {
		t.Errorf("%q", all)
	}
	if text := strings.Join(strings.Fields(textOf(t, got)), " "); !strings.Contains(text, " Nothing is shown that sets b, of which no valid value was found. ") {
		t.Error(text)
	}
}
