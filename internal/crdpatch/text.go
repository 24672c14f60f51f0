package crdpatch

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// fileText is the text of a manifest file, or of a [revision] of it, parsed once.
type fileText struct {
	*yamltext.File
	name   string
	limits yamltext.Limits
	docs   []*document
	// diags are errors and warnings about the CRDs.
	diags diag.List
}

// document is one of the documents of a text.
type document struct {
	*yamltext.Document
	*fileText
	index int
	crds  []*manifest

	aliases map[*yaml.Node]bool
	source  *document // unless nil, one of an earlier text with the same bytes
}

// manifest is a CustomResourceDefinition in a document, or another kind that contains schemas
// (internal/yamltext), at the root or in the items of a list.
type manifest struct {
	*document
	node  *yaml.Node
	items []int // the indices that lead to it through lists
	nth   int   // among the CRDs of the document

	// These are nil in the texts that are made from a file.
	asIs      *stage
	annotated *annotated // nil if it was not compiled
	marred    diag.List  // the error in its annotation
	bases     []*base    // by declarations
}

// parseText parses a text. The result is nil if the text cannot be edited: the list says why.
func parseText(name string, src []byte, limits yamltext.Limits) (*fileText, diag.List) {
	file, wrong := yamltext.ParseManifest(name, src, limits)
	if wrong != nil {
		return nil, diag.List{*wrong}
	}
	t := &fileText{File: file, name: name, limits: limits}
	var diags diag.List
	for i, parsed := range file.Docs {
		d := &document{Document: parsed, fileText: t, index: i}
		t.docs = append(t.docs, d)
		d.find(d.Root, nil)
		if len(d.crds) > 0 {
			diags = slices.Concat(diags, yamltext.Duplicates(name, d.Root), yamltext.Misread(name, d.Root))
		}
	}
	if len(diags) > 0 {
		return nil, diags
	}
	return t, t.diags
}

// find finds the CRDs at n and below. A CRD with unions in a version that no API server
// serves any more is reported.
func (d *document) find(n *yaml.Node, items []int) {
	if n != nil && n.Kind == yaml.AliasNode && compile.Declares(n.Alias) {
		d.errorf(n, codes.SharedContent, "write out each CRD", "the alias *%s stands for a CRD that declares unions: an edit would change the other uses", n.Value)
	}
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	kind, apiVersion := yamltext.Text(n, "kind"), yamltext.Text(n, "apiVersion")
	switch {
	case yamltext.IsList(kind):
		switch v := yamltext.Lookup(n, "items").Value; {
		case v == nil:
		case v.Kind == yaml.SequenceNode:
			for i, item := range v.Content {
				d.find(item, append(slices.Clone(items), i))
			}
		case v.Kind == yaml.AliasNode:
			d.find(v, nil)
		}
		return
	case kind == "ConfigMap" || kind == "Secret":
		d.findText(n)
		return
	}
	switch k, read := yamltext.LookupCarrier(apiVersion, kind); {
	case k == nil:
	case read:
		d.crds = append(d.crds, &manifest{document: d, node: n, items: items, nth: len(d.crds)})
	case compile.Declares(n):
		d.errorf(n, codes.OldCRDVersion, "convert it to "+k.Group+"/"+k.Versions[0], "%s %s", apiVersion, k.Gone)
	}
}

// findText reports the CRDs with unions in the texts of a ConfigMap or Secret.
func (d *document) findText(n *yaml.Node) {
	for _, key := range []string{"data", "stringData"} {
		for _, e := range yamltext.Entries(yamltext.Value(n, key)) {
			v := yamltext.Resolve(e.Value)
			text := []byte(v.Value)
			if decoded, err := base64.StdEncoding.DecodeString(v.Value); err == nil && key == "data" && yamltext.Text(n, "kind") == "Secret" {
				text = decoded
			}
			if !bytes.Contains(text, []byte(union.Key)) {
				continue
			}
			inner, _ := parseText(d.name, text, d.limits)
			if inner == nil || !slices.ContainsFunc(inner.manifests(), func(m *manifest) bool { return compile.Declares(m.node) }) {
				continue
			}
			d.diags = append(d.diags, diag.New(codes.CRDInText, d.pos(e.Key),
				"the text of %s is a CRD that declares unions: it is not compiled", e.Key.Value).
				Hinted("compile it as a file of its own, and make the "+yamltext.Text(n, "kind")+" of the result"))
		}
	}
}

func (d *document) errorf(n *yaml.Node, code diag.Code, hint, format string, args ...any) {
	d.diags = append(d.diags, diag.New(code, d.pos(n), format, args...).Hinted(hint))
}

// pos is the position of a node.
func (t *fileText) pos(n *yaml.Node) diag.Pos {
	return diag.Pos{File: t.name, Line: n.Line, Col: n.Column}
}

// manifests are the CRDs of all documents.
func (t *fileText) manifests() []*manifest {
	var l []*manifest
	for _, d := range t.docs {
		l = append(l, d.crds...)
	}
	return l
}

// startOf is the offset of a node.
func (d *document) startOf(n *yaml.Node) (int, error) {
	start, _, err := d.Span(d.Document, n)
	return start, err
}

