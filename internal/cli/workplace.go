package cli

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/gofrs/flock"
)

// workplace is a directory that temporary files are written to. Their names begin
// alike, and for as long as they are needed a lock file beside them, of the same
// beginning, is locked: the operating system unlocks it when the process ends, in
// whichever way, so files whose lock is not held are left from a process that was
// killed. Processes that work in the same directory leave each other's files alone.
type workplace struct {
	dir    string
	prefix string       // of the names of the files; empty before the first
	lock   *flock.Flock // nil for none
	files  int
}

// maxLocks is how many locks a batch holds: each is an open file. In further
// directories there are none, and what is left there is removed when it is old.
const (
	maxLocks = 200
	old      = time.Hour
)

// temporary matches the names of temporary files and locks, and their beginning.
var temporary = regexp.MustCompile(`^(\.unioncel-[0-9a-z]{13})(-[0-9]+\.tmp|\.lock)$`)

// create creates a temporary file; locked says whether to lock the first.
func (w *workplace) create(locked bool, mode os.FileMode) (*os.File, error) {
	if w.prefix == "" {
		if err := w.occupy(locked); err != nil {
			return nil, err
		}
	}
	name := w.prefix + "-" + strconv.Itoa(w.files) + ".tmp"
	w.files++
	return os.OpenFile(filepath.Join(w.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// occupy finds a beginning of names, and locks the lock file. Where the file system
// has no locks it is not locked, and nobody removes what a killed process leaves.
func (w *workplace) occupy(locked bool) error {
	for {
		prefix := ".unioncel-" + strconv.FormatUint(rand.Uint64()|1<<63, 36) // always 13 digits
		if !locked {
			w.prefix = prefix
			return nil
		}
		// Some network file systems lock only what is open for writing.
		lock := flock.New(w.lockOf(prefix), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(0o644))
		held, err := lock.TryLock()
		if pathErr := new(fs.PathError); errors.As(err, &pathErr) {
			return err // it cannot be created, and no other file either
		}
		// Between creating and locking it somebody may have taken the file for an old one.
		if _, gone := os.Lstat(lock.Path()); err == nil && (!held || gone != nil) {
			_ = lock.Close()
			continue
		}
		w.prefix, w.lock = prefix, lock
		return nil
	}
}

func (w *workplace) lockOf(prefix string) string { return filepath.Join(w.dir, prefix+".lock") }

// leave removes the lock file. The temporary files have been renamed or removed.
func (w *workplace) leave() {
	if w.lock != nil {
		remove(w.lock)
	}
}

// remove removes a lock that is held.
func remove(lock *flock.Flock) {
	_ = os.Remove(lock.Path()) // not where open files cannot be removed
	_ = lock.Close()
	_ = os.Remove(lock.Path())
}

// tidy removes what processes that were killed have left.
func (w *workplace) tidy() {
	entries, _ := os.ReadDir(w.dir)
	left := map[string][]fs.DirEntry{} // files by the beginning of their names
	for _, e := range entries {
		if m := temporary.FindStringSubmatch(e.Name()); m != nil {
			left[m[1]] = append(left[m[1]], e)
		}
	}
	for prefix, files := range left {
		path := w.lockOf(prefix)
		switch info, err := os.Lstat(path); {
		case errors.Is(err, fs.ErrNotExist):
			for _, e := range files {
				if info, err := e.Info(); err == nil && time.Since(info.ModTime()) > old {
					w.drop(e)
				}
			}
		case err == nil && info.Mode().IsRegular():
			lock := flock.New(path, flock.SetFlag(os.O_RDONLY)) // not created
			if held, _ := lock.TryLock(); !held {
				_ = lock.Close()
				continue
			}
			for _, e := range files {
				if e.Name() != filepath.Base(path) {
					w.drop(e)
				}
			}
			remove(lock)
		}
	}
}

// drop removes a temporary file, but nothing that only has the name of one.
func (w *workplace) drop(e fs.DirEntry) {
	if e.Type().IsRegular() {
		_ = os.Remove(filepath.Join(w.dir, e.Name()))
	}
}
