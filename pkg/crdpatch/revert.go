package crdpatch

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/compiled"
	"github.com/unioncel/unioncel/internal/crdtext"
	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/union"
)

// revert returns the text with its compiled CRDs decompiled, or nil on errors.
func (j *job) revert(t *crdtext.Text, crds []*crdfile.CRD) *crdtext.Text {
	r := &removals{Revision: crdtext.Revise(t)}
	for _, c := range crds {
		v := &remover{Reverted: c.Base().Reverted, removals: r, job: j}
		r.Set(v.Manifest, v.Value)
		v.remove()
		is := v.Manifest.IsJSON() && !v.Record.JSON
		if was, ok := r.JSON[v.Index]; !ok || was {
			r.JSON[v.Index] = is
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
	*crdtext.Revision
	restored []restoration
}

// restoration is a declaration to restore.
type restoration struct {
	*compiled.Claim
	*crdtext.Document
	// cut is the offset of the removed list of rules, or -1 if the list remains.
	cut int
}

// remover plans the edits that revert one CRD.
type remover struct {
	*compiled.Reverted
	*removals
	job *job
}

func (r *remover) edit(start, end int, text string) {
	r.Edits = append(r.Edits, yamltext.Edit{Start: start, End: end, New: text})
}

func (r *remover) failed(n *yaml.Node, format string, args ...any) {
	r.job.errorf(n, codes.Unproved, "", format, args...)
}

func (r *remover) remove() {
	touched := []touch{{Manifest: r.Manifest}}
	for _, c := range r.Claims {
		touched = append(touched, touch{Manifest: r.Manifest, schema: &c.Place, removed: map[string][]any{compiled.Validations: c.Items()}})
		cut, err := r.removeRules(c)
		if err != nil {
			r.failed(c.Node, "cannot remove the rules from %s: %v", c.Place, err)
		}
		if c.Restored {
			r.restored = append(r.restored, restoration{c, r.Document, cut})
		}
	}
	r.job.touched = append(r.job.touched, touched...)
	if err := r.removeAnnotation(); err != nil {
		r.failed(r.Annotations, "cannot remove the annotation: %v", err)
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
func (r *removals) restore() (*crdtext.Text, error) {
	// Deeper schemas come first: at the same offset, the inner declaration preceded.
	slices.SortStableFunc(r.restored, func(a, b restoration) int { return cmp.Compare(len(b.Path), len(a.Path)) })
	how := make([]int, len(r.Of.Docs))
	for {
		t, err := r.restoreAs(how)
		if err == nil {
			return t, nil
		}
		var wrong *crdtext.DocumentError
		tried := false
		for i := range how {
			if (!errors.As(err, &wrong) || wrong.Index == i) && how[i]+1 < len(attempts) {
				how[i]++
				tried = true
			}
		}
		if !tried {
			return nil, err
		}
	}
}

func (r *removals) restoreAs(how []int) (*crdtext.Text, error) {
	made := *r.Revision
	made.Edits, made.Origins = nil, map[int]*yaml.Node{}
	cuts := slices.Clone(r.Edits)
	crdtext.SortEdits(cuts)
	for _, s := range r.restored {
		edit, err := s.edit(cuts, attempts[how[s.Index]])
		if err != nil {
			return nil, &crdtext.DocumentError{Index: s.Index, Err: err}
		}
		made.Edits = append(made.Edits, edit)
		made.Origins[edit.Start] = s.Node
	}
	made.Edits = append(made.Edits, cuts...) // after insertions at the same offset
	return made.Text()
}

// edit returns the edit that restores the declaration, to be applied along with removals.
func (s restoration) edit(removals []yamltext.Edit, how attempt) (yamltext.Edit, error) {
	n := s.Node
	start, err := s.startWithout(removals)
	if err != nil {
		return yamltext.Edit{}, err
	}
	if !how.rewritten {
		at, _ := crdtext.Unapplied(removals, crdtext.Applied(removals, start)+s.At)
		key := yamltext.Find(n, compiled.Validations).Key
		switch {
		case s.cut >= 0:
			at = s.cut
		case how.beside && key != nil && !yamledit.IsFlow(n):
			first, err := s.StartOf(key)
			if err != nil {
				return yamltext.Edit{}, err
			}
			at = s.Editor().LineStart(first)
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
		return s.Editor().Put(n, e)
	}
	l, err := s.Editor().Entries(n)
	if err != nil {
		return yamltext.Edit{}, err
	}
	at := s.Editor().LineStart(l[0].Start)
	return yamltext.Edit{Start: at, End: at, New: s.Editor().Lines(e.Block(s.Editor().Indentation(n, l)))}, nil
}

// startWithout returns the start of the schema's mapping, without leading entries that are
// removed.
func (s restoration) startWithout(removals []yamltext.Edit) (int, error) {
	start, err := s.StartOf(s.Node)
	if err != nil || yamledit.IsFlow(s.Node) {
		return start, err
	}
	l, err := s.Editor().Entries(s.Node)
	for len(l) > 1 && slices.ContainsFunc(removals, func(e yamltext.Edit) bool { return e.Start <= start && l[0].End <= e.End }) {
		l = l[1:]
		start = l[0].Start
	}
	return start, err
}

// removeRules plans to remove our rules from one schema. It returns the offset of the list if it is
// removed as a whole, or else -1.
func (r *remover) removeRules(c *compiled.Claim) (int, error) {
	switch {
	case len(c.Ours) == 0:
		return -1, nil
	case c.Whole():
		cut, err := r.Editor().Cut(c.Node, c.HeadIndex/2, c.HeadIndex/2)
		r.edit(cut.Start, cut.End, "")
		return cut.Start, err
	case c.All() && !yamledit.IsFlow(c.List):
		value, err := r.Editor().AfterKey(c.Head, c.List)
		r.edit(value.Start, value.End, " []")
		return -1, err
	}
	cuts, err := r.Editor().CutRuns(c.List, c.Ours)
	r.Edits = append(r.Edits, cuts...)
	return -1, err
}

func (r *remover) removeAnnotation() error {
	m, at := r.Annotations, r.Key
	metadata, _ := r.Value["metadata"].(map[string]any)
	if left, _ := metadata["annotations"].(map[string]any); len(left) == 0 {
		key := r.Metadata.Content[r.MetadataKey]
		was := ""
		if r.Record.Annotations != nil {
			was = *r.Record.Annotations
		}
		_, there := metadata["annotations"]
		switch null, had := strings.CutPrefix(was, ":"); {
		case had:
			s, err := r.Editor().AfterKey(key, r.Annotations)
			r.edit(s.Start, s.End, r.null(r.Metadata, key, null, s.End))
			return err
		case !there:
			m, at = r.Metadata, r.MetadataKey
		case !yamledit.IsFlow(r.Annotations):
			s, err := r.Editor().AfterKey(key, r.Annotations)
			r.edit(s.Start, s.End, " {}")
			return err
		}
	}
	cut, err := r.Editor().Cut(m, at/2, at/2)
	r.edit(cut.Start, cut.End, "")
	return err
}
