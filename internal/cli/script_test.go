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

	"github.com/unioncel/unioncel/internal/testing/testcrd"
	_ "github.com/unioncel/unioncel/internal/testing/testgc"
	"github.com/unioncel/unioncel/internal/testing/testprog"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
)

var update = flag.Bool("update", false, "update the scripts with what the commands print")

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"unioncel": func() { os.Exit(Main(os.Args, OSStreams())) },
		// unioncel-nobody is unioncel run by a user without root privileges.
		"unioncel-nobody": func() {
			if err := becomeNobody(); err != nil {
				panic(err)
			}
			os.Exit(Main(os.Args, OSStreams()))
		},
	})
}

// TestScript runs testdata/script, one behaviour a file. The working directory of every script has
// the files of testdata/input, and the CRD Backend as union.yaml.
func TestScript(t *testing.T) {
	inputs, err := filepath.Glob("testdata/input/*")
	if err != nil || len(inputs) == 0 {
		t.Fatal("no inputs", err)
	}
	testscript.RunT(serial{t}, testscript.Params{
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
			switch cond {
			case "root":
				return os.Geteuid() == 0, nil
			case "exhaustive":
				return unioncases.Exhaustive, nil
			}
			return false, errors.New("unknown condition")
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"run":     run,
			"fails":   fails,
			"mode":    mode,
			"age":     age,
			"aged":    aged,
			"listing": listing,
			"module":  module,
		},
	})
}

// serial runs scripts sequentially, because each changes the working directory.
type serial struct{ *testing.T }

func (serial) Parallel()     {}
func (serial) Verbose() bool { return testing.Verbose() }
func (s serial) Run(name string, f func(testscript.T)) {
	s.T.Run(name, func(t *testing.T) { f(serial{t}) })
}

// [!] run unioncel [ARG]... [< FILE] runs Main in this process, which takes a fifth of the time of
// exec. Without a file, standard input is empty.
func run(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) == 0 || args[0] != program {
		ts.Fatalf("usage: [!] run unioncel [ARG]... [< FILE]")
	}
	if code := mainInScript(ts, args[1:]); (code != 0) != neg {
		ts.Fatalf("exit code %d", code)
	}
}

// mainInScript runs Main in the working directory of a script, and with the environment variables
// that unioncel or the go command reads.
func mainInScript(ts *testscript.TestScript, args []string) int {
	in := ""
	if n := len(args) - 2; n >= 0 && args[n] == "<" {
		in, args = ts.ReadFile(args[n+1]), args[:n]
	}
	dir, err := os.Getwd()
	ts.Check(err)
	ts.Check(os.Chdir(ts.MkAbs(".")))
	before := map[string]string{"PWD": os.Getenv("PWD")}
	ts.Check(os.Setenv("PWD", ts.MkAbs(".")))
	for _, name := range []string{"HOME", "TMPDIR", "GOCACHE", "GOMODCACHE", "GOFLAGS", "GOPROXY", "GOWORK"} {
		before[name] = os.Getenv(name)
		ts.Check(os.Setenv(name, ts.Getenv(name)))
	}
	defer func() {
		for name, value := range before {
			ts.Check(os.Setenv(name, value))
		}
		ts.Check(os.Chdir(dir))
	}()
	return Main(append([]string{program}, args...), Streams{In: strings.NewReader(in), Out: ts.Stdout(), Err: ts.Stderr()})
}

// fails CODE PROGRAM [ARG]... [< FILE] runs a program that must exit with the code, in this
// process if it is unioncel.
func fails(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: fails CODE PROGRAM [ARG]... [< FILE]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	var got int
	if args[1] == program {
		got = mainInScript(ts, args[2:])
	} else {
		var exit *exec.ExitError
		if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
			got = exit.ExitCode()
		} else {
			ts.Check(err)
		}
	}
	if got != want {
		ts.Fatalf("exit code %d, want %d", got, want)
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

// age FILE... sets the modification times of files to the past.
func age(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) == 0 {
		ts.Fatalf("usage: age FILE...")
	}
	for _, file := range args {
		ts.Check(os.Chtimes(ts.MkAbs(file), longAgo, longAgo))
	}
}

// [!] aged FILE... checks that files were (not) left unchanged since age.
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

// listing DIR [FILE]... checks that a directory contains exactly these files, at any depth, and
// their parent directories.
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

// module makes the working directory a Go module with some of k8s.io/apimachinery.
func module(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 0 {
		ts.Fatalf("usage: module")
	}
	env, err := testprog.Module(ts.MkAbs("."))
	ts.Check(err)
	for name, value := range env {
		ts.Setenv(name, value)
	}
}
