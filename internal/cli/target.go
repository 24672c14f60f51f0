package cli

import (
	"errors"
	"os"
	"path/filepath"
)

// target is a file to replace or create.
type target struct {
	name string      // as the user knows it
	real string      // without symbolic links
	info os.FileInfo // nil when there is no such file yet
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
