package lint_test
import ("testing";"os";"github.com/unioncel/unioncel/pkg/lint")
func BenchmarkZ(b *testing.B){ src,_:=os.ReadFile("/tmp/m2/u1500.yaml"); for b.Loop(){ lint.File("x.yaml",src,lint.Options{}) } }
