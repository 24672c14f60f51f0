package cli

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRelative(t *testing.T) {
	tests := []struct {
		base, dir, file, want string
	}{
		{"/repo", "/repo", "crd.yaml", "crd.yaml"},
		{"/repo", "/repo/config", "crd.yaml", "config/crd.yaml"},
		{"/repo", "/repo/config", "./x/../crd.yaml", "config/crd.yaml"},
		{"/repo", "/repo/config", "../crd.yaml", "crd.yaml"},
		{"/repo", "/repo/config", "../../crd.yaml", "/crd.yaml"},
		{"/repo", "/repo/config", "/repo/a/crd.yaml", "a/crd.yaml"},
		{"/repo", "/repo/config", "/tmp/crd.yaml", "/tmp/crd.yaml"},
		{"/repo", "/repo", "/repo", "/repo"},
		{"/repo", "/repo2", "crd.yaml", "/repo2/crd.yaml"},
		{"/", "/", "crd.yaml", "crd.yaml"},
		{"/", "/a", "crd.yaml", "a/crd.yaml"},
		{"/repo", "/repo", `a\b.yaml`, `a\b.yaml`},
		{"/repo", "/repo", "C:x.yaml", "C:x.yaml"},
		{"/repo", "/repo", stdinName, stdinName},
		{"/repo", "/repo", "", ""},
	}
	for _, test := range tests {
		if got := relative(test.base, test.dir, test.file); got != test.want {
			t.Errorf("%s in %s from %s: got %q, want %q", test.file, test.dir, test.base, got, test.want)
		}
	}
}

func TestRepository(t *testing.T) {
	root := t.TempDir()
	deep := filepath.Join(root, "a", "b")
	if err := os.MkdirAll(deep, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "a", ".git"), []byte("gitdir: elsewhere\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, _ := repository(deep); got != filepath.Join(root, "a") {
		t.Errorf("got %s", got)
	}
	if err := os.Mkdir(filepath.Join(deep, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, _ := repository(deep); got != deep {
		t.Errorf("got %s", got)
	}
}
