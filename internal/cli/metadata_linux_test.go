package cli

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A replaced file keeps its extended user attributes.
func TestWriteKeepsAttributes(t *testing.T) {
	src, err := os.ReadFile("../../testdata/crds/backend.yaml")
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "crd.yaml")
	if err := os.WriteFile(name, src, 0o644); err != nil {
		t.Fatal(err)
	}
	for key, value := range map[string]string{"user.note": "checked by hand", "user.empty": ""} {
		if err := unix.Setxattr(name, key, []byte(value), 0); err != nil {
			t.Skip("the file system has no such attributes:", err)
		}
	}
	if code := Main([]string{"unioncel", "compile", "-w", name}, Streams{Out: io.Discard, Err: io.Discard}); code != 0 {
		t.Fatal(code)
	}
	if now, err := os.ReadFile(name); err != nil || string(now) == string(src) {
		t.Fatal("the file is not compiled", err)
	}
	b := make([]byte, 100)
	if n, err := unix.Getxattr(name, "user.note", b); err != nil || string(b[:n]) != "checked by hand" {
		t.Errorf("%q, %v", b[:max(n, 0)], err)
	}
	if n, err := unix.Getxattr(name, "user.empty", b); err != nil || n != 0 {
		t.Errorf("%q, %v", b[:max(n, 0)], err)
	}
}
