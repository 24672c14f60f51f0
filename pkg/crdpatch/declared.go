package crdpatch

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Declared returns the CRDs of a file that have unions, as they stand, with
// their declarations: those in the schemas, those from elsewhere, and in compiled
// CRDs those in the annotation, whether or not the compiled rules are still what
// they were. Of the options only Elsewhere and Limits count. The list is sorted; when it has errors, the result is nil.
func Declared(name string, src []byte, opts Options) ([]compile.Declared, diag.List) {
	p := &patcher{name: name, opts: Options{Elsewhere: opts.Elsewhere, Limits: opts.Limits}}
	if !p.parse(ended(src)) {
		return nil, p.diags.Sort()
	}
	var l []compile.Declared
	for i, d := range p.file.Docs {
		var value any
		for _, m := range p.crds(d) {
			recorded := p.recorded(&restorer{patcher: p, text: textOf{p.file, d}, manifest: m, document: i}, &value)
			external := append(recorded, p.externals(i, m)...)
			if len(external) == 0 && !compile.Declares(m.node) {
				continue
			}
			manifest, ok := p.input(d, m, external, &value)
			if !ok {
				continue
			}
			declared, diags := compile.Unions(manifest)
			for _, d := range diags {
				p.report(d)
			}
			if declared != nil && len(declared.Objects) > 0 {
				l = append(l, *declared)
			}
		}
	}
	if p.diags.HasErrors() {
		return nil, p.diags.Sort()
	}
	return l, p.diags.Sort()
}

// recorded returns the declarations that the annotation of a compiled CRD keeps
// for the schemas that have none; those from elsewhere are remembered. A schema
// that is gone is reported.
func (p *patcher) recorded(r *restorer, value *any) []union.External {
	if !r.read(value) {
		return nil
	}
	var l []union.External
	for _, s := range r.record.Schemas {
		if len(s.Unions) == 0 {
			continue
		}
		_, node := findSchema(r.manifest.node, s)
		switch {
		case node == nil:
			r.gone(s)
		case s.External:
			r.remember(s)
		case indexOf(node, union.Key) < 0:
			if e, ok := r.external(s, p.pos(node)); ok {
				l = append(l, e)
			}
		}
		if node != nil {
			r.rememberExtension(s)
		}
	}
	return l
}

// nodeOf turns a value of orderedJSON into a node.
func nodeOf(v any) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode}
	switch v := v.(type) {
	case table:
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		for _, p := range v {
			n.Content = append(n.Content, nodeOf(p.key), nodeOf(p.value))
		}
	case list:
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		for _, item := range v {
			n.Content = append(n.Content, nodeOf(item))
		}
	case string:
		n.Tag, n.Value, n.Style = "!!str", v, yaml.DoubleQuotedStyle
	case nil:
		n.Tag, n.Value = "!!null", "null"
	case bool:
		n.Tag, n.Value = "!!bool", fmt.Sprint(v)
	default:
		n.Tag, n.Value = "!!float", fmt.Sprint(v)
	}
	return n
}