// editor edits the text of the document.
func (d *document) editor() yamltext.EditedText {
	return yamltext.EditedText{File: d.File, Document: d.Document}
}

// read is the document as kubectl reads it, as JSON and as data, which are not to be
// changed; or a diagnostic that says why it cannot.
func (d *document) read() (data []byte, v any, wrong *diag.Diagnostic) {
	if d.source != nil {
		return d.source.read()
	}
	return yamltext.KubectlValue(d.name, d.File, d.Document)
}

// copied is a copy of the data that kubectl reads in a document that it can read.
func (d *document) copied() any {
	_, v, _ := d.read()
	return runtime.DeepCopyJSONValue(v)
}

// isJSON reports whether the document is JSON.
func (d *document) isJSON() bool { return yamltext.IsFlow(d.Root) && json.Valid(d.bytes()) }

// bytes is the text of the document.
func (d *document) bytes() []byte { return d.Src[d.Start:d.End] }

// aliased reports whether an alias refers to n, or to something that holds it.
func (d *document) aliased(n *yaml.Node) bool {
	if d.aliases == nil {
		d.aliases = yamltext.Aliased(d.Root)
	}
	return d.aliases[n]
}

// revised returns the same CRD in a revision of the text.
func (m *manifest) revised(t *fileText) *manifest { return t.docs[m.index].crds[m.nth] }

// selected returns the CRD's part of the data of its document, or nil.
func (m *manifest) selected(v any) map[string]any {
	for _, i := range m.items {
		list, _ := v.(map[string]any)
		items, _ := list["items"].([]any)
		if i >= len(items) {
			return nil
		}
		v = items[i]
	}
	crd, _ := v.(map[string]any)
	return crd
}

// listed reports whether the CRD is an item of a list.
func (m *manifest) listed() bool { return len(m.items) > 0 }

// target returns the name, group and kind of the CRD.
func (m *manifest) target() union.Target {
	spec, text := yamltext.Value(m.node, "spec"), yamltext.Text
	return union.Target{Name: text(yamltext.Value(m.node, "metadata"), "name"), Group: text(spec, "group"), Kind: text(yamltext.Value(spec, "names"), "kind")}
}

// kind is the kind of the manifest.
func (m *manifest) kind() *yamltext.Carrier {
	k, _ := yamltext.LookupCarrier(yamltext.Text(m.node, "apiVersion"), yamltext.Text(m.node, "kind"))
	return k
}

// place returns the place of the schema at a path in a version of the CRD, and the schema. That
// is nil where none is written out.
func (m *manifest) place(version string, path schemapath.Path) (schemapath.Place, *yaml.Node) {
	p := schemapath.Place{Name: version, Path: path}
	versions, ok := writtenOut(m.node, "spec", "versions")
	if !ok {
		return p, nil
	}
	p.Version = slices.IndexFunc(versions.Content, func(v *yaml.Node) bool { return yamltext.Text(v, "name") == version })
	if p.Version < 0 {
		return schemapath.Place{Name: version, Path: path}, nil
	}
	return p, m.schema(p)
}

// schema returns the schema at a place, or nil where none is written out.
func (m *manifest) schema(p schemapath.Place) *yaml.Node { return schemaAt(m.node, p) }

// schemaAt returns the schema at a place of a CRD, or nil where none is written out.
func schemaAt(crd *yaml.Node, p schemapath.Place) *yaml.Node {
	if n, ok := nearest(crd, p); ok && n.Kind == yaml.MappingNode {
		return n
	}
	return nil
}

// nearest returns the schema at a place of a CRD. If none is written out, it is not ok, and returns the
// alias on the way there, or the last value.
func nearest(crd *yaml.Node, p schemapath.Place) (n *yaml.Node, ok bool) {
	versions, ok := writtenOut(crd, "spec", "versions")
	if !ok || p.Version >= len(versions.Content) {
		return versions, false
	}
	return writtenOut(versions.Content[p.Version], slices.Concat([]string{"schema", "openAPIV3Schema"}, p.Path.Fields())...)
}

// schemaIn returns the schema at a place of a CRD's data, or nil.
func schemaIn(crd map[string]any, p schemapath.Place) map[string]any {
	spec, _ := crd["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	if p.Version >= len(versions) {
		return nil
	}
	v, _ := versions[p.Version].(map[string]any)
	schema, _ := v["schema"].(map[string]any)
	root, _ := schema["openAPIV3Schema"].(map[string]any)
	return p.Path.Value(root)
}

// writtenOut returns the value at the end of some keys of a mapping. It is not ok if the value comes from
// an alias or merge key, or is not there, and returns the alias or the last value.
func writtenOut(n *yaml.Node, keys ...string) (at *yaml.Node, ok bool) {
	for _, key := range keys {
		e := yamltext.Lookup(n, key)
		if e.Index < 0 {
			return n, false
		}
		if n = e.Value; n.Kind == yaml.AliasNode {
			return n, false
		}
	}
	return n, true
}

// indexOf returns the number of a mapping's own entry with a key, or -1.
func indexOf(n *yaml.Node, key string) int {
	if e := yamltext.Lookup(n, key); e.Index >= 0 && e.Value.Kind != yaml.AliasNode {
		return e.Index
	}
	return -1
}
