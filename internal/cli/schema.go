package cli

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
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
		crd, wrong := c.Source()
		declared, more := c.Declared()
		if l = slices.Concat(l, wrong, more); l.HasErrors() {
			continue
		}
		if l = append(l, c.Faults(crd)...); l.HasErrors() {
			continue
		}
		for i, v := range crd.Spec.Versions {
			var unions []union.Object
			for _, o := range declared.ObjectsOf(i) {
				unions = append(unions, o.Object)
			}
			schema, err := product.JSONSchema(crd, i, unions)
			if err != nil {
				return nil, l, err
			}
			if schema == nil {
				continue
			}
			path, err := catalogPath(crd, v.Name)
			if err != nil {
				return nil, l, err
			}
			var b bytes.Buffer
			if err := diag.WriteJSON(&b, schema); err != nil {
				return nil, l, err
			}
			out = append(out, output{path, b.Bytes()})
		}
	}
	if l.HasErrors() {
		return nil, l, nil
	}
	return out, l, nil
}

// catalogPath returns the path of a version's schema in a catalog. It rejects names that the API
// server rejects, because they may lead out of the catalog.
func catalogPath(crd *apiextensionsv1.CustomResourceDefinition, version string) (string, error) {
	group, kind := crd.Spec.Group, strings.ToLower(crd.Spec.Names.Kind)
	if l := append(validation.IsDNS1123Subdomain(group), append(validation.IsDNS1035Label(kind), validation.IsDNS1035Label(version)...)...); len(l) > 0 {
		return "", fmt.Errorf("the CRD %s has an invalid group, kind or version: %s", crd.Name, l[0])
	}
	return filepath.Join(group, kind+"_"+version+".json"), nil
}
