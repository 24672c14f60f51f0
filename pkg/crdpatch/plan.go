package crdpatch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// compileDocument plans the edits of one document and notes what it is to mean
// after them.
func (p *patcher) compileDocument(i int, d *yamltext.Document) []yamltext.Edit {
	var edits []yamltext.Edit
	var value any
	given := p.opts
	defer func() { p.opts = given }()
	for _, m := range p.crds(d) {
		p.opts = given.or(p.asRecorded[m.key(i)])
		external := p.externals(i, m)
		if len(external) == 0 && !compile.Declares(m.node) {
			continue
		}
		manifest, ok := p.input(d, m, external, &value)
		if !ok {
			return nil
		}
		crd := m.in(value)
		made := p.compileCRD(i, d, m, manifest, crd, p.opts.Encoding)
		if made.grown && p.opts.Encoding == compile.Auto {
			if terse := p.compileCRD(i, d, m, manifest, p.fresh(d, m), compile.Terse); len(terse.edits) > 0 && !terse.grown {
				made = terse
				clear(crd)
				maps.Copy(crd, made.value)
				p.report(diag.Diagnostic{Code: diag.CoarserEncoding, Severity: diag.Info, Pos: p.pos(m.node),
					Message: fmt.Sprintf("the rules are written as --encoding terse does: otherwise this manifest would grow beyond the %d bytes that kubectl apply can keep in its annotation", maxClientSideApply),
					Hint:    "they mean the same; with --no-annotation there may be room for better messages"})
			}
		}
		p.diags, p.touched = append(p.diags, made.diags...), append(p.touched, made.touched...)
		edits = append(edits, made.edits...)
	}
	if len(edits) > 0 {
		p.expected[d] = value
	}
	return edits
}

// fresh reads the value of a CRD once more; there were no errors before.
func (p *patcher) fresh(d *yamltext.Document, m manifest) map[string]any {
	_, value, _ := p.value(d)
	return m.in(value)
}

// compilation is a way to compile one CRD.
type compilation struct {
	edits   []yamltext.Edit
	value   map[string]any // the CRD with them
	diags   diag.List
	touched []touch
	grown   bool // beyond maxClientSideApply
}

// compileCRD plans the edits of one CRD, and makes them in its value.
func (p *patcher) compileCRD(i int, d *yamltext.Document, m manifest, in compile.Manifest, value map[string]any, encoding compile.Encoding) compilation {
	diags, touched := p.diags, p.touched
	defer func() { p.diags, p.touched = diags, touched }()
	p.diags, p.touched = nil, nil
	result, l := compile.CRD(in, compile.Options{KubeVersion: p.opts.KubeVersion, Encoding: encoding})
	for _, d := range l {
		p.report(d)
	}
	c := compilation{value: value}
	if result != nil && len(result.Objects) > 0 {
		w := &writer{patcher: p, text: textOf{p.file, d}, document: i, manifest: m, value: value, encoding: encoding, aliased: yamltext.Aliased(d.Root)}
		c.edits = w.write(result)
		c.grown = p.checkSize(m, in.JSON, value)
	}
	c.diags, c.touched = p.diags, p.touched
	return c
}

// maxClientSideApply is the size of all annotations of an object that the API
// server accepts (k8s.io/apimachinery/pkg/api/validation.TotalAnnotationSizeLimitB).
// kubectl apply stores the manifest in one of them.
const maxClientSideApply = 256 << 10

