package crdpatch

import (
	"encoding/json"
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Declared returns the CRDs of a file that have unions, as they stand, with
// their declarations: those in the schemas, and in compiled CRDs those in the
// annotation, whether or not the compiled rules are still what they were. The
// list is sorted; when it has errors, the result is nil.
func Declared(name string, src []byte) ([]compile.Declared, diag.List) {
	p := &patcher{name: name}
	if !p.parse(ended(src)) {
		return nil, p.diags.Sort()
	}
	var l []compile.Declared
	for i, d := range p.file.Docs {
		var value any
		for _, m := range p.crds(d) {
			recorded := p.recorded(&restorer{patcher: p, text: textOf{p.file, d}, manifest: m, document: i}, &value)
			if len(recorded) == 0 && !compile.Declares(m.node) {
				continue
			}
			if value == nil {
				var ok bool
				if _, value, ok = p.value(d); !ok {
					continue
				}
			}
			data, err := json.Marshal(m.in(value))
			if err != nil {
				p.unproved(err)
				continue
			}
			declared, diags := compile.Unions(compile.Manifest{File: name, Node: m.node, JSON: data}, recorded)
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

// recorded returns the declarations in the annotation of a compiled CRD. A schema
// that is gone is reported.
func (p *patcher) recorded(r *restorer, value *any) []compile.Recorded {
	if !r.read(value) {
		return nil
	}
	var l []compile.Recorded
	for _, s := range r.record.Schemas {
		if len(s.Unions) == 0 {
			continue
		}
		_, node := findSchema(r.manifest.node, s)
		if node == nil {
			r.gone(s)
			continue
		}
		value, err := orderedJSON(s.Unions)
		if err != nil {
			r.errorf(r.annotations, diag.BadAnnotation, "restore it, or delete it together with the rules it lists",
				"the annotation %s holds a declaration that cannot be read", Annotation)
			continue
		}
		l = append(l, compile.Recorded{Version: s.Version, Steps: s.Path, Value: nodeOf(value), Pos: p.pos(node)})
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
