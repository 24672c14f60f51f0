package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/pkg/compile"
)

// caseFile is the second document of a file in testdata. The first document is the CRD.
type caseFile struct {
	// Encoding is the encoding of the static rules, by default the compiler's choice.
	Encoding compile.Encoding `json:"encoding,omitempty"`
	Steps    []step           `json:"steps"`
}

// step is a write of one object, and the server's answer. Objects are given without apiVersion,
// kind and name.
type step struct {
	Name string `json:"name"`

	// The content and the kind of write: exactly one of these is set.
	Create map[string]any `json:"create,omitempty"`
	Update map[string]any `json:"update,omitempty"`
	Status map[string]any `json:"status,omitempty"` // update of /status
	Apply  map[string]any `json:"apply,omitempty"`  // server-side apply

	// The existing object: at most one of these is set. From was created and Applied was applied
	// server-side under the compiled CRD, so both are valid. Stored was created before the CRD had
	// a schema, so it may be invalid.
	From    map[string]any `json:"from,omitempty"`
	Applied map[string]any `json:"applied,omitempty"`
	Stored  map[string]any `json:"stored,omitempty"`

	// Version is the version of the write, by default the first version.
	Version string `json:"version,omitempty"`

	// Errors are all errors of the server, as kubectl prints them. Without errors the server must
	// accept the object.
	Errors []string `json:"errors,omitempty"`
}

// TestCases runs the files of testdata. Their CRDs are applied server-side, and every write is a
// separate API call.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	t.Parallel()
	server := servertest.Shared(t)
	t.Run("all", func(t *testing.T) { // returns after all parallel tests
		for _, file := range files {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
				t.Parallel()
				runFile(t, server, file)
			})
		}
	})
}

func runFile(t *testing.T, server *servertest.Server, file string) {
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	manifest, steps, ok := bytes.Cut(source, []byte("\n---\n"))
	if !ok {
		t.Fatal("the file has no steps: want a CRD, ---, and steps")
	}
	var cases caseFile
	if err := yaml.UnmarshalStrict(steps, &cases); err != nil {
		t.Fatal(err)
	}
	crd := newTrial(t, server, manifest, crdpatch.Options{Encoding: cases.Encoding})
	stored := map[string]map[string]any{}
	for i, s := range cases.Steps {
		if s.Stored != nil {
			stored[fmt.Sprintf("step-%d", i)] = s.Stored
		}
	}
	crd.install(t, stored)
	for i, s := range cases.Steps {
		t.Run(s.Name, func(t *testing.T) { crd.run(t, fmt.Sprintf("step-%d", i), s) })
	}
}

// trial is a CRD that is compiled and installed.
type trial struct {
	server   *servertest.Server
	compiled []byte
	data     *apiextensionsv1.CustomResourceDefinition
}

// newTrial compiles a manifest.
func newTrial(t *testing.T, server *servertest.Server, manifest []byte, opts crdpatch.Options) *trial {
	t.Helper()
	compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", manifest), opts)
	if diags.HasErrors() {
		t.Fatalf("compile:\n%v", diags)
	}
	if bytes.Equal(compiled, manifest) {
		t.Fatal("compiling changed nothing")
	}
	crd := &apiextensionsv1.CustomResourceDefinition{}
	compiled, err := testcrd.Derived(compiled)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.UnmarshalStrict(compiled, crd); err != nil {
		t.Fatalf("the compiled CRD: %v\n%s", err, compiled)
	}
	return &trial{server, compiled, crd}
}

