package verify_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/compile"
)

// TestExamples proves the compiled examples in several encodings.
func TestExamples(t *testing.T) {
	files, err := filepath.Glob("../../../examples/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, file := range files {
		src, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, encoding := range []compile.Encoding{compile.Auto, compile.Fine, compile.Compact} {
			t.Run(filepath.Base(file)+" "+string(encoding), func(t *testing.T) {
				out, diags := crdpatch.Compile(crdpatch.Open(file, src), crdpatch.Options{Encoding: encoding})
				if diags.HasErrors() {
					t.Fatal(diags)
				}
				for _, p := range proofsOf(t, file, out) {
					if !p.Proved() {
						t.Errorf("%v\n%s", p.Union.MemberNames(), summary(p))
					}
				}
			})
		}
	}
}

// proofsOf verifies all unions of a file.
func proofsOf(t testing.TB, name string, src []byte) []verify.Proof {
	t.Helper()
	declared, diags := crdpatch.Ask(crdpatch.Open(name, src), crdpatch.Options{}, (*crdpatch.CRD).Declared)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var l []verify.Proof
	for _, d := range declared {
		for _, o := range d.Objects {
			proofs, err := verify.Object(context.Background(), d.CRD, o.Version, o.Path, o.Unions)
			if err != nil {
				t.Fatal(err)
			}
			l = append(l, proofs...)
		}
	}
	if len(l) == 0 {
		t.Fatal("no unions")
	}
	return l
}
