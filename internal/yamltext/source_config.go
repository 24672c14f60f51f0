package yamltext

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
)

// MaxConfig is the maximum size, in bytes, of a configuration or a UnionSet.
const MaxConfig = 1 << 20

// ReadConfig reads a configuration or a UnionSet, of at most MaxConfig bytes.
func ReadConfig(fsys fs.FS, name string) ([]byte, error) {
	src, err := ReadFile(fsys, name, Limits{Size: MaxConfig})
	if err == nil && len(src) > MaxConfig {
		return nil, fmt.Errorf("larger than %d MiB, which is too much for a configuration or a UnionSet", MaxConfig>>20)
	}
	return src, err
}

// ReadFile reads a file that another file names. If the file exceeds the size limit, the result is
// long enough to detect this. Only regular files are read, because opening a named pipe may block
// forever. The file system decides whether symbolic links may lead out of a directory; in an
// os.Root they may not.
func ReadFile(fsys fs.FS, name string, limits Limits) ([]byte, error) {
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

// IsConfig reports whether src identifies itself as a file of unioncel, or is empty. Callers must
// not quote other files in diagnostics: the name of a configuration or UnionSet may be a link that
// another user created.
func IsConfig(src []byte) bool {
	return len(bytes.TrimSpace(src)) == 0 || bytes.Contains(src, []byte("unioncel.dev/"))
}
