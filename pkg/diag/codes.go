package diag

import (
	"slices"

	"github.com/unioncel/unioncel/internal/codes"
)

// Code identifies a kind of diagnostic; it is a string such as "UC203". A code is documented, keeps
// its meaning forever, and is never reused.
type Code = codes.Code

// CodeInfo describes a code.
type CodeInfo struct {
	Code     Code
	Severity Severity // the default severity of diagnostics with this code
	Title    string   // a few words, for tables and headings
}

// Codes lists every code in ascending order.
var Codes = func() (l []CodeInfo) {
	for _, e := range codes.Table {
		l = append(l, CodeInfo{e.Code, Severity(e.Severity), e.Title})
	}
	return l
}()

// Lookup returns the entry of a code in [Codes], and whether there is one.
func Lookup(code Code) (CodeInfo, bool) {
	i := slices.IndexFunc(Codes, func(info CodeInfo) bool { return info.Code == code })
	if i < 0 {
		return CodeInfo{}, false
	}
	return Codes[i], true
}
