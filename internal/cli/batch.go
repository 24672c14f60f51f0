package cli

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// output is a file to write.
type output struct {
	path string
	data []byte
}

// batch replaces files all together or not at all: every output is written to
// a temporary file beside its target, and once all are there they are renamed.
// A batch is used once.
//
// Renaming a file can still fail, on a file system that lets a file be created
// in a directory and none be replaced; then the error says what was replaced.
type batch struct {
	rename func(from, to string) error // os.Rename

	mu       sync.Mutex
	closed   bool // nothing may be staged any more
	replaced bool // renaming has begun
	staged   []staged
	dirs     []string // created for the outputs, outermost first
}

type staged struct {
	temp string
	real string // the target, without symbolic links
	name string // the target, as the user knows it
}

// replace writes the outputs. When it fails nothing was replaced, unless the
// error says otherwise.
func (b *batch) replace(outs []output) error {
	targets, err := resolveAll(outs)
	if err != nil {
		return err
	}
	for i, out := range outs {
		if err := b.stage(targets[i], out.data); err != nil {
			b.abandon()
			return err
		}
	}
	return b.commit()
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
	b.clean()
	return true
}

// clean removes temporary files, and directories that were created for them.
func (b *batch) clean() {
	for _, s := range b.staged {
		_ = os.Remove(s.temp)
	}
	for _, dir := range slices.Backward(b.dirs) {
		_ = os.Remove(dir) // not if something is in it
	}
	b.staged, b.dirs = nil, nil
}

// stage writes data to a new file beside the target.
func (b *batch) stage(t target, data []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errInterrupted
	}
	dir := filepath.Dir(t.real)
	if err := b.makeDir(dir); err != nil {
		return err
	}
	temp := filepath.Join(dir, ".unioncel-"+strconv.FormatUint(rand.Uint64(), 36))
	mode := os.FileMode(0o666) // less the umask
	if t.info != nil {
		mode = 0o600 // until it has its owner
	}
	file, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fileError("write "+t.name+": create a file beside it", err)
	}
	b.staged = append(b.staged, staged{temp: temp, real: t.real, name: t.name})
	_, err = file.Write(data)
	if err == nil && t.info != nil {
		err = imitate(file, t.info)
	}
	if err == nil {
		err = file.Sync()
	}
	if err := errors.Join(err, file.Close()); err != nil {
		return fileError("write "+t.name, err)
	}
	return nil
}

// imitate gives a file the owner and the mode of another. The owner is a
// matter of luck: most users may not give files away.
func imitate(file *os.File, info os.FileInfo) error {
	chown(file, info)
	const bits = os.ModePerm | os.ModeSetuid | os.ModeSetgid | os.ModeSticky
	want := info.Mode() & bits
	if now, err := file.Stat(); err == nil && now.Mode()&bits == want {
		return nil // some file systems refuse to change a mode even to itself
	}
	return file.Chmod(want)
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
	b.closed, b.replaced = true, true
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
		b.staged = b.staged[i:]
		b.clean()
		return err
	}
	return nil
}

func names(files []staged) string {
	list := make([]string, len(files))
	for i, s := range files {
		list[i] = s.name
	}
	return strings.Join(list, ", ")
}
