package crdpatch

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// base is a file without what compiling did to it, and what is known of that.
type base struct {
	*text
	diags diag.List
	// external are the external declarations that annotations keep, by CRD.
	external map[string][]union.External
	// hints are those for errors in declarations that an annotation keeps, by position.
	hints   map[diag.Pos]string
	touched []touch
	proofs  int // how many rules were tried to be proved ours
}

// revert takes rules and annotations of compiled CRDs out and restores their
// declarations. A declaration that is there again overrides the recorded one. Rules that
// are gone or edited are errors.
func (f *File) revert() *base {
	if f.was.base != nil {
		return f.was.base
	}
	b := &base{text: f.source, external: map[string][]union.External{}, hints: map[diag.Pos]string{}}
	f.was.base = b
	b.diags = slices.Clone(f.compiledCRDs().diags)
	compiled := slices.DeleteFunc(slices.Clone(f.compiledCRDs().crds), func(c *annotatedCRD) bool { return f.installing && f.settled(c.manifest) })
	if len(compiled) == 0 {
		return b
	}
	r := revise(f.source)
	var restored []restoration
	for _, c := range compiled {
		v := &reverter{File: f, annotatedCRD: c, base: b, revision: r, value: r.draft(c.manifest), said: map[string]bool{}}
		restored = append(restored, v.remove()...)
		is := c.manifest.isJSON() && !c.record.JSON
		if was, ok := r.json[c.index]; !ok || was {
			r.json[c.index] = is
		}
	}
	if b.diags.HasErrors() {
		return b
	}
	t, err := f.restore(r, restored)
	if err != nil {
		b.diags = append(b.diags, unproved(f.name, err))
		return b
	}
	b.text = t
	return b
}

// reverter reverts one CRD.
type reverter struct {
	*File
	*annotatedCRD
	base       *base
	revision   *revision
	value      map[string]any // changed along with the edits
	unrecorded []ruled
	said       map[string]bool // descriptions that lost a sentence, by place
	encoded    []*regenerated  // in every encoding, when that is needed
}

func (r *reverter) report(d diag.Diagnostic) { r.base.diags = append(r.base.diags, d) }

