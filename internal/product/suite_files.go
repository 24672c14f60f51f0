package product

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
	CRD   string       `yaml:"crd"`
	Tests []suiteEntry `yaml:"tests"`
}

// suiteEntry is a test in an index. Its objects are files in or below the directory of the index.
type suiteEntry struct {
	Name   string   `yaml:"name"`
	Old    string   `yaml:"old,omitempty"`
	Object string   `yaml:"object"`
	Status bool     `yaml:"status,omitempty"`
	Errors []string `yaml:"errors,omitempty"`
}

// IndexName is the file name of the index.
const IndexName = "index.yaml"

// writtenBy is the start of every written file.
const writtenBy = "# Written by unioncel testdata"

// SuiteFiles returns the tests of a CRD as files by name: the index, the objects, and an OpenShift suite
// for each version. Without tests there are no files.
func SuiteFiles(crd string, tests []Test) (map[string][]byte, error) {
	if len(tests) == 0 {
		return nil, nil
	}
	files := map[string][]byte{}
	i := index{CRD: crd}
	add := func(name string, object map[string]any) (string, error) {
		if object == nil {
			return "", nil
		}
		data, err := sigs.Marshal(object)
		files[name] = append([]byte(writtenBy+".\n"), data...)
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
		e := suiteEntry{Name: t.Name, Status: t.Status, Errors: t.Errors}
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

// openShift is a test suite in the format of github.com/openshift/api.
type openShift struct {
	APIVersion string `yaml:"apiVersion"` // required by OpenShift's tools
	Name       string `yaml:"name"`
	CRDName    string `yaml:"crdName"`
	Version    string `yaml:"version,omitempty"`
	Tests      struct {
		OnCreate []openShiftTest `yaml:"onCreate,omitempty"`
		OnUpdate []openShiftTest `yaml:"onUpdate,omitempty"`
	} `yaml:"tests"`
}

type openShiftTest struct {
	Name                string `yaml:"name"`
	Initial             string `yaml:"initial"`
	Updated             string `yaml:"updated,omitempty"` // for an update
	Expected            string `yaml:"expected,omitempty"`
	ExpectedError       string `yaml:"expectedError,omitempty"`
	ExpectedStatusError string `yaml:"expectedStatusError,omitempty"`
}

// SuiteSuffix is the suffix in the file names of OpenShift's test suites.
const SuiteSuffix = ".testsuite.yaml"

// version returns the version of the test's object.
func (t Test) version() string {
	_, version, _ := strings.Cut(fmt.Sprint(t.Object["apiVersion"]), "/")
	return version
}

// openShiftSuite returns the suite for the tests in one version of a CRD. It has one error per
// test, because the format allows no more.
func openShiftSuite(crd, version string, tests []Test) ([]byte, error) {
	s := openShift{APIVersion: "apiextensions.k8s.io/v1", Name: crd, CRDName: crd, Version: version}
	for _, t := range tests {
		if t.version() != version {
			continue
		}
		var texts [3]string // without metadata, because the runner names the objects
		for i, object := range []map[string]any{t.replaced(), t.Object, t.Stored} {
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
		written := openShiftTest{Name: t.Name, Initial: texts[0], Updated: texts[1], Expected: texts[2], ExpectedError: refused}
		switch {
		case t.Status:
			written.ExpectedError, written.ExpectedStatusError = "", refused
			s.Tests.OnUpdate = append(s.Tests.OnUpdate, written)
		case t.Old == nil:
			written.Initial, written.Updated = texts[1], ""
			s.Tests.OnCreate = append(s.Tests.OnCreate, written)
		default:
			s.Tests.OnUpdate = append(s.Tests.OnUpdate, written)
		}
	}
	return document(s)
}

// document returns a value as YAML, with keys in the order of the value's type.
func document(v any) ([]byte, error) {
	b := bytes.NewBufferString(writtenBy + "; unioncel validate --suite runs it.\n")
	e := yaml.NewEncoder(b)
	e.SetIndent(2)
	e.CompactSeqIndent()
	err := e.Encode(v)
	return b.Bytes(), err
}
