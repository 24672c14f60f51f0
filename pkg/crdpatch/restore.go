package crdpatch

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/source"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/union"
)

// intended is what a document is to be.
type intended struct {
	value any
	json  bool // to be JSON, because something else was turned into JSON
}

// restoration is a declaration to be restored.
type restoration struct {
	document int
	items    []int
	schemaRecord
	// cut is where the rules stood that had taken the declaration's place, or -1
	// when they had joined others.
	cut int
}

// attempt is a way to restore declarations: their exact text where it stood; or
// before the rules of the schema; or the same data, wherever it fits.
type attempt int

const (
	exactly attempt = iota
	beside
	rewritten
)

// restoreAll restores declarations in p.file, in each document in the first way
// that gives what is expected of it.
func (p *patcher) restoreAll(restored []restoration, expected map[int]intended) ([]byte, []yamltext.Edit, error) {
	how := make([]attempt, len(p.file.Docs))
	for {
		text, edits, failed, err := p.restore(restored, expected, how)
		if err == nil {
			return text, edits, nil
		}
		tried := false
		for i := range how {
			if (failed < 0 || failed == i) && how[i] < rewritten {
				how[i]++
				tried = true
			}
		}
		if !tried {
			return nil, nil, err
		}
	}
}

// restore restores declarations in p.file, in the given way by document. An
// error says in which document the result is not what it should be; -1 is unknown.
func (p *patcher) restore(restored []restoration, expected map[int]intended, how []attempt) ([]byte, []yamltext.Edit, int, error) {
	var edits []yamltext.Edit
	// Deeper ones first: where two declarations meet, the inner one came first.
	slices.SortStableFunc(restored, func(a, b restoration) int { return cmp.Compare(len(b.Path), len(a.Path)) })
	for i, d := range p.file.Docs {
		t := textOf{p.file, d}
		for _, m := range p.crds(d) {
			for _, s := range restored {
				if s.document != i || !slices.Equal(s.items, m.items) {
					continue
				}
				version, node := findSchema(m.node, s.schemaRecord)
				if node == nil {
					return nil, nil, i, fmt.Errorf("%s is gone", placeOf(s.Version, s.Path))
				}
				var declaration any
				if err := json.Unmarshal(s.Unions, &declaration); err != nil {
					return nil, nil, i, err
				}
				schema := schemaIn(m.in(expected[i].value), version, s.Path)
				if schema == nil {
					return nil, nil, i, fmt.Errorf("kubectl does not find %s", placeOf(s.Version, s.Path))
				}
				schema[union.Key] = declaration
				edit, err := t.declaration(node, s, how[i])
				if err != nil {
					return nil, nil, i, err
				}
				edits = append(edits, edit)
			}
		}
	}
	text, err := yamltext.Apply(p.file.Src, edits)
	if err != nil {
		return nil, nil, -1, err
	}
	failed, err := equals(p.file, text, expected)
	return text, edits, failed, err
}

// declaration is the edit that restores a declaration in schema n.
func (t textOf) declaration(n *yaml.Node, s restoration, how attempt) (yamltext.Edit, error) {
	start, _, err := t.Span(t.doc, n)
	if err != nil {
		return yamltext.Edit{}, err
	}
	if how != rewritten {
		at := start + s.At
		key := firstList(n)
		switch {
		case s.cut >= 0:
			at = s.cut
		case how == beside && key != nil && !isFlow(n):
			first, _, err := t.Span(t.doc, key)
			if err != nil {
				return yamltext.Edit{}, err
			}
			at = t.lineStart(first)
		}
		if at < t.doc.Start || at > t.doc.End {
			return yamltext.Edit{}, fmt.Errorf("the place is outside the document")
		}
		return yamltext.Edit{Start: at, End: at, New: s.Source}, nil
	}
	value, err := orderedJSON(s.Unions)
	if err != nil {
		return yamltext.Edit{}, err
	}
	e := entry{key: union.Key, value: value}
	if isFlow(n) {
		return t.put(n, e)
	}
	l, err := t.entries(n)
	if err != nil {
		return yamltext.Edit{}, err
	}
	at := t.lineStart(l[0].start)
	return yamltext.Edit{Start: at, End: at, New: t.lines(e.block(t.indentation(n, l)))}, nil
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

// equals returns an error unless the documents of text are what is expected of
// them, by index, and the others those of a file before it was edited; and the index
// of one that is not, -1 when it is unknown.
func equals(before *yamltext.File, text []byte, expected map[int]intended) (int, error) {
	file, err := yamltext.Parse(text)
	if err != nil {
		return -1, err
	}
	if len(file.Docs) != len(before.Docs) {
		return -1, fmt.Errorf("%d documents became %d", len(before.Docs), len(file.Docs))
	}
	for i, d := range file.Docs {
		want, ok := expected[i]
		if was := before.Docs[i]; !ok {
			if !bytes.Equal(file.Src[d.Start:d.End], before.Src[was.Start:was.End]) {
				return -1, fmt.Errorf("document %d changed", i+1)
			}
			continue
		}
		_, got, err := source.Read(text[d.Start:d.End])
		if err != nil {
			return i, err
		}
		if !reflect.DeepEqual(got, want.value) {
			return i, fmt.Errorf("document %d: %s", i+1, difference("", got, want.value))
		}
		if want.json && !json.Valid(text[d.Start:d.End]) {
			return i, fmt.Errorf("document %d is not JSON any more", i+1)
		}
	}
	return -1, nil
}
