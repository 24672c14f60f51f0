package testprog

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Module turns a directory into a Go module with the part of k8s.io/apimachinery that types of CRDs
// require; loading the real one takes the go command several times as long. It returns the
// environment for the go command: no network, and the cache of the current user, even without a
// home directory.
func Module(dir string) (map[string]string, error) {
	for name, text := range map[string]string{
		"go.mod": `module example.com/project

go 1.26

require k8s.io/apimachinery v0.0.0

replace k8s.io/apimachinery => ./.apimachinery
`,
		".apimachinery/go.mod": "module k8s.io/apimachinery\n\ngo 1.26\n",
		".apimachinery/pkg/apis/meta/v1/types.go": `package v1

type TypeMeta struct {
	Kind       string ` + "`json:\"kind,omitempty\"`" + `
	APIVersion string ` + "`json:\"apiVersion,omitempty\"`" + `
}

type ObjectMeta struct {
	Name string ` + "`json:\"name,omitempty\"`" + `
}
`,
	} {
		file := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)); err != nil {
			return nil, err
		}
	}
	cache, err := exec.Command("go", "env", "GOCACHE").Output()
	return map[string]string{"GOCACHE": strings.TrimSpace(string(cache)), "GOFLAGS": "-mod=mod", "GOPROXY": "off", "GOWORK": "off"}, err
}
