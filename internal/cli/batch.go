package cli

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
)

// output is a file to write.
type output struct {
	path string
	data []byte
}

// batch replaces files all together or not at all: every output is written to
// a temporary file next to its target, and once all are there they are renamed.
// A batch is used once.
//
// Renaming a file can still fail, on a file system that lets a file be created
// in a directory and none be replaced; then the error says what was replaced.
// A process that is killed leaves temporary files; the next batch that
// comes to their directory removes them (see staging).
type batch struct {
	rename func(from, to string) error // os.Rename

	mu       sync.Mutex
	closed   bool           // nothing may be staged any more
	replaced bool           // renaming has begun
	writing  sync.WaitGroup // those who write temporary files
	staged   []staged
	staging  map[string]*staging // by directory
	dirs     []string            // created for the outputs, outermost first
}

type staged struct {
	n    int // in the order of the outputs
	temp string
	target
}

// target is a file to replace or create.
type target struct {
	name string      // as the user knows it
	real string      // without symbolic links
	info os.FileInfo // nil when there is no such file yet
}

// replace writes the outputs. When it fails nothing was replaced, unless the
// error says otherwise.
func (b *batch) replace(outs []output) error {
	var errs []error
	for i, out := range outs {
		b.enter(out.path)
		errs = append(errs, b.stage(i, out))
	}
	if err := joinDistinct(errs); err != nil {
		b.abandon()
		return err
	}
	return b.commit()
}

// enter prepares for a file that may be replaced: what a killed process has left
// beside it is removed.
func (b *batch) enter(path string) {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.closed {
		b.stagingIn(filepath.Dir(path))
	}
}

// stagingIn returns the staging in a directory, from which leftovers have been removed.
func (b *batch) stagingIn(dir string) *staging {
	s, ok := b.staging[dir]
	if !ok {
		if b.staging == nil {
			b.staging = map[string]*staging{}
		}
		s = &staging{dir: dir}
		b.staging[dir] = s
		removeLeftovers(dir)
	}
	return s
}

// stage writes an output to a new file next to its target. Outputs may be staged
// at the same time, in any order; n is their place in the order to name them in.
func (b *batch) stage(n int, out output) error {
	t, err := resolve(out.path)
	if err != nil {
		return err
	}
	file, err := b.create(n, t)
	if err != nil {
		return err
	}
	defer b.writing.Done()
	_, err = file.Write(out.data)
	if err == nil && t.info != nil {
		copyMetadata(file, t)
		err = setMode(file, t.info)
	}
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return fileError("write "+t.name, err)
	}
	return nil
}

// create creates the temporary file of a target. Whoever has it calls
// b.writing.Done when the file is closed.
func (b *batch) create(n int, t target) (*os.File, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errInterrupted
	}
	dir := filepath.Dir(t.real)
	if err := b.makeDir(dir); err != nil {
		return nil, err
	}
	mode := os.FileMode(0o666) // less the umask
	if t.info != nil {
		mode = 0o600 // until it has its owner
	}
	file, err := b.stagingIn(dir).create(mode)
	if err != nil {
		return nil, fileError("write "+t.name+": create a file beside it", err)
	}
	b.staged = append(b.staged, staged{n: n, temp: file.Name(), target: t})
	b.writing.Add(1)
	return file, nil
}

// abandon removes what the batch has created and keeps it from writing
// anything. It reports false when it is too late for that.
func (b *batch) abandon() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.replaced {
		return false
	}
	b.closed = true
	b.writing.Wait()
	b.clean(b.staged)
	b.staged = nil
	return true
}

// clean removes temporary files, and directories that were created for them.
func (b *batch) clean(files []staged) {
	for _, s := range files {
		_ = os.Remove(s.temp)
	}
	for _, s := range b.staging {
		s.close()
	}
	for _, dir := range slices.Backward(b.dirs) {
		_ = os.Remove(dir) // not if something is in it
	}
	b.staging, b.dirs = nil, nil
}

// setMode gives a file the mode of another.
func setMode(file *os.File, info os.FileInfo) error {
	const bits = os.ModePerm | os.ModeSetuid | os.ModeSetgid | os.ModeSticky
	want := info.Mode() & bits
	if now, err := file.Stat(); err == nil && now.Mode()&bits == want {
		return nil // some file systems refuse to change a mode even to itself
	}
	return file.Chmod(want)
}

// resolve finds the target of an output, and makes sure that what exists may be
// written: renaming asks only for permission on the directory, while a file
// without write permission was meant to stay as it is.
func resolve(path string) (target, error) {
	fail := func(err error) (target, error) { return target{}, fileError("write "+path, err) }

	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return target{name: path, real: path}, nil
	}
	// A symbolic link that leads nowhere is an error from here on.
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return fail(err)
	}
	info, err := os.Stat(real)
	if err != nil {
		return fail(err)
	}
	if !info.Mode().IsRegular() {
		return fail(errors.New("not a regular file"))
	}
	file, err := os.OpenFile(real, os.O_WRONLY, 0)
	if err != nil {
		return fail(err)
	}
	if err := file.Close(); err != nil {
		return fail(err)
	}
	return target{name: path, real: real, info: info}, nil
}

// makeDir creates a directory and those above it, and remembers which are new.
func (b *batch) makeDir(dir string) error {
	var missing []string
	for d := dir; ; d = filepath.Dir(d) {
		if _, err := os.Stat(d); err == nil || d == filepath.Dir(d) {
			break
		}
		missing = append(missing, d)
	}
	for _, d := range slices.Backward(missing) {
		err := os.Mkdir(d, 0o777)
		if errors.Is(err, os.ErrExist) {
			continue // somebody else was faster
		}
		if err != nil {
			return fileError("create directory "+d, err)
		}
		b.dirs = append(b.dirs, d)
	}
	return nil
}

// commit renames the temporary files.
func (b *batch) commit() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errInterrupted
	}
	b.closed = true
	slices.SortFunc(b.staged, func(s, t staged) int { return cmp.Compare(s.n, t.n) })
	b.replaced = true
	for i, s := range b.staged {
		err := b.rename(s.temp, s.real)
		if err == nil {
			continue
		}
		err = fileError("replace "+s.name, err)
		if i > 0 {
			err = fmt.Errorf("%w; already replaced: %s; left as they were: %s",
				err, names(b.staged[:i]), names(b.staged[i:]))
		}
		b.clean(b.staged[i:])
		return err
	}
	b.dirs = nil // they are wanted now
	b.clean(nil)
	return nil
}

// names lists files; of many, the first.
func names(files []staged) string {
	const most = 10
	var list []string
	for _, s := range files[:min(most, len(files))] {
		list = append(list, s.name)
	}
	if more := len(files) - most; more > 0 {
		list = append(list, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(list, ", ")
}
