package testprog

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Module makes a directory a Go module with as much of k8s.io/apimachinery as the types of
// CRDs need: the real one takes the go command several times as long to load. It returns what
// the environment of the go command must say there: no network, and the cache of this user,
// who need not have a home directory there.
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
