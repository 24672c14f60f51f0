package crdpatch

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// undone is a file without what compiling did to it.
type undone struct {
	text []byte
	// changed says that the file had annotations, so that text differs from it.
	changed bool
	// position translates a position in text to one in the file.
	// restored says that the text there is a declaration that was restored.
	position func(line, col int) (l, c int, restored bool)
}

// undo takes rules and annotations of compiled CRDs out and restores
// their declarations. A declaration that stands there again beats the recorded
// one. Rules that are gone or edited are errors.
func (p *patcher) undo(src []byte) (undone, bool) {
	if !p.parse(src) {
		return undone{}, false
	}
	out := undone{text: src, position: func(line, col int) (int, int, bool) { return line, col, false }}
	file := p.file
	var edits []yamltext.Edit
	var restored []restoration
	expected := map[int]intended{}
	for i, d := range file.Docs {
		var value any
		reformatted := true
		for _, m := range p.crds(d) {
			r := &restorer{patcher: p, text: textOf{file, d}, manifest: m, document: i}
			if !r.read(&value) {
				continue
			}
			out.changed = true
			reformatted = reformatted && r.isJSON() && !r.record.JSON
			expected[i] = intended{value, reformatted}
			edits = append(edits, r.remove()...)
			restored = append(restored, r.restored...)
		}
	}
	if p.diags.HasErrors() {
		return undone{}, false
	}
	if !out.changed {
		return out, true
	}
	p.markAnnotated()
	bare, err := yamltext.Apply(src, edits)
	if err != nil {
		p.unproved(err)
		return undone{}, false
	}
	if !p.parse(bare) {
		return undone{}, false
	}
	for i, r := range restored {
		if r.cut >= 0 {
			restored[i].cut = applied(edits, r.cut)
		}
	}
	text, back, err := p.restoreAll(restored, expected)
	if err != nil {
		p.unproved(err)
		return undone{}, false
	}
	out.text = text
	var base *yamltext.File
	out.position = func(line, col int) (int, int, bool) {
		if base == nil {
			if base, err = yamltext.Parse(text); err != nil {
				return 0, 0, false
			}
		}
		at := base.Offset(line, col)
		at, restored := unapplied(back, at, false)
		at, _ = unapplied(edits, at, restored)
		for restored && at < len(src) && src[at] == ' ' {
			at++
		}
		line, col = file.Position(at)
		return line, col, restored
	}
	return out, true
}

// applied translates an offset where an edit starts to the text after the edits.
func applied(edits []yamltext.Edit, at int) int {
	shift := 0
	for _, e := range edits {
		if e.End <= at && e.Start < at {
			shift += len(e.New) - (e.End - e.Start)
		}
	}
	return at + shift
}

// unapplied translates an offset in an edited text to the text before, and tells
// whether it is that of inserted text. An offset where text was deleted is that
// behind the deletion or, with first, before it.
func unapplied(edits []yamltext.Edit, at int, first bool) (int, bool) {
	sorted := slices.Clone(edits)
	slices.SortStableFunc(sorted, func(a, b yamltext.Edit) int { return cmp.Compare(a.Start, b.Start) })
	shift := 0
	for _, e := range sorted {
		start := e.Start + shift
		if at < start {
			break
		}
		if at < start+len(e.New) || at == start && first {
			return e.Start, true
		}
		shift += len(e.New) - (e.End - e.Start)
	}
	return at - shift, false
}

// restorer takes one CRD back.
type restorer struct {
	*patcher
	text     textOf
	manifest manifest
	document int
	record   record
	value    map[string]any
	restored []restoration
	// unrecorded are the schemas whose rules are not in the record, once known.
	unrecorded []ruled

	metadata, annotations *yaml.Node
	metadataKey, ours     int
	edits                 []yamltext.Edit
}

// read finds the annotation. It returns false when there is none, or none that
// can be read. value is that of the document, read when it is needed.
func (r *restorer) read(value *any) bool {
	find := func(m *yaml.Node, key string) (int, *yaml.Node) {
		for _, e := range yamltext.Entries(m) {
			if e.Key.Value == key {
				return e.Index, e.Value
			}
		}
		return -1, nil
	}
	_, r.metadata = find(r.manifest.node, "metadata")
	r.metadataKey, r.annotations = find(r.metadata, "annotations")
	at, node := find(r.annotations, Annotation)
	if node == nil {
		return false
	}
	bad := func(hint, format string, args ...any) bool {
		r.errorf(node, diag.BadAnnotation, hint, format, args...)
		return false
	}
	if at < 0 || r.metadataKey < 0 || r.metadata.Kind != yaml.MappingNode {
		return bad("write the annotations out", "the annotation %s is shared through an alias or merge key", Annotation)
	}
	r.ours = at
	content, err := yamltext.String(yamltext.Resolve(node))
	if err == nil {
		r.record, err = parseRecord(content)
	}
	if err != nil {
		hint := "restore it, or delete it together with the rules it lists"
		if errors.Is(err, errOldFormat) {
			hint = "decompile the file with that version, and compile it with this one; or delete the annotation together with the rules it lists"
		}
		return bad(hint, "the annotation %s cannot be read: %v", Annotation, err)
	}
	ok := true
	if *value == nil {
		_, *value, ok = r.patcher.value(r.text.doc)
	}
	r.value = r.manifest.in(*value)
	if ok && r.value == nil {
		return bad("", "the annotation %s is on something that kubectl takes for no CRD", Annotation)
	}
	return ok
}

