package crdpatch

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/carrier"
	"github.com/unioncel/unioncel/internal/yaml/source"
	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// text is the text of a manifest file, parsed once. The nodes of a text that was made
// from another have the positions of what they were made from (revision.go).
type text struct {
	*yamltext.File
	name   string
	limits limit.Limits
	docs   []*document
	diags  diag.List // what is wrong with its CRDs
	// origin, unless nil, is the position of what the text at an offset was made from.
	origin func(at int) (line, column int)
}

// document is one of the documents of a text.
type document struct {
	*yamltext.Document
	*text
	index int
	crds  []*manifest

	aliases map[*yaml.Node]bool
	source  *document // unless nil, one of an earlier text with the same bytes
}

// editor edits the text of the document.
func (d *document) editor() yamledit.Text { return yamledit.Text{File: d.File, Document: d.Document} }

// manifest is a CustomResourceDefinition in a document, or what one is made of
// (internal/carrier), at the root or in the items of a list.
type manifest struct {
	*document
	node         *yaml.Node
	items        []int // the indices that lead to it through lists
	compilations []*compilation
}

// parse parses a text. It is nil if it cannot be worked on: the list says why.
func parse(name string, src []byte, limits limit.Limits) (*text, diag.List) {
	file, wrong := source.Parse(name, src, limits)
	if wrong != nil {
		return nil, diag.List{*wrong}
	}
	return textOf(name, file, limits)
}

// textOf is the text of a file that is parsed already.
func textOf(name string, file *yamltext.File, limits limit.Limits) (*text, diag.List) {
	t := &text{File: file, name: name, limits: limits}
	var duplicates diag.List
	for i, parsed := range file.Docs {
		d := &document{Document: parsed, text: t, index: i}
		t.docs = append(t.docs, d)
		d.find(d.Root, nil)
		if len(d.crds) > 0 {
			duplicates = append(duplicates, source.Duplicates(name, d.Root)...)
		}
	}
	if len(duplicates) > 0 {
		return nil, duplicates
	}
	return t, t.diags
}

