package source

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"

	"github.com/unioncel/unioncel/internal/limit"
)

// MaxConfig is how many bytes a configuration or a UnionSet may have.
const MaxConfig = 1 << 20

// ReadConfig reads a configuration or a UnionSet, of at most MaxConfig bytes.
func ReadConfig(fsys fs.FS, name string) ([]byte, error) {
	src, err := ReadFile(fsys, name, limit.Limits{Size: MaxConfig})
	if err == nil && len(src) > MaxConfig {
		return nil, fmt.Errorf("larger than %d MiB, which is too much for a configuration or a UnionSet", MaxConfig>>20)
	}
	return src, err
}

// ReadFile reads a file that another file names, or as much of it as tells that it is over the
// limit. It is a regular file: opening a named pipe may never end. Whether links may lead out of
// a directory is up to the file system: those of an os.Root may not.
func ReadFile(fsys fs.FS, name string, limits limit.Limits) ([]byte, error) {
	info, err := fs.Stat(fsys, name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, errors.New("not a regular file")
	}
	f, err := fsys.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return limits.Read(f)
}

// IsConfig reports whether a file says that unioncel reads it. Where a configuration
// or a UnionSet is expected, nothing is said of what any other file holds: its name may be
// a link that somebody else has made.
// An empty file is nobody's.
func IsConfig(src []byte) bool {
	return len(bytes.TrimSpace(src)) == 0 || bytes.Contains(src, []byte("unioncel.dev/"))
}
