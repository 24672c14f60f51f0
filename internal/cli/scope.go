package cli

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// scope is shared by inputs with the same configuration: it has their options, and the flags that
// override them.
type scope struct {
	*external
	name    string          // of the configuration, or empty
	read    *result         // the configuration, with its diagnostics
	files   []*result       // with declarations, unless another scope has them
	config  declared.Config // overridden by flags
	dir     string          // of the Go packages, if the configuration names them
	project bool            // the configuration names declarations outside the CRDs
	opts    crdpatch.Options
	flags   *compilerFlags
	walked  bool // the inputs include a directory
	counts  bool // CRDs and unions are counted
}

type scopes []*scope

// scope finds the configuration of each input, and reads the declarations that it and the flags
// name.
func (a *app) scope(inputs []input, flags *compilerFlags) (scopes, error) {
	var l scopes
	for i, in := range inputs {
		name, err := flags.configOf(in)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(l, func(s *scope) bool { return s.name == name })
		if at < 0 {
			at = len(l)
			l = append(l, &scope{name: name, flags: flags})
		}
		inputs[i].scope = l[at]
		l[at].walked = l[at].walked || in.walk
	}
	loaded := map[string]*external{}
	for _, s := range l {
		if err := a.loadScope(s, loaded); err != nil {
			return nil, err
		}
	}
	return l, nil
}

// loadScope reads the configuration and the declarations that it and the flags name. loaded caches
// declarations read for other scopes.
func (a *app) loadScope(s *scope, loaded map[string]*external) error {
	s.external, s.read = &external{}, &result{input: input{scope: s}}
	if s.flags.cmd == nil {
		s.opts.Forget = s.flags.forget
		return nil
	}
	if s.name != "" {
		src, err := a.readConfig(s.name)
		if err != nil {
			return err
		}
		config, wrong := declared.ParseConfig(s.name, src)
		if s.read.diagnostics = wrong; config != nil {
			s.config = *config
		}
	}
	flags := s.flags
	if err := flags.override(s); err != nil || s.read.failed() {
		return err
	}
	s.counts = flags.gate || a.verbose || s.config.RequireUnions
	key := fmt.Sprintf("%q %q %q %t %q", s.dir, s.config.Go, s.config.Unions, s.config.Kubebuilder, s.config.SkipInvalid)
	if loaded[key] == nil {
		var err error
		if loaded[key], s.files, err = a.readExternal(s); err != nil {
			return err
		}
	}
	s.external = loaded[key]
	s.opts = crdpatch.Options{KubeVersion: s.config.KubeVersion, Encoding: s.config.Encoding, Origins: s.config.Origins, NoAnnotation: s.config.NoAnnotation, Forget: flags.forget, External: s.Externals}
	if flags.judges {
		s.opts.InUse = &crdpatch.Options{KubeVersion: flags.given.KubeVersion, Encoding: flags.given.Encoding, Origins: flagOrigins}
		if len(flags.given.Go)+len(flags.given.Unions) > 0 {
			s.opts.InUse.External = s.Externals
		}
	}
	return nil
}

// announce prints the configurations in use: for some commands always, for others with --verbose.
func (a *app) announce(l scopes) {
	var names []string
	for _, s := range l {
		if s.name != "" {
			names = append(names, s.name)
		}
	}
	switch line := "configuration: " + strings.Join(names, ", "); {
	case len(names) == 0:
	case l[0].flags.loud:
		a.note(line)
	default:
		a.say("%s", line)
	}
}

// files returns the configurations and the files with external declarations.
func (l scopes) files() []*result {
	var out []*result
	for _, s := range l {
		out = append(append(out, s.read), s.files...)
	}
	return out
}

// failed reports whether these files have errors.
func (l scopes) failed() bool { return anyFailed(l.files()) }

// missing reports CRDs of external declarations that no input has.
func (l scopes) missing(results []*result) {
	for i, s := range l {
		if slices.ContainsFunc(l[:i], func(other *scope) bool { return other.external == s.external }) {
			continue
		}
		var theirs []*result
		for _, r := range results {
			if r.scope.external == s.external {
				theirs = append(theirs, r)
			}
		}
		s.files = append(s.files, &result{input: input{scope: s}, diagnostics: s.missing(theirs)})
	}
}

