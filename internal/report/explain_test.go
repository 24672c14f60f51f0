package report_test

import (
	"flag"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/testmanifest"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

var update = flag.Bool("update", false, "write the golden files anew")

// crd returns a CRD with one version and the given root properties.
func crd(properties string) string { return testcrd.New("Thing", properties) }

// planner plans the unions of a CRD.
type planner struct {
	t         testing.TB
	crd       *apiextensionsv1.CustomResourceDefinition
	estimator server.Estimator
	encoding  rules.Encoding
}

// planOf plans every union of a CRD in one encoding. It adds removal guards to all ancestors up to
// the next list or map. Each rule adds as many bytes as its text has.
func planOf(t testing.TB, src string, encoding rules.Encoding) crdpatch.Explanation {
	t.Helper()
	m, err := testmanifest.Parse("crd.yaml", []byte(src))
	if err != nil {
		t.Fatal(err)
	}
	declared, diags := compile.New(m, compile.Options{}).Unions()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var internal apiextensions.CustomResourceDefinition
	if err := apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(declared.CRD, &internal, nil); err != nil {
		t.Fatal(err)
	}
	p := planner{t, declared.CRD, server.NewEstimator(&internal, nil), encoding}
	in := crdpatch.Explanation{Plan: compile.Plan{Name: declared.Name}}
	added := map[string]uint64{}
	for _, o := range declared.Objects {
		for i, u := range o.Unions {
			plan := p.union(o.Place, u)
			plan.Pos = o.Declarations[i].Pos
			var bytes []int
			for _, r := range plan.Rules {
				bytes = append(bytes, len(r.Rule.Rule))
				in.Growth += len(r.Rule.Rule)
				added[o.Name] += r.Cost.Total()
			}
			in.Bytes = append(in.Bytes, bytes)
			in.Unions = append(in.Unions, plan)
		}
	}
	for i, v := range declared.CRD.Spec.Versions {
		before, err := p.estimator.Written(i)
		if err != nil {
			t.Fatal(err)
		}
		in.Versions = append(in.Versions, compile.VersionPlan{Name: v.Name, Before: before, Added: added[v.Name]})
	}
	return in
}

func (p planner) union(at schemapath.Place, u *union.Union) compile.UnionPlan {
	plan := compile.UnionPlan{Place: at, Union: u, CRD: p.crd, Encoding: p.encoding.String(), Why: "the test asks for it"}
	plan.Rules = append(plan.Rules, p.rules(at, compile.Static, rules.Static(u, p.encoding))...)
	plan.Rules = append(plan.Rules, p.rules(at, compile.Transition, rules.Transition(u, rules.Comparison{}))...)
	for i, step := range slices.Backward(at.Path) {
		if _, ok := step.Property(); !ok {
			break
		}
		parent := schemapath.Place{Version: at.Version, Name: at.Name, Path: at.Path[:i]}
		links := at.Path[i:].Properties()
		if r, ok := rules.RemovalGuard(u, links); ok {
			plan.Rules = append(plan.Rules, p.rules(parent, compile.Guard, []rules.Rule{r})...)
		}
	}
	return plan
}

func (p planner) rules(at schemapath.Place, kind compile.RuleKind, l []rules.Rule) []compile.RulePlan {
	p.t.Helper()
	if len(l) == 0 {
		return nil
	}
	var written []apiextensionsv1.ValidationRule
	for _, r := range l {
		reason := apiextensionsv1.FieldValueErrorReason(r.Reason)
		written = append(written, apiextensionsv1.ValidationRule{
			Rule: r.Rule, Message: r.Message, MessageExpression: r.MessageExpression,
			Reason: &reason, FieldPath: r.FieldPath, OptionalOldSelf: &r.OptionalOldSelf,
		})
	}
	costs, err := p.estimator.Rules(at.Version, at.Path, written)
	if err != nil {
		p.t.Fatal(err)
	}
	var plans []compile.RulePlan
	for i, r := range l {
		plans = append(plans, compile.RulePlan{Rule: r, Place: at, Kind: kind, Cost: costs[i]})
	}
	return plans
}

// explained returns the explanation of a CRD with the given properties.
func explained(t testing.TB, properties string, encoding rules.Encoding) report.Explanation {
	t.Helper()
	got, err := report.Explain(planOf(t, crd(properties), encoding))
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// golden compares a text with testdata/name.
func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-update writes it anew): %s", file, diff)
	}
}