// remove plans to take rules and annotation out, as far as they are ours.
func (r *restorer) remove() []yamltext.Edit {
	r.copies()
	all := r.claims()
	r.confirm(all)
	if r.diags.HasErrors() {
		return nil
	}
	r.touched = append(r.touched, touch{document: r.document, items: r.manifest.items})
	for _, c := range all {
		s := c.schemaRecord
		r.touched = append(r.touched, touch{document: r.document, items: r.manifest.items, schema: &c.place, removed: c.items()})
		if s.External {
			r.remember(s)
		}
		r.rememberExtension(s)
		cut, err := r.removeLists(c)
		if err != nil {
			r.errorf(c.place.Node, diag.Unproved, "", "cannot take the rules out of %s: %v", c.place, err)
		}
		if !c.fresh && !s.Kept && !s.External && len(s.Unions) > 0 {
			r.restored = append(r.restored, restoration{r.document, r.manifest.items, s, cut})
		}
	}
	if err := r.removeAnnotation(); err != nil {
		r.errorf(r.annotations, diag.Unproved, "", "cannot take the annotation out: %v", err)
	}
	return r.edits
}

// overwritten reports whether the CRD has been written anew but for its annotations,
// as when somebody who knows nothing of its unions applies it again, and the
// declarations of all of them are given: nothing of what compiling did is there.
func (r *restorer) overwritten(all []*claimed, w *regenerated) bool {
	given, _ := r.opts.Elsewhere.Of(r.manifest.names())
	covers := func(s schemaRecord) bool {
		return slices.ContainsFunc(given, func(e union.External) bool { return !e.Extend && e.Covers(s.Version, s.Path) })
	}
	items := 0
	for _, s := range r.record.Schemas {
		if len(s.Unions) > 0 && !(s.External && covers(s)) {
			return false
		}
	}
	for _, c := range all {
		for _, l := range c.lists {
			edited := func(sum string) bool { return l.textOf(w.rule(c, l.key, sum)) >= 0 }
			if len(l.ours) > 0 || slices.ContainsFunc(l.missing, edited) {
				return false
			}
			items += len(l.missing)
		}
	}
	return items > 0 && len(given) > 0
}

// gone reports a record whose schema is not there. When its rules stand elsewhere
// the schema was renamed, and going on would lose the declaration.
func (r *restorer) gone(s schemaRecord) {
	d := diag.Diagnostic{Code: diag.RuleChanged, Severity: diag.Warning, Pos: r.pos(r.annotations), Path: placeOf(s.Version, s.Path),
		Message: "this schema is gone; its union is forgotten",
		Hint:    "nothing needs to be done if that was intended"}
	if at := r.strays(s); len(at) > 0 {
		d.Severity = diag.Error
		d.Message = "this schema is gone, and its compiled rules stand at " + at[0]
		d.Hint = "undo the renaming, run unioncel decompile, rename, and compile again"
	}
	r.report(d)
}

// copies warns of rules that were copied along with a schema.
func (r *restorer) copies() {
	for _, s := range r.record.Schemas {
		if _, node := findSchema(r.manifest.node, s); node == nil {
			continue
		}
		for _, at := range r.strays(s) {
			r.report(diag.Diagnostic{Code: diag.RuleChanged, Severity: diag.Warning, Pos: r.pos(r.annotations), Path: at,
				Message: "the rules here are copies of those compiled for " + placeOf(s.Version, s.Path) + "; they are taken for hand-written ones",
				Hint:    "to copy the union with its schema, run unioncel decompile before copying"})
		}
	}
}

// strays are the places, not in the record, that have all rules of one that is.
func (r *restorer) strays(s schemaRecord) []string {
	if r.unrecorded == nil {
		r.unrecorded = r.otherRules()
	}
	var l []string
	for _, o := range r.unrecorded {
		if sums := s.sums(); len(sums) > 0 && !slices.ContainsFunc(sums, func(sum string) bool { return !o.sums[sum] }) {
			l = append(l, o.place)
		}
	}
	return l
}

