package krm

import (
	"fmt"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/unioncel/unioncel/internal/declared/unionset"
	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/yaml/source"
	"github.com/unioncel/unioncel/internal/yaml/yamlconfig"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// declarations reads the declarations outside of CRDs, in files of the configuration and in the
// configuration itself.
func (r *run) declarations(fields map[string]yamlconfig.Value) union.Externals {
	var all union.Externals
	declare := func(set *union.Externals) {
		if set != nil {
			all.Declarations = append(all.Declarations, set.Declarations...)
			all.Scopes = append(all.Scopes, set.Scopes...)
		}
	}
	for _, f := range r.files.read(names(fields[unionsKey.Name]), source.ReadConfig, r.unread(unionsKey.Name)) {
		r.concern(f.name, resultSubject{file: f.name, text: f.text})
		set, diags := unionset.Parse(f.name, f.text)
		r.report(diags...)
		declare(set)
	}
	if schemas := fields[schemasKey.Name].Node; schemas != nil {
		declare(r.inline(schemas))
	}
	return all
}

// inline reads the schemas in the configuration like the schemas of a UnionSet. Positions become
// paths of schemas, because users do not see the lines.
func (r *run) inline(schemas *yaml.Node) *union.Externals {
	text, err := encode(yamltext.MappingNode(
		yamltext.StringNode("apiVersion"), yamltext.StringNode(unionset.APIVersion),
		yamltext.StringNode("kind"), yamltext.StringNode(unionset.Kind),
		yamltext.StringNode("schemas"), plain(schemas),
	))
	if err != nil {
		r.misconfigured("schemas", "", "schemas: %v", err)
		return nil
	}
	name := r.configName()
	set, diags := unionset.Parse(name, text)
	for _, d := range diags {
		d.Pos.Line, d.Pos.Col = 0, 0
		for i := range d.Related {
			d.Related[i].Pos.Line, d.Related[i].Pos.Col = 0, 0
		}
		r.report(d)
	}
	if set == nil {
		return nil
	}
	paths := itemPaths(text)
	for i, x := range set.Declarations {
		path := paths[diag.Pos{Line: x.Named.Line, Col: x.Named.Col}]
		at := diag.Pos{File: name + " " + path}
		r.concern(at.File, resultSubject{resource: resourceOf(r.list.config), path: path})
		set.Declarations[i].At, set.Declarations[i].Named = &at, diag.Pos{}
	}
	return set
}

// itemPaths returns the path of each item of schemas, by its position.
func itemPaths(text []byte) map[diag.Pos]string {
	paths := map[diag.Pos]string{}
	if file, wrong := source.Parse("", text, limit.None()); wrong == nil {
		for i, item := range yamltext.Value(file.Docs[0].Root, "schemas").Content {
			paths[diag.Pos{Line: item.Line, Col: item.Column}] = fmt.Sprintf("schemas[%d]", i)
		}
	}
	return paths
}
