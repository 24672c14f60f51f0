package cli

import (
	"errors"
	"flag"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/unioncel/unioncel/internal/scripttest"
	"github.com/unioncel/unioncel/internal/testcrd"
	_ "github.com/unioncel/unioncel/internal/testgc"
)

var update = flag.Bool("update", false, "update the scripts with what the commands print")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"unioncel": func() { os.Exit(Main(os.Args, OSStreams())) },
		// unioncel-nobody is unioncel for a user whom permissions apply to.
		"unioncel-nobody": func() {
			if err := becomeNobody(); err != nil {
				panic(err)
			}
			os.Exit(Main(os.Args, OSStreams()))
		},
	})
}

// TestScript runs testdata/script, one behaviour a file. The files of
// testdata/input are in the working directory of every script, and the CRD Backend
// as union.yaml.
func TestScript(t *testing.T) {
	inputs, err := filepath.Glob("testdata/input/*")
	if err != nil || len(inputs) == 0 {
		t.Fatal("no inputs", err)
	}
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("GOGC", os.Getenv("GOGC")) // see testgc
			if err := os.WriteFile(filepath.Join(env.WorkDir, "union.yaml"), []byte(testcrd.Read("backend")), 0o644); err != nil {
				return err
			}
			for _, input := range inputs {
				data, err := os.ReadFile(input)
				if err != nil {
					return err
				}
				if err := os.WriteFile(filepath.Join(env.WorkDir, filepath.Base(input)), data, 0o644); err != nil {
					return err
				}
			}
			return nil
		},
		Condition: func(cond string) (bool, error) {
			if cond != "root" {
				return false, errors.New("unknown condition")
			}
			return os.Geteuid() == 0, nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"fails":   fails,
			"mode":    mode,
			"age":     age,
			"aged":    aged,
			"listing": listing,
			"module":  scripttest.Module,
		},
	})
}

// fails CODE PROGRAM [ARG]... runs a program that must exit with the code.
func fails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fails CODE PROGRAM [ARG]...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var exit *exec.ExitError
	switch err := ts.Exec(args[1], args[2:]...); {
	case err == nil:
		ts.Fatalf("unexpected success")
	case !errors.As(err, &exit):
		ts.Fatalf("%v", err)
	case exit.ExitCode() != want:
		ts.Fatalf("exit code %d, want %d", exit.ExitCode(), want)
	}
}

// mode FILE BITS checks the permissions of a file.
func mode(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: mode FILE BITS")
	}
	want, err := strconv.ParseUint(args[1], 8, 32)
	ts.Check(err)
	info, err := os.Stat(ts.MkAbs(args[0]))
	ts.Check(err)
	if got := info.Mode().Perm(); got != os.FileMode(want) {
		ts.Fatalf("%s has mode %o, want %o", args[0], got, want)
	}
}

var longAgo = time.Date(2001, 2, 3, 4, 5, 6, 0, time.UTC)

// age FILE... makes files look old.
func age(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: age FILE...")
	}
	for _, file := range args {
		ts.Check(os.Chtimes(ts.MkAbs(file), longAgo, longAgo))
	}
}

// [!] aged FILE... checks that files were (not) left alone since age.
func aged(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 {
		ts.Fatalf("usage: [!] aged FILE...")
	}
	for _, file := range args {
		info, err := os.Stat(ts.MkAbs(file))
		ts.Check(err)
		if info.ModTime().Equal(longAgo) == neg {
			ts.Fatalf("%s was changed at %s", file, info.ModTime())
		}
	}
}

// listing DIR [FILE]... checks that these files are in a directory, at any
// depth, and nothing else but directories on the way to them.
func listing(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: listing DIR [FILE]...")
	}
	dir := ts.MkAbs(args[0])
	var got []string
	ts.Check(filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err == nil && !entry.IsDir() {
			got = append(got, filepath.ToSlash(rel))
		}
		return err
	}))
	want := slices.Clone(args[1:])
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		ts.Fatalf("%s holds %s, want %s", args[0], strings.Join(got, " "), strings.Join(want, " "))
	}
}
