package cli

import (
	"bytes"
	"os"
	"testing"
)

// Data that does not fit into memory is returned unchanged, and no file is left behind.
func TestBuffer(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	b := &buffer{parts: make([]bufferPart, 5)}
	third := bufferMemory / 3
	want := [][]byte{bytes.Repeat([]byte("a"), 2*third), bytes.Repeat([]byte("b"), 2*third), nil, bytes.Repeat([]byte("c"), 2*third), []byte("d")}
	for _, i := range []int{3, 0, 4, 1, 2} {
		if err := b.put(i, want[i]); err != nil {
			t.Fatal(err)
		}
	}
	if b.file == nil {
		t.Error("all is in memory")
	}
	for i := range want {
		if got, err := b.part(i); err != nil || !bytes.Equal(got, want[i]) {
			t.Errorf("part %d has %d bytes, want %d: %v", i, len(got), len(want[i]), err)
		}
	}
	b.close()
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}
