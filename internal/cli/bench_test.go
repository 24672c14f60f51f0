package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkDirectory compiles a directory of 100 files into another one. With
// -cpu 1,2 it shows what a second processor is worth.
func BenchmarkDirectory(b *testing.B) {
	var sources [][]byte
	for _, name := range []string{"backup", "broker", "route"} {
		src, err := os.ReadFile(filepath.Join("..", "..", "examples", name+".yaml"))
		if err != nil {
			b.Fatal(err)
		}
		sources = append(sources, src)
	}
	dir := b.TempDir()
	size := 0
	for i := range 100 {
		src := sources[i%len(sources)]
		size += len(src)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.yaml", i)), src, 0o644); err != nil {
			b.Fatal(err)
		}
	}
	out := filepath.Join(b.TempDir(), "out")
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		var errs bytes.Buffer
		a := newApp(Streams{Out: &errs, Err: &errs})
		if code := a.main(context.Background(), func() {}, []string{"compile", "-q", "-o", out, dir}); code != exitClean {
			b.Fatal(code, errs.String())
		}
	}
}
