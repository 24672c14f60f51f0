package cli

import (
	"fmt"
	"slices"

	"github.com/unioncel/unioncel/internal/report/shell"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/union"
)

// options returns the options for an input. The old side of a change, standard input,
// pipes and revisions are as they are: the declarations of today do not apply to them.
func (in input) options() crdpatch.Options {
	opts := in.scope.opts
	if opts.InUse == nil {
		return opts
	}
	if in.old {
		opts.InUse = &crdpatch.Options{}
	}
	if in.path == "" || in.old {
		opts.External = opts.InUse.External
	}
	return opts
}

// reasonWithheld returns why the external declarations for CRDs of an input do not apply to them,
// and whether these were compiled with others.
func (in input) reasonWithheld(f *crdpatch.File) (why string, outdated bool) {
	if in.path == "" || in.old {
		crds, _ := f.CRDs()
		opts := f.Options()
		if opts.InUse == nil || !slices.ContainsFunc(crds, func(crd union.Target) bool {
			return in.scope.Concern(crd) && !opts.External.Concern(crd)
		}) {
			return "", false
		}
		if in.blob != "" {
			return "a revision", false
		}
		if in.pipe {
			return "a pipe", false
		}
		if in.path == "" {
			return "standard input", false
		}
		return "before the change", false
	}
	for _, w := range f.Withheld() {
		outdated = outdated || w.Outdated
		if why = "from a cluster"; w.Origin == crdpatch.Compiled {
			why = "compiled"
		}
	}
	return why, outdated
}

// sayWithheld names the inputs that external declarations do not apply to.
func (a *app) sayWithheld(results []result) {
	var names []string
	for _, r := range results {
		if r.withheld != "" {
			names = append(names, fmt.Sprintf("%s (%s)", r.name, r.withheld))
		}
	}
	if len(names) > 0 {
		a.note("unions declared outside CRDs apply to sources only; taken as they are: " + few(names))
	}
	for _, r := range results {
		if r.outdated {
			a.note(fmt.Sprintf("%s: the declarations of its unions have changed since it was compiled: run unioncel compile -w %s", r.name, shell.Quote(r.name)))
		}
	}
}