// find finds the CRDs at n and below. A CRD with unions in a version that no API server
// serves any more is reported.
func (d *document) find(n *yaml.Node, items []int) {
	if n != nil && n.Kind == yaml.AliasNode && compile.Declares(n.Alias) {
		d.errorf(n, diag.SharedContent, "write the CRD out at each of its places", "the alias *%s stands for a CRD that declares unions: editing it would change other places", n.Value)
	}
	if n == nil || n.Kind != yaml.MappingNode {
		return
	}
	kind, apiVersion := textAt(n, "kind"), textAt(n, "apiVersion")
	switch {
	case carrier.IsList(kind):
		_, v, _, ok := yamltext.Lookup(n, "items")
		switch {
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
	switch k, read := carrier.Of(apiVersion, kind); {
	case k == nil:
	case read:
		d.crds = append(d.crds, &manifest{document: d, node: n, items: items})
	case compile.Declares(n):
		d.errorf(n, diag.OldCRDVersion, "convert it to "+k.Group+"/"+k.Versions[0], "%s %s", apiVersion, k.Gone)
	}
}

// findText reports the CRDs with unions in the texts of a ConfigMap or Secret.
func (d *document) findText(n *yaml.Node) {
	for _, key := range []string{"data", "stringData"} {
		texts := yamltext.Resolve(yamltext.Value(n, key))
		if texts == nil || texts.Kind != yaml.MappingNode {
			continue
		}
		for _, e := range yamltext.Entries(texts) {
			v := yamltext.Resolve(e.Value)
			text := []byte(v.Value)
			if decoded, err := base64.StdEncoding.DecodeString(v.Value); err == nil && key == "data" && textAt(n, "kind") == "Secret" {
				text = decoded
			}
			if !bytes.Contains(text, []byte(union.Key)) {
				continue
			}
			inner, _ := parse(d.name, text, d.limits)
			if inner == nil || !slices.ContainsFunc(inner.manifests(), func(m *manifest) bool { return compile.Declares(m.node) }) {
				continue
			}
			d.diags = append(d.diags, diag.Diagnostic{Code: diag.CRDInText, Severity: diag.Warning, Pos: d.pos(e.Key),
				Message: fmt.Sprintf("the text of %s is a CRD that declares unions: it is not compiled", e.Key.Value),
				Hint:    "compile it as a file of its own, and make the " + textAt(n, "kind") + " of the result"})
		}
	}
}

func (d *document) errorf(n *yaml.Node, code diag.Code, hint, format string, args ...any) {
	d.diags = append(d.diags, diag.Diagnostic{Code: code, Pos: d.pos(n), Message: fmt.Sprintf(format, args...), Hint: hint})
}

// pos is the position of a node.
func (t *text) pos(n *yaml.Node) diag.Pos {
	return diag.Pos{File: t.name, Line: n.Line, Col: n.Column}
}

// position is that of an offset or, in a text that was made from another, of its origin.
func (t *text) position(at int) (line, column int) {
	if t.origin != nil {
		return t.origin(at)
	}
	return t.Position(at)
}

// manifests are the CRDs of all documents.
func (t *text) manifests() []*manifest {
	var l []*manifest
	for _, d := range t.docs {
		l = append(l, d.crds...)
	}
	return l
}

// textAt returns the scalar at a key of mapping n, or "".
func textAt(n *yaml.Node, key string) string {
	_, v, _, ok := yamltext.Lookup(n, key)
	if !ok || yamltext.Resolve(v).Kind != yaml.ScalarNode {
		return ""
	}
	return yamltext.Resolve(v).Value
}

// value is what kubectl reads in the document, as JSON and as data, which are not to be
// changed; or a diagnostic that says why it cannot.
func (d *document) value() (data []byte, v any, wrong *diag.Diagnostic) {
	if d.source != nil {
		return d.source.value()
	}
	return source.Value(d.name, d.File, d.Document)
}

// copied is a copy of what kubectl reads in a document that it can read.
func (d *document) copied() any {
	_, v, _ := d.value()
	return runtime.DeepCopyJSONValue(v)
}

// isJSON reports whether the document is JSON.
func (d *document) isJSON() bool { return yamledit.IsFlow(d.Root) && json.Valid(d.bytes()) }

// bytes is the text of the document.
func (d *document) bytes() []byte { return d.Src[d.Start:d.End] }

// aliased reports whether an alias refers to n, or to something that holds it.
func (d *document) aliased(n *yaml.Node) bool {
	if d.aliases == nil {
		d.aliases = yamltext.Aliased(d.Root)
	}
	return d.aliases[n]
}

// key tells a manifest from others of its file, and stays the same in what is made of it.
func (m *manifest) key() string { return fmt.Sprint(m.index, m.items) }

// in returns the manifest's part of its document's value, or nil.
func (m *manifest) in(v any) map[string]any {
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

// names are the CRD's name, group and kind.
func (m *manifest) names() union.Target {
	at := yamltext.Value
	spec := at(m.node, "spec")
	return union.Target{Name: textAt(at(m.node, "metadata"), "name"), Group: textAt(spec, "group"), Kind: textAt(at(spec, "names"), "kind")}
}

// kind is what the manifest is.
func (m *manifest) kind() *carrier.Kind {
	k, _ := carrier.Of(textAt(m.node, "apiVersion"), textAt(m.node, "kind"))
	return k
}

// schema returns the schema at a path in a version of the CRD, and the version's index.
// It is nil where none is written out.
func (m *manifest) schema(version string, path schemapath.Path) (int, *yaml.Node) {
	versions := writtenOut(m.node, "spec", "versions")
	if versions == nil {
		return 0, nil
	}
	for i, v := range versions.Content {
		if textAt(v, "name") != version {
			continue
		}
		if n := schemaOf(v, path); n != nil {
			return i, n
		}
		return 0, nil
	}
	return 0, nil
}

// schemaAt returns the schema at a place, or nil where none is written out.
func (m *manifest) schemaAt(p schemapath.Place) *yaml.Node {
	versions := writtenOut(m.node, "spec", "versions")
	if versions == nil || p.Version >= len(versions.Content) {
		return nil
	}
	return schemaOf(versions.Content[p.Version], p.Path)
}

// schemaOf returns the schema at a path in a version, or nil where none is written out.
func schemaOf(version *yaml.Node, path schemapath.Path) *yaml.Node {
	n := writtenOut(version, slices.Concat([]string{"schema", "openAPIV3Schema"}, path.Fields())...)
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	return n
}

// schemaIn returns the schema at a path in a version of a CRD's value.
func schemaIn(crd map[string]any, version int, path schemapath.Path) map[string]any {
	spec, _ := crd["spec"].(map[string]any)
	versions, _ := spec["versions"].([]any)
	if version >= len(versions) {
		return nil
	}
	v, _ := versions[version].(map[string]any)
	schema, _ := v["schema"].(map[string]any)
	root, _ := schema["openAPIV3Schema"].(map[string]any)
	return path.Value(root)
}

// placeOf prints where a schema is of which only the version's name is known.
func placeOf(path schemapath.Path) string { return schemapath.Place{Path: path}.String() }