// checkSize reports what is too large, and whether compiling has made the manifest so.
func (p *patcher) checkSize(m manifest, before []byte, crd map[string]any) (grown bool) {
	metadata, _ := crd["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	size := 0
	for k, v := range annotations {
		s, _ := v.(string)
		size += len(k) + len(s)
	}
	after, err := json.Marshal(crd)
	was, is := len(before), len(after)
	if kept, ok := annotations[corev1.LastAppliedConfigAnnotation]; ok {
		// kubectl does not keep what it kept before.
		entry, _ := json.Marshal(map[string]any{corev1.LastAppliedConfigAnnotation: kept})
		was -= len(entry)
		is -= len(entry)
	}
	grown = err == nil && is > maxClientSideApply && was <= maxClientSideApply
	if grown {
		p.report(diag.Diagnostic{Code: diag.ManifestTooLarge, Severity: diag.Warning, Pos: p.pos(m.node),
			Message: fmt.Sprintf("compiling grows this manifest from %d to %d bytes, beyond the %d that kubectl apply can keep in its annotation", was, is, maxClientSideApply),
			Hint:    "apply it with kubectl apply --server-side, or leave the annotation out (--no-annotation)"})
	}
	if _, ours := annotations[Annotation]; ours && size > maxClientSideApply {
		p.errorf(m.node, diag.AnnotationTooLarge, "compile with --no-annotation, or declare fewer unions in one CRD",
			"with %s the annotations have %d bytes; the API server accepts %d", Annotation, size, maxClientSideApply)
	}
	return grown
}

// writer plans the edits of one CRD.
type writer struct {
	*patcher
	text     textOf
	document int
	manifest manifest
	value    map[string]any // changed along with the edits
	encoding compile.Encoding
	aliased  map[*yaml.Node]bool
	edits    []yamltext.Edit
	cuts     []span // the declarations among them
}

// change is all that happens to one schema.
type change struct {
	compile.Place
	object *compile.Object // nil: lists only
	lists  []addition
	record schemaRecord
	start  int // of the mapping, and cut of the declaration, for record.At
	cut    span
}

func (w *writer) write(r *compile.Result) []yamltext.Edit {
	changes, err := w.changes(r)
	if err != nil {
		w.unproved(err)
		return nil
	}
	// Deeper ones first: where two insertions meet, the inner lines come first.
	slices.SortStableFunc(changes, func(a, b *change) int { return cmp.Compare(len(b.Steps), len(a.Steps)) })
	for _, c := range changes {
		if err := w.apply(c); err != nil {
			w.errorf(c.Node, diag.Unproved, "write the schema in plain block style", "cannot edit this schema: %v", err)
		}
	}
	w.severed(changes)
	slices.SortStableFunc(changes, func(a, b *change) int {
		return cmp.Or(cmp.Compare(a.Node.Line, b.Node.Line), cmp.Compare(a.Node.Column, b.Node.Column))
	})
	rec := record{Format: format, JSON: w.isJSON(), Encoding: w.encoding, KubeVersion: w.opts.KubeVersion}
	for _, c := range changes {
		if c.cut.end > 0 {
			c.record.At = w.uncut(c.cut.start) - w.uncut(c.start)
		}
		rec.Schemas = append(rec.Schemas, c.record)
	}
	if !w.opts.NoAnnotation {
		w.annotate(rec)
	}
	// An insertion where a replacement starts stands before it.
	slices.SortStableFunc(w.edits, func(a, b yamltext.Edit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(min(a.End-a.Start, 1), min(b.End-b.Start, 1)))
	})
	return w.edits
}

// isJSON reports whether the document without the declarations is JSON.
func (w *writer) isJSON() bool {
	if !isFlow(w.text.doc.Root) {
		return false
	}
	var cuts []yamltext.Edit
	for _, c := range w.cuts {
		cuts = append(cuts, yamltext.Edit{Start: c.start - w.text.doc.Start, End: c.end - w.text.doc.Start})
	}
	bare, err := yamltext.Apply(w.text.Src[w.text.doc.Start:w.text.doc.End], cuts)
	return err == nil && json.Valid(bare)
}

// changes merges objects and additions by place.
func (w *writer) changes(r *compile.Result) (l []*change, err error) {
	at := func(p compile.Place) *change {
		for _, c := range l {
			if c.Node == p.Node {
				return c
			}
		}
		l = append(l, &change{Place: p, record: schemaRecord{Version: p.Name, Path: p.Steps}})
		return l[len(l)-1]
	}
	for i := range r.Objects {
		at(r.Objects[i].Place).object = &r.Objects[i]
	}
	for _, a := range r.Additions {
		c := at(a.Place)
		c.lists, err = additions(a)
		if err != nil {
			return nil, err
		}
		for _, list := range c.lists {
			c.record.note(list)
		}
	}
	return l, nil
}

// uncut translates an offset to the text without declarations.
func (w *writer) uncut(at int) int {
	removed := 0
	for _, c := range w.cuts {
		if c.end <= at {
			removed += c.end - c.start
		}
	}
	return at - removed
}

