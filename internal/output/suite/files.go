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

// Files returns the tests of a CRD as files by name: the index and the objects. Without tests there
// are no files.
func Files(crd string, tests []Test) (map[string][]byte, error) {
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
		base := path.Join(t.version(), fmt.Sprintf("%03d-%s", n+1, verdict))
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

// version returns the version of the test's object.
func (t Test) version() string {
	_, version, _ := strings.Cut(fmt.Sprint(t.Object["apiVersion"]), "/")
	return version
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
