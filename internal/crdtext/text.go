// Package crdtext finds the CRDs in the text of a manifest file, and edits that text.
package crdtext

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/carrier"
	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/yaml/source"
	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Text is the text of a manifest file, parsed once. The nodes of a text that a [Revision] made
// have the positions of the text that it revised.
type Text struct {
	*yamltext.File
	Name   string
	Limits limit.Limits
	Docs   []*Document
	// Diags are errors and warnings about the CRDs.
	Diags diag.List
	// origin, unless nil, is the position in the revised text for an offset.
	origin func(at int) (line, column int)
}

// Document is one of the documents of a text.
type Document struct {
	*yamltext.Document
	*Text
	Index int
	CRDs  []*Manifest

	aliases map[*yaml.Node]bool
	source  *Document // unless nil, one of an earlier text with the same bytes
}

// Manifest is a CustomResourceDefinition in a document, or another kind that contains schemas
// (internal/carrier), at the root or in the items of a list.
type Manifest struct {
	*Document
	Node  *yaml.Node
	items []int // the indices that lead to it through lists
	index int   // among the CRDs of the document
}

// Parse parses a text. The result is nil if the text cannot be edited: the list says why.
func Parse(name string, src []byte, limits limit.Limits) (*Text, diag.List) {
	file, wrong := source.Parse(name, src, limits)
	if wrong != nil {
		return nil, diag.List{*wrong}
	}
	return New(name, file, limits)
}

// New is the text of a file that is parsed already.
func New(name string, file *yamltext.File, limits limit.Limits) (*Text, diag.List) {
	t := &Text{File: file, Name: name, Limits: limits}
	var wrong diag.List
	for i, parsed := range file.Docs {
		d := &Document{Document: parsed, Text: t, Index: i}
		t.Docs = append(t.Docs, d)
		d.find(d.Root, nil)
		if len(d.CRDs) > 0 {
			wrong = slices.Concat(wrong, source.Duplicates(name, d.Root), source.Misread(name, d.Root))
		}
	}
	if len(wrong) > 0 {
		return nil, wrong
	}
	return t, t.Diags
}

// find finds the CRDs at n and below. A CRD with unions in a version that no API server
// serves any more is reported.
func (d *Document) find(n *yaml.Node, items []int) {
	if n != nil && n.Kind == yaml.AliasNode && compile.Declares(n.Alias) {
		d.errorf(n, codes.SharedContent, "write out each CRD", "the alias *%s stands for a CRD that declares unions: an edit would change the other uses", n.Value)
	}
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	kind, apiVersion := yamltext.Text(n, "kind"), yamltext.Text(n, "apiVersion")
	switch {
	case carrier.IsList(kind):
		switch _, v, _, ok := yamltext.Lookup(n, "items"); {
		case ok && v.Kind == yaml.SequenceNode:
			for i, item := range v.Content {
				d.find(item, append(slices.Clone(items), i))
			}
		case ok && v.Kind == yaml.AliasNode:
			d.find(v, nil)
		}
		return
	case kind == "ConfigMap" || kind == "Secret":
		d.findText(n)
		return
	}
	switch k, read := carrier.Lookup(apiVersion, kind); {
	case k == nil:
	case read:
		d.CRDs = append(d.CRDs, &Manifest{Document: d, Node: n, items: items, index: len(d.CRDs)})
	case compile.Declares(n):
		d.errorf(n, codes.OldCRDVersion, "convert it to "+k.Group+"/"+k.Versions[0], "%s %s", apiVersion, k.Gone)
	}
}

// findText reports the CRDs with unions in the texts of a ConfigMap or Secret.
func (d *Document) findText(n *yaml.Node) {
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
			inner, _ := Parse(d.Name, text, d.Limits)
			if inner == nil || !slices.ContainsFunc(inner.Manifests(), func(m *Manifest) bool { return compile.Declares(m.Node) }) {
				continue
			}
			d.Diags = append(d.Diags, diag.New(codes.CRDInText, d.Pos(e.Key),
				"the text of %s is a CRD that declares unions: it is not compiled", e.Key.Value).
				Hinted("compile it as a file of its own, and make the "+yamltext.Text(n, "kind")+" of the result"))
		}
	}
}

func (d *Document) errorf(n *yaml.Node, code diag.Code, hint, format string, args ...any) {
	d.Diags = append(d.Diags, diag.New(code, d.Pos(n), format, args...).Hinted(hint))
}

// Pos is the position of a node.
func (t *Text) Pos(n *yaml.Node) diag.Pos {
	return diag.Pos{File: t.Name, Line: n.Line, Col: n.Column}
}

// position is the position of an offset or, in a revised text, of its origin.
func (t *Text) position(at int) (line, column int) {
	if t.origin != nil {
		return t.origin(at)
	}
	return t.Position(at)
}

