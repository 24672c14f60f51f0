package kubeconform_test

import (
	"bytes"
	"encoding/json"
	"io"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yannh/kubeconform/pkg/resource"
	"github.com/yannh/kubeconform/pkg/validator"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unioncel/unioncel/internal/cli"
	"github.com/unioncel/unioncel/internal/output/suite"
	"github.com/unioncel/unioncel/pkg/validate"
)

// TestExamples compares kubeconform with the API server's code, for the creation of objects in all
// states of each union of the example CRDs with up to two members set: both accept the same objects,
// and report errors for the same fields. Without a discriminator, the field is the union object.
func TestExamples(t *testing.T) {
	for _, pattern := range []string{"../../examples/*.yaml", "../../testdata/crds/*.yaml"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range names {
			t.Run(strings.TrimSuffix(filepath.Base(name), ".yaml"), func(t *testing.T) { compare(t, name) })
		}
	}
}

func compare(t *testing.T, name string) {
	conform := conformer(t, name)
	installed, l, err := cli.Install(t.Context(), name)
	if err != nil || l.HasErrors() {
		t.Fatal(l, err)
	}
	var accepted, rejected int
	for _, in := range installed {
		plan, l := in.CRD.Plan()
		if plan == nil || l.HasErrors() {
			t.Skip("no unions", l)
		}
		requests, err := suite.Requests(t.Context(), *plan, in.CustomResourceDefinition)
		if err != nil {
			t.Fatal(err)
		}
		server := validate.New(in.CustomResourceDefinition)
		for _, r := range requests {
			if r.Old != nil || r.Status {
				continue
			}
			answer, err := server.Create(t.Context(), r.Object)
			if err != nil {
				t.Fatal(err)
			}
			result := conform(t, r.Object)
			object, _ := json.Marshal(r.Object) // JSON data can always be marshaled
			switch {
			case answer.Refused == nil && result.Status == validator.Valid:
				accepted++
			case answer.Refused == nil || result.Status != validator.Invalid:
				t.Errorf("%s\nthe server: %v\nkubeconform: %v", object, answer.Refused, result.Err)
			default:
				rejected++
				if want, got := fieldsOf(answer.Errors), fieldsIn(result.Err.Error()); !slices.Equal(got, want) {
					t.Errorf("%s\nthe server: %v\nkubeconform: %v\nfields %q and %q", object, answer.Refused, result.Err, want, got)
				}
			}
		}
	}
	t.Logf("%d accepted, %d rejected", accepted, rejected)
	if accepted == 0 || rejected == 0 {
		t.Error("too few objects")
	}
}

// fieldsOf returns the fields of the server's errors as JSON pointers, sorted.
func fieldsOf(l field.ErrorList) []string {
	var fields []string
	for _, e := range l {
		fields = append(fields, "/"+strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(e.Field))
	}
	return unique(fields)
}

var (
	excluded = regexp.MustCompile(`at '([^']*)': got \w+, want null`)
	missing  = regexp.MustCompile(`at '([^']*)': missing propert(?:y|ies) ((?:'[^']*'(?:, )?)+)`)
	choice   = regexp.MustCompile(`at '([^']*)': 'oneOf' failed`)
)

// fieldsIn returns the fields that a message of kubeconform says are excluded or missing, or have no
// valid branch of a oneOf, sorted.
func fieldsIn(message string) []string {
	var fields []string
	if m := choice.FindStringSubmatch(message); m != nil {
		return []string{m[1]} // the branches follow
	}
	for _, m := range excluded.FindAllStringSubmatch(message, -1) {
		fields = append(fields, m[1])
	}
	for _, m := range missing.FindAllStringSubmatch(message, -1) {
		for _, name := range strings.Split(m[2], ", ") {
			fields = append(fields, m[1]+"/"+strings.Trim(name, "'"))
		}
	}
	return unique(fields)
}

func unique(l []string) []string {
	slices.Sort(l)
	return slices.Compact(l)
}

// conformer writes the schemas of a CRD, and returns kubeconform with these.
func conformer(t *testing.T, crd string) func(t *testing.T, object map[string]any) validator.Result {
	t.Helper()
	dir := t.TempDir()
	var errs bytes.Buffer
	if code := cli.Main([]string{"unioncel", "schema", "-o", dir, crd}, cli.Streams{Out: io.Discard, Err: &errs}); code != 0 {
		t.Fatal(errs.String())
	}
	v, err := validator.New([]string{dir + "/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json"}, validator.Opts{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, object map[string]any) validator.Result {
		t.Helper()
		data, err := json.Marshal(object)
		if err != nil {
			t.Fatal(err)
		}
		return v.ValidateResource(resource.Resource{Path: "object.json", Bytes: data})
	}
}
