package crdpatch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// revision is a change of a text: edits, and the data that the documents which they change are
// to have.
type revision struct {
	of    *fileText
	edits []yamltext.Edit
	want  map[int]any  // by document
	json  map[int]bool // documents that are to be JSON
}

// revise begins a revision of a text.
func revise(t *fileText) *revision {
	return &revision{of: t, want: map[int]any{}, json: map[int]bool{}}
}

// set says which data the CRD is to have.
func (r *revision) set(m *manifest, crd map[string]any) {
	if r.want[m.index] == nil {
		r.want[m.index] = m.copied()
	}
	draft := m.selected(r.want[m.index])
	clear(draft)
	maps.Copy(draft, crd)
}

// text makes the edits and parses the result. The error is a [documentError] unless each document has
// the intended data, and the others have not changed.
func (r *revision) text() (*fileText, error) {
	src, err := yamltext.Apply(r.of.Src, r.edits)
	if err != nil {
		return nil, err
	}
	t, wrong := parseText(r.of.name, src, r.of.limits)
	if t == nil {
		return nil, errors.New(wrong[0].Message)
	}
	if len(t.docs) != len(r.of.docs) {
		return nil, fmt.Errorf("%d documents became %d", len(r.of.docs), len(t.docs))
	}
	for i, d := range t.docs {
		if err := r.check(r.of.docs[i], d); err != nil {
			return nil, &documentError{i, err}
		}
	}
	return t, nil
}

// documentError says which document of a revision is not as intended.
type documentError struct {
	index int
	err   error
}

// Error names the document by its number, from 1 on.
func (e *documentError) Error() string { return fmt.Sprintf("document %d: %v", e.index+1, e.err) }

func (r *revision) check(was, is *document) error {
	want, changes := r.want[is.index]
	if bytes.Equal(was.bytes(), is.bytes()) {
		if !changes {
			return nil
		}
		is.source = was
	} else if !changes {
		return errors.New("it changed")
	}
	_, got, wrong := is.read()
	switch {
	case wrong != nil:
		return errors.New(wrong.Message)
	case !reflect.DeepEqual(got, want):
		return errors.New(difference("", got, want))
	case r.json[is.index] && !json.Valid(is.bytes()):
		return errors.New("it is no longer JSON")
	}
	return nil
}

// unapplied translates an offset in an edited text to the text before. An offset in inserted text is
// that of the insertion, and an offset where text was deleted that after the deletion. The edits are
// sorted.
func unapplied(edits []yamltext.Edit, at int) int {
	shift := 0
	for _, e := range edits {
		start := e.Start + shift
		if at < start {
			break
		}
		if at < start+len(e.New) {
			return e.Start
		}
		shift += len(e.New) - (e.End - e.Start)
	}
	return at - shift
}

// sortEdits sorts edits by where they start.
func sortEdits(edits []yamltext.Edit) {
	slices.SortStableFunc(edits, func(a, b yamltext.Edit) int { return cmp.Compare(a.Start, b.Start) })
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

// difference says in a few words where two values differ.
func difference(path string, got, want any) string {
	switch w := want.(type) {
	case map[string]any:
		g, ok := got.(map[string]any)
		if !ok {
			break
		}
		for _, k := range slices.Sorted(maps.Keys(w)) {
			if _, ok := g[k]; !ok {
				return fmt.Sprintf("%s.%s is missing", path, k)
			}
			if !reflect.DeepEqual(g[k], w[k]) {
				return difference(path+"."+k, g[k], w[k])
			}
		}
		for _, k := range slices.Sorted(maps.Keys(g)) {
			if _, ok := w[k]; !ok {
				return fmt.Sprintf("%s.%s is unexpected", path, k)
			}
		}
	case []any:
		g, ok := got.([]any)
		if !ok || len(g) != len(w) {
			break
		}
		for i := range w {
			if !reflect.DeepEqual(g[i], w[i]) {
				return difference(fmt.Sprintf("%s[%d]", path, i), g[i], w[i])
			}
		}
	}
	return fmt.Sprintf("%s is %v, not %v", path, got, want)
}
