package crdpatch

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// externals returns the declarations from elsewhere for a CRD: those given, and for
// versions of which nothing is given those its annotation remembers.
func (p *patcher) externals(document int, m manifest) []union.External {
	l, all := p.opts.Elsewhere.Of(m.names())
	// They stand in the annotation, which p.file may not have any more.
	at := p.pos(m.node)
	if _, metadata, _, ok := yamltext.Lookup(m.node, "metadata"); ok {
		at = p.pos(metadata)
	}
	for _, e := range p.external[m.key(document)] {
		if !all(e.Version) {
			e.At = &at
			l = append(l, e)
		}
	}
	return l
}

// remember keeps a declaration from elsewhere, unless its schema has got one of
// its own. It reports one that is not there any more.
func (r *restorer) remember(s schemaRecord) {
	_, node := findSchema(r.manifest.node, s)
	if s.Replaced != nil {
		r.replaced = append(r.replaced, replacement{r.document, r.manifest.items, s})
	}
	if indexOf(node, union.Key) >= 0 {
		return
	}
	given, all := r.opts.Elsewhere.Of(r.manifest.names())
	if all(s.Version) && !slices.ContainsFunc(given, func(e union.External) bool { return e.Covers(s.Version, s.Path) }) {
		r.report(diag.Diagnostic{Code: diag.Forgotten, Severity: diag.Warning, Pos: r.pos(r.annotations), Path: placeOf(s.Version, s.Path),
			Message: "the declaration that an earlier compilation took from elsewhere is not there any more: its rules are removed",
			Hint:    "nothing needs to be done if that was intended"})
	}
	if e, ok := r.external(s, r.annotations); ok {
		if r.patcher.external == nil {
			r.patcher.external = map[string][]union.External{}
		}
		key := r.manifest.key(r.document)
		r.patcher.external[key] = append(r.patcher.external[key], e)
	}
}

// external is a recorded declaration; what is wrong with it is reported at a node.
func (r *restorer) external(s schemaRecord, at *yaml.Node) (union.External, bool) {
	value, err := orderedJSON(s.Unions)
	if err != nil {
		r.errorf(r.annotations, diag.BadAnnotation, "restore it, or delete it together with the rules it lists",
			"the annotation %s holds a declaration that cannot be read", Annotation)
		return union.External{}, false
	}
	pos := r.pos(at)
	return union.External{Version: s.Version, Steps: s.Path, Value: nodeOf(value), At: &pos}, true
}

// key tells a manifest from others of its file.
func (m manifest) key(document int) string { return fmt.Sprint(document, m.items) }

// schemaKey tells a schema from others of its file.
func (m manifest) schemaKey(document int, version string, path []string) string {
	return fmt.Sprintf("%s %q %q", m.key(document), version, path)
}

// names are the CRD's name, group and kind.
func (m manifest) names() (name, group, kind string) {
	at := func(key string) *yaml.Node {
		_, v, _, _ := yamltext.Lookup(m.node, key)
		return yamltext.Resolve(v)
	}
	spec := at("spec")
	var names *yaml.Node
	if spec != nil {
		_, names, _, _ = yamltext.Lookup(spec, "names")
	}
	return text(at("metadata"), "name"), text(spec, "group"), text(yamltext.Resolve(names), "kind")
}

// CRDs returns the names of the CustomResourceDefinitions of a file, each with its
// name, group and kind. What cannot be read is left out.
func CRDs(name string, src []byte) []union.Target {
	p := &patcher{name: name}
	if !p.parse(ended(src)) {
		return nil
	}
	var l []union.Target
	for _, d := range p.file.Docs {
		for _, m := range p.crds(d) {
			var t union.Target
			t.Name, t.Group, t.Kind = m.names()
			l = append(l, t)
		}
	}
	return l
}

// indexOf returns the number of the schema's own entry with a key, or -1.
func indexOf(n *yaml.Node, key string) int {
	for _, e := range yamltext.Entries(n) {
		if e.Key.Value == key && e.Index >= 0 && e.Value.Kind != yaml.AliasNode {
			return e.Index / 2
		}
	}
	return -1
}
