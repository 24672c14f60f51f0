package cli

import (
	"testing"
	"unicode/utf16"

	"github.com/unioncel/unioncel/pkg/diag"
)

func TestIsOther(t *testing.T) {
	utf16le := func(s string) (b []byte) {
		for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
			b = append(b, byte(u), byte(u>>8))
		}
		return b
	}
	walked := input{walk: true}
	syntax, notUTF8 := diag.List{{Code: diag.Syntax}}, diag.List{{Code: diag.InvalidUTF8}}
	for _, tt := range []struct {
		name string
		in   input
		src  []byte
		l    diag.List
		want bool
	}{
		{"a template", walked, []byte("{{ if }}"), syntax, true},
		{"empty", walked, nil, diag.List{{Code: diag.EmptyInput}}, true},
		{"a template that was named", input{}, []byte("{{ if }}"), syntax, false},
		{"readable", walked, []byte("a: 1"), nil, false},
		{"a CRD", walked, []byte("{{ if }}\nkind: CustomResourceDefinition"), syntax, false},
		{"a CRD in UTF-16", walked, utf16le("kind: CustomResourceDefinition"), notUTF8, false},
		{"something in UTF-16", walked, utf16le("kind: Deployment"), notUTF8, true},
		{"another error", walked, []byte("a: 1"), append(diag.List{{Code: diag.UnknownMember}}, syntax...), false},
	} {
		if got := tt.in.isOther(tt.src, tt.l); got != tt.want {
			t.Errorf("%s: %v", tt.name, got)
		}
	}
}
