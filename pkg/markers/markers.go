package markers

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Options say what to read. The zero value reads the union markers of all dialects
// but kubebuilder's, relative to the working directory.
type Options struct {
	// Kubebuilder declares the unions of +kubebuilder:validation:ExactlyOneOf,
	// AtMostOneOf and AtLeastOneOf too. controller-gen writes a rule of its own for
	// them, which then gives way (union.Union.Replace) to the compiled ones.
	Kubebuilder bool
	// CRDs says that the CRDs are at hand: what the discriminator's enum is, they
	// decide (union.External.Fit), and that of markers rejects nothing.
	CRDs bool
	// SkipInvalid names structs that may have errors, as PACKAGE.Type; the package by its
	// path or the end of that. The errors are mentioned (as information).
	SkipInvalid []string
	// Dir is what patterns are relative to; empty is the working directory.
	Dir string
}

// Load reads the packages that the patterns match, "./api/..." for example. The
// result is nil when the packages cannot be read. Structs and kinds with errors are left
// out of it; the path of such an error is the name of the struct. Positions
// are in Go files, relative to the working directory where they are below it.
//
// The nodes of a declaration have positions, too: what names a member, or a value of
// it, is at the member's marker, the rest at that of the discriminator or else of
// the first member. That of a member without a marker is its field.
//
// Declarations has an entry for each union and each schema it applies to, sorted by CRD,
// version, path and position. Scopes has one for each version that controller-gen
// writes for the packages, without unions too, sorted by group, kind and version.
// Their names are those that controller-gen gives the CRDs.
//
// Packages are listed by the go command, without cgo, which may download modules.
// What it runs, and what can be set against that, is in docs/markers.md.
func Load(opts Options, patterns ...string) (*union.Externals, diag.List) {
	l := newLoading(opts)
	set := l.load(patterns)
	Words(l.diags)
	return set, l.diags.Sort()
}

// load is Load without the sorting.
func (l *loading) load(patterns []string) (set *union.Externals) {
	// controller-tools and go/types are written for packages that compile. What
	// they do with others must not take the process down.
	defer func() {
		if r := recover(); r != nil {
			l.errorf(diag.Pos{}, diag.GoPackage, "check whether controller-gen can read the packages",
				"the Go packages cannot be read: %v", r)
			set = nil
		}
	}()
	if !l.packages(patterns) {
		return nil
	}
	l.structs()
	set = l.crds()
	if l.packageErrors() {
		return nil
	}
	if !l.diags.HasErrors() {
		l.unused()
	}
	slices.SortFunc(set.Declarations, func(a, b union.External) int {
		return cmp.Or(
			compareTargets(a.Target, b.Target),
			cmp.Compare(a.Version, b.Version),
			schemapath.Compare(a.Path, b.Path),
			comparePos(a.Pos(), b.Pos()),
		)
	})
	slices.SortFunc(set.Scopes, func(a, b union.Scope) int {
		return cmp.Or(compareTargets(a.Target, b.Target), cmp.Compare(a.Version, b.Version))
	})
	return set
}

func compareTargets(a, b union.Target) int {
	return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Kind, b.Kind))
}

func comparePos(a, b diag.Pos) int {
	return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Col, b.Col))
}

// errorf reports what is wrong with the packages as a whole.
func (l *loading) errorf(pos diag.Pos, code diag.Code, hint, format string, args ...any) {
	l.diags = append(l.diags, diag.Diagnostic{Code: code, Pos: pos, Message: fmt.Sprintf(format, args...), Hint: hint})
}
