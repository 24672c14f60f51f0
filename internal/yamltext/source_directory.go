package yamltext

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Extensions returns the extensions of the files that are read from a directory.
func Extensions() []string { return []string{"yaml", "yml", "json"} }

// IsManifestName reports whether a file with this name is read from a directory.
func IsManifestName(name string) bool {
	extension, ok := strings.CutPrefix(path.Ext(name), ".")
	return ok && slices.Contains(Extensions(), extension)
}

// mentions are the texts that identify a file as relevant to unioncel.
var mentions = func() [][]byte {
	l := [][]byte{[]byte("x-kubernetes-unions"), []byte("unioncel.dev/")}
	for _, kind := range CarrierNames() {
		l = append(l, []byte(kind))
	}
	return l
}()

// IsOther reports whether a file with these diagnostics is not a manifest but, for example, a
// template or a tsconfig.json: it cannot be parsed, and mentions neither CRDs nor unions in UTF-8
// or UTF-16. Such files are skipped in a directory, but not if the user names them.
func IsOther(src []byte, l diag.List) bool {
	unreadable := func(d diag.Diagnostic) bool {
		return d.Code == codes.Syntax || d.Code == codes.InvalidUTF8 || d.Code == codes.EmptyInput
	}
	text := bytes.ReplaceAll(src, []byte{0}, nil)
	return l.HasErrors() &&
		!slices.ContainsFunc(l, func(d diag.Diagnostic) bool { return !unreadable(d) }) &&
		!slices.ContainsFunc(mentions, func(s []byte) bool { return bytes.Contains(text, s) })
}
