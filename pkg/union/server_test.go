package union

import (
	"testing"
	"unicode/utf8"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
)

// TestExpressible compares names with the API server's own function, for each ASCII character and some others.
func TestExpressible(t *testing.T) {
	names := []string{"", "a", "in", "__", "a__b", "a-b", "a.b/c", "1a", "a1", "a-é", "é", "a b", "a\nb", "-", "/", "\xff", "a\xff", "a-\xff"}
	for r := range rune(utf8.RuneSelf) {
		names = append(names, string(r), "a"+string(r), "a-"+string(r)+"b")
	}
	for _, name := range names {
		if _, want := apiservercel.Escape(name); expressible(name) != want {
			t.Errorf("%q: %v, want %v", name, !want, want)
		}
	}
}

func TestMaxMessage(t *testing.T) {
	if maxMessage != celconfig.MaxEvaluatedMessageExpressionSizeBytes {
		t.Errorf("%d, want %d", maxMessage, celconfig.MaxEvaluatedMessageExpressionSizeBytes)
	}
}
