package crdpatch

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/union"
)

// revert returns the text with its compiled CRDs decompiled, or nil on errors.
func (j *job) revert(t *fileText, crds []*CRD) *fileText {
	r := &removals{revision: revise(t)}
	for _, c := range crds {
		v := &remover{base: c.base(), removals: r, job: j}
		r.set(v.manifest, v.value)
		v.remove()
		is := v.manifest.isJSON() && !v.record.JSON
		if was, ok := r.json[v.index]; !ok || was {
			r.json[v.index] = is
		}
	}
	if j.diags.HasErrors() {
		return nil
	}
	t, err := r.restore()
	if err != nil {
		j.unproved(err)
		return nil
	}
	return t
}

// removals are the edits that remove rules and annotations from a text, and the declarations to
// restore.
type removals struct {
	*revision
	restored []restoration
}

// restoration is a declaration to restore.
type restoration struct {
	*claim
	*document
	// cut is the offset of the removed list of rules, or -1 if the list remains.
	cut int
}

// remover plans the edits that revert one CRD.
type remover struct {
	*base
	*removals
	job *job
}

func (r *remover) edit(start, end int, text string) {
	r.edits = append(r.edits, yamltext.Edit{Start: start, End: end, New: text})
}

func (r *remover) failed(n *yaml.Node, format string, args ...any) {
	r.job.errorf(n, codes.Unproved, "", format, args...)
}

func (r *remover) remove() {
	touched := []touch{{manifest: r.manifest}}
	for _, c := range r.claims {
		touched = append(touched, touch{manifest: r.manifest, schema: &c.place, removed: map[string][]any{validations: c.items()}})
		cut, err := r.removeRules(c)
		if err != nil {
			r.failed(c.node, "cannot remove the rules from %s: %v", c.place, err)
		}
		if c.restored() {
			r.restored = append(r.restored, restoration{c, r.document, cut})
		}
	}
	r.job.touched = append(r.job.touched, touched...)
	if err := r.removeAnnotation(); err != nil {
		r.failed(r.annotations, "cannot remove the annotation: %v", err)
	}
}

// attempt is a way to restore the declarations of a document: the exact text at its offset (the
// zero value), the exact text before the rules of the schema (beside), or the same data where it
// fits (rewritten).
type attempt struct {
	beside, rewritten bool
}

var attempts = []attempt{{}, {beside: true}, {rewritten: true}}

// restore applies the removals and restores declarations. Each document uses the first attempt
// that gives the intended data.
func (r *removals) restore() (*fileText, error) {
	// Deeper schemas come first: at the same offset, the inner declaration preceded.
	slices.SortStableFunc(r.restored, func(a, b restoration) int { return cmp.Compare(len(b.Path), len(a.Path)) })
	how := make([]int, len(r.of.docs))
	for {
		t, err := r.restoreAs(how)
		if err == nil {
			return t, nil
		}
		var wrong *documentError
		tried := false
		for i := range how {
			if (!errors.As(err, &wrong) || wrong.index == i) && how[i]+1 < len(attempts) {
				how[i]++
				tried = true
			}
		}
		if !tried {
			return nil, err
		}
	}
}

func (r *removals) restoreAs(how []int) (*fileText, error) {
	made := *r.revision
	made.edits, made.origins = nil, map[int]*yaml.Node{}
	cuts := slices.Clone(r.edits)
	sortEdits(cuts)
	for _, s := range r.restored {
		edit, err := s.edit(cuts, attempts[how[s.index]])
		if err != nil {
			return nil, &documentError{index: s.index, err: err}
		}
		made.edits = append(made.edits, edit)
		made.origins[edit.Start] = s.node
	}
	made.edits = append(made.edits, cuts...) // after insertions at the same offset
	return made.relocated()
}

// edit returns the edit that restores the declaration, to be applied along with removals.
func (s restoration) edit(removals []yamltext.Edit, how attempt) (yamltext.Edit, error) {
	n := s.node
	start, err := s.startWithout(removals)
	if err != nil {
		return yamltext.Edit{}, err
	}
	if !how.rewritten {
		at, _ := unapplied(removals, applied(removals, start)+s.At)
		key := yamltext.Find(n, validations).Key
		switch {
		case s.cut >= 0:
			at = s.cut
		case how.beside && key != nil && !yamledit.IsFlow(n):
			first, err := s.startOf(key)
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

// startWithout returns the start of the schema's mapping, without leading entries that are
// removed.
func (s restoration) startWithout(removals []yamltext.Edit) (int, error) {
	start, err := s.startOf(s.node)
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

// removeRules plans to remove our rules from one schema. It returns the offset of the list if it is
// removed as a whole, or else -1.
func (r *remover) removeRules(c *claim) (int, error) {
	switch {
	case len(c.ours) == 0:
		return -1, nil
	case c.whole():
		cut, err := r.editor().Cut(c.node, c.headIndex/2, c.headIndex/2)
		r.edit(cut.Start, cut.End, "")
		return cut.Start, err
	case c.all() && !yamledit.IsFlow(c.list):
		value, err := r.editor().AfterKey(c.head, c.list)
		r.edit(value.Start, value.End, " []")
		return -1, err
	}
	cuts, err := r.editor().CutRuns(c.list, c.ours)
	r.edits = append(r.edits, cuts...)
	return -1, err
}

func (r *remover) removeAnnotation() error {
	m, at := r.annotations, r.key
	metadata, _ := r.value["metadata"].(map[string]any)
	if left, _ := metadata["annotations"].(map[string]any); len(left) == 0 {
		key := r.metadata.Content[r.metadataKey]
		was := ""
		if r.record.Annotations != nil {
			was = *r.record.Annotations
		}
		_, there := metadata["annotations"]
		switch null, had := strings.CutPrefix(was, ":"); {
		case had:
			s, err := r.editor().AfterKey(key, r.annotations)
			r.edit(s.Start, s.End, r.null(r.metadata, key, null, s.End))
			return err
		case !there:
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