// install installs the CRD with strict validation by server-side apply, which rejects lists with
// duplicate keys. The stored objects, by name, are created before, while the CRD accepts any
// object.
func (c *trial) install(t *testing.T, stored map[string]map[string]any) {
	t.Helper()
	if len(stored) > 0 {
		lax := c.data.DeepCopy()
		anything := true
		for i := range lax.Spec.Versions {
			lax.Spec.Versions[i].Schema.OpenAPIV3Schema = &apiextensionsv1.JSONSchemaProps{Type: "object", XPreserveUnknownFields: &anything}
		}
		if err := c.server.Install(t.Context(), marshal(t, lax)); err != nil {
			t.Fatalf("install a CRD without schema: %v", err)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(stored)) {
		if err := c.create(t, name, "", stored[name]); err != nil {
			t.Fatalf("store %s: %v", name, err)
		}
	}
	if err := c.server.Apply(t.Context(), c.compiled); err != nil {
		t.Fatalf("server-side apply: %v\n%s", err, c.compiled)
	}
}

// create creates an object and then sets its status, which the server drops on creation.
func (c *trial) create(t *testing.T, name, version string, content map[string]any) error {
	t.Helper()
	object := c.object(t, name, version, content)
	_, err := c.server.Create(t.Context(), object)
	if err == nil && content["status"] != nil {
		_, err = c.server.UpdateStatus(t.Context(), object)
	}
	return err
}

// object returns an object of the CRD with the given content.
func (c *trial) object(t *testing.T, name, version string, content map[string]any) []byte {
	t.Helper()
	if version == "" {
		version = c.data.Spec.Versions[0].Name
	}
	metadata := map[string]any{}
	if given, ok := content["metadata"].(map[string]any); ok {
		metadata = maps.Clone(given)
	}
	metadata["name"] = name
	whole := maps.Clone(content)
	if whole == nil {
		whole = map[string]any{}
	}
	whole["apiVersion"] = c.data.Spec.Group + "/" + version
	whole["kind"] = c.data.Spec.Names.Kind
	whole["metadata"] = metadata
	return marshal(t, whole)
}

func (c *trial) run(t *testing.T, name string, s step) {
	if s.From != nil {
		if err := c.create(t, name, s.Version, s.From); err != nil {
			t.Fatalf("from is no valid object: %v", err)
		}
	}
	if s.Applied != nil {
		if err := c.server.Apply(t.Context(), c.object(t, name, s.Version, s.Applied)); err != nil {
			t.Fatalf("applied is no valid object: %v", err)
		}
	}
	var err error
	switch {
	case s.Create != nil:
		_, err = c.server.Create(t.Context(), c.object(t, name, s.Version, s.Create))
	case s.Update != nil:
		_, err = c.server.Update(t.Context(), c.object(t, name, s.Version, s.Update))
	case s.Status != nil:
		_, err = c.server.UpdateStatus(t.Context(), c.object(t, name, s.Version, s.Status))
	case s.Apply != nil:
		err = c.server.Apply(t.Context(), c.object(t, name, s.Version, s.Apply))
	default:
		t.Fatal("nothing to do: want create, update, status or apply")
	}
	wantErrors(t, err, s.Errors)
}

// wantErrors compares all causes of a rejection, in any order.
func wantErrors(t *testing.T, err error, want []string) {
	t.Helper()
	got := causes(t, err)
	want = slices.Sorted(slices.Values(want))
	if !slices.Equal(got, want) {
		t.Errorf("the server says\n\t%s\nwant\n\t%s", say(got), say(want))
	}
}

func say(causes []string) string {
	if len(causes) == 0 {
		return "nothing"
	}
	return strings.Join(causes, "\n\t")
}

// causes returns the reasons for the rejection of an object, sorted, as kubectl prints them.
func causes(t *testing.T, err error) []string {
	t.Helper()
	var l []string
	for _, c := range statusCauses(t, err) {
		l = append(l, c.Field+": "+c.Message)
	}
	slices.Sort(l)
	return l
}

// wordOf contains the text for each reason in unioncel's rules.
var wordOf = map[metav1.CauseType]string{
	metav1.CauseTypeForbidden:          "Forbidden",
	metav1.CauseTypeFieldValueRequired: "Required value",
	metav1.CauseTypeFieldValueInvalid:  "Invalid value",
}

// statusCauses returns the causes of a rejection, or nil if err is nil. Any error other than an
// invalid object is fatal.
func statusCauses(t *testing.T, err error) []metav1.StatusCause {
	t.Helper()
	if err == nil {
		return nil
	}
	var status apierrors.APIStatus
	if !apierrors.IsInvalid(err) || !errors.As(err, &status) {
		t.Fatalf("the server does not say that the object is invalid: %v", err)
	}
	l := status.Status().Details.Causes
	for _, c := range l {
		if word, ok := wordOf[c.Type]; ok && !strings.HasPrefix(c.Message, word+": ") && c.Message != word {
			t.Errorf("a cause of type %s says %q", c.Type, c.Message)
		}
	}
	return l
}

func marshal(t *testing.T, v any) []byte {
	t.Helper()
	data, err := yaml.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
