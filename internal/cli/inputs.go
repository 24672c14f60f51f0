package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// stdinName is the name of standard input in messages.
const stdinName = "<stdin>"

// input is one file to read.
type input struct {
	name   string // name in messages
	path   string // empty if it cannot be replaced: standard input, a pipe, a revision
	pipe   bool   // a pipe or device of this name; like standard input, it is read once
	rel    string // path below an output directory; empty without a path
	target string // path of the result; empty if it is printed
	walk   bool   // found in a directory
	scope  *scope // the options for it
	role   role   // the purpose of it, for commands that read several
	blob   string // the git object, if it is of a revision
}

// stream returns the name of standard input, a pipe or a device for a sentence.
func (in input) stream() string {
	if in.pipe {
		return in.name
	}
	return "standard input"
}

// role is the purpose of an input.
type role int

const (
	forCRDs    role = iota + 1
	forOld          // the old objects of updates
	forObjects      // and CRDs
	oldSide         // of a change
	newSide
)

// finder collects inputs without repetition.
type finder struct {
	*app
	inputs []input
	seen   map[string]bool // by path without symbolic links
	skip   os.FileInfo     // the output directory, nil if there is none yet
}

// findInputs turns arguments into inputs, in the order of the arguments and sorted within a
// directory. It reports all wrong arguments together.
func (a *app) findInputs(args []string) ([]input, error) { return a.findOutside("", args) }

// findOutside is findInputs, but does not search an output directory inside another directory: its
// files are earlier results.
func (a *app) findOutside(output string, args []string) ([]input, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	f := finder{app: a, seen: map[string]bool{}}
	if info, err := os.Stat(output); err == nil && info.IsDir() {
		f.skip = info
	}
	var errs []error
	for _, arg := range args {
		if err := f.add(arg); err != nil {
			errs = append(errs, err)
		}
	}
	return f.inputs, errors.Join(errs...)
}

// add adds the inputs of an argument.
func (f *finder) add(arg string) error {
	if arg == "" {
		return usagef("an argument is empty: a file, a directory or - is needed")
	}
	if in, ok := streamOf(arg); ok {
		switch key := filepath.Clean(in.name); {
		case f.seen[key]:
		case f.taken[key]: // for other arguments or a flag
			return usagef("%s can be read once only", in.stream())
		default:
			f.seen[key], f.taken[key] = true, true
			f.inputs = append(f.inputs, in)
		}
		return nil
	}
	info, err := os.Stat(arg)
	if err != nil {
		return fileError(arg, err)
	}
	if info.IsDir() {
		return f.addDir(arg)
	}
	return f.addFile(input{name: arg, path: arg, rel: filepath.Base(arg)})
}

// streamOf returns the input of an argument that can be read only once: standard input, a pipe, a
// device, or an open file below /dev/fd.
func streamOf(arg string) (input, bool) {
	switch arg {
	case "-", "/dev/stdin", "/dev/fd/0":
		return input{name: stdinName}, true
	}
	info, err := os.Stat(arg)
	pipe := err == nil && !info.IsDir() && (!info.Mode().IsRegular() || strings.HasPrefix(arg, "/dev/fd/"))
	return input{name: arg, pipe: pipe}, pipe
}

// addFile adds a file unless it has been added already.
func (f *finder) addFile(in input) error {
	real, err := realPath(in.path)
	if err != nil {
		return fileError(in.name, err)
	}
	if !f.seen[real] {
		f.seen[real] = true
		f.inputs = append(f.inputs, in)
	}
	return nil
}

// addDir adds the files of a directory. It skips symbolic links that lead out of the directory,
// because its author may not be the user.
func (f *finder) addDir(dir string) error {
	found := false
	var errs []error
	// WalkDir does not enter a directory through a symbolic link, not even the
	// one it is given, unless the name ends in a separator.
	root := dir
	if !os.IsPathSeparator(root[len(root)-1]) {
		root += string(filepath.Separator)
	}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		rel, relErr := filepath.Rel(dir, path)
		if err == nil {
			err = relErr
		}
		name := filepath.Join(dir, rel)
		if err != nil {
			errs = append(errs, fileError(name, err))
			return nil
		}
		hidden := strings.HasPrefix(entry.Name(), ".")
		switch {
		case rel == ".":
			return nil
		case entry.IsDir():
			if info, err := entry.Info(); hidden || err == nil && os.SameFile(info, f.skip) {
				return fs.SkipDir
			}
			return nil
		case hidden || !yamltext.IsManifestName(entry.Name()):
			return nil
		}
		isLink := entry.Type()&fs.ModeSymlink != 0
		info, err := os.Stat(path)
		if isLink && err == nil && info.IsDir() {
			return nil
		}
		found = true
		switch {
		case isLink && err == nil && leadsOut(path, dir):
			f.note(name + ": skipped: a symbolic link that leads out of " + dir)
			return nil
		case isLink && err != nil, err == nil && !info.Mode().IsRegular():
			f.note(name + ": skipped: not a regular file") // or a dangling link
			return nil
		}
		if err := f.addFile(input{name: name, path: name, rel: rel, walk: true}); err != nil {
			errs = append(errs, err)
		}
		return nil
	})
	errs = append(errs, err)
	if err := errors.Join(errs...); err != nil {
		return err
	}
	if !found {
		return fmt.Errorf("%s: no *.yaml, *.yml or *.json in this directory", dir)
	}
	return nil
}

