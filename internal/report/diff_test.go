package report

import "testing"

func TestDiffLabel(t *testing.T) {
	for name, want := range map[string]string{
		"dir/crd.yaml": "dir/crd.yaml",
		"a b.yaml":     "a b.yaml\t",
		"a\nb.yaml":    `"a\nb.yaml"`,
		`a"b.yaml`:     `"a\"b.yaml"`,
	} {
		if got := diffLabel(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}
