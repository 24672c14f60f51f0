package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
)

// MaxConfig is how many bytes a configuration or a UnionSet may have.
const MaxConfig = 1 << 20

// ReadConfig reads a configuration or a UnionSet, which is a regular file of at most
// MaxConfig bytes. Nothing else is opened: of a named pipe even that may never end.
func ReadConfig(fsys fs.FS, name string) ([]byte, error) {
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
	src, err := io.ReadAll(io.LimitReader(f, MaxConfig+1))
	if err == nil && len(src) > MaxConfig {
		return nil, fmt.Errorf("larger than %d MiB, which is too much for a configuration or a UnionSet", MaxConfig>>20)
	}
	return src, err
}

// IsConfig reports whether a file says that unioncel reads it. Where a configuration
// or a UnionSet is expected, nothing is said of what any other file holds: its name may be
// a link that somebody else has made.
// An empty file is nobody's.
func IsConfig(src []byte) bool {
	return len(bytes.TrimSpace(src)) == 0 || bytes.Contains(src, []byte("unioncel.dev/"))
}
