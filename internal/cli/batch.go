package cli

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
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

// batch replaces all its files or none: every output is written to a temporary file next to its
// target, and the files are renamed once all of them are complete. A batch is used once.
//
// A rename can still fail, on a file system that permits new files in a directory but no
// replacements; the error then names the files that were replaced. A killed process leaves
// temporary files behind.
type batch struct {
	rename func(from, to string) error // os.Rename

	mu       sync.Mutex
	closed   bool           // nothing may be staged any more
	replaced bool           // renaming has begun
	writing  sync.WaitGroup // open temporary files
	staged   []staged
	dirs     []string // created for the outputs, outermost first
}

type staged struct {
	temp string
	target
}

// target is a file to replace or create.
type target struct {
	name string      // as the user knows it
	real string      // without symbolic links
	info os.FileInfo // nil when there is no such file yet
}

// replace writes the outputs. On failure no file was replaced, unless the error lists replaced
// files.
func (b *batch) replace(outs []output) error {
	var errs []error
	for _, out := range outs {
		errs = append(errs, b.stage(out))
	}
	if err := joinDistinct(errs); err != nil {
		b.abandon()
		return err
	}
	return b.commit()
}

// stage writes an output to a new file next to its target. Outputs may be staged concurrently, in
// any order.
func (b *batch) stage(out output) error {
	t, err := resolve(out.path)
	if err != nil {
		return err
	}
	file, err := b.create(t)
	if err != nil {
		return err
	}
	defer b.writing.Done()
	_, err = file.Write(out.data)
	if err == nil && t.info != nil {
		copyOwner(file, t)
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

// create creates the temporary file of a target. The caller must call b.writing.Done after closing
// it.
func (b *batch) create(t target) (*os.File, error) {
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
	name := fmt.Sprintf(".unioncel-%016x.tmp", rand.Uint64())
	file, err := os.OpenFile(filepath.Join(dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return nil, fileError("write "+t.name+": create a file beside it", err)
	}
	b.staged = append(b.staged, staged{temp: file.Name(), target: t})
	b.writing.Add(1)
	return file, nil
}

// abandon removes the temporary files and directories, and prevents later writes. It returns false
// if files have been replaced already.
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

// clean removes the given temporary files, and the directories that were created for outputs.
func (b *batch) clean(files []staged) {
	for _, s := range files {
		_ = os.Remove(s.temp)
	}
	for _, dir := range slices.Backward(b.dirs) {
		_ = os.Remove(dir) // fails if the directory is not empty
	}
	b.dirs = nil
}

// setMode gives a file the mode of the file that it replaces.
func setMode(file *os.File, info os.FileInfo) error {
	const bits = os.ModePerm | os.ModeSetuid | os.ModeSetgid | os.ModeSticky
	want := info.Mode() & bits
	if now, err := file.Stat(); err == nil && now.Mode()&bits == want {
		return nil // some file systems reject a change to the same mode
	}
	return file.Chmod(want)
}

// resolve finds the target of an output, and checks that an existing file is writable: renaming
// requires permission on the directory only, but a file without write permission should stay as it
// is.
func resolve(path string) (target, error) {
	fail := func(err error) (target, error) { return target{}, fileError("write "+path, err) }

	if _, err := os.Lstat(path); errors.Is(err, os.ErrNotExist) {
		return target{name: path, real: path}, nil
	}
	// From here on, a dangling symbolic link is an error.
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

// makeDir creates a directory and its parents, and records the new ones.
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
			continue // created concurrently
		}
		if err != nil {
			return fileError("create directory "+d, err)
		}
		b.dirs = append(b.dirs, d)
	}
	return nil
}

// commit renames the temporary files, in the order of the names of their targets.
func (b *batch) commit() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errInterrupted
	}
	b.closed = true
	slices.SortFunc(b.staged, func(s, t staged) int { return cmp.Compare(s.name, t.name) })
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
	return nil
}

// names lists the first few files.
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
