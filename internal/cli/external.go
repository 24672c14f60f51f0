package cli

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/markers"
	"github.com/unioncel/unioncel/pkg/union"
)

// external holds the declarations outside the CRDs. Scopes that name the same ones share it.
type external struct {
	union.Externals
	sound bool // all errors are about Go structs
	// incomplete marks inputs that need not include all CRDs, because the user did not name them.
	incomplete bool
}

// readExternal reads the external declarations of a scope. Only an unreadable file is an error; other
// problems are diagnostics of the files.
func (a *app) readExternal(s *scope) (e *external, files []*result, err error) {
	config := s.config
	e = &external{incomplete: s.project && !s.walked}
	if config.Kubebuilder && len(config.Go) == 0 {
		return e, nil, usagef("--kubebuilder needs --go: it says which Go packages have the markers")
	}
	for _, name := range config.Unions {
		src, err := a.readConfig(name)
		if err != nil {
			return e, nil, err
		}
		set, diags := declared.ParseUnionSet(name, src)
		files = append(files, &result{input: input{scope: s}, diagnostics: diags})
		e.add(set)
	}
	if len(config.Go) > 0 {
		set, diags := markers.Load(markers.Options{Kubebuilder: config.Kubebuilder, CRDs: true, SkipInvalid: config.SkipInvalid, Dir: s.dir}, config.Go...)
		for i, d := range diags {
			if d.Pos == (diag.Pos{}) && s.dir != "" {
				diags[i].Pos.File = s.name
			}
		}
		r := &result{input: input{scope: s}, diagnostics: diags}
		e.add(set)
		if set != nil {
			e.sound = diags.HasErrors()
			r.partial = s.flags.skipInvalid
			if s.flags.edits {
				r.diagnostics = nil
			}
		}
		files = append(files, r)
	}
	return e, files, nil
}

// add adds declarations, unless they could not be read.
func (e *external) add(more *union.Externals) {
	if more != nil {
		e.Declarations = append(e.Declarations, more.Declarations...)
		e.Scopes = append(e.Scopes, more.Scopes...)
	}
}

// skipping runs work with the external declarations of a scope. If declarations of structs that may be
// skipped have errors, it leaves them out and retries, and returns these errors alongside the result.
// Otherwise the result is nil if there are errors.
func skipping[T any](s *scope, opts crdpatch.Options, work func(crdpatch.Options) ([]T, diag.List)) ([]T, diag.List) {
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
				listed := slices.ContainsFunc(s.config.SkipInvalid, func(name string) bool { return union.IsStruct(x.Struct, name) })
				if !s.flags.skipInvalid && !listed || d.Severity != diag.Error || x.Struct == "" || !x.Holds(d.Pos) {
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

// missing returns diagnostics of declarations for CRDs that no input has, and of members that no CRD
// has. It warns of UnionSets among the inputs, which are passed through like other manifests.
func (s *scope) missing(results []*result) (l diag.List) {
	var crds []union.Target
	readable := true
	for _, r := range results {
		if r.unionSet && !slices.ContainsFunc(s.config.Unions, func(name string) bool { return sameName(name, r.name) }) {
			l = append(l, diag.New(codes.UnreadUnionSet, diag.Pos{File: r.name}, "this input is a UnionSet, and its unions are not compiled").
				Hinted("name it with --unions"))
		}
		readable = readable && r.readable
		crds = append(crds, r.crds...)
	}
	if readable && !s.incomplete { // otherwise the list of CRDs is incomplete, and compiling reports why
		l = append(l, s.Missing(crds)...)
	}
	stale, _ := s.judge(s.stale(results))
	if s.flags.current {
		for i := range stale {
			stale[i].Severity = diag.Error
		}
	}
	return append(l, stale...).Sort()
}

// stale returns warnings about members of Go types that no CRD of the type has, instead of notes.
func (s *scope) stale(results []*result) (l diag.List) {
	found := map[diag.Pos]diag.Diagnostic{}
	for _, d := range diagnosticsOf(results) {
		if d.Code == codes.AbsentMember && filepath.Ext(d.Pos.File) == ".go" {
			found[d.Pos] = d
		}
	}
	for pos, d := range found {
		is := func(d diag.Diagnostic) bool { return d.Code == codes.AbsentMember && d.Pos == pos }
		if slices.ContainsFunc(results, func(r *result) bool {
			crds := slices.DeleteFunc(slices.Clone(r.crds), func(crd union.Target) bool {
				return !slices.ContainsFunc(s.Declarations, func(x union.External) bool { return x.Is(crd) && x.Holds(pos) })
			})
			lacking := map[string]int{} // by path: a file may have several CRDs
			for _, d := range r.diagnostics {
				if is(d) {
					lacking[d.Path]++
				}
			}
			return len(crds) > slices.Max(append(slices.Collect(maps.Values(lacking)), 0))
		}) {
			continue
		}
		for _, r := range results {
			r.diagnostics = slices.DeleteFunc(r.diagnostics, is)
		}
		member, _, _ := strings.Cut(strings.TrimPrefix(d.Message, "member "), " ")
		l = append(l, diag.New(codes.StaleCRD, pos, "member %s is in no CRD of this type", member).At(d.Path).
			Hinted("run controller-gen first"))
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

// options returns the options for an input. External declarations do not apply to inputs that are
// taken as they are.
func (in input) options() crdpatch.Options {
	opts := in.scope.opts
	if opts.InUse == nil {
		return opts
	}
	if in.role == oldSide {
		opts.InUse = &crdpatch.Options{}
	}
	if in.takenAsItIs() != "" {
		opts.External = opts.InUse.External
	}
	return opts
}

// takenAsItIs returns the reason why external declarations do not apply to an input, whatever its
// CRDs are, or "".
func (in input) takenAsItIs() string {
	switch {
	case in.blob != "":
		return "a revision"
	case in.pipe:
		return "a pipe"
	case in.path == "":
		return "standard input"
	case in.role == oldSide:
		return "before the change"
	}
	return ""
}

// reasonWithheld returns the reason why external declarations do not apply to CRDs that they are for,
// or "".
func (in input) reasonWithheld(f *crdpatch.File) string {
	opts := in.options()
	if opts.InUse == nil {
		return ""
	}
	why := ""
	crds, _ := f.CRDs(opts)
	for _, c := range crds {
		switch asItIs := in.takenAsItIs(); {
		case asItIs != "" && in.scope.Concern(c.Target()) && !opts.External.Concern(c.Target()):
			return asItIs
		case asItIs == "":
			why = cmp.Or(c.Withheld(), why)
		}
	}
	return why
}
