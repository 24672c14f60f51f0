//go:build exhaustive

package recipes

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/unioncel/unioncel/internal/testing/servertest"
)

// docker replaces the program that kustomize runs containers with. It prints its arguments, and
// runs the function in the directory that is mounted at the working directory of the image.
func docker(args []string) error {
	fmt.Fprintln(os.Stderr, "docker", strings.Join(args, " "))
	mount := regexp.MustCompile(`source=([^,]*),target=/work\b`).FindStringSubmatch(strings.Join(args, " "))
	cmd := exec.Command("unioncel-fn")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	if cmd.Dir = os.TempDir(); mount != nil {
		cmd.Dir = mount[1]
	}
	return cmd.Run()
}

// kustomize runs the scripts of testdata/kustomize. Each shows a correct or incorrect way to use
// the function in kustomize. docs/pipelines.md is the guide to them.
func kustomize(t *testing.T, server *servertest.Server) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/kustomize",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			fn, err := exec.LookPath("unioncel-fn")
			env.Setenv("BIN", filepath.Dir(fn))
			env.Setenv("GOGC", os.Getenv("GOGC")) // see testgc
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"installs": func(ts *testscript.TestScript, neg bool, args []string) { installs(ts, server, neg, args) },
			"accepts":  func(ts *testscript.TestScript, neg bool, args []string) { accepts(ts, server, neg, args) },
		},
	})
}

// [!] installs FILE installs the CRDs of a file in the API server.
func installs(ts *testscript.TestScript, server *servertest.Server, neg bool, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: [!] installs FILE")
	}
	for doc := range strings.SplitSeq(ts.ReadFile(args[0]), "\n---\n") {
		if !strings.Contains(doc, "kind: CustomResourceDefinition") {
			continue
		}
		if err := server.Install(context.Background(), []byte(doc)); (err != nil) != neg {
			ts.Fatalf("install: %v", err)
		}
	}
}

// [!] accepts FILE [MESSAGE] creates an object in the API server. With ! the server must reject it
// with a matching message.
func accepts(ts *testscript.TestScript, server *servertest.Server, neg bool, args []string) {
	if len(args) == 0 || len(args) > 2 || neg != (len(args) == 2) {
		ts.Fatalf("usage: accepts FILE, or ! accepts FILE MESSAGE")
	}
	_, err := server.Create(context.Background(), []byte(ts.ReadFile(args[0])))
	switch {
	case !neg:
		ts.Check(err)
	case err == nil:
		ts.Fatalf("the server accepts %s", args[0])
	case !regexp.MustCompile(args[1]).MatchString(err.Error()):
		ts.Fatalf("the server says: %v", err)
	}
}
