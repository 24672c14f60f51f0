package cli

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// kindFlags select the kinds of objects that have unions.
type kindFlags struct {
	compilerFlags
	crds    []string
	builtin bool
}

// register adds the flags. Without CRDs as arguments, it adds --crd as well.
func (k *kindFlags) register(cmd *cobra.Command, arguments bool) {
	k.judges = true
	if !arguments {
		cmd.Flags().StringArrayVar(&k.crds, "crd", nil, "the CustomResourceDefinitions of the objects: a `FILE|DIR`; repeatable")
	}
	cmd.Flags().BoolVar(&k.builtin, "builtin", false, "the objects are of Kubernetes' own kinds, or some of them: Deployments, Pods and the like")
	cmd.Flags().StringArrayVar(&k.given.Unions, "unions", nil, "read unions from this `FILE`, a UnionSet; repeatable")
	k.registerConfig(cmd)
}

// read returns the kinds that have unions. It reports their diagnostics.
func (k *kindFlags) read(cmd *cobra.Command, a *app) (*union.KindSet, error) {
	if len(k.crds) == 0 && !k.builtin && len(k.given.Unions) == 0 {
		missing := "--crd is missing: it names the CustomResourceDefinitions of the objects"
		if cmd.Flags().Lookup("crd") == nil {
			missing = "no arguments: they name CustomResourceDefinitions"
		}
		return nil, usagef("%s; --builtin is for Kubernetes' own kinds", missing)
	}
	sets, files, err := a.readExternal(&scope{config: k.given, flags: &k.compilerFlags})
	if err != nil {
		return nil, err
	}
	if err := a.report(diagnosticsOf(files)); err != nil {
		return nil, err
	}
	set := &union.KindSet{}
	targets, err := k.readCRDs(cmd, a, set)
	if err != nil {
		return nil, err
	}
	var others []union.External
	if k.builtin {
		others = declared.Builtin()
	}
	for _, e := range sets.Declarations {
		if !slices.ContainsFunc(targets, e.Is) {
			others = append(others, e)
		}
	}
	own, unknown, diags := declared.BuiltinKinds(others)
	diags = append(diags, union.Externals{Declarations: unknown, Scopes: sets.Scopes}.Missing(targets)...)
	return set, errors.Join(a.report(diags), set.Add(own...))
}

// readCRDs adds the kinds of CRDs to a set. It returns the names of the CRDs.
func (k *kindFlags) readCRDs(cmd *cobra.Command, a *app, set *union.KindSet) ([]union.Target, error) {
	if len(k.crds) == 0 {
		return nil, nil
	}
	inputs, err := a.findInputs(k.crds)
	if err != nil {
		return nil, err
	}
	files, _, err := ask(cmd.Context(), a, inputs, &k.compilerFlags, func(f *crdpatch.File, in input) ([]*compile.Declared, diag.List, error) {
		declared, diags := crdpatch.Ask(f, in.options(), (*crdpatch.CRD).Declared)
		return declared, diags, nil
	})
	if err != nil {
		return nil, err
	}
	if err := a.report(diagnosticsOf(resultsOf(files))); err != nil {
		return nil, err
	}
	var twice diag.List
	var targets []union.Target
	for _, r := range files {
		targets = append(targets, r.crds...)
		for _, d := range r.found {
			if err := set.Add(d.Kinds(r.name)...); err != nil {
				twice = append(twice, diag.New(codes.TwoCRDs, diag.Pos{File: r.name}, "%v", err).Hinted("give one of them only"))
			}
		}
	}
	return targets, a.report(twice)
}

// readToClear returns the kinds that have unions, and the objects in files as old objects of updates.
// It reports their diagnostics, and lists the unions whose members are not cleared.
func (k *kindFlags) readToClear(cmd *cobra.Command, a *app, args []string) (*union.KindSet, *yamltext.OldObjects, error) {
	set, err := k.read(cmd, a)
	if err != nil {
		return nil, nil, err
	}
	var alone []string
	for _, versions := range set.ByKind() {
		for _, k := range versions {
			for _, o := range slices.Concat(k.Lists, k.Objects) {
				if name := k.Kind + " " + o.Path.String(); (o.Set || slices.ContainsFunc(o.Unions, (*union.Union).OfItems)) && !slices.Contains(alone, name) {
					alone = append(alone, name)
				}
			}
		}
	}
	if len(alone) > 0 {
		a.note("unions of list items, and in items of sets, are left alone: " + few(alone))
	}
	old := &yamltext.OldObjects{}
	if len(args) == 0 {
		return set, old, nil
	}
	inputs, err := a.findInputs(args)
	if err != nil {
		return nil, nil, err
	}
	l, err := a.objects(cmd.Context(), inputs)
	if err != nil {
		return nil, nil, err
	}
	return set, old, a.report(old.Add(l))
}

// rewritten returns the result for a file with the given number of known objects. It adds an error
// if there are none, unless the file was found in a directory.
func (k *kindFlags) rewritten(in input, set *union.KindSet, known int, text []byte, l diag.List) ([]byte, diag.List) {
	if text == nil || known > 0 || in.walk {
		return text, l
	}
	return nil, append(l, k.unknown(in.name, set))
}

// unknown reports that a file has no object of a known kind.
func (k *kindFlags) unknown(file string, set *union.KindSet) diag.Diagnostic {
	return diag.New(codes.UnknownKind, diag.Pos{File: file}, "no object is of a kind with unions").Hinted(k.hint(set))
}

// hint suggests how to add kinds to the set.
func (k *kindFlags) hint(set *union.KindSet) string {
	if k.builtin {
		return "give the CRD of the objects with --crd; docs/builtin.md lists the kinds of Kubernetes with unions"
	}
	if len(set.Names()) == 0 {
		return "the CRDs given declare no unions, or only unions of items of lists"
	}
	return "give the CRD of the objects, or --builtin for Kubernetes' own kinds; this one has " + strings.Join(set.Names(), ", ")
}

// objects returns the objects in files, and reports their diagnostics.
func (a *app) objects(ctx context.Context, inputs []input) ([]*yamltext.Object, error) {
	files, err := process(ctx, a, inputs, func(r *result, src []byte) (f *yamltext.ObjectFile, err error) {
		f, r.diagnostics = yamltext.ParseObjects(r.name, src, a.limits)
		return f, nil
	})
	if err != nil {
		return nil, err
	}
	var all []*yamltext.Object
	for _, r := range files {
		if r.found != nil {
			all = append(all, r.found.Objects...)
		}
	}
	return all, a.report(diagnosticsOf(resultsOf(files)))
}
