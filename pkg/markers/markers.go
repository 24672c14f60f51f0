package markers

import (
	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Options select the markers to read. The zero value selects all dialects except kubebuilder's, and
// patterns relative to the working directory.
type Options struct {
	// Kubebuilder also declares the unions of +kubebuilder:validation:ExactlyOneOf, AtMostOneOf and
	// AtLeastOneOf. The compiled rules replace controller-gen's own rules for them
	// (union.Union.Replace).
	Kubebuilder bool
	// CRDs means that the CRDs are available. Their enums then decide the values of
	// discriminators (union.External.Fit), and the enums of markers reject nothing.
	CRDs bool
	// SkipInvalid names structs that may have errors, as PACKAGE.Type, where PACKAGE is a path or
	// its end. Their errors are reported as information.
	SkipInvalid []string
	// Dir is the base of relative patterns; empty is the working directory.
	Dir string
}

// Load reads the packages that match the patterns, "./api/..." for example. The result is nil when
// the packages cannot be read. Structs and kinds with errors are left out of it; the Path of such
// an error is the name of the struct. Positions are in Go files, with names relative to the working
// directory for files below it.
//
// The nodes of a declaration have positions, too. A member and its values are at the member's
// marker, or at the field if it has none; the rest is at the marker of the discriminator, or else
// at the first member.
//
// Declarations has an entry for each union and each schema it applies to, sorted by CRD, version,
// path and position. Scopes has an entry for each version that controller-gen writes for the
// packages, even without unions, sorted by group, kind and version. Their names are the names that
// controller-gen gives the CRDs.
//
// The go command lists the packages, without cgo, and may download modules. docs/markers.md
// describes the programs that it runs, and how to prevent that.
func Load(opts Options, patterns ...string) (*union.Externals, diag.List) {
	l := newLoading(opts, nil)
	set := l.load(patterns)
	Words(l.diags)
	return set, l.diags.Sort()
}

func (l *loading) load(patterns []string) (set *union.Externals) {
	// controller-tools and go/types expect packages that compile. A panic on other packages
	// must not crash the process.
	defer func() {
		if r := recover(); r != nil {
			l.fail("check whether controller-gen can read the packages", "the Go packages cannot be read: %v", r)
			set = nil
		}
	}()
	if !l.packages(patterns) {
		return nil
	}
	kinds := l.kinds()
	broken := l.packageErrors() // later errors are in types that no CRD has
	l.structs()
	set = l.crds(kinds)
	if broken {
		return nil
	}
	if !l.diags.HasErrors() {
		l.unused()
	}
	return set
}

// errorf reports an error in the packages.
func (l *loading) errorf(pos diag.Pos, hint, format string, args ...any) {
	l.diags = append(l.diags, diag.New(codes.GoPackage, pos, format, args...).Hinted(hint))
}

// fail reports an error about the packages as a whole, and returns false.
func (l *loading) fail(hint, format string, args ...any) bool {
	l.errorf(diag.Pos{}, hint, format, args...)
	return false
}
