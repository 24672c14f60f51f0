package source

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/carrier"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Extensions are those of the files in a directory that are read.
func Extensions() []string { return []string{"yaml", "yml", "json"} }

// IsManifestName reports whether a file in a directory is read, by its name.
func IsManifestName(name string) bool {
	extension, ok := strings.CutPrefix(path.Ext(name), ".")
	return ok && slices.Contains(Extensions(), extension)
}

// mentions are texts that a file with something to read contains.
var mentions = func() [][]byte {
	l := [][]byte{[]byte("x-kubernetes-unions"), []byte("unioncel.dev/")}
	for _, kind := range carrier.Names() {
		l = append(l, []byte(kind))
	}
	return l
}()

// IsOther reports whether a file with these diagnostics is something else than
// manifests, such as a template or a tsconfig.json: it cannot be read, and speaks
// neither of CRDs nor of unions, in UTF-8 or UTF-16. Such files in a directory are
// skipped; one that was named is not.
func IsOther(src []byte, l diag.List) bool {
	unreadable := func(d diag.Diagnostic) bool {
		return d.Code == diag.Syntax || d.Code == diag.InvalidUTF8 || d.Code == diag.EmptyInput
	}
	text := bytes.ReplaceAll(src, []byte{0}, nil)
	return l.HasErrors() &&
		!slices.ContainsFunc(l, func(d diag.Diagnostic) bool { return !unreadable(d) }) &&
		!slices.ContainsFunc(mentions, func(s []byte) bool { return bytes.Contains(text, s) })
}
