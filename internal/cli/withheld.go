package cli

import (
	"fmt"
	"slices"

	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/union"
)

// options returns the options for an input. External declarations do not apply to the old side of a
// change, standard input, pipes and revisions.
func (in input) options() crdfile.Options {
	opts := in.scope.opts
	if opts.InUse == nil {
		return opts
	}
	if in.role == oldSide {
		opts.InUse = &asItIs
	}
	if in.path == "" || in.role == oldSide {
		opts.External = opts.InUse.External
	}
	return opts
}

// asItIs are the options for a CRD to which external declarations do not apply.
var asItIs crdfile.Options

// reasonWithheld returns the reason why external declarations do not apply to the CRDs of an input,
// or "".
func (in input) reasonWithheld(f *crdfile.File) string {
	opts := in.options()
	if opts.InUse == nil {
		return ""
	}
	if in.path == "" || in.role == oldSide {
		crds, _ := f.Targets()
		switch withheld := slices.ContainsFunc(crds, func(crd union.Target) bool { return in.scope.Concern(crd) && !opts.External.Concern(crd) }); {
		case !withheld:
			return ""
		case in.blob != "":
			return "a revision"
		case in.pipe:
			return "a pipe"
		case in.path == "":
			return "standard input"
		}
		return "before the change"
	}
	if len(opts.External.Declarations) == 0 {
		return ""
	}
	crds, _ := f.CRDs(opts)
	why := ""
	for _, c := range crds {
		if !c.Withheld() {
			continue
		}
		if why = "from a cluster"; c.Origin() == crdfile.Compiled {
			why = "compiled"
		}
	}
	return why
}

// sayWithheld lists the inputs to which external declarations do not apply.
func (a *app) sayWithheld(results []*result) {
	var names []string
	for _, r := range results {
		if r.withheld != "" {
			names = append(names, fmt.Sprintf("%s (%s)", r.name, r.withheld))
		}
	}
	if len(names) > 0 {
		a.note("declarations outside the CRDs apply to sources only, and are ignored for " + few(names))
	}
}
