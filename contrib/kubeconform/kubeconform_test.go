package kubeconform_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yannh/kubeconform/pkg/resource"
	"github.com/yannh/kubeconform/pkg/validator"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unioncel/unioncel/internal/cli"
	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/validate"
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
		if l.HasErrors() {
			t.Fatal(l)
		}
		if plan == nil {
			t.Skip("the CRD declares no unions")
		}
		requests, err := product.SuiteRequests(t.Context(), *plan, in.CustomResourceDefinition)
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

// TestReadme runs the commands of the README.
func TestReadme(t *testing.T) {
	readme, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?s)```\\w+\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	if len(blocks) != 4 {
		t.Fatal("the README does not have a CRD, manifests, commands and their output")
	}
	dir := t.TempDir()
	for i, name := range []string{"crd.yaml", "backends.yaml"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(blocks[i][1]), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	program, err := exec.Command("go", "tool", "-n", "kubeconform").Output()
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	unioncel, kubeconform, _ := strings.Cut(blocks[2][1], "\n")
	if code := cli.Main(strings.Fields(unioncel), cli.Streams{Out: io.Discard, Err: t.Output()}); code != 0 {
		t.Fatal(unioncel)
	}
	kubeconform = strings.NewReplacer("kubeconform", strings.TrimSpace(string(program)), "-schema-location default", "").Replace(kubeconform) // the default is on the network
	out, err := exec.Command("sh", "-c", kubeconform).Output()
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 1 {
		t.Errorf("%s: %v", kubeconform, err)
	}
	got := strings.ReplaceAll(string(out), "file://"+dir, "file:///src")
	if !slices.Equal(slices.Sorted(strings.Lines(got)), slices.Sorted(strings.Lines(blocks[3][1]))) { // kubeconform does not sort
		t.Errorf("kubeconform prints\n%s", got)
	}
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
