package kubeconform_test

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/yannh/kubeconform/pkg/resource"
	"github.com/yannh/kubeconform/pkg/validator"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/unioncel/unioncel/pkg/crd"
	"github.com/unioncel/unioncel/pkg/uniontest"
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
	src, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	file := crd.Open(name, src, crd.Options{})
	if plans, _ := file.Plans(); len(plans) == 0 {
		t.Skip("the CRD declares no unions")
	}
	var accepted, rejected int
	uniontest.Parity(t, name, func(old, new *unstructured.Unstructured) error {
		server := file.Validate(t.Context(), new, old)
		if old != nil {
			return server // kubeconform has no old objects
		}
		result := conform(t, new.Object)
		if result.Status == validator.Valid {
			accepted++
			return nil
		}
		rejected++
		if invalid := (*apierrors.StatusError)(nil); errors.As(server, &invalid) {
			if want, got := fieldsOf(invalid), fieldsIn(result.Err.Error()); !slices.Equal(got, want) {
				t.Errorf("%s\nthe server: %v\nkubeconform: %v\nfields %q and %q", new, server, result.Err, want, got)
			}
		}
		return result.Err
	})
	t.Logf("%d accepted, %d rejected", accepted, rejected)
	if accepted == 0 || rejected == 0 {
		t.Error("too few objects")
	}
}

// fieldsOf returns the fields of the server's errors as JSON pointers, sorted.
func fieldsOf(err *apierrors.StatusError) []string {
	var fields []string
	for _, cause := range err.ErrStatus.Details.Causes {
		fields = append(fields, "/"+strings.NewReplacer(".", "/", "[", "/", "]", "").Replace(cause.Field))
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
	kubeconform, unioncel := tool(t, "kubeconform"), tool(t, "unioncel")
	t.Chdir(dir)
	first, second, _ := strings.Cut(blocks[2][1], "\n")
	if out, err := exec.Command(unioncel, strings.Fields(first)[1:]...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %s", first, out)
	}
	kubeconform = strings.NewReplacer("kubeconform", kubeconform, "-schema-location default", "").Replace(second) // the default is on the network
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
	if out, err := exec.Command(tool(t, "unioncel"), "schema", "-o", dir, crd).CombinedOutput(); err != nil {
		t.Fatalf("%s", out)
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

// tool returns the path of a tool of the module.
func tool(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.Command("go", "tool", "-n", name).Output()
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(string(path))
}