// apply plans the edits of one schema, changes its value and fills its record.
func (w *writer) apply(c *change) error {
	n := c.Node
	if w.aliased[n] {
		w.errorf(n, diag.SharedContent, "write the schema out at each of its places",
			"an edit of %s would change other places that share it through an anchor", c.Place)
		return nil
	}
	schema := schemaIn(w.value, c.Version, c.Steps)
	if schema == nil {
		return fmt.Errorf("kubectl does not find it")
	}
	// First what is put behind items that are there: where such a list ends the
	// schema, it comes before new keys.
	var fresh []entry
	for _, l := range c.lists {
		e := entry{key: l.key, value: l.items, dash: w.dash(c)}
		i, existing, err := listOf(n, l.key)
		switch {
		case err != nil:
			return err
		case existing == nil:
			fresh = append(fresh, e)
		case w.aliased[existing] || i < 0:
			w.errorf(existing, diag.SharedContent, "write the rules out at each of their places", "an edit of these rules would change other places that share them")
			return nil
		default:
			c.record.noteEmpty(l.key, len(existing.Content) == 0)
			e.key = ""
			edit, err := w.text.put(existing, e)
			if err != nil {
				return err
			}
			w.edits = append(w.edits, edit)
		}
		present, _ := schema[l.key].([]any)
		schema[l.key] = append(slices.Clip(present), asData(l.items).([]any)...)
	}
	t := touch{document: w.document, items: w.manifest.items, schema: &c.Place, added: map[string][]any{}}
	for _, l := range c.lists {
		t.added[l.key] = asData(l.items).([]any)
	}
	w.touched = append(w.touched, t)
	if c.object != nil {
		c.record.Unions = json.RawMessage(layout{}.value(ordered(c.object.Value)))
		c.record.External = c.object.Key < 0
		if c.object.Extensions != nil {
			c.record.Extend = json.RawMessage(layout{}.value(ordered(c.object.Extensions)))
		}
	}
	if c.object != nil && c.object.Key >= 0 {
		if err := w.cutDeclaration(c); err != nil {
			return err
		}
		if !w.opts.KeepUnions {
			delete(schema, union.Key)
			edit, err := w.text.replaceEntry(n, c.object.Key/2, c.cut, fresh)
			w.edits = append(w.edits, edit)
			return err
		}
	}
	for _, e := range fresh {
		edit, err := w.text.put(n, e)
		if err != nil {
			return err
		}
		w.edits = append(w.edits, edit)
	}
	return nil
}

// cutDeclaration plans the removal of the declaration and records its text.
func (w *writer) cutDeclaration(c *change) error {
	n, key := c.Node, c.object.Key
	if w.opts.KeepUnions {
		c.record.Kept = true
		w.report(diag.Diagnostic{Code: diag.UnionsKept, Severity: diag.Warning, Pos: w.pos(n.Content[key]), Path: c.Place.String(),
			Message: "the declaration is kept: the API server refuses it under strict field validation",
			Hint:    "use the output as a source, and apply one compiled without --keep-unions"})
		return nil
	}
	cut, err := w.text.cut(n, key/2, key/2)
	if err != nil {
		return err
	}
	l, err := w.text.entries(n)
	if err != nil {
		return err
	}
	start, _, err := w.text.Span(w.text.doc, n)
	if err != nil {
		return err
	}
	if start == l[key/2].start && len(l) > 1 {
		// The mapping will start at its next entry.
		start = l[1].start
	}
	c.start, c.cut = start, cut
	c.record.Source = string(w.text.Src[cut.start:cut.end])
	w.cuts = append(w.cuts, cut)
	return nil
}

// listOf returns the list that a schema has at a key, and the index of the key,
// -1 when it is shared.
func listOf(n *yaml.Node, key string) (int, *yaml.Node, error) {
	for _, e := range yamltext.Entries(n) {
		if e.Key.Value != key {
			continue
		}
		v := yamltext.Resolve(e.Value)
		if v.Kind != yaml.SequenceNode {
			return 0, nil, fmt.Errorf("its %s is null: delete the key", key)
		}
		if v != e.Value {
			return -1, v, nil
		}
		return e.Index, v, nil
	}
	return 0, nil, nil
}

// dash is how much the file indents lists below their keys.
func (w *writer) dash(c *change) int {
	if c.object != nil && c.object.Key >= 0 {
		if d, ok := dashOf(c.Node.Content[c.object.Key], c.Node.Content[c.object.Key+1]); ok {
			return d
		}
	}
	if d, ok := firstDash(w.manifest.node, 0); ok {
		return d
	}
	return 0
}

