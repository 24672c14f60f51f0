package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/handwritten"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/diag"
)

// verdicts are the values of --only.
var verdicts = []verify.Verdict{verify.Equivalent, verify.Tighter, verify.Looser, verify.Different, verify.Inconclusive}

// inferring holds the flags of infer.
type inferring struct {
	compiler compilerFlags
	only     []string
	paths    []string
	under    handwritten.Paths // the parsed paths
	write    bool
	set      string
	replace  bool
	preview
	output printing
}

func (a *app) inferCommand() *cobra.Command {
	flags := inferring{compiler: compilerFlags{judges: true}}
	cmd := &cobra.Command{
		Use:   "infer [FILE|DIR|-]...",
		Short: "Find the unions that hand-written rules already enforce",
		Long: `Infer finds unions that CustomResourceDefinitions have without declaring them: in
CEL rules written by hand or by controller-gen, in oneOf and anyOf over required,
in minProperties with maxProperties. For each it prints the declaration, the
rules that it would replace, and whether that changes the accepted objects, as proved
for all objects:

  equivalent    nothing changes, but perhaps for stored objects that are invalid today
  tighter       the union rejects something that the rules accept; there is an example
  looser        the union accepts something that the rules reject; there is an example
  different     both
  inconclusive  could not be determined; the reason is given

With --write the declarations that are equivalent, or those that --only names, are
written into the files; with --unions to a UnionSet instead, and with --go as markers
into the Go types of the CRDs. With --replace the next compile removes the
hand-written rules of those that are equivalent, after proving it again; with --go
their markers are deleted, also where markers declare the union already. A union that
would not compile is left as it is, with a warning.`,
		Example: `  # Which unions does this file have? And a CRD in the cluster?
  unioncel infer crd.yaml
  kubectl get crd backends.example.com -o yaml | unioncel infer

  # Only those in one part of a large schema
  unioncel infer --path 'spec.listeners[*]' crd.yaml

  # Declare those that are proved, in place of the hand-written rules
  unioncel infer --write --replace crd.yaml
  unioncel compile -w crd.yaml

  # In CI: fail if there are unions that are proved and not declared
  unioncel infer --check config/crd

  # In a kubebuilder project: markers in place of the hand-written rules
  unioncel infer --go ./api/... --write --replace config/crd

  # Leave the CRD as it is, and keep declarations in a separate file
  unioncel infer --write --replace --unions unions.yaml crd.yaml
  unioncel compile --unions unions.yaml crd.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := flags.validate(); err != nil {
				return err
			}
			return a.inferAll(cmd, &flags, args)
		},
	}
	f := cmd.Flags()
	f.StringArrayVar(&flags.only, "only", nil, "print and write only those with this `VERDICT`; repeatable")
	f.StringArrayVar(&flags.paths, "path", nil, "limit to unions at this `PATH` and below, such as spec.backends[*]; repeatable")
	f.BoolVarP(&flags.write, "write", "w", false, "write declarations into the files; only equivalent ones, unless --only is given")
	f.StringVar(&flags.set, "unions", "", "with --write, write them to this new `FILE`, a UnionSet, instead")
	f.StringArrayVar(&flags.compiler.given.Go, "go", nil, "with --write, --check or --diff, write markers into the Go packages of this `PATTERN`\ninstead, such as ./api/...; repeatable")
	flags.preview.register(cmd)
	f.BoolVar(&flags.replace, "replace", false, "with --write, --check or --diff, let compile remove the hand-written rules that are equivalent")
	flags.compiler.registerConfig(cmd)
	flags.output.register(cmd, "unions", report.Formats(true)...)
	choose(cmd, "only", words(verdicts)...)
	return cmd
}

func (f *inferring) validate() error {
	var err error
	if f.under, err = handwritten.ParsePaths(f.paths); err != nil {
		return usagef("--path %v", err)
	}
	if f.write && f.output.path != "" {
		return usagef("-w writes declarations, and -o the report")
	}
	if err := f.preview.validate(f.write, f.output.path); err != nil {
		return err
	}
	switch {
	case f.set != "" && !f.write:
		return usagef("--unions names the file that --write writes; it needs --write")
	case f.set != "" && exists(f.set):
		return usagef("--unions %s: the file exists and would be overwritten: name another", f.set)
	case f.replace && !f.declares():
		return usagef("--replace needs --write, --check or --diff")
	case f.inGo() && !f.declares():
		return usagef("--go needs --write, --check or --diff")
	case f.inGo() && f.set != "":
		return usagef("--go and --unions cannot be used together")
	}
	f.compiler.edits = f.inGo()
	return nil
}

// inGo reports whether declarations are markers of Go types.
func (f *inferring) inGo() bool { return len(f.compiler.given.Go) > 0 }

// declares reports whether declarations are written or previewed.
func (f *inferring) declares() bool { return f.write || f.preview.wanted() }

// wanted reports whether --only selects a verdict.
func (f *inferring) wanted(v verify.Verdict) bool {
	if len(f.only) == 0 {
		return !f.declares() || v == verify.Equivalent
	}
	return slices.Contains(f.only, string(v))
}

// inferAll finds the unions of all inputs, prints them, and writes declarations.
func (a *app) inferAll(cmd *cobra.Command, flags *inferring, args []string) error {
	inputs, err := a.findInputs(args)
	if err != nil {
		return err
	}
	files, _, err := ask(cmd.Context(), a, inputs, &flags.compiler, func(f *crdpatch.File, in input) (l inferred, diagnostics diag.List, err error) {
		l.file, l.reached = f, make([]bool, len(flags.under))
		crds, diagnostics := f.CRDs(in.options())
		for _, c := range crds {
			unions, open, wrong, err := handwritten.Locate(cmd.Context(), c, flags.under)
			if err != nil {
				return l, diagnostics, fmt.Errorf("%s: %w", in.name, err)
			}
			l.unions, diagnostics = append(l.unions, unions...), append(diagnostics, wrong...)
			l.open = append(l.open, open...)
			l.declares = l.declares || c.Declares()
			if crd, _ := c.Source(); crd != nil {
				for i, found := range flags.under.In(crd) {
					l.reached[i] = l.reached[i] || found
				}
			}
		}
		slices.SortStableFunc(l.unions, func(a, b handwritten.Located) int { return cmp.Compare(a.Pos.Line, b.Pos.Line) })
		l.unions = slices.DeleteFunc(l.unions, func(f handwritten.Located) bool { return !flags.wanted(f.Comparison.Verdict) })
		return l, diagnostics, nil
	})
	if err != nil {
		return err
	}
	if err := flags.unreached(files); err != nil {
		return err
	}
	for _, r := range files {
		for _, text := range r.found.open {
			a.note(fmt.Sprintf("%s: %v", text, logic.Exhausted(a.limits.OrDefault().Steps)))
		}
	}
	if !flags.declares() {
		return a.showInferred(flags, files)
	}
	err = a.report(diagnosticsOf(resultsOf(files)))
	if err != nil && (flags.inGo() || !flags.preview.wanted() || !errors.Is(err, errFindings)) {
		return err
	}
	for i, r := range files {
		if r.failed() {
			files[i].found.unions = nil
		}
		r.diagnostics = nil // they have been reported
	}
	if flags.inGo() {
		return a.declareInGo(flags, files)
	}
	return cmp.Or(a.declare(flags, files, err != nil), err)
}

// inferred holds the unions found in a file.
type inferred struct {
	file     *crdpatch.File
	unions   []handwritten.Located
	open     []string // the objects that may have more unions
	declares bool     // the file declares unions
	reached  []bool   // by path: there is a schema
}

// unionsIn returns the unions found in all files.
func unionsIn(files []answer[inferred]) (l []handwritten.Located) {
	for _, r := range files {
		l = append(l, r.found.unions...)
	}
	return l
}

// unreached returns an error if a path leads to no schema of any input. Inputs with errors may have
// it.
func (f *inferring) unreached(files []answer[inferred]) error {
	if anyFailed(resultsOf(files)) {
		return nil
	}
	for i, path := range f.paths {
		if !slices.ContainsFunc(files, func(r answer[inferred]) bool { return r.found.reached[i] }) {
			return usagef("--path %s: no CRD has a schema there", path)
		}
	}
	return nil
}

// showInferred prints the unions of all inputs, then the diagnostics. Errors in one input do not hide
// the unions of others.
func (a *app) showInferred(flags *inferring, files []answer[inferred]) error {
	results := resultsOf(files)
	if !slices.ContainsFunc(results, func(r *result) bool { return !r.failed() }) {
		return a.report(diagnosticsOf(results))
	}
	if len(unionsIn(files)) == 0 && !anyFailed(results) {
		note := "no unions found" + flags.that()
		if slices.ContainsFunc(files, func(r answer[inferred]) bool { return r.found.declares }) {
			note += " besides those declared"
		}
		a.note(note)
	}
	r, err := handwritten.InferReport(unionsIn(files))
	if err != nil {
		return err
	}
	if err := a.showReport(&flags.output, r); err != nil {
		return err
	}
	return a.report(diagnosticsOf(results))
}

// that describes the searched paths and verdicts, or returns "" for all.
func (f *inferring) that() string {
	at := ""
	if len(f.paths) > 0 {
		at = " at or below " + strings.Join(f.paths, " or ")
	}
	switch {
	case len(f.only) > 0:
		return at + " with the verdict " + strings.Join(f.only, " or ")
	case f.declares():
		return at + " with the verdict " + string(verify.Equivalent)
	}
	return at
}
