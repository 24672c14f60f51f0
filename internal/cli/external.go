package cli

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/declared/unionset"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/markers"
	"github.com/unioncel/unioncel/pkg/union"
)

// externalFlags locate the declarations outside the CRDs.
type externalFlags struct {
	packages    []string
	kubebuilder bool
	sets        []string
	skipInvalid bool     // leave out structs with errors
	listed      []string // structs to leave out, without errors
	dir         string   // base of relative packages; empty for the working directory
	config      string   // configuration file that names the packages; empty for flags
	project     bool     // some were not given as flags
	asked       bool     // some were given as flags
	edits       bool     // the packages get markers, and are checked after that
}

func (f *externalFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&f.packages, "go", nil,
		"read unions from the markers in the Go packages of this `PATTERN`, such as ./api/...; repeatable")
	cmd.Flags().BoolVar(&f.kubebuilder, "kubebuilder", false,
		"with --go, compile +kubebuilder:validation:ExactlyOneOf, AtMostOneOf and AtLeastOneOf too, and\nreplace the rules that controller-gen has written for them")
	cmd.Flags().StringArrayVar(&f.sets, "unions", nil, "read unions from this `FILE`, a UnionSet; repeatable")
}

// external holds the external declarations that the flags name.
type external struct {
	union.Externals
	externalFlags
	reads bool // the command reads UnionSets
	sound bool // all errors are about Go structs
	// incomplete marks inputs that need not include all CRDs, because the user did not name them.
	incomplete bool
}

// read reads the external declarations. Only an unreadable file is an error; other problems are
// diagnostics of the files.
func (f *externalFlags) read(a *app) (e external, files []*result, err error) {
	e = external{externalFlags: *f, reads: true}
	if f.kubebuilder && len(f.packages) == 0 {
		return e, nil, usagef("--kubebuilder needs --go: it says which Go packages have the markers")
	}
	for _, name := range f.sets {
		src, err := a.readConfig(name)
		if err != nil {
			return e, nil, err
		}
		set, diags := unionset.Parse(name, src)
		files = append(files, &result{diagnostics: diags})
		if set != nil {
			e.add(set)
		}
	}
	if len(f.packages) > 0 {
		set, diags := markers.Load(markers.Options{Kubebuilder: f.kubebuilder, CRDs: true, SkipInvalid: f.listed, Dir: f.dir}, f.packages...)
		for i, d := range diags {
			if d.Pos == (diag.Pos{}) {
				diags[i].Pos.File = f.config
			}
		}
		r := &result{diagnostics: diags}
		if set != nil {
			e.add(set)
			e.sound = diags.HasErrors()
			if f.skipInvalid {
				r.skip()
			}
			if f.edits {
				r.diagnostics = nil
			}
		}
		files = append(files, r)
	}
	return e, files, nil
}

func (e *external) add(more *union.Externals) {
	e.Declarations = append(e.Declarations, more.Declarations...)
	e.Scopes = append(e.Scopes, more.Scopes...)
}

// skipping runs work with the external declarations. If declarations of structs that may be skipped
// have errors, it leaves them out and retries, and returns these errors alongside the result.
// Otherwise the result is nil if there are errors.
func skipping[T any](from *external, opts crdfile.Options, work func(crdfile.Options) ([]T, diag.List)) ([]T, diag.List) {
	var skipped diag.List
	for e := opts.External; ; {
		if opts.External = e; opts.InUse != nil && len(opts.InUse.External.Declarations) > 0 {
			used := *opts.InUse
			used.External = e
			opts.InUse = &used
		}
		out, diags := work(opts)
		invalid := map[string]bool{}
		for _, d := range diags {
			for _, x := range e.Declarations {
				listed := slices.ContainsFunc(from.listed, func(name string) bool { return union.IsStruct(x.Struct, name) })
				if !from.skipInvalid && !listed || d.Severity != diag.Error || x.Struct == "" || !x.Holds(d.Pos) {
					continue
				}
				if listed {
					d = markers.Mention(d, x.Struct, markers.Listed)
				}
				invalid[x.Struct] = true
				skipped = append(skipped, d)
				break
			}
		}
		if len(invalid) == 0 {
			if out == nil && !diags.HasErrors() {
				out = []T{}
			}
			return out, append(skipped, diags...).Sort()
		}
		e.Declarations = slices.DeleteFunc(slices.Clone(e.Declarations), func(x union.External) bool { return invalid[x.Struct] })
	}
}

// missing returns diagnostics of declarations for CRDs that no input has. It warns of UnionSets among the inputs,
// which are passed through like other manifests.
func (e *external) missing(results []*result) (l diag.List) {
	var crds []union.Target
	readable := true
	for _, r := range results {
		if r.unionSet && !slices.ContainsFunc(e.sets, func(name string) bool { return sameName(name, r.name) }) {
			l = append(l, diag.New(codes.UnreadUnionSet, diag.Pos{File: r.name}, "this input is a UnionSet, and its unions are not compiled").
				Hinted("name it with --unions"))
		}
		readable = readable && r.readable
		crds = append(crds, r.crds...)
	}
	if readable && !e.incomplete { // otherwise the list of CRDs is incomplete, and compiling reports why
		l = append(l, e.Missing(crds)...)
	}
	return l
}

// ofMarkers rewords diagnostics about declarations in Go in terms of markers.
func ofMarkers(l diag.List) {
	markers.Words(l)
	for i, d := range l {
		switch {
		case filepath.Ext(d.Pos.File) != ".go":
		case strings.HasPrefix(d.Message, "+unioncel:"): // lists Go names, not names in the CRD
		case d.Code == codes.UnknownMember || d.Code == codes.UnknownDiscriminator || d.Code == codes.NoSuchSchema:
			l[i].Hint = "the CRD was not generated from these types: run controller-gen first"
		}
	}
}
