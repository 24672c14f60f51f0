package cli

import (
	"cmp"
	"fmt"

	"github.com/unioncel/unioncel/pkg/crdpatch"
)

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
