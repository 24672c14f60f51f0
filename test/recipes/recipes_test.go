//go:build exhaustive

package recipes

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/unioncel/unioncel/internal/testing/servertest"
	_ "github.com/unioncel/unioncel/internal/testing/testgc"
	"github.com/unioncel/unioncel/internal/testing/testprog"
)

var update = flag.Bool("update", false, "update the scripts with what the commands print")

// TestMain adds docker to PATH, which runs this test program.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"docker": func() {
			if err := docker(os.Args[1:]); err != nil {
				fmt.Fprintln(os.Stderr, err)
				os.Exit(1)
			}
		},
	})
}

// Test runs all scripts. They share one API server, because their CRDs have different names.
func Test(t *testing.T) {
	server := servertest.StartForKubectl(t)
	// kustomize has more features than kubectl kustomize.
	testprog.Add(t, "unioncel", "unioncel-fn", "kubectl", "kustomize", "controller-gen")
	t.Run("recipes", func(t *testing.T) { recipes(t, server) })
	t.Run("kustomize", func(t *testing.T) { kustomize(t, server) })
}

// recipes runs the scripts of testdata. Each is a recipe of docs/pipelines.md, or a part of
// docs/change.md.
func recipes(t *testing.T, server *servertest.Server) {
	kubeconfig, err := server.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       *update,
		Cmds:                commands(),
		Setup: func(env *testscript.Env) error {
			dir := filepath.Join(env.WorkDir, ".kube")
			env.Setenv("KUBECONFIG", filepath.Join(dir, "config"))
			env.Setenv("KUBECACHEDIR", filepath.Join(dir, "cache"))
			env.Setenv("GOGC", os.Getenv("GOGC")) // see testgc
			if err := os.Mkdir(dir, 0o700); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(dir, "config"), kubeconfig, 0o600)
		},
	})
}
