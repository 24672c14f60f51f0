package crdpatch

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"

	"github.com/unioncel/unioncel/internal/source"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/union"
)

// touch is what one step did to a schema, or without one to the annotation of a CRD.
type touch struct {
	document int
	items    []int // of the CRD
	schema   *compile.Place
	// removed and added are items, by list.
	removed, added map[string][]any
	// replaced are the keys of what else gave way to a union.
	replaced []string
}

// replacementOf is what a removal does to a schema, which is not changed yet.
func replacementOf(document int, m manifest, r compile.Removal, schema map[string]any) touch {
	t := touch{document: document, items: m.items, schema: &r.Place, removed: map[string][]any{}}
	for _, c := range r.Constraints {
		switch l, ok := schema[c.Key].([]any); {
		case !slices.Contains(listKeys, c.Key):
			t.replaced = append(t.replaced, c.Key)
		case ok && c.Index < len(l):
			t.removed[c.Key] = append(t.removed[c.Key], l[c.Index])
		}
	}
	return t
}

// held is the last word on a result, whatever led to it: it returns an error unless
// text and out differ in nothing but declarations, rules and allOf of the schemas that
// were touched, as items that were to be removed and added; in what unions replace; and
// in our annotation. Documents without CRDs are the same to the byte.
func (p *patcher) held(text, out []byte) error {
	if bytes.Equal(text, out) {
		return nil
	}
	before, err := yamltext.Parse(text)
	if err != nil {
		return err
	}
	after, err := yamltext.Parse(out)
	if err != nil {
		return err
	}
	if len(before.Docs) != len(after.Docs) {
		return fmt.Errorf("%d documents became %d", len(before.Docs), len(after.Docs))
	}
	for i, d := range before.Docs {
		e := after.Docs[i]
		if bytes.Equal(text[d.Start:d.End], out[e.Start:e.End]) {
			continue
		}
		if err := p.heldDocument(i, text[d.Start:d.End], out[e.Start:e.End]); err != nil {
			return fmt.Errorf("document %d: %w", i+1, err)
		}
	}
	return nil
}

func (p *patcher) heldDocument(i int, text, out []byte) error {
	touched := slices.DeleteFunc(slices.Clone(p.touched), func(t touch) bool { return t.document != i })
	if len(touched) == 0 {
		return fmt.Errorf("it changed, and nothing in it is compiled")
	}
	_, a, err := source.Read(text)
	if err != nil {
		return err
	}
	_, b, err := source.Read(out)
	if err != nil {
		return err
	}
	for _, t := range touched {
		m := manifest{items: t.items}
		was, is := m.in(a), m.in(b)
		if was == nil || is == nil {
			return fmt.Errorf("a CRD is gone")
		}
		unannotate(was)
		unannotate(is)
		if t.schema == nil {
			continue
		}
		x, y := schemaIn(was, t.schema.Version, t.schema.Steps), schemaIn(is, t.schema.Version, t.schema.Steps)
		if x == nil || y == nil {
			return fmt.Errorf("%s is gone", t.schema)
		}
		for _, s := range []map[string]any{x, y} {
			delete(s, union.Key)
			for _, key := range t.replaced {
				delete(s, key)
			}
		}
		// What is added in one step may be removed in another: both sides get it.
		for _, key := range listKeys {
			if len(t.removed[key])+len(t.added[key]) > 0 {
				x[key] = slices.Concat(itemsOf(x[key]), t.added[key])
				y[key] = slices.Concat(itemsOf(y[key]), t.removed[key])
			}
		}
	}
	for _, t := range touched {
		if t.schema == nil {
			continue
		}
		m := manifest{items: t.items}
		x, y := schemaIn(m.in(a), t.schema.Version, t.schema.Steps), schemaIn(m.in(b), t.schema.Version, t.schema.Steps)
		for _, key := range listKeys {
			was, is := sortedItems(x[key]), sortedItems(y[key])
			if !slices.Equal(was, is) {
				return fmt.Errorf("%s.%s lost or gained something else than what was compiled", t.schema, key)
			}
			delete(x, key)
			delete(y, key)
		}
	}
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("%s", difference("", b, a))
	}
	return nil
}

func itemsOf(v any) []any {
	l, _ := v.([]any)
	return l
}

// sortedItems are the items of a list, or anything else, as sorted texts.
func sortedItems(v any) []string {
	l, ok := v.([]any)
	if !ok && v != nil {
		return []string{jsonOf(v)}
	}
	texts := []string{}
	for _, item := range l {
		texts = append(texts, jsonOf(item))
	}
	slices.Sort(texts)
	return texts
}

// unannotate takes our annotation out of a CRD, and annotations without any.
func unannotate(crd map[string]any) {
	metadata, _ := crd["metadata"].(map[string]any)
	annotations, ok := metadata["annotations"].(map[string]any)
	if !ok && metadata["annotations"] != nil {
		return
	}
	if delete(annotations, Annotation); len(annotations) == 0 {
		delete(metadata, "annotations")
	}
}
