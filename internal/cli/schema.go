package cli

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/pkg/diag"
)

func (a *app) schemaCommand() *cobra.Command {
	var (
		flags = compilerFlags{judges: true, gate: true}
		dir   string
	)
	cmd := &cobra.Command{
		Use:   "schema [FILE|DIR|-]... [-o DIR]",
		Short: "Write JSON Schemas for editors and checkers",
		Long: `Schema writes a JSON Schema (draft-07) for each version of CustomResourceDefinitions, as
yaml-language-server and kubeconform read it. It lists the members for each value of a
discriminator. Unknown fields are errors where they are to the API server. Schemas cannot
express CEL rules and the conditions of unions on changes.

With -o, the files are DIR/GROUP/KIND_VERSION.json, the layout of catalogs of schemas;
without it, there may be one version only.`,
		Example: `  # A catalog for kubeconform:
  #   -schema-location 'schemas/{{.Group}}/{{.ResourceKind}}_{{.ResourceAPIVersion}}.json'
  unioncel schema -o schemas config/crd

  # One version
  unioncel schema crd.yaml > backend_v1.json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			all, err := collect(cmd.Context(), a, &flags, args, schemas, nil)
			if err != nil {
				return err
			}
			switch {
			case len(all) == 0:
				return errors.New("there is no schema to write: no CRD has one")
			case dir == "" && len(all) > 1:
				return usagef("there are %d schemas (%s, %s, …): name a directory for them with -o", len(all), all[0].path, all[1].path)
			case dir == "":
				return a.print(all[0].data)
			}
			return a.writeIn(dir, all)
		},
	}
	flags.registerUnions(cmd)
	registerOutput(cmd, &dir, "write to files in this `DIR`")
	return cmd
}

// schemas returns the schemas of the CRDs in a file, with their paths in a catalog.
func schemas(f *crdpatch.File, in input) ([]output, diag.List, error) {
	crds, l := f.CRDs(in.options())
	var out []output
	for _, c := range crds {
		files, wrong, err := product.Schemas(c)
		if l = append(l, wrong...); err != nil {
			return nil, l, err
		}
		for _, name := range slices.Sorted(maps.Keys(files)) {
			out = append(out, output{filepath.FromSlash(name), files[name]})
		}
	}
	if l.HasErrors() {
		return nil, l, nil
	}
	return out, l, nil
}
