package yamltext

import (
	"testing"
	"unicode/utf16"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
)

func TestIsOther(t *testing.T) {
	utf16le := func(s string) (b []byte) {
		for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return b
	}
	syntax, notUTF8 := diag.List{{Code: codes.Syntax}}, diag.List{{Code: codes.InvalidUTF8}}
	for _, tt := range []struct {
		name string
		src  []byte
		l    diag.List
		want bool
	}{
		{"a template", []byte("{{ if }}"), syntax, true},
		{"empty", nil, diag.List{{Code: codes.EmptyInput}}, true},
		{"readable", []byte("a: 1"), nil, false},
		{"a CRD", []byte("{{ if }}\nkind: CustomResourceDefinition"), syntax, false},
		{"a union set", []byte("apiVersion: unioncel.dev/v1alpha1\n]"), syntax, false},
		{"a part of a schema", []byte("x-kubernetes-unions: ["), syntax, false},
		{"a CRD in UTF-16", utf16le("kind: CustomResourceDefinition"), notUTF8, false},
		{"something in UTF-16", utf16le("kind: Deployment"), notUTF8, true},
		{"another error", []byte("a: 1"), append(diag.List{{Code: codes.UnknownMember}}, syntax...), false},
	} {
		if got := IsOther(tt.src, tt.l); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
