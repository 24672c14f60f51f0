package cli

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/gofrs/flock"
)

// workplace is a directory that temporary files are written to. Their names begin
// alike, and for as long as they are needed a lock file beside them, of the same
// beginning, is locked: the operating system unlocks it when the process ends, in
// whichever way, so files without a locked one are left from a process that was
// killed. Processes that work in the same directory leave each other's files alone.
type workplace struct {
	dir    string
	prefix string // of the names of the files; empty before the first
	lock   *flock.Flock
	files  int
}

// temporary matches the names that create and occupy give.
var temporary = regexp.MustCompile(`^(\.unioncel-[0-9a-z]{13})(-[0-9]+\.tmp|\.lock)$`)

// create creates a temporary file.
func (w *workplace) create(mode os.FileMode) (*os.File, error) {
	if w.prefix == "" {
		if err := w.occupy(); err != nil {
			return nil, err
		}
	}
	name := w.prefix + "-" + strconv.Itoa(w.files) + ".tmp"
	w.files++
	return os.OpenFile(filepath.Join(w.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// occupy finds a beginning of names and locks the lock file. Where the file system
// has no locks there is none, and nobody removes what a killed process leaves.
func (w *workplace) occupy() error {
	for {
		id := strconv.FormatUint(rand.Uint64()|1<<63, 36) // always 13 digits
		lock := flock.New(w.path(".unioncel-"+id), flock.SetPermissions(0o644))
		locked, err := lock.TryLock()
		if pathErr := new(fs.PathError); errors.As(err, &pathErr) {
			return err // it cannot be created, and no other file either
		}
		// Between creating and locking it somebody may have taken the file for an old one.
		if _, gone := os.Lstat(lock.Path()); err == nil && (!locked || gone != nil) {
			_ = lock.Close()
			continue
		}
		w.prefix, w.lock = ".unioncel-"+id, lock
		return nil
	}
}

func (w *workplace) path(prefix string) string { return filepath.Join(w.dir, prefix+".lock") }

// leave removes the lock file. The temporary files have been renamed or removed.
func (w *workplace) leave() {
	if w.lock != nil {
		_ = os.Remove(w.lock.Path()) // not where open files cannot be removed
		_ = w.lock.Close()
		_ = os.Remove(w.lock.Path())
	}
}

// tidy removes what processes that were killed have left.
func (w *workplace) tidy() {
	entries, _ := os.ReadDir(w.dir)
	left := map[string][]string{} // files by the beginning of their names
	for _, e := range entries {
		if m := temporary.FindStringSubmatch(e.Name()); m != nil && e.Type().IsRegular() {
			left[m[1]] = append(left[m[1]], e.Name())
		}
	}
	for prefix, files := range left {
		lock := flock.New(w.path(prefix), flock.SetFlag(os.O_RDONLY)) // not created
		locked, err := lock.TryLock()
		if !locked && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for _, name := range files {
			if name != filepath.Base(lock.Path()) {
				_ = os.Remove(filepath.Join(w.dir, name))
			}
		}
		_ = os.Remove(lock.Path())
		_ = lock.Close()
		_ = os.Remove(lock.Path())
	}
}
