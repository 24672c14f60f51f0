package product_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/product"
)

// crds returns 500 CRDs: the examples under different names.
func crds(b *testing.B) [][]byte {
	b.Helper()
	names, err := filepath.Glob("../../examples/*.yaml")
	if err != nil || len(names) == 0 {
		b.Fatal("no examples", err)
	}
	var l [][]byte
	for i := range 500 {
		text, err := os.ReadFile(names[i%len(names)])
		if err != nil {
			b.Fatal(err)
		}
		l = append(l, bytes.ReplaceAll(text, []byte("example.com"), fmt.Appendf(nil, "n%d.example.com", i)))
	}
	return l
}

// BenchmarkRun runs the function with 500 CRDs in one list.
func BenchmarkRun(b *testing.B) {
	var list bytes.Buffer
	list.WriteString("apiVersion: config.kubernetes.io/v1\nkind: ResourceList\nitems:\n")
	for _, crd := range crds(b) {
		crd = bytes.TrimPrefix(crd, []byte("---\n"))
		list.WriteString("-\n  " + strings.ReplaceAll(strings.TrimSpace(string(crd)), "\n", "\n  ") + "\n")
	}
	b.SetBytes(int64(list.Len()))
	b.ReportAllocs()
	for b.Loop() {
		report, err := product.RunFunction(list.Bytes(), product.Host{})
		if err != nil || report.Diagnostics.HasErrors() {
			b.Fatal(err, report)
		}
	}
}

// BenchmarkFiles compiles the same CRDs as files on all cores.
func BenchmarkFiles(b *testing.B) {
	l := crds(b)
	size := 0
	for _, crd := range l {
		size += len(crd)
	}
	b.SetBytes(int64(size))
	b.ReportAllocs()
	for b.Loop() {
		var wg sync.WaitGroup
		next := make(chan []byte)
		for range runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				for crd := range next {
					if out, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", crd), crdpatch.Options{}); out == nil {
						b.Error(diags)
					}
				}
			})
		}
		for _, crd := range l {
			next <- crd
		}
		close(next)
		wg.Wait()
	}
}
