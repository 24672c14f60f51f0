package krm

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/source"
	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
)

// What the functionConfig says of itself. No other apiVersion or kind is read.
const (
	configVersion = "unioncel.dev/v1alpha1"
	configKind    = "UnionCompiler"
)

// config is what a UnionCompiler asks for.
type config struct {
	files  []string // to generate from
	unions []string // files of UnionSets
	opts   crdpatch.Options
	verify bool
}

// configKeys are the keys of a UnionCompiler, in the order of the documentation.
var configKeys = []string{"apiVersion", "kind", "metadata", "files", "unions", "schemas",
	"kubeVersion", "encoding", "keepUnions", "noAnnotation", "forget", "verify"}

const configHint = "write apiVersion: " + configVersion + " and kind: " + configKind

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
	if !r.isUnionCompiler(c) {
		return
	}
	for _, d := range source.Duplicates(r.configName(), c) {
		d.Pos.Line, d.Pos.Col = 0, 0
		r.report(d)
	}
	for i := 0; i+1 < len(c.Content); i += 2 {
		if key := c.Content[i]; key.Kind != yaml.ScalarNode {
			r.misconfigured("", configKeysHint(), "a key of a %s must be a string, not %s", configKind, yamltext.Describe(key))
		}
	}
	values := map[string]*yaml.Node{}
	for _, e := range yamltext.Entries(c) {
		if !slices.Contains(configKeys, e.Key.Value) {
			r.unknown(e.Key)
			continue
		}
		values[e.Key.Value] = e.Value
	}
	if m := values["metadata"]; m != nil && m.Kind != yaml.MappingNode {
		r.misconfigured("metadata", "write it like metadata: {name: unions}", "metadata: want a mapping, not %s", yamltext.Describe(m))
	}
	r.cfg.files = r.names(values["files"], "files", "crds/backup.yaml")
	r.cfg.unions = r.names(values["unions"], "unions", "unions.yaml")
	r.options(values)
	r.sideFiles(values["schemas"])
}

// isUnionCompiler reports another kind of functionConfig.
func (r *run) isUnionCompiler(c *yaml.Node) bool {
	kind, version := word(c, "kind"), word(c, "apiVersion")
	switch {
	case c.Kind != yaml.MappingNode:
		r.misconfigured("", configHint, "the functionConfig must be a mapping, not %s", yamltext.Describe(c))
	case kind == "ConfigMap":
		r.misconfigured("kind", configHint+", with the options at the top level, not under data", "a functionConfig of kind ConfigMap is not read, since it has no place for lists and booleans")
	case kind == "":
		r.misconfigured("kind", configHint, "the functionConfig has no kind")
	case kind != configKind:
		r.misconfigured("kind", configHint, "the functionConfig must be a %s, not a %s", configKind, kind)
	case version != configVersion:
		r.misconfigured("apiVersion", "write apiVersion: "+configVersion, "a %s is read in apiVersion %s, not %q", configKind, configVersion, version)
	default:
		return true
	}
	return false
}

func configKeysHint() string { return "the keys are " + strings.Join(configKeys, ", ") }

func (r *run) unknown(key *yaml.Node) {
	hint := configKeysHint()
	switch best := spelling.Closest(key.Value, configKeys); {
	case key.Value == "spec":
		hint = "write its keys at the top level, beside metadata"
	case best != "":
		hint = fmt.Sprintf("write %q", best)
	}
	r.misconfigured(key.Value, hint, "unknown key %q in a %s", key.Value, configKind)
}

// names returns a list of strings.
func (r *run) names(n *yaml.Node, key, example string) []string {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		r.misconfigured(key, fmt.Sprintf("write it like %s: [%s]", key, example), "%s: want a list of files, not %s", key, yamltext.Describe(n))
		return nil
	}
	var l []string
	for i, item := range n.Content {
		if s, ok := r.text(item, fmt.Sprintf("%s[%d]", key, i), example); ok {
			l = append(l, s)
		}
	}
	return l
}

// text returns a string that is not empty.
func (r *run) text(n *yaml.Node, path, example string) (string, bool) {
	if n.Kind != yaml.ScalarNode || isNull(n) || n.Value == "" {
		r.misconfigured(path, "write it like "+example, "%s: want a string, not %s", path, yamltext.Describe(n))
		return "", false
	}
	s, err := yamltext.String(n)
	if err != nil {
		hint := "write " + yamltext.Quoted(n)
		if path == "kubeVersion" { // kustomize has made 1.3 of 1.30
			hint = "write it in quotes, like " + example
		}
		r.misconfigured(path, hint, "%s: %v", path, err)
		return "", false
	}
	return s, true
}

// options reads what the flags of compile say on a command line.
func (r *run) options(values map[string]*yaml.Node) {
	if n := values["kubeVersion"]; n != nil {
		if s, ok := r.text(n, "kubeVersion", `"1.30"`); ok {
			var err error
			if r.cfg.opts.KubeVersion, err = compile.ParseKubeVersion(s); err != nil {
				r.misconfigured("kubeVersion", `write it like "1.30"`, "kubeVersion: %v", err)
			}
		}
	}
	if n := values["encoding"]; n != nil {
		if s, ok := r.text(n, "encoding", "auto"); ok {
			var err error
			if r.cfg.opts.Encoding, err = compile.ParseEncoding(s); err != nil {
				r.misconfigured("encoding", "", "encoding: %v", err)
			}
		}
	}
	r.cfg.opts.KeepUnions = r.boolean(values["keepUnions"], "keepUnions")
	r.cfg.opts.NoAnnotation = r.boolean(values["noAnnotation"], "noAnnotation")
	r.cfg.opts.Forget = r.boolean(values["forget"], "forget")
	r.cfg.verify = r.boolean(values["verify"], "verify")
}

func (r *run) boolean(n *yaml.Node, key string) bool {
	if n == nil {
		return false
	}
	var b bool
	if n.ShortTag() != "!!bool" || n.Decode(&b) != nil {
		r.misconfigured(key, fmt.Sprintf("write %s: true, without quotes", key), "%s: want true or false, not %s", key, yamltext.Describe(n))
	}
	return b
}
