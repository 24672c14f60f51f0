package product

import (
	"strings"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/union"
)

// declarations reads the declarations outside of CRDs, in files of the configuration and in the
// configuration itself.
func (r *run) declarations(fields map[string]yamltext.ConfigValue) union.Externals {
	var all union.Externals
	declare := func(set *union.Externals) {
		if set != nil {
			all.Declarations = append(all.Declarations, set.Declarations...)
			all.Scopes = append(all.Scopes, set.Scopes...)
		}
	}
	for _, f := range r.files.read(names(fields[unionsKey.Name]), yamltext.ReadConfig, r.unread(unionsKey.Name)) {
		r.concern(f.name, resultSubject{file: f.name, text: f.text})
		set, diags := declared.ParseUnionSet(f.name, f.text)
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
	set, diags := declared.InlineUnionSet(r.configName(), schemas)
	r.report(diags...)
	if set == nil {
		return nil
	}
	for _, x := range set.Declarations {
		r.concern(x.At.File, resultSubject{resource: resourceOf(r.list.config), path: strings.TrimPrefix(x.At.File, r.configName()+" ")})
	}
	return set
}
