package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/unioncel/unioncel/internal/source"
	"github.com/unioncel/unioncel/pkg/diag"
)

// stdinName is what messages call standard input.
const stdinName = "<stdin>"

// input is one file to read.
type input struct {
	n     int    // which of the inputs it is
	name  string // as messages call it
	path  string // empty for standard input
	rel   string // where it belongs below an output directory; empty for standard input
	walk  bool   // found in a directory
	scope *scope // the options for it
	old   bool   // it is what a change starts from
	blob  string // the object of git that it is, if it is of a revision
}

// finder collects inputs without repetition.
type finder struct {
	inputs []input
	seen   map[string]bool // by path without symbolic links
	skip   os.FileInfo     // the output directory, nil if there is none yet
	notes  []string        // what was found in a directory and is skipped, and why
}

// findInputs turns arguments into inputs, in the order of the arguments and
// sorted within a directory. The output directory, if it exists, is not
// searched when it lies within another: what is there are earlier results.
// All that is wrong with the arguments is reported together.
func (a *app) findInputs(args []string, output string) ([]input, error) {
	if len(args) == 0 {
		args = []string{"-"}
	}
	f := finder{seen: map[string]bool{}}
	if output != "" {
		if info, err := os.Stat(output); err == nil && info.IsDir() {
			f.skip = info
		}
	}
	var errs []error
	for _, arg := range args {
		if err := f.add(arg); err != nil {
			errs = append(errs, err)
		}
	}
	for i := range f.inputs {
		f.inputs[i].n = i
	}
	for _, note := range f.notes {
		a.note(note)
	}
	return f.inputs, errors.Join(errs...)
}

// add adds what an argument names.
func (f *finder) add(arg string) error {
	switch arg {
	case "":
		return usagef("an argument is empty: a file, a directory or - is needed")
	case "-":
		if !f.seen["-"] {
			f.seen["-"] = true
			f.inputs = append(f.inputs, input{name: stdinName})
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

// addFile adds a file unless it is there already. A named pipe or device is
// an error: it could not be replaced, and reading it may never end.
func (f *finder) addFile(in input) error {
	info, err := os.Stat(in.path)
	if err != nil {
		return fileError(in.name, err)
	}
	if !info.Mode().IsRegular() {
		return fmt.Errorf("%s: not a regular file (- reads standard input)", in.name)
	}
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

// addDir adds the files of a directory. Whoever has filled it may have put links
// there, so those that lead out of it are skipped.
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
			if hidden || f.isOutput(entry) {
				return fs.SkipDir
			}
			return nil
		case hidden || !source.IsManifestName(entry.Name()) || isLinkToDir(path, entry):
			return nil
		}
		found = true
		isLink := entry.Type()&fs.ModeSymlink != 0
		switch info, err := os.Stat(path); {
		case isLink && err == nil && leadsOut(path, dir):
			f.notes = append(f.notes, name+": skipped: a symbolic link that leads out of "+dir)
			return nil
		case isLink && err != nil, err == nil && !info.Mode().IsRegular():
			f.notes = append(f.notes, name+": skipped: not a regular file") // or a link that leads nowhere
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

// isOutput reports whether a directory is the one that results go to.
func (f *finder) isOutput(entry fs.DirEntry) bool {
	if f.skip == nil {
		return false
	}
	info, err := entry.Info()
	return err == nil && os.SameFile(info, f.skip)
}

func isLinkToDir(path string, entry fs.DirEntry) bool {
	if entry.Type()&fs.ModeSymlink == 0 {
		return false
	}
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// process reads inputs and works on each, as many at a time as there are processors, and
// returns the results in the order of the inputs. No more files are held in memory than are
// worked on. All errors, of reading and of the work, are reported together; when ctx ends, the
// error is errInterrupted. A panic is an error of its input.
func process[T any, P interface {
	*T
	crash(in input, cause any)
}](ctx context.Context, a *app, inputs []input, work func(in input, src []byte) (T, error)) ([]T, error) {
	results := make([]T, len(inputs))
	var names []string
	for _, in := range inputs {
		names = append(names, in.name)
	}
	progress := a.progress("file", names)
	defer progress.end()
	errs := make([]error, len(inputs))
	var wg sync.WaitGroup
	next := make(chan int)
	for range min(runtime.GOMAXPROCS(0), len(inputs)) {
		wg.Go(func() {
			for i := range next {
				progress.begin(i)
				errs[i] = func() (err error) {
					defer func() {
						if cause := recover(); cause != nil {
							a.say("%s", debug.Stack())
							P(&results[i]).crash(inputs[i], cause)
						}
					}()
					src, err := a.open(ctx, inputs[i])
					if err == nil {
						results[i], err = work(inputs[i], src)
					}
					return err
				}()
				progress.done(i)
			}
		})
	}
	for i := range inputs {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wg.Wait()
	if ctx.Err() != nil {
		return nil, errInterrupted
	}
	return results, joinDistinct(errs)
}

// joinDistinct joins errors that say different things: a full disk concerns all files
// alike.
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

// open reads an input, or as much of it as tells that it is over the limit.
func (a *app) open(ctx context.Context, in input) (src []byte, err error) {
	switch {
	case in.blob != "":
		src, err = a.readBlob(ctx, in.blob)
	case in.path == "":
		src, err = a.limits.Read(a.streams.In)
	default:
		src, err = a.readFile(in.path)
	}
	if err != nil {
		return nil, fileError(in.name, err)
	}
	return src, nil
}

func (a *app) readFile(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return a.limits.Read(file)
}

// result is what became of an input.
type result struct {
	input
	contents
	other       bool   // it is not a manifest
	src         []byte // for excerpts, where it cannot be read again
	diagnostics diag.List
	skipped     diag.List // errors that keep nothing from being written
	changed     bool
	differs     string   // which option does, from when it was compiled
	shape       shape    // of what is to be printed
	notes       []string // what --fix did
}

// crash makes a panic the only finding about an input.
func (r *result) crash(in input, cause any) {
	*r = result{input: in, diagnostics: diag.List{{Code: diag.Unproved, Pos: diag.Pos{File: in.name},
		Message: fmt.Sprintf("internal error: %v", cause), Hint: "please report this file, with the output of -v"}}}
}

// skip makes the errors such that keep nothing from being written.
func (r *result) skip() {
	is := func(d diag.Diagnostic) bool { return d.Severity == diag.Error }
	for _, d := range r.diagnostics {
		if is(d) {
			r.skipped = append(r.skipped, d)
		}
	}
	r.diagnostics = slices.DeleteFunc(r.diagnostics, is)
}

// dropWarnings forgets the warnings about a file that already has its result: the run that
// wrote it has printed them. That a text is not compiled stays true.
func (r *result) dropWarnings() {
	r.diagnostics = slices.DeleteFunc(r.diagnostics, func(d diag.Diagnostic) bool { return d.Severity != diag.Error && d.Code != diag.CRDInText })
}