func dashOf(key, value *yaml.Node) (int, bool) {
	if value.Kind != yaml.SequenceNode || isFlow(value) || value.Anchor != "" || value.Line == key.Line {
		return 0, false
	}
	return value.Column - key.Column, true
}

func firstDash(n *yaml.Node, depth int) (int, bool) {
	if depth > 64 {
		return 0, false
	}
	for i, v := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 1 {
			if d, ok := dashOf(n.Content[i-1], v); ok {
				return d, true
			}
		}
		if d, ok := firstDash(v, depth+1); ok {
			return d, true
		}
	}
	return 0, false
}

// annotate adds the annotation.
func (w *writer) annotate(rec record) {
	at := w.manifest.node
	_, metadata, shared, ok := yamltext.Lookup(at, "metadata")
	if !ok || shared || metadata.Kind != yaml.MappingNode || w.aliased[metadata] || len(metadata.Content) == 0 {
		w.errorf(at, diag.Unproved, "give the CRD a metadata.name; or compile with --no-annotation", "metadata has no room for the annotation %s", Annotation)
		return
	}
	key, annotations, shared, ok := yamltext.Lookup(metadata, "annotations")
	values, _ := w.value["metadata"].(map[string]any)
	var edit yamltext.Edit
	var err error
	var text string
	switch {
	case !ok:
		rec.Annotations = new(string)
		if text, err = rec.String(); err == nil {
			edit, err = w.text.put(metadata, entry{key: "annotations", value: table{{Annotation, text}}})
		}
	case shared || annotations.Kind == yaml.AliasNode || w.aliased[annotations]:
		w.errorf(key, diag.SharedContent, "write the annotations out, or compile with --no-annotation", "the annotations are shared through an anchor")
		return
	case annotations.Kind == yaml.ScalarNode && annotations.Tag == "!!null":
		var value span
		if value, err = w.text.behindKey(key, annotations); err == nil {
			was := ":" + string(w.text.Src[value.start:value.end])
			if was == ":" && isFlow(metadata) && strings.IndexByte(",}", w.text.Src[value.end]) >= 0 {
				w.errorf(key, diag.Unproved, "write annotations: {}", "there is no room for the annotation %s", Annotation)
				return
			}
			rec.Annotations = &was
			text, err = rec.String()
			lay, space := layout{tight: w.text.tight()}, " "
			if lay.tight && key.Style != 0 {
				space = ""
			}
			edit = yamltext.Edit{Start: value.start, End: value.end, New: space + lay.value(table{{Annotation, text}})}
		}
	default:
		if text, err = rec.String(); err == nil {
			edit, err = w.text.put(annotations, entry{key: Annotation, value: text})
		}
	}
	if err != nil {
		w.errorf(metadata, diag.Unproved, "compile with --no-annotation", "cannot write the annotation: %v", err)
		return
	}
	w.edits = append(w.edits, edit)
	present, _ := values["annotations"].(map[string]any)
	if present == nil {
		present = map[string]any{}
	}
	present[Annotation] = text
	values["annotations"] = present
}

// behindKey is the range from behind the colon of a key to the end of its value.
func (t textOf) behindKey(key, value *yaml.Node) (span, error) {
	_, end, err := t.Span(t.doc, key)
	if err != nil {
		return span{}, err
	}
	_, last, err := t.Span(t.doc, value)
	if err != nil {
		return span{}, err
	}
	colon := bytes.IndexByte(t.Src[end:last], ':')
	if colon < 0 {
		return span{}, errors.New("the key has no colon")
	}
	return span{end + colon + 1, last}, nil
}

// schemaIn returns the schema at steps of a version of a CRD's value.
func schemaIn(crd map[string]any, version int, steps []string) map[string]any {
	versions := listAt(crd, "spec", "versions")
	if version >= len(versions) {
		return nil
	}
	at, _ := versions[version].(map[string]any)
	for _, step := range append([]string{"schema", "openAPIV3Schema"}, steps...) {
		at, _ = at[step].(map[string]any)
	}
	return at
}

// placeOf prints the path of a schema of which only the version's name is known.
func placeOf(version string, path []string) string {
	return strings.Replace(compile.Place{Steps: path}.String(), "[0]", "["+version+"]", 1)
}
