package crdpatch

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// compileCRD plans the edits of one CRD.
func (j *job) compileCRD(r *revision, c *CRD) {
	compilation, diags := c.compilation()
	if compilation == nil {
		j.diags = append(j.diags, diags...)
		return
	}
	w := newWriter(c, r.of)
	result, more := compilation.Result()
	if w.diags = slices.Concat(diags, more); result != nil && len(result.Objects) > 0 {
		w.write(result)
		w.diags = append(w.diags, c.base().removed(compilation)...)
		w.checkSize(len(c.base().json()))
	}
	j.take(r, w)
}

// take adds the plan of a writer to a revision.
func (j *job) take(r *revision, w *writer) {
	j.diags = append(j.diags, w.crd.hinted(w.diags)...)
	if len(w.edits) > 0 {
		r.set(w.manifest, w.value)
		r.edits, j.touched = append(r.edits, w.edits...), append(j.touched, w.touched...)
	}
}

// maxClientSideApply is the API server's limit on the size of all annotations of an
// object (k8s.io/apimachinery/pkg/api/validation.TotalAnnotationSizeLimitB). kubectl
// apply stores the manifest in one of them.
const maxClientSideApply = 256 << 10

// checkSize reports annotations over the limit, and a manifest that compiling made too large for
// kubectl apply. was is the size before compiling.
func (w *writer) checkSize(was int) {
	metadata, _ := w.value["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	size := 0
	for k, v := range annotations {
		s, _ := v.(string)
		size += len(k) + len(s)
	}
	after, err := json.Marshal(w.value)
	is := len(after)
	if kept, ok := annotations[corev1.LastAppliedConfigAnnotation]; ok {
		// kubectl does not store its own annotation in itself.
		entry, _ := json.Marshal(map[string]any{corev1.LastAppliedConfigAnnotation: kept})
		was -= len(entry)
		is -= len(entry)
	}
	if err == nil && is > maxClientSideApply && was <= maxClientSideApply {
		w.report(diag.New(codes.ManifestTooLarge, w.crd.pos(),
			"compiling grows this manifest from %d to %d bytes, beyond the %d that kubectl apply can keep in its annotation", was, is, maxClientSideApply).
			Hinted("apply it with kubectl apply --server-side, or leave the annotation out (--no-annotation)"))
	}
	if _, ours := annotations[Annotation]; ours && size > maxClientSideApply {
		w.errorf(w.crd.pos(), codes.AnnotationTooLarge, "compile with --no-annotation, or declare fewer unions in one CRD",
			"with %s the annotations have %d bytes; the API server accepts %d", Annotation, size, maxClientSideApply)
	}
}

// writer plans the edits of one CRD.
type writer struct {
	*manifest
	crd     *CRD
	value   map[string]any // changed along with the edits
	edits   []yamltext.Edit
	touched []touch
	diags   diag.List
	cuts    []yamltext.Span // the removed declarations
}

// newWriter returns a writer of a CRD for a text that was made from its file.
func newWriter(c *CRD, t *fileText) *writer {
	m := c.m.revised(t)
	_, v, _ := m.read()
	return &writer{manifest: m, crd: c, value: runtime.DeepCopyJSON(m.selected(v))}
}

func (w *writer) report(d diag.Diagnostic) { w.diags = append(w.diags, d) }

func (w *writer) errorf(at diag.Pos, code diag.Code, hint, format string, args ...any) {
	w.report(diag.New(code, at, format, args...).Hinted(hint))
}

// at returns the position of a schema in the file.
func (w *writer) at(p schemapath.Place) diag.Pos {
	at, _ := w.crd.Schema(p)
	return at
}

// documentChange holds all edits of one schema.
type documentChange struct {
	schemapath.Place
	node   *yaml.Node
	object *compile.Object // nil if only lists change
	key    int             // the index of the declaration among the entries of the schema, or -1
	rules  *yaml.Node      // to add
	record schemaRecord
	at     int // the start of the schema
	start  int // the start without the declaration, for record.At
	cut    yamltext.Span
}

func (w *writer) write(r *compile.Result) {
	changes := w.changes(r)
	// Deeper schemas come first: at the same offset, the inner insertion precedes.
	slices.SortStableFunc(changes, func(a, b *documentChange) int { return cmp.Compare(len(b.Path), len(a.Path)) })
	for _, c := range changes {
		if err := w.apply(c); err != nil {
			w.errorf(w.at(c.Place), codes.Unproved, "write the schema in plain block style", "cannot edit this schema: %v", err)
		}
	}
	w.severed(changes)
	slices.SortStableFunc(changes, func(a, b *documentChange) int { return cmp.Compare(a.at, b.at) })
	opts := w.crd.Options()
	rec := record{Format: recordFormat, JSON: w.isBareJSON(), Encoding: opts.Encoding, KubeVersion: opts.KubeVersion}
	for _, c := range changes {
		if c.cut.End > 0 {
			c.record.At = w.uncut(c.cut.Start) - w.uncut(c.start)
		}
		rec.Schemas = append(rec.Schemas, c.record)
	}
	if !opts.NoAnnotation {
		w.annotate(rec)
	}
	// An insertion at the start of a replacement comes before it.
	slices.SortStableFunc(w.edits, func(a, b yamltext.Edit) int {
		return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(min(a.End-a.Start, 1), min(b.End-b.Start, 1)))
	})
}

