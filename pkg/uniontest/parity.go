package uniontest

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/crd"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// maxMismatches bounds the number of mismatches that Parity prints.
const maxMismatches = 5

// Parity compares a validating webhook with the rules of a CRD, and fails for requests that only one
// of them rejects. name is a file with the CRD, which declares unions.
//
// webhook is the function of the webhook: it returns an error to reject a request. old is nil for a
// creation. Objects have been pruned and defaulted; the function may modify them.
//
// Parity sends objects in all states of each union with up to two members set, legal or not, the
// updates of a legal object to each of them, and the updates between legal objects. They are as small
// as possible, and valid apart from the rules. Unions in a status that is a subresource are omitted.
func Parity(t *testing.T, name string, webhook func(old, new *unstructured.Unstructured) error) {
	t.Helper()
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f := crd.Open(name, src, crd.Options{})
	plans, wrong := f.Plans()
	crds, more := f.CRDs()
	if report(t, append(wrong, more...)); t.Failed() {
		return
	}
	compared, mismatches := 0, 0
	for _, plan := range plans {
		i := slices.IndexFunc(crds, func(crd *apiextensionsv1.CustomResourceDefinition) bool { return crd.Name == plan.Name })
		rules, schemas := server.NewKind(crds[i]), server.NewKind(withoutRules(crds[i]))
		requests, err := product.SuiteRequests(t.Context(), *plan, crds[i])
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range requests {
			if a, err := r.Answer(t.Context(), schemas); err != nil || a.Refused != nil {
				continue // a webhook does not repeat the schema
			}
			answer, err := r.Answer(t.Context(), rules)
			if err != nil {
				t.Fatal(err)
			}
			compared++
			old, object, err := decoded(rules, r)
			if err != nil {
				t.Fatal(err)
			}
			said := webhook(old, object)
			if (answer.Refused == nil) == (said == nil) {
				continue
			}
			if mismatches++; mismatches <= maxMismatches {
				t.Error(mismatch(r, answer, said))
			}
		}
	}
	if mismatches > maxMismatches {
		t.Errorf("%d more mismatches", mismatches-maxMismatches)
	}
	if t.Logf("%d requests compared", compared); compared == 0 {
		t.Errorf("%s declares no unions; unioncel infer finds the unions of hand-written rules", name)
	}
}

// withoutRules returns a copy of a CRD without validation rules.
func withoutRules(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	for _, v := range crd.Spec.Versions {
		root := v.Schema.OpenAPIV3Schema
		schemapath.Walk(root, func(p schemapath.Path, s *apiextensionsv1.JSONSchemaProps) bool {
			if len(s.XValidations) > 0 {
				p.Edit(root, func(s *apiextensionsv1.JSONSchemaProps) { s.XValidations = nil })
			}
			return true
		})
	}
	return crd
}

// decoded returns the objects of a request as an admission webhook gets them.
func decoded(k *server.Kind, r product.Test) (old, object *unstructured.Unstructured, err error) {
	read := func(value map[string]any) *unstructured.Unstructured {
		if value == nil || err != nil {
			return nil
		}
		u := &unstructured.Unstructured{Object: value}
		value, err = k.Read(value, u.GroupVersionKind().Version)
		return &unstructured.Unstructured{Object: runtime.DeepCopyJSON(value)}
	}
	return read(r.Old), read(r.Object), err
}

// mismatch describes a request that only one side rejects.
func mismatch(r product.Test, a server.Answer, webhook error) string {
	var b strings.Builder
	if a.Refused != nil {
		fmt.Fprintf(&b, "the CRD rejects a request that the webhook accepts: %v\n", a.Refused)
	} else {
		fmt.Fprintf(&b, "the webhook rejects a request that the CRD accepts: %v\n", webhook)
	}
	write := func(name string, object map[string]any) {
		data, err := yaml.Marshal(object)
		if err != nil {
			data = []byte(err.Error())
		}
		fmt.Fprintf(&b, "%s:\n  %s\n", name, strings.ReplaceAll(strings.TrimSpace(string(data)), "\n", "\n  "))
	}
	if r.Old != nil {
		write("old object", r.Old)
	}
	write("object", r.Object)
	return strings.TrimSpace(b.String())
}