// ruled is a schema with rules.
type ruled struct {
	place string
	sums  map[string]bool // of its rules
}

// otherRules returns the schemas with rules that are not in the record.
func (r *restorer) otherRules() []ruled {
	l := []ruled{}
	var visit func(version int, name string, path []string, schema map[string]any)
	visit = func(version int, name string, path []string, schema map[string]any) {
		var present []any
		for _, key := range listKeys {
			l, _ := schema[key].([]any)
			present = append(present, l...)
		}
		if len(present) > 0 && !slices.ContainsFunc(r.record.Schemas, func(o schemaRecord) bool { return o.Version == name && slices.Equal(o.Path, path) }) {
			sums := map[string]bool{}
			for _, rule := range present {
				sums[sumOf(rule)] = true
			}
			l = append(l, ruled{compile.Place{Version: version, Steps: path}.String(), sums})
		}
		properties, _ := schema["properties"].(map[string]any)
		for _, property := range slices.Sorted(maps.Keys(properties)) {
			if child, ok := properties[property].(map[string]any); ok {
				visit(version, name, append(slices.Clone(path), "properties", property), child)
			}
		}
		for _, key := range []string{"items", "additionalProperties"} {
			if child, ok := schema[key].(map[string]any); ok {
				visit(version, name, append(slices.Clone(path), key), child)
			}
		}
	}
	for i, v := range listAt(r.value, "spec", "versions") {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		if schema := schemaIn(r.value, i, nil); schema != nil {
			visit(i, name, nil, schema)
		}
	}
	return l
}

// findSchema returns the schema that a record speaks of, and its version's index.
func findSchema(crd *yaml.Node, s schemaRecord) (int, *yaml.Node) {
	at := func(n *yaml.Node, key string) *yaml.Node {
		_, v, shared, ok := yamltext.Lookup(n, key)
		if !ok || shared || v.Kind == yaml.AliasNode {
			return nil
		}
		return v
	}
	versions := at(at(crd, "spec"), "versions")
	if versions == nil {
		return 0, nil
	}
	for i, v := range versions.Content {
		if text(v, "name") != s.Version {
			continue
		}
		n := v
		for _, step := range append([]string{"schema", "openAPIV3Schema"}, s.Path...) {
			n = at(n, step)
		}
		if n == nil || n.Kind != yaml.MappingNode {
			return 0, nil
		}
		return i, n
	}
	return 0, nil
}

func (r *restorer) removeAnnotation() error {
	metadata, _ := r.value["metadata"].(map[string]any)
	values, _ := metadata["annotations"].(map[string]any)
	delete(values, Annotation)
	m, at := r.annotations, r.ours
	if len(values) == 0 {
		key := r.metadata.Content[r.metadataKey]
		switch null, was := strings.CutPrefix(r.was(), ":"); {
		case was:
			metadata["annotations"] = nil
			s, err := r.text.behindKey(key, r.annotations)
			r.edits = append(r.edits, yamltext.Edit{Start: s.start, End: s.end, New: r.null(null, s.end)})
			return err
		case r.record.Annotations != nil && len(metadata) > 1: // empty it would be null
			delete(metadata, "annotations")
			m, at = r.metadata, r.metadataKey
		case !isFlow(r.annotations):
			s, err := r.text.behindKey(key, r.annotations)
			r.edits = append(r.edits, yamltext.Edit{Start: s.start, End: s.end, New: " {}"})
			return err
		}
	}
	cut, err := r.text.cut(m, at/2, at/2)
	r.edits = append(r.edits, yamltext.Edit{Start: cut.start, End: cut.end})
	return err
}

func (r *restorer) was() string {
	if r.record.Annotations == nil {
		return ""
	}
	return *r.record.Annotations
}

// isJSON reports whether the document is JSON.
func (r *restorer) isJSON() bool {
	return isFlow(r.text.doc.Root) && json.Valid(r.text.Src[r.text.doc.Start:r.text.doc.End])
}

// null returns a null value to stand behind the annotations' colon and before
// offset end: the one that was there, unless the layout has changed so that it
// cannot stay as it was.
func (r *restorer) null(was string, end int) string {
	quoted := r.metadata.Content[r.metadataKey].Style != 0
	switch {
	case r.isJSON() && !r.record.JSON, was == "" && isFlow(r.metadata) && strings.IndexByte(",}", r.text.Src[end]) >= 0:
		return " null"
	case was != "" && strings.IndexByte(" \t\r\n", was[0]) < 0 && !(quoted && isFlow(r.metadata)):
		return " " + was
	}
	return was
}