// Manifests are the CRDs of all documents.
func (t *Text) Manifests() []*Manifest {
	var l []*Manifest
	for _, d := range t.Docs {
		l = append(l, d.CRDs...)
	}
	return l
}

// StartOf is the offset of a node.
func (d *Document) StartOf(n *yaml.Node) (int, error) {
	start, _, err := d.Span(d.Document, n)
	return start, err
}

// Editor edits the text of the document.
func (d *Document) Editor() yamledit.Text {
	return yamledit.Text{File: d.File, Document: d.Document}
}

// Value is the document as kubectl reads it, as JSON and as data, which are not to be
// changed; or a diagnostic that says why it cannot.
func (d *Document) Value() (data []byte, v any, wrong *diag.Diagnostic) {
	if d.source != nil {
		return d.source.Value()
	}
	return source.Value(d.Name, d.File, d.Document)
}

// Copied is a copy of the data that kubectl reads in a document that it can read.
func (d *Document) Copied() any {
	_, v, _ := d.Value()
	return runtime.DeepCopyJSONValue(v)
}

// IsJSON reports whether the document is JSON.
func (d *Document) IsJSON() bool { return yamledit.IsFlow(d.Root) && json.Valid(d.Bytes()) }

// Bytes is the text of the document.
func (d *Document) Bytes() []byte { return d.Src[d.Start:d.End] }

// Aliased reports whether an alias refers to n, or to something that holds it.
func (d *Document) Aliased(n *yaml.Node) bool {
	if d.aliases == nil {
		d.aliases = yamltext.Aliased(d.Root)
	}
	return d.aliases[n]
}

// Revised returns the same CRD in a revision of the text.
func (m *Manifest) Revised(t *Text) *Manifest { return t.Docs[m.Index].CRDs[m.index] }

// Select returns the CRD's part of the data of its document, or nil.
func (m *Manifest) Select(v any) map[string]any {
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

// Listed reports whether the CRD is an item of a list.
func (m *Manifest) Listed() bool { return len(m.items) > 0 }

// Target returns the name, group and kind of the CRD.
func (m *Manifest) Target() union.Target {
	spec, text := yamltext.Value(m.Node, "spec"), yamltext.Text
	return union.Target{Name: text(yamltext.Value(m.Node, "metadata"), "name"), Group: text(spec, "group"), Kind: text(yamltext.Value(spec, "names"), "kind")}
}

// Kind is the kind of the manifest.
func (m *Manifest) Kind() *carrier.Carrier {
	k, _ := carrier.Lookup(yamltext.Text(m.Node, "apiVersion"), yamltext.Text(m.Node, "kind"))
	return k
}

// Place returns the place of the schema at a path in a version of the CRD, and the schema. That
// is nil where none is written out.
func (m *Manifest) Place(version string, path schemapath.Path) (schemapath.Place, *yaml.Node) {
	p := schemapath.Place{Name: version, Path: path}
	versions := writtenOut(m.Node, "spec", "versions")
	if versions == nil {
		return p, nil
	}
	p.Version = slices.IndexFunc(versions.Content, func(v *yaml.Node) bool { return yamltext.Text(v, "name") == version })
	if p.Version < 0 {
		return schemapath.Place{Name: version, Path: path}, nil
	}
	return p, m.Schema(p)
}

// Schema returns the schema at a place, or nil where none is written out.
func (m *Manifest) Schema(p schemapath.Place) *yaml.Node { return Schema(m.Node, p) }

// Schema returns the schema at a place of a CRD, or nil where none is written out.
func Schema(crd *yaml.Node, p schemapath.Place) *yaml.Node {
	versions := writtenOut(crd, "spec", "versions")
	if versions == nil || p.Version >= len(versions.Content) {
		return nil
	}
	n := writtenOut(versions.Content[p.Version], slices.Concat([]string{"schema", "openAPIV3Schema"}, p.Path.Fields())...)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	return n
}

// SchemaIn returns the schema at a place of a CRD's data, or nil.
func SchemaIn(crd map[string]any, p schemapath.Place) map[string]any {
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

// writtenOut returns the value at the end of some keys of a mapping, nil when it comes from an
// alias or merge key, or is not there.
func writtenOut(n *yaml.Node, keys ...string) *yaml.Node {
	for _, key := range keys {
		_, v, shared, ok := yamltext.Lookup(n, key)
		if !ok || shared || v.Kind == yaml.AliasNode {
			return nil
		}
		n = v
	}
	return n
}

// IndexOf returns the number of a mapping's own entry with a key, or -1.
func IndexOf(n *yaml.Node, key string) int {
	if e := yamltext.Find(n, key); e.Index >= 0 && e.Value.Kind != yaml.AliasNode {
		return e.Index / 2
	}
	return -1
}
