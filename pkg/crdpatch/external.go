package crdpatch

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/union"
)

// externals returns the declarations from elsewhere for a CRD: those given, and for
// versions of which nothing is given those its annotation remembers.
func (p *patcher) externals(document int, m manifest) []union.External {
	l, all := p.opts.Elsewhere.Of(m.names())
	for _, e := range p.external[m.key(document)] {
		if !all(e.Version) {
			l = append(l, e)
		}
	}
	return l
}

// remember keeps a declaration from elsewhere, unless its schema has got one of
// its own. It reports one that is not there any more.
func (r *restorer) remember(s schemaRecord) {
	_, node := findSchema(r.manifest.node, s)
	if indexOf(node, union.Key) >= 0 {
		return
	}
	given, all := r.opts.Elsewhere.Of(r.manifest.names())
	at := r.pos(r.annotations.Content[r.ours])
	e, ok := r.external(s, at)
	if ok && all(s.Version) {
		r.forgotten(s, e, given)
	}
	if ok {
		r.keep(e)
	}
}

// rememberExtension keeps what extends a declaration. It reports an extension of a
// version whose declarations from elsewhere are given, without one for this schema.
func (r *restorer) rememberExtension(s schemaRecord) {
	if len(s.Extend) == 0 {
		return
	}
	e := r.extension(s)
	given, all := r.opts.Elsewhere.Of(r.manifest.names())
	if all(s.Version) && !slices.ContainsFunc(given, func(g union.External) bool { return g.Extend && g.Covers(s.Version, s.Path) }) {
		r.report(diag.Diagnostic{Code: diag.Forgotten, Severity: diag.Warning, Pos: *e.At, Path: placeOf(s.Version, s.Path),
			Message: "the extension of unions, which an earlier compilation took from a UnionSet, is declared no more: they are compiled without it",
			Hint:    "if that was not intended: declarations of one CRD are given all at once (--go, --kubebuilder and --unions in one command)"})
	}
	r.keep(e)
}

// extension is the recorded extension of a schema's unions.
func (r *restorer) extension(s schemaRecord) union.External {
	at := r.pos(r.annotations.Content[r.ours])
	value, _ := orderedJSON(s.Extend) // the record was checked
	return union.External{Version: s.Version, Steps: s.Path, Value: nodeOf(value), At: &at, Extend: true}
}

// keep adds a recorded declaration to those from elsewhere.
func (r *restorer) keep(e union.External) {
	if r.patcher.external == nil {
		r.patcher.external = map[string][]union.External{}
	}
	key := r.manifest.key(r.document)
	r.patcher.external[key] = append(r.patcher.external[key], e)
}

// forgotten reports the unions of a recorded declaration that have nothing in common
// with those given for the schema.
func (r *restorer) forgotten(s schemaRecord, recorded union.External, given []union.External) {
	var kept []string
	for _, e := range given {
		if e.Covers(s.Version, s.Path) && !e.Extend {
			kept = append(kept, slices.Concat(propertiesOf(e)...)...)
		}
	}
	for _, properties := range propertiesOf(recorded) {
		if slices.ContainsFunc(properties, func(name string) bool { return slices.Contains(kept, name) }) {
			continue
		}
		r.report(diag.Diagnostic{Code: diag.Forgotten, Severity: diag.Warning, Pos: *recorded.At, Path: placeOf(s.Version, s.Path),
			Message: fmt.Sprintf("the union of %s, which an earlier compilation took from elsewhere, is declared no more: its rules are removed", strings.Join(properties, ", ")),
			Hint:    "if that was not intended: declarations of one CRD are given all at once (--go, --kubebuilder and --unions in one command)"})
	}
}

// external is a recorded declaration, at is its position.
func (r *restorer) external(s schemaRecord, at diag.Pos) (union.External, bool) {
	value, err := orderedJSON(s.Unions)
	if err != nil {
		r.errorf(r.annotations, diag.BadAnnotation, "restore it, or delete it together with the rules it lists",
			"the annotation %s holds a declaration that cannot be read", Annotation)
		return union.External{}, false
	}
	return union.External{Version: s.Version, Steps: s.Path, Value: nodeOf(value), At: &at}, true
}

// annotated is added to the lines of declarations that stand in the annotation, as
// that is taken out of p.file.
const annotated = 1 << 30

// markAnnotated tells the positions of declarations in the annotation from those in
// p.file.
func (p *patcher) markAnnotated() {
	for _, l := range p.external {
		for i := range l {
			at := *l[i].At
			at.Line += annotated
			l[i].At = &at
		}
	}
}

// propertiesOf are the properties of each union of a declaration.
func propertiesOf(e union.External) [][]string {
	var l [][]string
	declarations, _ := union.Parse("", "", e.Value, e.At)
	for _, d := range declarations {
		l = append(l, d.Properties())
	}
	return l
}

// key tells a manifest from others of its file.
func (m manifest) key(document int) string { return fmt.Sprint(document, m.items) }

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

// CRDs returns the CustomResourceDefinitions of a file, each with its name, group and
// kind. It is false when the file cannot be read.
func CRDs(name string, src []byte, limits limit.Limits) ([]union.Target, bool) {
	p := &patcher{name: name, opts: Options{Limits: limits}}
	if !p.parse(ended(src)) {
		return nil, false
	}
	var l []union.Target
	for _, d := range p.file.Docs {
		for _, m := range p.crds(d) {
			var t union.Target
			t.Name, t.Group, t.Kind = m.names()
			l = append(l, t)
		}
	}
	return l, true
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
