package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/declared/builtin"
	"github.com/unioncel/unioncel/internal/declared/unionset"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

func (a *app) extractCommand() *cobra.Command {
	var (
		flags   = compilerFlags{judges: true}
		path    string
		ofKinds bool
	)
	cmd := &cobra.Command{
		Use:   "extract [FILE|DIR|-]...",
		Short: "Write declared unions as a UnionSet",
		Long: `Extract collects the unions of CustomResourceDefinitions into one UnionSet, the
file that compile --unions reads: those declared in the schemas, those that
compile has put into the annotation, those of Go types (--go) and of other
UnionSets (--unions). The files themselves stay as they are.

With --builtin, the unions of Kubernetes' own kinds are among them, to be read or
changed: with --unions instead of --builtin, commands over objects have those of the
file.

With --go, --unions or --builtin and no arguments, it writes their declarations. With
arguments as well, the CRDs for which they declare unions must be among them; the
paths are then checked.

See also unioncel help inputs.`,
		Example: `  # From compiled CRDs, live ones included
  kubectl get crd backups.example.com -o yaml | unioncel extract

  # From Go types, with the CRDs that controller-gen has generated from them
  unioncel extract --go ./api/... -o unions.yaml config/crd/bases

  # What --builtin knows of
  unioncel extract --builtin

  # Merge several files into one
  unioncel extract --unions a.yaml --unions b.yaml > unions.yaml`,
		RunE: func(cmd *cobra.Command, args []string) error {
			unions := &flags.unions
			// Nobody mistakes printed output for a complete file.
			unions.skipInvalid = unions.skipInvalid || path == ""
			var l []union.External
			var err error
			if len(args) == 0 && (len(unions.packages)+len(unions.sets) > 0 || ofKinds) {
				e, wrong := unions.read(false)
				if wrong != nil {
					return wrong
				}
				l, err = e.Declarations, a.report(e.files, "text")
			} else {
				l, err = a.declared(cmd.Context(), a.scope(cmd, &flags), args)
			}
			if err != nil && !errors.Is(err, errSkipped) {
				return err
			}
			if ofKinds {
				l = append(l, builtin.Declarations()...)
			}
			out, wrong := unionset.Format(l)
			if wrong != nil {
				return wrong
			}
			return cmp.Or(a.write(path, out), err)
		},
	}
	flags.unions.register(cmd)
	flags.unions.registerSkip(cmd)
	flags.config.register(cmd)
	cmd.Flags().BoolVar(&ofKinds, "builtin", false, "write the unions of Kubernetes' own kinds, too")
	registerOutput(cmd, &path, toFile)
	return cmd
}

// written returns the declaration of an object, including any extensions.
func written(o compile.Object) *yaml.Node {
	if o.Extensions == nil {
		return o.Value
	}
	l := yamltext.ListNode()
	for _, u := range o.Unions {
		l.Content = append(l.Content, u.Node())
	}
	return l
}

// declared returns the declarations of all CRDs in the inputs.
func (a *app) declared(ctx context.Context, scope func([]input) (scopes, error), args []string) ([]union.External, error) {
	found, err := gather(ctx, a, scope, args, func(f *crdfile.File, in input) ([]*compile.Declared, diag.List, error) {
		l, diags := skipping(in.scope.external, in.options(), func(opts crdfile.Options) ([]*compile.Declared, diag.List) {
			return crdfile.Ask(f, opts, (*crdfile.CRD).Declared)
		})
		return l, diags, nil
	})
	if err != nil && !errors.Is(err, errSkipped) {
		return nil, err
	}
	var l []union.External
	files := map[string]string{} // file of each CRD
	for _, g := range found {
		for _, crd := range g.items {
			if other, ok := files[crd.Name]; ok {
				return nil, fmt.Errorf("%s: the CRD %s is in %s too: give only one of them", g.name, crd.Name, other)
			}
			files[crd.Name] = g.name
			for _, o := range crd.Objects {
				l = append(l, union.External{
					Target:  union.Target{Name: crd.Name},
					Version: o.Name, Path: o.Path, Value: written(o), File: g.name,
				})
			}
		}
	}
	return l, err
}
