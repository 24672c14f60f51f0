package cli

import (
	"context"
	"errors"
	"strings"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/resource"
	"github.com/unioncel/unioncel/pkg/builtin"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/kinds"
)

// kindFlags say which kinds of objects have unions.
type kindFlags struct {
	crds    []string
	builtin bool
}

func (k *kindFlags) register(cmd *cobra.Command) {
	cmd.Flags().StringArrayVar(&k.crds, "crd", nil, "the CustomResourceDefinitions of the objects: a `FILE|DIR`; may be repeated")
	cmd.Flags().BoolVar(&k.builtin, "builtin", false, "the objects are of Kubernetes' own kinds, or some of them: Deployments, Pods and the like")
}

// read returns the kinds that have unions, and the CRDs. What is wrong with them is
// reported.
func (k *kindFlags) read(ctx context.Context, a *app) (*kinds.Set, []compile.Declared, error) {
	if len(k.crds) == 0 && !k.builtin {
		return nil, nil, usagef("--crd is missing: it names the CustomResourceDefinitions of the objects; --builtin is for Kubernetes' own kinds")
	}
	set := &kinds.Set{}
	if k.builtin {
		l, _, diags := builtin.Kinds(builtin.Declarations())
		if err := errors.Join(a.report([]result{{diagnostics: diags}}, "text"), set.Add(l...)); err != nil {
			return nil, nil, err
		}
	}
	if len(k.crds) == 0 {
		return set, nil, nil
	}
	inputs, err := a.findInputs(k.crds, "")
	if err != nil {
		return nil, nil, err
	}
	found := make([][]compile.Declared, len(inputs))
	results, err := process(ctx, a, inputs, func(in input, src []byte) (result, error) {
		declared, l := crdpatch.Open(in.name, src, crdpatch.Options{Limits: a.limits}).Declared()
		found[in.n] = declared
		return result{input: in, diagnostics: l}, nil
	})
	if err != nil {
		return nil, nil, err
	}
	if err := a.report(results, "text"); err != nil {
		return nil, nil, err
	}
	var all []compile.Declared
	var errs []error
	for i, declared := range found {
		for _, d := range declared {
			errs = append(errs, set.Add(kinds.OfCRD(d, inputs[i].name)...))
			all = append(all, d)
		}
	}
	return set, all, errors.Join(errs...)
}

// unknown says that a file has nothing whose unions are known.
func (k *kindFlags) unknown(in input, set *kinds.Set) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.UnknownKind, Pos: diag.Pos{File: in.name}, Message: "no object is of a kind with unions", Hint: k.hint(set)}
}

// hint says what to do about objects of kinds that are not in the set.
func (k *kindFlags) hint(set *kinds.Set) string {
	if k.builtin {
		return "give the CRD of the objects with --crd; of Kubernetes' own kinds, docs/builtin.md lists those with unions"
	}
	return "give the CRD of the objects, or --builtin for Kubernetes' own kinds; this one has " + strings.Join(set.Names(), ", ")
}

// objects returns the objects in files. What is wrong with them is reported.
func (a *app) objects(ctx context.Context, args []string) ([]*resource.Object, error) {
	inputs, err := a.findInputs(args, "")
	if err != nil {
		return nil, err
	}
	found := make([][]*resource.Object, len(inputs))
	results, err := process(ctx, a, inputs, func(in input, src []byte) (result, error) {
		f, l := resource.Parse(in.name, src, a.limits)
		if f != nil {
			found[in.n] = f.Objects
		}
		return result{input: in, diagnostics: l}, nil
	})
	if err != nil {
		return nil, err
	}
	var all []*resource.Object
	for _, l := range found {
		all = append(all, l...)
	}
	return all, a.report(results, "text")
}
