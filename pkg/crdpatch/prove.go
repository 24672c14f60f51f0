package crdpatch

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"

	"github.com/unioncel/unioncel/internal/source"
	"github.com/unioncel/unioncel/internal/yamltext"
)

// prove parses the result of editing base again and compares each document that
// changed with what it is to mean. Documents of a compiled file whose rules come
// out as they are keep their bytes: src's.
func (p *patcher) prove(src []byte, base undone, out []byte, edits []yamltext.Edit) ([]byte, error) {
	for _, d := range p.file.Docs {
		want, ok := p.expected[d]
		if !ok {
			continue
		}
		// What the document grew to: nothing is edited across documents, and what
		// is inserted between two belongs to the first.
		start, end := d.Start, d.End
		for _, e := range edits {
			if e.End <= d.Start {
				start += len(e.New) - (e.End - e.Start)
			}
			if e.End <= d.End {
				end += len(e.New) - (e.End - e.Start)
			}
		}
		_, got, err := source.Read(out[start:end])
		if err != nil {
			return nil, err
		}
		if !reflect.DeepEqual(got, want) {
			return nil, errors.New(difference("", got, want))
		}
	}
	if !base.changed {
		return out, nil
	}
	before, err := yamltext.Parse(src)
	if err != nil {
		return nil, err
	}
	after, err := yamltext.Parse(out)
	if err != nil {
		return nil, err
	}
	if len(before.Docs) != len(after.Docs) {
		return nil, fmt.Errorf("%d documents became %d", len(before.Docs), len(after.Docs))
	}
	var kept []byte
	for i, d := range before.Docs {
		e := after.Docs[i]
		if p.same(before, d, after, e) {
			kept = append(kept, src[d.Start:d.End]...)
		} else {
			kept = append(kept, out[e.Start:e.End]...)
		}
	}
	return kept, nil
}

// same reports whether two documents have the same rules of the same unions, and
// differ at most in what their annotations remember of the text.
func (p *patcher) same(f *yamltext.File, d *yamltext.Document, g *yamltext.File, e *yamltext.Document) bool {
	a, err := f.Value(d)
	if err != nil {
		return false
	}
	b, err := g.Value(e)
	if err != nil {
		return false
	}
	for _, m := range p.crds(d) {
		if !forget(m.in(a)) || !forget(m.in(b)) {
			return false
		}
	}
	return reflect.DeepEqual(a, b)
}

// forget takes out of a CRD's annotation what it remembers of the text, and
// sorts the rules, and allOf, of the schemas it lists: their order means nothing. It returns
// false when the annotation cannot be read.
func forget(crd map[string]any) bool {
	metadata, _ := crd["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	text, ok := annotations[Annotation].(string)
	if !ok {
		return annotations[Annotation] == nil
	}
	r, err := parseRecord(text)
	if err != nil {
		return false
	}
	r.Annotations, r.JSON = nil, false
	for i := range r.Schemas {
		s := &r.Schemas[i]
		s.Source, s.At = "", 0
		slices.Sort(s.AllOf)
		slices.Sort(s.Rules)
		for v := range listAt(crd, "spec", "versions") {
			for _, key := range listKeys {
				if items, _ := schemaIn(crd, v, s.Path)[key].([]any); len(items) > 0 {
					slices.SortStableFunc(items, func(a, b any) int {
						return cmp.Or(cmp.Compare(ruleOf(a), ruleOf(b)), cmp.Compare(sumOf(a), sumOf(b)))
					})
				}
			}
		}
	}
	slices.SortFunc(r.Schemas, func(a, b schemaRecord) int {
		return slices.Compare(append([]string{a.Version}, a.Path...), append([]string{b.Version}, b.Path...))
	})
	annotations[Annotation], err = r.String()
	return err == nil
}

func listAt(m map[string]any, path ...string) []any {
	for _, key := range path[:len(path)-1] {
		m, _ = m[key].(map[string]any)
	}
	l, _ := m[path[len(path)-1]].([]any)
	return l
}

func ruleOf(v any) string {
	m, _ := v.(map[string]any)
	s, _ := m["rule"].(string)
	return s
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
				return fmt.Sprintf("%s.%s is too much", path, k)
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
