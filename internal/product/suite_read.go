package product

import (
	"bytes"
	"context"
	"path"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/json"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// IsSuite reports whether the content of a file is an index of tests or an OpenShift suite.
func IsSuite(src []byte) bool {
	if !bytes.Contains(src, []byte("tests")) {
		return false
	}
	k := keysOf(src)
	return !k.Tests.IsZero() && !(k.CRD.IsZero() && k.CRDName.IsZero())
}

// rootKeys are the keys that distinguish files with tests. In an OpenShift suite, the tests are a
// mapping.
type rootKeys struct {
	CRD     yaml.Node `yaml:"crd"`
	CRDName yaml.Node `yaml:"crdName"`
	Tests   yaml.Node `yaml:"tests"`
}

func keysOf(src []byte) (k rootKeys) {
	if err := yaml.Unmarshal(src, &k); err != nil {
		return rootKeys{}
	}
	return k
}

// Suite has the tests of one CRD in a file.
type Suite struct {
	// CRD is the name of the CRD.
	CRD   string
	Tests []Test
	// Skipped are the names of tests in the file that Tests omits. Warnings give the reasons.
	Skipped []string
	// Pos is the position of the suite.
	Pos diag.Pos
}

// The mappings in files with tests.
var (
	ofIndex = yamltext.ConfigMapping{Name: "an index of tests", Keys: []yamltext.ConfigKey{{Name: "crd", Example: "routes.example.com"}, {Name: "tests", Example: "[{name: a, object: a.yaml}]"}}}
	ofEntry = yamltext.ConfigMapping{Name: "a test", Keys: []yamltext.ConfigKey{{Name: "name", Example: "http is set"}, {Name: "object", Example: "a.yaml"},
		{Name: "old", Example: "a.yaml"}, {Name: "status", Example: "true"}, {Name: "errors", Example: "[Required value]"}}}
	ofSuite = yamltext.ConfigMapping{Name: "a suite", Keys: keys("apiVersion", "name", "crdName", "version", "featureGate", "featureGates", "crdFilter", "tests")}
	ofTests = yamltext.ConfigMapping{Name: "the tests of a suite", Keys: keys("onCreate", "onUpdate")}
	create  = yamltext.ConfigMapping{Name: "a test", Keys: keys("name", "initial", "expected", "expectedError")}
	update  = yamltext.ConfigMapping{Name: "a test", Keys: keys("name", "initial", "updated", "expected", "expectedError", "expectedStatusError", "initialCRDPatches")}
)

func keys(names ...string) []yamltext.ConfigKey {
	var l []yamltext.ConfigKey
	for _, name := range names {
		l = append(l, yamltext.ConfigKey{Name: name})
	}
	return l
}

// SuiteTest is the result of a test.
type SuiteTest struct {
	// File is the name of the suite's file, Name the name of the test.
	File, Name string
	// Skipped is the reason why the test did not run, or empty.
	Skipped string
	// Failure is nil if the test passed.
	Failure *diag.Diagnostic
}

// RunSuite runs the tests in a file; see [ReadSuite]. kinds has the kinds of the CRDs by name, nil for a
// CRD with errors.
func RunSuite(ctx context.Context, name string, src []byte, kinds map[string]*server.Kind, read func(path string) ([]byte, error), limits yamltext.Limits) (l []SuiteTest, found diag.List) {
	s, found := ReadSuite(name, src, read, limits)
	if s == nil {
		return nil, found
	}
	for _, skipped := range s.Skipped {
		l = append(l, SuiteTest{File: name, Name: skipped, Skipped: "patches of the CRD are not supported"})
	}
	kind, known := kinds[s.CRD]
	if !known {
		found = append(found, diag.New(codes.NoCRD, s.Pos, "there is no CRD %s for these tests", s.CRD).Hinted("give it with --crd"))
	}
	for _, t := range s.Tests {
		r := SuiteTest{File: name, Name: t.Name}
		if kind == nil {
			r.Skipped = "the CRD " + s.CRD + " is missing or invalid"
		} else {
			r.Failure = t.Run(ctx, kind)
		}
		l = append(l, r)
	}
	return l, found
}

// ReadSuite reads an index, or an OpenShift suite, in which the tests are a mapping. read returns the
// files that an index names, by their path from it. The result is nil if the diagnostics have
// errors.
func ReadSuite(name string, src []byte, read func(path string) ([]byte, error), limits yamltext.Limits) (*Suite, diag.List) {
	f, l := yamltext.ParseObjects(name, src, limits)
	if l.HasErrors() {
		return nil, l
	}
	r := &suiteReader{ConfigReader: yamltext.ConfigReader{File: name, Code: codes.BadTests, UnknownKey: codes.BadTests, Ambiguous: codes.AmbiguousScalar}, read: read, limits: limits}
	var roots []*yaml.Node
	for _, d := range f.Docs {
		if d.Root != nil {
			roots = append(roots, d.Root)
		}
	}
	if len(roots) != 1 {
		return nil, diag.List{{Code: codes.BadTests, Pos: diag.Pos{File: name}, Message: "a file with tests is one document", Hint: hint}}
	}
	root := r.Value(roots[0], "")
	r.suite.Pos = root.Pos()
	if keysOf(src).Tests.Kind == yaml.MappingNode {
		r.openShift(root)
	} else {
		r.index(root)
	}
	if r.suite.CRD == "" && !r.Diags.HasErrors() {
		root.Errorf(hint, "the file does not name its CRD")
	}
	if r.Diags.HasErrors() {
		return nil, r.Diags.Sort()
	}
	return &r.suite, r.Diags
}

const hint = "docs/testdata.md shows both forms of files with tests"

type suiteReader struct {
	yamltext.ConfigReader
	read   func(path string) ([]byte, error)
	limits yamltext.Limits
	suite  Suite
}

func (r *suiteReader) index(root yamltext.ConfigValue) {
	fields := root.Fields(ofIndex)
	r.suite.CRD = fields["crd"].Text()
	for _, item := range fields["tests"].Items() {
		f := item.Fields(ofEntry)
		t := Test{Name: f["name"].Text(), Status: f["status"].Bool(false), pos: item.Pos()}
		for _, w := range f["errors"].Words() {
			t.Errors = append(t.Errors, w.Text)
		}
		t.Object, t.Old = r.object(f["object"]), r.object(f["old"])
		r.add(item, t)
	}
}

// object returns the object in the file with the name at a value. It must be the only object.
func (r *suiteReader) object(at yamltext.ConfigValue) map[string]any {
	name := at.Text()
	if name == "" {
		return nil
	}
	src, err := r.read(name)
	if err != nil {
		at.Errorf("", "%v", err)
		return nil
	}
	f, l := yamltext.ParseObjects(path.Join(path.Dir(r.File), name), src, r.limits)
	if r.Diags = append(r.Diags, l...); f == nil {
		return nil
	}
	if len(f.Objects) != 1 {
		at.Errorf("", "%s has %d objects, not one", name, len(f.Objects))
		return nil
	}
	return f.Objects[0].Value
}

// openShift reads an OpenShift suite. Its updates also write the status.
func (r *suiteReader) openShift(root yamltext.ConfigValue) {
	fields := root.Fields(ofSuite)
	r.suite.CRD = fields["crdName"].Text()
	tests := fields["tests"].Fields(ofTests)
	for _, item := range tests["onCreate"].Items() {
		f := item.Fields(create)
		r.add(item, Test{Name: f["name"].Text(), Object: r.text(f["initial"]), Errors: stringsOf(f["expectedError"]), Stored: r.text(f["expected"]), foreign: true, pos: item.Pos()})
	}
	for _, item := range tests["onUpdate"].Items() {
		f := item.Fields(update)
		if patches := f["initialCRDPatches"]; patches.Node != nil {
			patches.Errorf("", "%q is skipped: patches of the CRD are not supported", f["name"].Text()).Severity = diag.Warning
			r.suite.Skipped = append(r.suite.Skipped, f["name"].Text())
			continue
		}
		r.add(item, Test{Name: f["name"].Text(), Object: r.text(f["updated"]), Old: r.text(f["initial"]), Status: true,
			Errors: append(stringsOf(f["expectedError"]), stringsOf(f["expectedStatusError"])...), Stored: r.text(f["expected"]), foreign: true, pos: item.Pos()})
	}
}

func stringsOf(v yamltext.ConfigValue) []string {
	if s := v.Word().Text; s != "" {
		return []string{s}
	}
	return nil
}

// text returns the object in a YAML text.
func (r *suiteReader) text(v yamltext.ConfigValue) map[string]any {
	var object map[string]any
	data, err := sigs.YAMLToJSON([]byte(v.Word().Text))
	if err == nil {
		err = json.Unmarshal(data, &object) // Kubernetes' own JSON package decodes whole numbers as integers
	}
	if err != nil {
		v.Errorf("", "this is no object: %v", err)
		return nil
	}
	return object
}

// add adds a test, which must have an object. An object without metadata gets a name.
func (r *suiteReader) add(item yamltext.ConfigValue, t Test) {
	if t.Object == nil {
		if !r.Diags.HasErrors() {
			item.Errorf(hint, "%q has no object", t.Name)
		}
		return
	}
	for _, object := range []map[string]any{t.Object, t.Old} {
		if _, named := object["metadata"]; object != nil && !named {
			object["metadata"] = map[string]any{"name": "test"}
		}
	}
	if t.foreign && t.Old != nil {
		(&unstructured.Unstructured{Object: t.Object}).SetName((&unstructured.Unstructured{Object: t.Old}).GetName())
	}
	r.suite.Tests = append(r.suite.Tests, t)
}
