package diag_test

import (
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
)

func TestGitHub(t *testing.T) {
	tests := []struct {
		name string
		d    diag.Diagnostic
		path func(string) string
		want string
	}{
		{
			name: "all there is",
			d: diag.Diagnostic{Code: codes.UnknownMember, Pos: diag.Pos{File: "crd.yaml", Line: 4, Col: 2}, Message: "no such member", Hint: "write a\nor b",
				Related: []diag.Related{{Pos: diag.Pos{File: "x.go", Line: 3, Col: 1}, Message: "here"}}},
			path: func(s string) string { return "config/" + s },
			want: "::error file=config/crd.yaml,line=4,col=2,title=UC203 unknown member::no such member%0Ahint: write a%0Aor b%0Asee config/x.go:3:1: here\n",
		},
		{
			name: "warning of a line",
			d:    diag.Diagnostic{Code: codes.NoEnum, Severity: diag.Warning, Pos: diag.Pos{File: "a", Line: 1}, Message: "m"},
			want: "::warning file=a,line=1,title=UC520 discriminator without an enum::m\n",
		},
		{
			name: "note of nothing",
			d:    diag.Diagnostic{Code: "UC999", Severity: diag.Info, Message: "m"},
			want: "::notice title=UC999::m\n",
		},
		{
			name: "column without a line",
			d:    diag.Diagnostic{Code: "UC999", Pos: diag.Pos{File: "a", Col: 3}, Message: "m"},
			want: "::error file=a,title=UC999::m\n",
		},
		{
			name: "what would end the command",
			d:    diag.Diagnostic{Code: "UC999", Pos: diag.Pos{File: "50%,a:b\n::error ::c\r\x1b.yaml"}, Message: "100%\n::set-env name=X::y\r\x1b[31m"},
			want: "::error file=50%25%2Ca%3Ab%0A%3A%3Aerror %3A%3Ac%0D\\u001b.yaml,title=UC999::100%25 ::set-env name=X::y\\u001b[31m\n",
		},
		{
			name: "not UTF-8",
			d:    diag.Diagnostic{Code: "UC999", Pos: diag.Pos{File: "a\xff"}, Message: "\xff"},
			want: "::error file=a\ufffd,title=UC999::\ufffd\n",
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			var b strings.Builder
			if err := diag.GitHub(&b, diag.List{test.d}, test.path); err != nil {
				t.Fatal(err)
			}
			if b.String() != test.want {
				t.Errorf("got  %q\nwant %q", b.String(), test.want)
			}
		})
	}
}

func TestURL(t *testing.T) {
	info, _ := diag.Lookup(codes.NoEnum)
	if got, want := info.URL(), diag.Reference+"#uc520-discriminator-without-an-enum"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}
