package suite

import (
	"bytes"
	"path"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/yaml/resource"
	"github.com/unioncel/unioncel/internal/yaml/yamlconfig"
	"github.com/unioncel/unioncel/pkg/diag"
)

// IsSuite reports whether the content of a file is an index of tests.
func IsSuite(src []byte) bool {
	var keys struct {
		CRD   yaml.Node `yaml:"crd"`
		Tests yaml.Node `yaml:"tests"`
	}
	return bytes.Contains(src, []byte("tests")) && yaml.Unmarshal(src, &keys) == nil && !keys.CRD.IsZero() && !keys.Tests.IsZero()
}

// Suite has the tests of one CRD in a file.
type Suite struct {
	// CRD is the name of the CRD.
	CRD   string
	Tests []Test
	// Pos is the position of the suite.
	Pos diag.Pos
}

// The mappings in files with tests.
var (
	ofIndex = yamlconfig.Mapping{Name: "an index of tests", Keys: []yamlconfig.Key{{Name: "crd", Example: "routes.example.com"}, {Name: "tests", Example: "[{name: a, object: a.yaml}]"}}}
	ofEntry = yamlconfig.Mapping{Name: "a test", Keys: []yamlconfig.Key{{Name: "name", Example: "http is set"}, {Name: "object", Example: "a.yaml"},
		{Name: "old", Example: "a.yaml"}, {Name: "status", Example: "true"}, {Name: "errors", Example: "[Required value]"}}}
)

// Read reads an index. read returns the files that it names, by their path from it. The result is nil
// if the diagnostics have errors.
func Read(name string, src []byte, read func(path string) ([]byte, error), limits limit.Limits) (*Suite, diag.List) {
	f, l := resource.Parse(name, src, limits)
	if l.HasErrors() {
		return nil, l
	}
	r := &suiteReader{Reader: yamlconfig.Reader{File: name, Code: codes.BadTests, UnknownKey: codes.BadTests, Ambiguous: codes.AmbiguousScalar}, read: read, limits: limits}
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
	r.index(root)
	if r.suite.CRD == "" && !r.Diags.HasErrors() {
		root.Errorf(hint, "the file does not name its CRD")
	}
	if r.Diags.HasErrors() {
		return nil, r.Diags.Sort()
	}
	return &r.suite, r.Diags
}

const hint = "docs/testdata.md shows a file with tests"

type suiteReader struct {
	yamlconfig.Reader
	read   func(path string) ([]byte, error)
	limits limit.Limits
	suite  Suite
}

func (r *suiteReader) index(root yamlconfig.Value) {
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
func (r *suiteReader) object(at yamlconfig.Value) map[string]any {
	name := at.Text()
	if name == "" {
		return nil
	}
	src, err := r.read(name)
	if err != nil {
		at.Errorf("", "%v", err)
		return nil
	}
	f, l := resource.Parse(path.Join(path.Dir(r.File), name), src, r.limits)
	if r.Diags = append(r.Diags, l...); f == nil {
		return nil
	}
	if len(f.Objects) != 1 {
		at.Errorf("", "%s has %d objects, not one", name, len(f.Objects))
		return nil
	}
	return f.Objects[0].Value
}

// add adds a test, which must have an object. An object without metadata gets a name.
func (r *suiteReader) add(item yamlconfig.Value, t Test) {
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
	r.suite.Tests = append(r.suite.Tests, t)
}
