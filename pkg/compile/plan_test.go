package compile_test

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/testmanifest"
	"github.com/unioncel/unioncel/pkg/compile"
)

// Each rule of a plan has the cost that the estimator returns for it alone, and the sums of
// the version agree.
func TestPlanCosts(t *testing.T) {
	m, err := testmanifest.Parse("crd.yaml", []byte(crd(version("v1", true, `
spec:
  type: object
  properties:
    target:
      type: object
      properties:
        type: {type: string, maxLength: 100}
        kind: {type: string, enum: [C]}
        a: {type: object}
        b: {type: object}
        c: {type: object}
        d: {type: object}
        e: {type: object}
        f: {type: object}
      x-kubernetes-validations:
      - rule: "!has(self.f) || !has(self.type) || self.type != 'X'"
        message: by hand
      x-kubernetes-unions:
      - discriminator: type
        fields-to-discriminateBy: {a: A, b: B}
        discriminatorChange: Forbid
      - discriminator: kind
        fields-to-discriminateBy: {c: C}
        discriminatorChange: Forbid
      - members: [d, e, f]
        discriminatorChange: Clear
    list:
      type: array
      maxItems: 7
      items:
        type: object
        properties:
          a: {type: string}
          b: {type: string}
        x-kubernetes-unions:
        - members: [a, b]
          cardinality: ExactlyOne
`))))

	if err != nil {
		t.Fatal(err)
	}
	plan, diags := compile.New(m, compile.Options{}).Plan()
	declared, _ := compile.New(m, compile.Options{}).Unions()
	if plan == nil || declared == nil {
		t.Fatal(diags)
	}
	internal := &apiextensions.CustomResourceDefinition{}
	apiextensionsv1.SetObjectDefaults_CustomResourceDefinition(declared.CRD)
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(declared.CRD, internal, nil); err != nil {
		t.Fatal(err)
	}
	e := server.NewEstimator(internal, nil)
	kinds, seen, sum := map[compile.RuleKind]int{}, map[server.Cost]bool{}, uint64(0)
	for _, u := range plan.Unions {
		for _, r := range u.Rules {
			alone, err := e.Rules(r.Place.Version, r.Place.Path, []apiextensionsv1.ValidationRule{r.Validation()})
			if err != nil {
				t.Fatal(err)
			}
			if r.Cost != alone[0] {
				t.Errorf("%s: costs %+v in the plan, %+v alone", r.Rule.Rule, r.Cost, alone[0])
			}
			kinds[r.Kind]++
			seen[r.Cost] = true
			sum = server.AddCosts(sum, r.Cost.Total())
		}
	}
	if kinds[compile.Static] < 5 || kinds[compile.Transition] < 3 || kinds[compile.Guard] != 4 || len(seen) < 5 {
		t.Errorf("%v rules of %d costs show too little", kinds, len(seen))
	}
	if plan.Versions[0].Added != sum || plan.Versions[0].Before == 0 {
		t.Errorf("got %+v, the rules cost %d", plan.Versions[0], sum)
	}
}
