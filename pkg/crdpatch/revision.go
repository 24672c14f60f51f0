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

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/limit"
)

// revision is a change of a text: edits, and what the documents that they
// change are to mean.
type revision struct {
	of    *text
	edits []yamltext.Edit
	want  map[int]any  // by document
	json  map[int]bool // documents that are to be JSON
	// origins are what inserted text was made from, by where it is inserted.
	origins map[int]*yaml.Node
	texts   []textEdit // to be made, too
}

func revise(t *text) *revision {
	return &revision{of: t, want: map[int]any{}, json: map[int]bool{}, origins: map[int]*yaml.Node{}}
}

// draft is the CRD's value, to be changed along with its text.
func (r *revision) draft(m *manifest) map[string]any {
	if r.want[m.index] == nil {
		r.want[m.index] = m.copied()
	}
	return m.in(r.want[m.index])
}

// text makes the edits and parses the result, whose
// nodes have the positions of what they were made from. It is an error unless each document means
// its intended meaning, and the others have not changed.
func (r *revision) text(limits limit.Limits) (*text, error) {
	src, err := yamltext.Apply(r.of.Src, r.edits)
	if err != nil {
		return nil, err
	}
	t, wrong := parse(r.of.name, src, limits)
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
	r.relocate(t)
	return t, nil
}

// documentError says which document of a revision is not as intended.
type documentError struct {
	index int
	err   error
}

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
	_, got, wrong := is.value()
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

// relocate gives the nodes of t, the result, the positions of what they were made from.
func (r *revision) relocate(t *text) {
	edits := slices.Clone(r.edits)
	sortEdits(edits)
	t.origin = func(at int) (line, column int) {
		at, inserted := unapplied(edits, at)
		if n := r.origins[at]; inserted && n != nil {
			return n.Line, n.Column
		}
		return r.of.position(at)
	}
	for _, d := range t.docs {
		starts := map[*yaml.Node]int{} // looked up by the positions that they have now
		var visit func(n *yaml.Node)
		visit = func(n *yaml.Node) {
			if start, _, err := d.Span(d.Document, n); err == nil {
				starts[n] = start
			}
			for _, c := range n.Content {
				visit(c)
			}
		}
		if d.Root != nil {
			visit(d.Root)
		}
		for n, start := range starts {
			n.Line, n.Column = t.origin(start)
		}
	}
}

// unapplied translates an offset in an edited text to the text before, and tells
// whether it is that of inserted text. An offset where text was deleted is that
// after the deletion. The edits are sorted.
func unapplied(edits []yamltext.Edit, at int) (int, bool) {
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
