package krm

import (
	"fmt"

	"github.com/unioncel/unioncel/internal/source"
	"github.com/unioncel/unioncel/internal/yamlconfig"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// configKind is the kind of the functionConfig. No other is read.
const configKind = "UnionCompiler"

// config is what a UnionCompiler asks for.
type config struct {
	files  []string // to generate from
	unions []string // files of UnionSets
	opts   crdpatch.Options
	verify bool
}

// configKeys are the keys of a UnionCompiler, in the order of the documentation.
var configKeys = yamlconfig.Mapping{
	Name: "a " + configKind,
	Keys: []yamlconfig.Key{
		{Name: "metadata", Example: "{name: unions}"}, {Name: "files", Example: "[crds/backup.yaml]"}, {Name: "unions", Example: "[unions.yaml]"},
		{Name: "schemas", Example: "[{crd: backups.example.com, path: spec, " + union.Key + ": [...]}]"}, {Name: "kubeVersion", Example: `"1.30"`},
		{Name: "encoding", Example: "auto"}, {Name: "keepUnions", Example: "true"}, {Name: "noAnnotation", Example: "true"},
		{Name: "forget", Example: "true"}, {Name: "verify", Example: "true"},
	},
	Hints: map[string]string{
		"spec": "write its keys at the top level, next to metadata",
		"ConfigMap": "write apiVersion: " + yamlconfig.APIVersion + " and kind: " + configKind + ", with the options at the top level, " +
			"not under data: a ConfigMap has no place for lists and booleans",
	},
}

// configName is what diagnostics call the functionConfig.
func (r *run) configName() string {
	if name := word(r.list.config, "metadata", "name"); name != "" {
		return configKind + "/" + name
	}
	return configKind
}

// misconfigured reports a mistake at a path in the functionConfig.
func (r *run) misconfigured(path, hint, format string, args ...any) {
	r.report(diag.Diagnostic{Code: diag.BadUnionCompiler, Pos: diag.Pos{File: r.configName()}, Path: path,
		Message: fmt.Sprintf(format, args...), Hint: hint})
}

// config reads the functionConfig, and the UnionSets that it names. What is wrong is
// reported. Without a functionConfig the defaults count.
func (r *run) config() {
	c := r.list.config
	if c == nil {
		return
	}
	r.about(r.configName(), subject{resource: resourceOf(c)})
	at := diag.Pos{File: r.configName()}
	for _, d := range source.Duplicates(at.File, c) {
		d.Pos = at
		r.report(d)
	}
	reader := &yamlconfig.Reader{At: &at, Code: diag.BadUnionCompiler}
	fields := reader.Object(c, configKind, configKeys)
	r.cfg.files, r.cfg.unions = names(fields["files"]), names(fields["unions"])
	r.cfg.opts.KubeVersion = yamlconfig.Parse(fields["kubeVersion"], compile.ParseKubeVersion)
	r.cfg.opts.Encoding = yamlconfig.Parse(fields["encoding"], compile.ParseEncoding)
	r.cfg.opts.KeepUnions = fields["keepUnions"].Bool(false)
	r.cfg.opts.NoAnnotation = fields["noAnnotation"].Bool(false)
	r.cfg.opts.Forget = fields["forget"].Bool(false)
	r.cfg.verify = fields["verify"].Bool(false)
	r.report(reader.Diags...)
	r.sideFiles(fields["schemas"].Node)
}

// names returns the strings of a list, without those that are none.
func names(list yamlconfig.Value) []string {
	var l []string
	for _, item := range list.Items() {
		if s := item.Text(); s != "" {
			l = append(l, s)
		}
	}
	return l
}
