package crdtext

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
)

// Revision is a change of a text: edits, and the data that the documents which they change are
// to have.
type Revision struct {
	Of    *Text
	Edits []yamltext.Edit
	Want  map[int]any  // by document
	JSON  map[int]bool // documents that are to be JSON
	// Origins are the nodes that inserted text was made from, by the offset of the insertion.
	Origins map[int]*yaml.Node
}

// Revise begins a revision of a text.
func Revise(t *Text) *Revision {
	return &Revision{Of: t, Want: map[int]any{}, JSON: map[int]bool{}, Origins: map[int]*yaml.Node{}}
}

// Set says which data the CRD is to have.
func (r *Revision) Set(m *Manifest, crd map[string]any) {
	if r.Want[m.Index] == nil {
		r.Want[m.Index] = m.Copied()
	}
	draft := m.Select(r.Want[m.Index])
	clear(draft)
	maps.Copy(draft, crd)
}

// Text makes the edits and parses the result, whose nodes have the positions of the nodes that
// they were made from. The errors are the same as for [Revision.Final].
func (r *Revision) Text() (*Text, error) {
	t, err := r.Final()
	if err == nil {
		r.relocate(t)
	}
	return t, err
}

// Final makes the edits and parses the result, for its bytes and data. It is a [DocumentError]
// unless each document has the intended data, and the others have not changed.
func (r *Revision) Final() (*Text, error) {
	src, err := yamltext.Apply(r.Of.Src, r.Edits)
	if err != nil {
		return nil, err
	}
	t, wrong := Parse(r.Of.Name, src, r.Of.Limits)
	if t == nil {
		return nil, errors.New(wrong[0].Message)
	}
	if len(t.Docs) != len(r.Of.Docs) {
		return nil, fmt.Errorf("%d documents became %d", len(r.Of.Docs), len(t.Docs))
	}
	for i, d := range t.Docs {
		if err := r.check(r.Of.Docs[i], d); err != nil {
			return nil, &DocumentError{i, err}
		}
	}
	return t, nil
}

// DocumentError says which document of a revision is not as intended.
type DocumentError struct {
	Index int
	Err   error
}

// Error names the document by its number, from 1 on.
func (e *DocumentError) Error() string { return fmt.Sprintf("document %d: %v", e.Index+1, e.Err) }

func (r *Revision) check(was, is *Document) error {
	want, changes := r.Want[is.Index]
	if bytes.Equal(was.Bytes(), is.Bytes()) {
		if !changes {
			return nil
		}
		is.source = was
	} else if !changes {
		return errors.New("it changed")
	}
	_, got, wrong := is.Value()
	switch {
	case wrong != nil:
		return errors.New(wrong.Message)
	case !reflect.DeepEqual(got, want):
		return errors.New(Difference("", got, want))
	case r.JSON[is.Index] && !json.Valid(is.Bytes()):
		return errors.New("it is no longer JSON")
	}
	return nil
}

// relocate gives the nodes of the result the positions of the nodes that they were made from.
func (r *Revision) relocate(t *Text) {
	edits := slices.Clone(r.Edits)
	SortEdits(edits)
	t.origin = func(at int) (line, column int) {
		at, inserted := Unapplied(edits, at)
		if n := r.Origins[at]; inserted && n != nil {
			return n.Line, n.Column
		}
		return r.Of.position(at)
	}
	for _, d := range t.Docs {
		starts := map[*yaml.Node]int{} // looked up by the positions that they have now
		for n := range yamltext.All(d.Root) {
			if start, err := d.StartOf(n); err == nil {
				starts[n] = start
			}
		}
		for n, start := range starts {
			n.Line, n.Column = t.origin(start)
		}
	}
}

// Unapplied translates an offset in an edited text to the text before, and tells
// whether it is in inserted text. An offset where text was deleted is that
// after the deletion. The edits are sorted.
func Unapplied(edits []yamltext.Edit, at int) (int, bool) {
	shift := 0
	for _, e := range edits {
		start := e.Start + shift
		if at < start {
			break
		}
		if at < start+len(e.New) {
			return e.Start, true
		}
		shift += len(e.New) - (e.End - e.Start)
	}
	return at - shift, false
}

// SortEdits sorts edits by where they start.
func SortEdits(edits []yamltext.Edit) {
	slices.SortStableFunc(edits, func(a, b yamltext.Edit) int { return cmp.Compare(a.Start, b.Start) })
}

// Applied translates an offset where an edit starts to the text after the edits.
func Applied(edits []yamltext.Edit, at int) int {
	shift := 0
	for _, e := range edits {
		if e.End <= at && e.Start < at {
			shift += len(e.New) - (e.End - e.Start)
		}
	}
	return at + shift
}

// Difference says in a few words where two values differ.
func Difference(path string, got, want any) string {
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
				return Difference(path+"."+k, g[k], w[k])
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
				return Difference(fmt.Sprintf("%s[%d]", path, i), g[i], w[i])
			}
		}
	}
	return fmt.Sprintf("%s is %v, not %v", path, got, want)
}