func (r *reverter) errorf(n *yaml.Node, code diag.Code, hint, format string, args ...any) {
	r.report(diag.Diagnostic{Code: code, Pos: r.pos(n), Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (r *reverter) edit(start, end int, text string) {
	r.revision.edits = append(r.revision.edits, yamltext.Edit{Start: start, End: end, New: text})
}

// restoration is a declaration to be restored.
type restoration struct {
	*annotatedCRD
	schemaRecord
	version int
	node    *yaml.Node // the schema
	// cut is where the rules were that had replaced the declaration, or -1
	// when they had joined others.
	cut int
}

// remove plans to take rules and annotation out, as far as they are ours, and returns
// what is to be restored.
func (r *reverter) remove() []restoration {
	r.copies()
	all := r.claims()
	w := r.confirm(all)
	if r.base.diags.HasErrors() {
		return nil
	}
	b := r.base
	b.touched = append(b.touched, touch{manifest: r.manifest})
	b.hints[r.keyPos()] = "the declaration is external, and the annotation " + Annotation + " keeps it: correct it at its source, and give it again (--go, --unions)"
	var restored []restoration
	for _, c := range all {
		s := c.schemaRecord
		b.touched = append(b.touched, touch{manifest: r.manifest, schema: &c.place, removed: c.items()})
		r.keep(s)
		whole, err := r.undescribe(c, w)
		if err != nil {
			r.errorf(c.node, diag.Unproved, "", "cannot remove a sentence from %s: %v", c.place, err)
		}
		cut, err := r.removeLists(c, whole)
		if err != nil {
			r.errorf(c.node, diag.Unproved, "", "cannot remove the rules from %s: %v", c.place, err)
		}
		if !c.fresh && !s.Kept && !s.External && len(s.Unions) > 0 {
			b.hints[r.pos(c.node)] = "the declaration is in the annotation " + Annotation + ": run unioncel decompile to edit it"
			restored = append(restored, restoration{r.annotatedCRD, s, c.place.Version, c.node, cut})
		}
	}
	if err := r.removeAnnotation(); err != nil {
		r.errorf(r.annotations, diag.Unproved, "", "cannot remove the annotation: %v", err)
	}
	return restored
}

// keep remembers the external declarations of a schema. It reports those that are given
// no more.
func (r *reverter) keep(s schemaRecord) {
	given, all := r.declaredFor(r.manifest)
	kept := r.declarations(s)
	for _, e := range kept {
		if all(s.Version) {
			r.forgotten(s, e, given)
		}
	}
	r.base.external[r.manifest.key()] = append(r.base.external[r.manifest.key()], kept...)
}

// forgotten reports the unions of a kept declaration that have nothing in common with
// those given for the schema; and an extension if none is given.
func (r *reverter) forgotten(s schemaRecord, kept union.External, given []union.External) {
	lost := func(message string) {
		r.report(diag.Diagnostic{Code: diag.Forgotten, Severity: diag.Warning, Pos: *kept.At, Path: placeOf(s.Path), Message: message,
			Hint: "if that was not intended, give all declarations of a CRD in one command (--go, --kubebuilder and --unions)"})
	}
	var named []string
	extended := false
	for _, e := range given {
		switch {
		case !e.Covers(s.Version, s.Path):
		case e.Extend:
			extended = true
		default:
			named = append(named, slices.Concat(namesOf(e)...)...)
		}
	}
	if kept.Extend {
		if !extended {
			lost("the extension of unions, which an earlier compilation took from a UnionSet, is no longer declared: they are compiled without it")
		}
		return
	}
	for _, properties := range namesOf(kept) {
		if !slices.ContainsFunc(properties, func(name string) bool { return slices.Contains(named, name) }) {
			lost(fmt.Sprintf("the union of %s, which was declared outside the CRD when it was last compiled, is no longer declared: its rules are removed", strings.Join(properties, ", ")))
		}
	}
}

// namesOf are the names in each union of a declaration.
func namesOf(e union.External) [][]string {
	var l [][]string
	declarations, _ := union.Parse("", "", e.Value, e.At)
	for _, d := range declarations {
		l = append(l, d.Names())
	}
	return l
}

// attempt is a way to restore declarations: their exact text where it was; or
// before the rules of the schema; or the same data, wherever it fits. Then the same is tried
// with strings written anew that got sentences.
type attempt int

const (
	exactly attempt = iota
	beside
	rewritten
	attempts
)

// restore restores declarations along with the removals of a revision, in each document
// in the first way that gives what is to be there.
func (f *opened) restore(removals *revision, restored []restoration) (*text, error) {
	for _, s := range restored {
		schema := schemaIn(removals.draft(s.manifest), s.version, s.Path)
		if schema == nil {
			return nil, fmt.Errorf("kubectl does not find %s", placeOf(s.Path))
		}
		var declaration any
		if err := json.Unmarshal(s.Unions, &declaration); err != nil {
			return nil, err
		}
		schema[union.Key] = declaration
	}
	// Deeper ones first: where two declarations meet, the inner one came first.
	slices.SortStableFunc(restored, func(a, b restoration) int { return cmp.Compare(len(b.Path), len(a.Path)) })
	how := make([]attempt, len(f.source.docs))
	for {
		t, err := f.restoreAs(removals, restored, how)
		if err == nil {
			return t, nil
		}
		var wrong *documentError
		tried := false
		for i := range how {
			if (!errors.As(err, &wrong) || wrong.index == i) && how[i] < 2*attempts-1 {
				how[i]++
				tried = true
			}
		}
		if !tried {
			return nil, err
		}
	}
}

func (f *opened) restoreAs(removals *revision, restored []restoration, how []attempt) (*text, error) {
	r := *removals
	r.edits, r.origins = nil, map[int]*yaml.Node{}
	cuts := slices.Clone(removals.edits)
	for _, t := range removals.texts {
		if how[t.index] >= attempts {
			cuts = append(cuts, t.whole)
		} else {
			cuts = append(cuts, t.exact)
		}
	}
	sortEdits(cuts)
	for _, s := range restored {
		edit, err := s.edit(cuts, how[s.index]%attempts)
		if err != nil {
			return nil, &documentError{s.index, err}
		}
		r.edits = append(r.edits, edit)
		r.origins[edit.Start] = s.node
	}
	r.edits = append(r.edits, cuts...) // what is put at their place comes before it
	return r.text(f.limits)
}

// edit is the edit that restores the declaration, along with removals.
func (s restoration) edit(removals []yamltext.Edit, how attempt) (yamltext.Edit, error) {
	n := s.node
	start, err := s.startWithout(removals)
	if err != nil {
		return yamltext.Edit{}, err
	}
	if how != rewritten {
		at, _ := unapplied(removals, applied(removals, start)+s.At)
		key := firstList(n)
		switch {
		case s.cut >= 0:
			at = s.cut
		case how == beside && key != nil && !yamledit.IsFlow(n):
			first, _, err := s.Span(s.Document, key)
			if err != nil {
				return yamltext.Edit{}, err
			}
			at = s.editor().LineStart(first)
		}
		if at < s.Start || at > s.End {
			return yamltext.Edit{}, errors.New("the place is outside the document")
		}
		return yamltext.Edit{Start: at, End: at, New: s.Source}, nil
	}
	value, err := yamltext.FromJSON(s.Unions)
	if err != nil {
		return yamltext.Edit{}, err
	}
	e := yamledit.Entry{Key: union.Key, Value: value}
	if yamledit.IsFlow(n) {
		return s.editor().Put(n, e)
	}
	l, err := s.editor().Entries(n)
	if err != nil {
		return yamltext.Edit{}, err
	}
	at := s.editor().LineStart(l[0].Start)
	return yamltext.Edit{Start: at, End: at, New: s.editor().Lines(e.Block(s.editor().Indentation(n, l)))}, nil
}

// startWithout is where the schema's mapping starts, apart from first entries that are
// removed.
func (s restoration) startWithout(removals []yamltext.Edit) (int, error) {
	start, _, err := s.Span(s.Document, s.node)
	if err != nil || yamledit.IsFlow(s.node) {
		return start, err
	}
	l, err := s.editor().Entries(s.node)
	for len(l) > 1 && slices.ContainsFunc(removals, func(e yamltext.Edit) bool { return e.Start <= start && l[0].End <= e.End }) {
		l = l[1:]
		start = l[0].Start
	}
	return start, err
}

// firstList returns the key of the first list in a schema that compiling adds to.
func firstList(n *yaml.Node) *yaml.Node {
	for _, e := range yamltext.Entries(n) {
		if slices.Contains(listKeys, e.Key.Value) {
			return e.Key
		}
	}
	return nil
}

// removeLists plans to take our items out of the lists of one schema. It returns
// where those were that were alone, else -1.
// With them go other entries of the schema.
func (r *reverter) removeLists(c *claimed, others []int) (int, error) {
	var alone []int // entries of the schema that go as a whole
	for _, l := range c.lists {
		index, err := r.removeItems(c, l)
		if err != nil {
			return -1, err
		}
		if index >= 0 {
			alone = append(alone, index)
		}
	}
	slices.Sort(alone)
	all := slices.Sorted(slices.Values(slices.Concat(alone, others)))
	cuts, err := r.editor().CutRuns(c.node, all)
	if err != nil {
		return -1, err
	}
	r.revision.edits = append(r.revision.edits, cuts...)
	if len(alone) == 0 {
		return -1, nil
	}
	first, _, err := r.Span(r.Document, c.node.Content[2*alone[0]])
	i := slices.IndexFunc(cuts, func(e yamltext.Edit) bool { return first < e.End })
	return cuts[max(i, 0)].Start, err
}

// removeItems plans to take our items out of one list. It returns the index of the
// list among the entries of the schema when it is to go as a whole, else -1.
func (r *reverter) removeItems(c *claimed, l *claimedList) (int, error) {
	if len(l.ours) == 0 {
		return -1, nil
	}
	kept := without(l.present, l.ours)
	c.value[l.key] = kept
	switch all := len(kept) == 0; {
	case all && l.empty && !yamledit.IsFlow(l.node):
		value, err := r.editor().AfterKey(l.head, l.node)
		r.edit(value.Start, value.End, " []")
		return -1, err
	case all && !l.empty:
		delete(c.value, l.key)
		return l.index / 2, nil
	}
	cuts, err := r.editor().CutRuns(l.node, l.ours)
	r.revision.edits = append(r.revision.edits, cuts...)
	return -1, err
}

func (r *reverter) removeAnnotation() error {
	metadata, _ := r.value["metadata"].(map[string]any)
	values, _ := metadata["annotations"].(map[string]any)
	delete(values, Annotation)
	m, at := r.annotations, r.ours
	if len(values) == 0 {
		key := r.metadata.Content[r.metadataKey]
		was := ""
		if r.record.Annotations != nil {
			was = *r.record.Annotations
		}
		switch null, had := strings.CutPrefix(was, ":"); {
		case had:
			metadata["annotations"] = nil
			s, err := r.editor().AfterKey(key, r.annotations)
			r.edit(s.Start, s.End, r.null(r.metadata, key, null, s.End))
			return err
		case r.record.Annotations != nil && len(metadata) > 1: // empty it would be null
			delete(metadata, "annotations")
			m, at = r.metadata, r.metadataKey
		case !yamledit.IsFlow(r.annotations):
			s, err := r.editor().AfterKey(key, r.annotations)
			r.edit(s.Start, s.End, " {}")
			return err
		}
	}
	cut, err := r.editor().Cut(m, at/2, at/2)
	r.edit(cut.Start, cut.End, "")
	return err
}
