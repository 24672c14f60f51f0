package crdpatch

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// remover plans the edits that remove rules and annotations from a text, and the declarations to
// restore.
type remover struct {
	*revision
	job      *job
	restored []restoration
}

// restoration is a declaration to restore.
type restoration struct {
	*claim
	*document
	// cut is the offset of the removed list of rules, or -1 if the list remains.
	cut int
}

func (r *remover) edit(start, end int, text string) {
	r.edits = append(r.edits, yamltext.Edit{Start: start, End: end, New: text})
}

func (r *remover) failed(at diag.Pos, format string, args ...any) {
	r.job.diags = append(r.job.diags, diag.New(codes.Unproved, at, format, args...))
}

// remove plans the edits that revert one CRD.
func (r *remover) remove(b *base) {
	r.set(b.m, b.value)
	is := b.isJSON() && !b.record.JSON
	if was, ok := r.json[b.index]; !ok || was {
		r.json[b.index] = is
	}
	touched := []touch{{manifest: b.m}}
	for _, c := range b.claims {
		touched = append(touched, touch{manifest: b.m, schema: &c.place, removed: map[string][]any{validations: c.items()}})
		cut, err := r.removeRules(b, c)
		if err != nil {
			r.failed(b.pos(c.node), "cannot remove the rules from %s: %v", c.place, err)
		}
		if c.restored() {
			r.restored = append(r.restored, restoration{c, b.document, cut})
		}
	}
	r.job.touched = append(r.job.touched, touched...)
	if err := r.removeAnnotation(b); err != nil {
		r.failed(b.pos(b.annotations.Value), "cannot remove the annotation: %v", err)
	}
}

// attempt is a way to restore the declarations of a document.
type attempt int

const (
	exact     attempt = iota // the exact text at its offset
	beside                   // the exact text before the rules of the schema
	rewritten                // the same data where it fits
)

// restore applies the removals and restores declarations, or returns nil on errors. Each document uses
// the first attempt that gives the intended data.
func (r *remover) restore() *fileText {
	// Deeper schemas come first: at the same offset, the inner declaration preceded.
	slices.SortStableFunc(r.restored, func(a, b restoration) int { return cmp.Compare(len(b.Path), len(a.Path)) })
	how := make([]attempt, len(r.of.docs))
	for !r.job.diags.HasErrors() {
		t, err := r.restoreAs(how)
		if err == nil {
			return t
		}
		var wrong *documentError
		tried := false
		for i := range how {
			if (!errors.As(err, &wrong) || wrong.index == i) && how[i] < rewritten {
				how[i]++
				tried = true
			}
		}
		if !tried {
			r.job.unproved(err)
		}
	}
	return nil
}

func (r *remover) restoreAs(how []attempt) (*fileText, error) {
	if len(r.edits) == 0 {
		return r.of, nil
	}
	made := *r.revision
	made.edits = nil
	cuts := slices.Clone(r.edits)
	sortEdits(cuts)
	for _, s := range r.restored {
		edit, err := s.edit(cuts, how[s.index])
		if err != nil {
			return nil, &documentError{s.index, err}
		}
		made.edits = append(made.edits, edit)
	}
	made.edits = append(made.edits, cuts...) // after insertions at the same offset
	return made.text()
}

// edit returns the edit that restores the declaration, to be applied along with removals.
func (s restoration) edit(removals []yamltext.Edit, how attempt) (yamltext.Edit, error) {
	n := s.node
	start, err := s.startWithout(removals)
	if err != nil {
		return yamltext.Edit{}, err
	}
	if how != rewritten {
		at := unapplied(removals, applied(removals, start)+s.At)
		key := yamltext.Lookup(n, validations).Key
		switch {
		case s.cut >= 0:
			at = unapplied(removals, applied(removals, s.cut))
		case how == beside && key != nil && !yamltext.IsFlow(n):
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
	e := yamltext.NewEntry{Key: union.Key, Value: value}
	if yamltext.IsFlow(n) {
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
	if err != nil || yamltext.IsFlow(s.node) {
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
func (r *remover) removeRules(b *base, c *claim) (int, error) {
	switch {
	case len(c.ours) == 0:
		return -1, nil
	case c.whole():
		cut, err := b.editor().Cut(c.node, c.headIndex, c.headIndex)
		r.edit(cut.Start, cut.End, "")
		return cut.Start, err
	case c.all() && !yamltext.IsFlow(c.list):
		value, err := b.editor().AfterKey(c.head, c.list)
		r.edit(value.Start, value.End, " []")
		return -1, err
	}
	cuts, err := b.editor().CutRuns(c.list, c.ours)
	r.edits = append(r.edits, cuts...)
	return -1, err
}

func (r *remover) removeAnnotation(b *base) error {
	m, at := b.annotations.Value, b.annotation.Index
	metadata, _ := b.value["metadata"].(map[string]any)
	if left, _ := metadata["annotations"].(map[string]any); len(left) == 0 {
		key := b.annotations.Key
		was := ""
		if b.record.Annotations != nil {
			was = *b.record.Annotations
		}
		_, there := metadata["annotations"]
		switch null, had := strings.CutPrefix(was, ":"); {
		case had:
			s, err := b.editor().AfterKey(key, m)
			r.edit(s.Start, s.End, b.null(b.metadata, key, null, s.End))
			return err
		case !there:
			m, at = b.metadata, b.annotations.Index
		case !yamltext.IsFlow(m):
			s, err := b.editor().AfterKey(key, m)
			r.edit(s.Start, s.End, " {}")
			return err
		}
	}
	cut, err := b.editor().Cut(m, at, at)
	r.edit(cut.Start, cut.End, "")
	return err
}