// process runs work on each input, with one worker per processor, and returns the answers in the
// order of the inputs. It holds only the files in work in memory. All errors are reported together;
// if ctx ends, the error is errInterrupted. A panic becomes an error of its input.
func process[T any](ctx context.Context, a *app, inputs []input, work func(r *result, src []byte) (T, error)) ([]answer[T], error) {
	var answers []answer[T]
	var errs []error
	yamltext.EachInOrder(slices.Values(inputs), len(inputs), func(in input) (answer[T], error) {
		r := answer[T]{result: &result{input: in}}
		if ctx.Err() != nil {
			return r, errInterrupted
		}
		begin := time.Now()
		src, err := a.open(ctx, in)
		if err == nil {
			r.found, err = work(r.result, src)
		}
		r.took = time.Since(begin)
		return r, err
	}, func(in input, r answer[T], err error) {
		if p := (*yamltext.Panic)(nil); errors.As(err, &p) {
			for line := range strings.Lines(string(p.Stack)) {
				a.say("%s", strings.TrimSuffix(line, "\n"))
			}
			r.result, err = &result{input: in, diagnostics: diag.List{p.Diagnostic(in.name)}}, nil // the only finding
		}
		if ctx.Err() == nil {
			a.say("%s: %v", in.name, r.took.Round(time.Millisecond))
		}
		answers, errs = append(answers, r), append(errs, err)
	})
	if ctx.Err() != nil {
		return nil, errInterrupted
	}
	return answers, joinDistinct(errs)
}

// joinDistinct joins errors without repetition: a full disk causes the same error for all files.
func joinDistinct(errs []error) error {
	said := map[string]bool{}
	return errors.Join(slices.DeleteFunc(errs, func(err error) bool {
		again := err != nil && said[err.Error()]
		if err != nil {
			said[err.Error()] = true
		}
		return again
	})...)
}

// open reads an input, but not far beyond the size limit.
func (a *app) open(ctx context.Context, in input) (src []byte, err error) {
	if in.blob != "" {
		if src, err = a.git(ctx, "cat-file", "blob", in.blob); err != nil {
			return nil, fileError(in.name, err)
		}
		return src, nil
	}
	err = a.read(in, func(r io.Reader) error {
		src, err = a.limits.Read(r)
		return err
	})
	if in.path == "" {
		a.keep(in.name, src)
	}
	return src, err
}

// read opens an input that is not a revision, and passes it to a function.
func (a *app) read(in input, with func(io.Reader) error) error {
	r := a.streams.In
	if in.path != "" || in.pipe {
		file, err := os.Open(cmp.Or(in.path, in.name))
		if err != nil {
			return fileError(in.name, err)
		}
		defer file.Close()
		if in.path != "" {
			a.keep(in.name, nil)
		}
		r = file
	}
	if err := with(r); err != nil {
		return fileError(in.name, err)
	}
	return nil
}

// result is the outcome of an input.
type result struct {
	input
	crds     []union.Target
	readable bool // crds is complete
	unions   int
	unionSet bool
	// withheld is the reason why external declarations do not apply to the CRDs, or empty.
	withheld string

	other       bool // not a manifest
	took        time.Duration
	diagnostics diag.List
	partial     bool // there is a result despite errors
	changed     bool
}

// answer is an input with the things that a command has found in it.
type answer[T any] struct {
	*result
	found T
}

// resultsOf returns the results of answers.
func resultsOf[T any](answers []answer[T]) (l []*result) {
	for _, r := range answers {
		l = append(l, r.result)
	}
	return l
}

// diagnosticsOf returns the diagnostics of results.
func diagnosticsOf(results []*result) (l diag.List) {
	for _, r := range results {
		l = append(l, r.diagnostics...)
	}
	return l
}

// anyFailed reports whether some input has errors and no result.
func anyFailed(results []*result) bool { return slices.ContainsFunc(results, (*result).failed) }

// failed reports whether an input has errors and no result.
func (r *result) failed() bool { return !r.partial && r.diagnostics.HasErrors() }

// dropWarnings drops the warnings about an unchanged file: the run that wrote it has printed them.
// Those about something that is still to do stay.
func (r *result) dropWarnings() {
	r.diagnostics = slices.DeleteFunc(r.diagnostics, func(d diag.Diagnostic) bool {
		return d.Severity != diag.Error && d.Code != codes.CRDInText && d.Code != codes.AbsentMember
	})
}
