package cli

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"time"

	"github.com/gofrs/flock"
)

// staging is a directory with temporary files. While it has any, the process holds a lock that is
// shared with other writers: a process that gets the exclusive lock knows that the temporary files
// are leftovers of killed processes.
type staging struct {
	dir  string
	lock *flock.Flock // nil without temporary files
}

// abandonedAfter is the age at which temporary files count as leftovers in directories that cannot
// be locked, as on Windows.
const abandonedAfter = time.Hour

// temporary matches the names of temporary files.
var temporary = regexp.MustCompile(`^\.unioncel-[0-9a-f]{16}\.tmp$`)

// directoryLock returns the lock of a directory. It adds no file to the directory.
func directoryLock(dir string) *flock.Flock {
	return flock.New(dir, flock.SetFlag(os.O_RDONLY))
}

// removeLeftovers removes the temporary files of killed processes.
func removeLeftovers(dir string) {
	lock := directoryLock(dir)
	defer func() { _ = lock.Close() }()
	alone, _ := lock.TryLock()
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !e.Type().IsRegular() || !temporary.MatchString(e.Name()) {
			continue
		}
		if info, err := e.Info(); alone || err == nil && time.Since(info.ModTime()) > abandonedAfter {
			_ = os.Remove(filepath.Join(dir, e.Name()))
		}
	}
}

// create creates a temporary file.
func (s *staging) create(mode os.FileMode) (*os.File, error) {
	if s.lock == nil {
		s.lock = directoryLock(s.dir)
		// Removing leftovers takes moments. Any longer exclusive lock belongs to a program that
		// removes no temporary files.
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_, _ = s.lock.TryRLockContext(ctx, time.Millisecond)
	}
	name := fmt.Sprintf(".unioncel-%016x.tmp", rand.Uint64())
	return os.OpenFile(filepath.Join(s.dir, name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
}

// close unlocks the directory, after the temporary files have been renamed or removed.
func (s *staging) close() {
	if s.lock != nil {
		_ = s.lock.Close()
	}
}
