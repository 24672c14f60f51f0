package diag_test

import (
	"os"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
)

func Example() {
	src := []byte("x-kubernetes-unions:\n- fields-to-discriminateBy:\n    tsl: TLS\n")
	list := diag.List{{
		Code:    codes.UnknownMember,
		Pos:     diag.Pos{File: "crd.yaml", Line: 3, Col: 5},
		Message: `union member "tsl" is not a property of this object`,
		Hint:    `write "tls"`,
	}}
	if list.HasErrors() {
		_ = diag.Text(os.Stdout, list.Sort(), func(string) []byte { return src })
	}
	// Output:
	// crd.yaml:3:5: error: UC203: union member "tsl" is not a property of this object
	//  |     tsl: TLS
	//  | ....^
	//  hint: write "tls"
}
