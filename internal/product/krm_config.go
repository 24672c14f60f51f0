package product

import (
	"cmp"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// configKind is a kind of functionConfig.
type configKind struct {
	name string
	want string                 // the names that the kind may have
	keys yamltext.ConfigMapping // in the order in the documentation
	// read returns the function for the fields of a functionConfig, and reports errors in them.
	read func(*run, map[string]yamltext.ConfigValue) function
}

// function transforms a list.
type function interface {
	// items returns the items of the output. They are valid unless an error was reported.
	items(*run) []*yaml.RNode
}

// configKinds returns the supported kinds. The first one is the default without a functionConfig.
func configKinds() []configKind { return []configKind{compilerKind, normalizerKind} }

// Keys that several kinds share.
var (
	unionsKey  = yamltext.ConfigKey{Name: "unions", Example: "[unions.yaml]"}
	schemasKey = yamltext.ConfigKey{Name: "schemas", Example: "[{crd: backups.example.com, path: spec, " + union.Key + ": [...]}]"}
)

// kindOf returns a kind with metadata and the given keys.
func kindOf(name string, read func(*run, map[string]yamltext.ConfigValue) function, keys ...yamltext.ConfigKey) configKind {
	return configKind{name, name, yamltext.ConfigMapping{
		Name: "a " + name,
		Keys: slices.Concat([]yamltext.ConfigKey{{Name: "metadata", Example: "{name: unions}"}}, keys),
		Hints: map[string]string{
			"spec": "write its keys at the top level, next to metadata",
			"ConfigMap": "write apiVersion: " + yamltext.APIVersion + " and kind: " + anyKind + ", with the options at the top level, " +
				"not under data: a ConfigMap has no place for lists and booleans",
		},
	}, read}
}

// anyKind names all supported kinds.
const anyKind = "UnionCompiler or UnionNormalizer"

// kindNamed returns the kind with a name, which may be misspelled. For other names, it returns a
// kind whose want lists all names.
func kindNamed(name string) configKind {
	l := configKinds()
	var known []string
	for _, k := range l {
		known = append(known, k.name)
	}
	i := slices.Index(known, name)
	if i < 0 {
		i = slices.Index(known, english.Certain(name, known))
	}
	if i < 0 {
		unknown := l[0]
		unknown.name, unknown.want = cmp.Or(name, "functionConfig"), anyKind
		return unknown
	}
	return l[i]
}

// configName returns the name of the functionConfig in diagnostics.
func (r *run) configName() string {
	if name := word(r.list.config, "metadata", "name"); name != "" {
		return r.kind.name + "/" + name
	}
	return r.kind.name
}

// misconfigured reports an error at a path in the functionConfig.
func (r *run) misconfigured(path, hint, format string, args ...any) {
	r.report(diag.New(codes.BadFunctionConfig, diag.Pos{File: r.configName()}, format, args...).At(path).Hinted(hint))
}

// config reads the functionConfig and the UnionSets in it, and reports their errors. Without a
// functionConfig, it uses the defaults.
func (r *run) config() function {
	c := r.list.config
	if c == nil {
		r.kind = configKinds()[0]
		return r.kind.read(r, nil)
	}
	r.kind = kindNamed(word(c, "kind"))
	r.concern(r.configName(), resultSubject{resource: resourceOf(c)})
	at := diag.Pos{File: r.configName()}
	for _, d := range yamltext.Duplicates(at.File, c.YNode()) {
		d.Pos = at
		r.report(d)
	}
	reader := &yamltext.ConfigReader{At: &at, Code: codes.BadFunctionConfig}
	f := r.kind.read(r, reader.Object(c.YNode(), r.kind.want, r.kind.keys))
	r.report(reader.Diags...)
	return f
}

// names returns the strings in a list except "".
func names(list yamltext.ConfigValue) []string {
	var l []string
	for _, item := range list.Items() {
		if s := item.Text(); s != "" {
			l = append(l, s)
		}
	}
	return l
}
