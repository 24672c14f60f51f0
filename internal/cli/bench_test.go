package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// manyExamples creates a directory of files with the CRDs of examples, and returns their total size
// in bytes.
func manyExamples(tb testing.TB, files int) (dir string, size int) {
	tb.Helper()
	var sources [][]byte
	for _, name := range []string{"backup", "broker", "route"} {
		src, err := os.ReadFile(filepath.Join("..", "..", "examples", name+".yaml"))
		if err != nil {
			tb.Fatal(err)
		}
		sources = append(sources, src)
	}
	dir = tb.TempDir()
	for i := range files {
		src := sources[i%len(sources)]
		size += len(src)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.yaml", i)), src, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return dir, size
}

// The output does not depend on the number of processors.
func TestProcessors(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles many files")
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	dir, _ := manyExamples(t, 12)
	var first string
	for _, n := range []int{1, 2, 8} {
		runtime.GOMAXPROCS(n)
		var out bytes.Buffer
		a := newApp(Streams{Out: &out, Err: &out})
		if code := a.main(context.Background(), func() {}, []string{"compile", dir}); code != exitClean || out.Len() == 0 {
			t.Fatal(code, out.String())
		}
		if first == "" {
			first = out.String()
		} else if out.String() != first {
			t.Errorf("with %d processors the output differs", n)
		}
	}
}

// BenchmarkDirectory compiles a directory of 1,000 files into another one. With -cpu 1,2 it shows
// the gain of a second processor.
func BenchmarkDirectory(b *testing.B) {
	dir, size := manyExamples(b, 1000)
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

// BenchmarkValidate validates creates and updates of 1,000 objects with unions in lists and maps.
func BenchmarkValidate(b *testing.B) {
	examples := filepath.Join("..", "..", "examples")
	one, err := os.ReadFile(filepath.Join(examples, "objects", "route-good.yaml"))
	if err != nil {
		b.Fatal(err)
	}
	var all bytes.Buffer
	for i := range 1000 {
		all.WriteString("---\n")
		all.Write(bytes.Replace(one, []byte("name: shop\n"), fmt.Appendf(nil, "name: shop-%d\n", i), 1))
	}
	file := filepath.Join(b.TempDir(), "routes.yaml")
	if err := os.WriteFile(file, all.Bytes(), 0o644); err != nil {
		b.Fatal(err)
	}
	crd := filepath.Join(examples, "route.yaml")
	for name, args := range map[string][]string{
		"create": {"validate", "--crd", crd, file},
		"update": {"validate", "--crd", crd, "--old", file, file},
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(all.Len()))
			b.ReportAllocs()
			for b.Loop() {
				var out, errs bytes.Buffer
				a := newApp(Streams{Out: &out, Err: &errs})
				if code := a.main(context.Background(), func() {}, args); code != exitClean || errs.String() != "unioncel: 1000 objects: 1000 accepted, 0 rejected\n" {
					b.Fatal(code, out.String(), errs.String())
				}
			}
		})
	}
}