// isBareJSON reports whether the document without the declarations is JSON.
func (w *writer) isBareJSON() bool {
	if !yamltext.IsFlow(w.Root) {
		return false
	}
	var cuts []yamltext.Edit
	for _, c := range w.cuts {
		cuts = append(cuts, yamltext.Edit{Start: c.Start - w.Start, End: c.End - w.Start})
	}
	bare, err := yamltext.Apply(w.Src[w.Start:w.End], cuts)
	return err == nil && json.Valid(bare)
}

// changes returns the objects and additions of a result, merged by schema.
func (w *writer) changes(r *compile.Result) []*documentChange {
	var l []*documentChange
	at := func(p schemapath.Place) *documentChange {
		for _, c := range l {
			if c.Is(p) {
				return c
			}
		}
		n := w.schema(p)
		start, _ := w.startOf(n)
		l = append(l, &documentChange{Place: p, node: n, key: declarationOf(n), rules: yamltext.ListNode(), at: start, record: schemaRecord{Version: p.Name, Path: p.Path}})
		return l[len(l)-1]
	}
	for i, o := range r.Objects {
		c := at(o.Place)
		c.object = &r.Objects[i]
		c.record.Unions = declarationJSON(o.Value)
		c.record.External = c.key < 0
		if o.Extensions != nil {
			c.record.Extend = declarationJSON(o.Extensions)
		}
	}
	for _, a := range r.Additions {
		c := at(a.Place)
		c.rules = ruleNodes(a.Rules...)
		for _, rule := range dataOf(c.rules) {
			c.record.Rules = append(c.record.Rules, sumOf(rule))
		}
	}
	return l
}

// declarationOf returns the index of the entry x-kubernetes-unions in a schema, or -1 if there is
// none or it comes from a merge key.
func declarationOf(n *yaml.Node) int { return yamltext.Lookup(n, union.Key).Index }

// uncut translates an offset to the text without declarations.
func (w *writer) uncut(at int) int {
	removed := 0
	for _, c := range w.cuts {
		if c.End <= at {
			removed += c.End - c.Start
		}
	}
	return at - removed
}

// apply plans the edits of one schema, changes its value and fills its record.
func (w *writer) apply(c *documentChange) error {
	n := c.node
	if w.aliased(n) {
		w.errorf(w.at(c.Place), codes.SharedContent, "write out the schema at each path",
			"an edit of %s would change other schemas that share it through an anchor", c.Place)
		return nil
	}
	schema := schemaIn(w.value, c.Place)
	if schema == nil {
		return fmt.Errorf("kubectl does not find it")
	}
	var fresh []yamltext.NewEntry
	t := touch{manifest: w.manifest, schema: &c.Place}
	if len(c.rules.Content) > 0 {
		e := yamltext.NewEntry{Key: validations, Value: c.rules, Dash: w.dash(c)}
		i, existing, err := listOf(n, validations)
		switch {
		case err != nil:
			return err
		case existing == nil:
			fresh = append(fresh, e)
		case w.aliased(existing) || i < 0:
			w.errorf(w.crd.m.pos(yamltext.Resolve(yamltext.Value(w.crd.node(c.Place), validations))), codes.SharedContent, "write the rules out at each of their places", "an edit of these rules would change other places that share them")
			return nil
		default:
			c.record.Empty = len(existing.Content) == 0
			e.Key = ""
			edit, err := w.editor().Put(existing, e)
			if err != nil {
				return err
			}
			w.edits = append(w.edits, edit)
		}
		present, _ := schema[validations].([]any)
		t.added = dataOf(c.rules)
		schema[validations] = append(slices.Clip(present), t.added...)
	}
	w.touched = append(w.touched, t)
	if c.object != nil && c.key >= 0 {
		if err := w.cutDeclaration(c); err != nil {
			return err
		}
		delete(schema, union.Key)
		edit, err := w.editor().ReplaceEntry(n, c.key, c.cut, fresh...)
		w.edits = append(w.edits, edit)
		return err
	}
	if len(fresh) == 0 {
		return nil
	}
	edit, err := w.editor().Put(n, fresh...)
	w.edits = append(w.edits, edit)
	return err
}

