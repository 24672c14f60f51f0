package cli

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// Temporary files of one batch have names that begin alike. In each directory there
// is a file .unioncel-ID.lock beside them, too. That in the first directory is locked
// for as long as the batch lasts: the operating system unlocks it when the process
// ends, in whichever way. Those in other directories hold the way to the first; one
// lock will do for thousands of directories. So temporary files whose lock is not held
// are left from a process that was killed, and processes that work in the same
// directories leave each other's files alone.

// temporary matches the names of temporary files and locks, and their beginning.
var temporary = regexp.MustCompile(`^(\.unioncel-[0-9a-z]{13})(-[0-9]+\.tmp|\.lock)$`)

const lockSuffix = ".lock"

// batchLock is the lock of a batch.
type batchLock struct {
	prefix string // of names
	dir    string // that it is in
	*flock.Flock
}

// lockBatch creates and locks a lock in a directory. Where the file system has no
// locks it is not locked, and nobody removes what a killed process leaves.
func lockBatch(dir string) (*batchLock, error) {
	for {
		prefix := ".unioncel-" + strconv.FormatUint(rand.Uint64()|1<<63, 36) // always 13 digits
		lock := flock.New(filepath.Join(dir, prefix+lockSuffix), flock.SetPermissions(0o644))
		locked, err := lock.TryLock()
		if pathErr := new(fs.PathError); errors.As(err, &pathErr) {
			return nil, err // it cannot be created, and no other file either
		}
		// Between creating and locking it somebody may have taken the file for an old one.
		if _, gone := os.Lstat(lock.Path()); err == nil && (!locked || gone != nil) {
			_ = lock.Close()
			continue
		}
		return &batchLock{prefix, dir, lock}, nil
	}
}

// remove removes the lock, and unlocks it.
func (l *batchLock) remove() {
	_ = os.Remove(l.Path()) // not where open files cannot be removed
	_ = l.Close()
	_ = os.Remove(l.Path())
}

// workplace is a directory that temporary files are written to.
type workplace struct {
	dir   string
	files int
	way   string // the file that holds the way to the lock, if it is elsewhere
}

// create creates a temporary file.
func (w *workplace) create(lock *batchLock, mode os.FileMode) (*os.File, error) {
	if w.files == 0 && w.dir != lock.dir {
		way, err := wayFrom(w.dir, lock.Path())
		if err != nil {
			return nil, err
		}
		w.way = filepath.Join(w.dir, lock.prefix+lockSuffix)
		if err := os.WriteFile(w.way, []byte(filepath.ToSlash(way)), 0o644); err != nil {
			return nil, err
		}
	}
	name := lock.prefix + "-" + strconv.Itoa(w.files) + ".tmp"
	w.files++
	return os.OpenFile(filepath.Join(w.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// wayFrom returns the way from a directory to a file: not from the root, where that
// can be, since a directory may be mounted elsewhere for somebody else.
func wayFrom(dir, file string) (string, error) {
	from, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	to, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	if way, err := filepath.Rel(from, to); err == nil {
		return way, nil
	}
	return to, nil // on another drive
}

// leave removes what create has put beside the temporary files. Those have been
// renamed or removed.
func (w *workplace) leave() {
	if w.way != "" {
		_ = os.Remove(w.way)
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
		own := filepath.Join(w.dir, prefix+lockSuffix)
		path := own
		// A lock that is held cannot be read everywhere, and is empty.
		if way, _ := os.ReadFile(own); len(way) > 0 {
			if path = filepath.FromSlash(strings.TrimSpace(string(way))); !filepath.IsAbs(path) {
				path = filepath.Join(w.dir, path)
			}
		}
		if temporary.FindString(filepath.Base(path)) != prefix+lockSuffix {
			continue // not by us
		}
		lock := flock.New(path, flock.SetFlag(os.O_RDONLY)) // not created
		locked, err := lock.TryLock()
		if !locked && !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		for _, name := range files {
			if name != filepath.Base(own) {
				_ = os.Remove(filepath.Join(w.dir, name))
			}
		}
		_ = os.Remove(own)
		_ = lock.Close()
		_ = os.Remove(own)
	}
}