// count reports whether unions are counted.
func (l scopes) count() bool { return slices.ContainsFunc(l, func(s *scope) bool { return s.counts }) }

// tally prints the numbers of CRDs and unions. It returns errFindings if there are none but some
// are required.
func (a *app) tally(l scopes, results []*result) error {
	if !l.count() {
		return nil
	}
	crds, unions := map[*scope]int{}, map[*scope]int{}
	var allCRDs, allUnions int
	for _, r := range results {
		crds[r.scope] += len(r.crds)
		unions[r.scope] += r.unions
		allCRDs, allUnions = allCRDs+len(r.crds), allUnions+r.unions
	}
	total := func(s *scope) bool { return a.verbose || s.flags.totals || s.config.RequireUnions }
	if a.format == "text" && (allUnions == 0 || slices.ContainsFunc(l, total)) { // it would corrupt output for programs
		unions := plural(allUnions, "union")
		switch {
		case allCRDs == 0:
			unions += "; no input has a CustomResourceDefinition"
		case allUnions == 0:
			unions += "; markers in Go need --go, or go: in " + configFile + ", and unioncel infer finds those that hand-written rules enforce"
		}
		a.note(plural(allCRDs, "CRD") + ", " + unions)
	}
	var err error
	for _, s := range l {
		if s.config.RequireUnions && unions[s] == 0 {
			a.complain(fmt.Sprintf("no unions in %s, but some are required (%s)", plural(crds[s], "CRD"), cmp.Or(s.name, "--require-unions")))
			err = errFindings
		}
	}
	return err
}

// inspect completes the result of an input after the work on it: with the diagnostics, and the parts
// that matter to external declarations.
func (a *app) inspect(r *result, f *crdpatch.File, l diag.List) {
	r.diagnostics = unrepeated(l)
	if r.other = r.walk && yamltext.IsOther(f.Bytes(), l); r.other {
		r.diagnostics, r.readable = nil, true
		return
	}
	ofMarkers(r.diagnostics)
	if r.blob != "" && len(r.diagnostics) > 0 { // a revision may have any number of files
		a.keep(r.name, f.Bytes())
	}
	s, reads := r.scope, r.scope.flags.cmd != nil
	holds := len(s.Declarations) > 0 || reads && slices.ContainsFunc(yamltext.CarrierNames(), func(kind string) bool { return bytes.Contains(f.Bytes(), []byte(kind)) })
	r.unionSet = reads && declared.HoldsUnionSet(f.Bytes())
	if holds {
		r.crds, r.readable = f.Targets()
	}
	r.withheld = r.reasonWithheld(f)
	if s.counts && holds {
		declared, _ := skipping(s, r.options(), func(opts crdpatch.Options) ([]*compile.Declared, diag.List) {
			return crdpatch.Ask(f, opts, (*crdpatch.CRD).Resolved)
		})
		for _, d := range declared {
			for _, o := range d.Objects {
				r.unions += len(o.Unions)
			}
		}
	}
}

// unrepeated returns a list without the warnings about rules that have an error in the list.
func unrepeated(l diag.List) diag.List {
	return slices.DeleteFunc(slices.Clone(l), func(d diag.Diagnostic) bool {
		return d.Code == codes.InvalidBefore && slices.ContainsFunc(l, func(e diag.Diagnostic) bool { return e.Code == codes.NotCompiling && e.Path == d.Path })
	})
}

// judge applies the configured severities to diagnostics, and reports whether this added errors.
// With strict, problems of CRDs apart from their unions are errors.
func (s *scope) judge(l diag.List) (diag.List, bool) {
	was := l.Count(diag.Error)
	for i, d := range l {
		if s.config.Strict && d.Code == codes.InvalidBefore {
			l[i].Severity = diag.Error
		}
	}
	l = s.config.Lint.Apply(l)
	return l, l.Count(diag.Error) > was
}