// cutDeclaration plans the removal of the declaration and records its text.
func (w *writer) cutDeclaration(c *documentChange) error {
	n, key := c.node, c.key
	cut, err := w.editor().Cut(n, key, key)
	if err != nil {
		return err
	}
	l, err := w.editor().Entries(n)
	if err != nil {
		return err
	}
	start, err := w.startOf(n)
	if err != nil {
		return err
	}
	if start == l[key].Start && len(l) > 1 {
		// Without the declaration, the mapping starts at its next entry.
		start = l[1].Start
	}
	c.start, c.cut = start, cut
	c.record.Source = string(w.Src[cut.Start:cut.End])
	w.cuts = append(w.cuts, cut)
	return nil
}

// listOf returns the list at a key of a schema, and the index of the key, or -1 if the list
// is shared.
func listOf(n *yaml.Node, key string) (int, *yaml.Node, error) {
	e := yamltext.Lookup(n, key)
	switch v := yamltext.Resolve(e.Value); {
	case v == nil:
		return 0, nil, nil
	case v.Kind != yaml.SequenceNode:
		return 0, nil, fmt.Errorf("its %s is null: delete the key", key)
	case v != e.Value:
		return -1, v, nil
	default:
		return e.Index, v, nil
	}
}

// dash returns the indentation of lists below their keys, taken from the replaced declaration or
// from the first list in the file.
func (w *writer) dash(c *documentChange) int {
	if c.object != nil && c.key >= 0 {
		if d, ok := w.editor().DashOf(c.node.Content[2*c.key], c.node.Content[2*c.key+1]); ok {
			return d
		}
	}
	d, _ := w.editor().FirstDash(w.node, 0)
	return d
}

// annotation returns a mapping with only our annotation.
func annotation(text string) *yaml.Node {
	return yamltext.MappingNode(yamltext.StringNode(Annotation), yamltext.StringNode(text))
}

func (w *writer) annotate(rec record) {
	entry := yamltext.Lookup(w.node, "metadata")
	metadata := entry.Value
	if entry.Index < 0 || metadata.Kind != yaml.MappingNode || w.aliased(metadata) || len(metadata.Content) == 0 {
		w.errorf(w.crd.pos(), codes.Unproved, "give the CRD a metadata.name; or compile with --no-annotation", "the annotation %s cannot be added to the metadata", Annotation)
		return
	}
	entry = yamltext.Lookup(metadata, "annotations")
	key, annotations := entry.Key, entry.Value
	own := yamltext.Value(w.crd.m.node, "metadata")
	at := w.crd.m.pos(own)
	if k := yamltext.Lookup(own, "annotations").Key; k != nil {
		at = w.crd.m.pos(k)
	}
	values, _ := w.value["metadata"].(map[string]any)
	var edit yamltext.Edit
	var err error
	var text string
	switch {
	case key == nil:
		rec.Annotations = new(string)
		if text, err = rec.String(); err == nil {
			edit, err = w.editor().Put(metadata, yamltext.NewEntry{Key: "annotations", Value: annotation(text)})
		}
	case entry.Index < 0 || annotations.Kind == yaml.AliasNode || w.aliased(annotations):
		w.errorf(at, codes.SharedContent, "write the annotations out, or compile with --no-annotation", "the annotations are shared through an anchor")
		return
	case annotations.Kind == yaml.ScalarNode && annotations.Tag == "!!null":
		var value yamltext.Span
		var was string
		if value, was, err = w.nullAt(metadata, key, annotations); errors.Is(err, errNoRoom) {
			w.errorf(at, codes.Unproved, "write annotations: {}", "there is no room for the annotation %s", Annotation)
			return
		}
		if err == nil {
			rec.Annotations = &was
			text, err = rec.String()
			lay := yamltext.Layout{Tight: w.editor().Tight()}
			edit = yamltext.Edit{Start: value.Start, End: value.End, New: w.spaceAfter(key) + lay.Value(annotation(text))}
		}
	default:
		if text, err = rec.String(); err == nil {
			edit, err = w.editor().Put(annotations, yamltext.NewEntry{Key: Annotation, Value: yamltext.StringNode(text)})
		}
	}
	if err != nil {
		w.errorf(w.crd.m.pos(own), codes.Unproved, "compile with --no-annotation", "cannot write the annotation: %v", err)
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
