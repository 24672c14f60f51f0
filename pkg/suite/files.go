package suite

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
	sigs "sigs.k8s.io/yaml"
)

// index is the file that lists the tests of a CRD.
type index struct {
	CRD   string  `yaml:"crd"`
	Tests []entry `yaml:"tests"`
}

// entry is a test in an index. The objects are files, beside it or below.
type entry struct {
	Name   string   `yaml:"name"`
	Old    string   `yaml:"old,omitempty"`
	Object string   `yaml:"object"`
	Status bool     `yaml:"status,omitempty"`
	Errors []string `yaml:"errors,omitempty"`
}

// IndexName is the name of the file with the index.
const IndexName = "index.yaml"

const written = "# Written by unioncel testdata; unioncel validate --suite runs it.\n"

// Files are the tests of a CRD as files, by their names: the index and the objects, and a
// suite of OpenShift for each version.
func Files(crd string, tests []Test) (map[string][]byte, error) {
	files := map[string][]byte{}
	i := index{CRD: crd}
	add := func(name string, object map[string]any) (string, error) {
		if object == nil {
			return "", nil
		}
		data, err := sigs.Marshal(object)
		files[name] = data
		return name, err
	}
	for n, t := range tests {
		verdict := "valid"
		if len(t.Errors) > 0 {
			verdict = "invalid"
		}
		version := t.version()
		if name := version + SuiteSuffix; files[name] == nil {
			var err error
			if files[name], err = openShiftSuite(crd, version, tests); err != nil {
				return nil, err
			}
		}
		base := path.Join(version, fmt.Sprintf("%03d-%s", n+1, verdict))
		e := entry{Name: t.Name, Status: t.Status, Errors: t.Errors}
		var err error
		if e.Object, err = add(base+".yaml", t.Object); err != nil {
			return nil, err
		}
		if e.Old, err = add(base+"-old.yaml", t.Old); err != nil {
			return nil, err
		}
		i.Tests = append(i.Tests, e)
	}
	var err error
	files[IndexName], err = document(i)
	return files, err
}

// openShift is a test suite as github.com/openshift/api has them beside its types.
type openShift struct {
	APIVersion string `yaml:"apiVersion"` // which its tools want there
	Name       string `yaml:"name"`
	CRDName    string `yaml:"crdName"`
	Version    string `yaml:"version,omitempty"`
	Tests      struct {
		OnCreate []onCreate `yaml:"onCreate,omitempty"`
		OnUpdate []onUpdate `yaml:"onUpdate,omitempty"`
	} `yaml:"tests"`
}

type onCreate struct {
	Name          string `yaml:"name"`
	Initial       string `yaml:"initial"`
	Expected      string `yaml:"expected,omitempty"`
	ExpectedError string `yaml:"expectedError,omitempty"`
}

type onUpdate struct {
	Name                string `yaml:"name"`
	Initial             string `yaml:"initial"`
	Updated             string `yaml:"updated"`
	Expected            string `yaml:"expected,omitempty"`
	ExpectedError       string `yaml:"expectedError,omitempty"`
	ExpectedStatusError string `yaml:"expectedStatusError,omitempty"`
	// CRDPatches change the CRD under which the object is stored.
	CRDPatches []any `yaml:"initialCRDPatches,omitempty"`
}

// SuiteSuffix is how the names of OpenShift's test suites end.
const SuiteSuffix = ".testsuite.yaml"

// version is that of the test's object.
func (t Test) version() string {
	_, version, _ := strings.Cut(fmt.Sprint(t.Object["apiVersion"]), "/")
	return version
}

// openShiftSuite is the suite of the tests in one version of a CRD. It has one error for
// each test, which is how many it can hold.
func openShiftSuite(crd, version string, tests []Test) ([]byte, error) {
	s := openShift{APIVersion: "apiextensions.k8s.io/v1", Name: crd, CRDName: crd, Version: version}
	for _, t := range tests {
		if t.version() != version {
			continue
		}
		var texts [3]string // the names of objects are for who runs it
		for i, object := range []map[string]any{t.before(), t.Object, t.Stored} {
			if object == nil {
				continue
			}
			data, err := sigs.Marshal(unmarked(object))
			if err != nil {
				return nil, err
			}
			texts[i] = string(data)
		}
		refused := ""
		if len(t.Errors) > 0 {
			refused = t.Errors[0]
		}
		switch {
		case t.Status:
			s.Tests.OnUpdate = append(s.Tests.OnUpdate, onUpdate{Name: t.Name, Initial: texts[0], Updated: texts[1], Expected: texts[2], ExpectedStatusError: refused})
		case t.Old == nil:
			s.Tests.OnCreate = append(s.Tests.OnCreate, onCreate{t.Name, texts[1], texts[2], refused})
		default:
			s.Tests.OnUpdate = append(s.Tests.OnUpdate, onUpdate{Name: t.Name, Initial: texts[0], Updated: texts[1], Expected: texts[2], ExpectedError: refused})
		}
	}
	return document(s)
}

// document is a value as YAML, its keys in the order of its type.
func document(v any) ([]byte, error) {
	b := bytes.NewBufferString(written)
	e := yaml.NewEncoder(b)
	e.SetIndent(2)
	e.CompactSeqIndent()
	err := e.Encode(v)
	return b.Bytes(), err
}
