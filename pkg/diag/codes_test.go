package diag_test

import (
	"regexp"
	"testing"

	"github.com/unioncel/unioncel/pkg/diag"
)

func TestCodesAreWellFormed(t *testing.T) {
	form := regexp.MustCompile(`^UC[1-9][0-9]{2}$`)
	for i, info := range diag.Codes {
		if !form.MatchString(string(info.Code)) {
			t.Errorf("%q is no code", info.Code)
		}
		if info.Title == "" {
			t.Errorf("%s has no title", info.Code)
		}
		if i > 0 && diag.Codes[i-1].Code >= info.Code {
			t.Errorf("%s stands behind %s", info.Code, diag.Codes[i-1].Code)
		}
		// Codes for objects and changes (8xx and 9xx) may have any severity.
		if isError := info.Code[2] != '5'; info.Code[2] < '8' && isError != (info.Severity == diag.Error) {
			t.Errorf("%s has severity %s", info.Code, info.Severity)
		}
	}
	if _, ok := diag.Lookup("UC999"); ok {
		t.Error("UC999 is known")
	}
}
