package crdpatch

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// touch is an edit of a schema or, if schema is nil, of the annotation of a CRD.
type touch struct {
	*manifest
	schema *schemapath.Place
	// removed are list items, by the key of their list, and added are rules.
	removed map[string][]any
	added   []any
	// replaced are the keys of other constraints that a union replaced.
	replaced []string
}

// replacementOf returns the edit of a schema that removes constraints.
func replacementOf(m *manifest, r compile.Removal, schema map[string]any) touch {
	t := touch{manifest: m, schema: &r.Place, removed: map[string][]any{}}
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

// checkResult is the final check of a result. It returns an error unless the result differs from
// the file only in our annotation and, in touched schemas, in declarations, constraints that
// unions replace, and the intended rules.
// Documents without touched CRDs must be identical.
func (j *job) checkResult(out []byte) error {
	if bytes.Equal(j.Bytes(), out) {
		return nil
	}
	before, err := j.textOf(j.Bytes())
	if err != nil {
		return err
	}
	after, err := j.textOf(out)
	if err != nil {
		return err
	}
	if len(before.docs) != len(after.docs) {
		return fmt.Errorf("%d documents became %d", len(before.docs), len(after.docs))
	}
	for i, d := range before.docs {
		if bytes.Equal(d.bytes(), after.docs[i].bytes()) {
			continue
		}
		if err := j.heldDocument(d, after.docs[i]); err != nil {
			return &documentError{index: i, err: err}
		}
	}
	return nil
}

func (j *job) heldDocument(before, after *document) error {
	touched := slices.DeleteFunc(slices.Clone(j.touched), func(t touch) bool { return t.index != before.index })
	if len(touched) == 0 {
		return errors.New("it changed, and nothing in it is compiled")
	}
	for _, d := range []*document{before, after} {
		if _, _, wrong := d.read(); wrong != nil {
			return errors.New(wrong.Message)
		}
	}
	a, b := before.copied(), after.copied()
	for _, t := range touched {
		was, is := t.selected(a), t.selected(b)
		if was == nil || is == nil {
			return fmt.Errorf("a CRD is gone")
		}
		unannotate(was)
		unannotate(is)
		if t.schema == nil {
			continue
		}
		x, y := schemaIn(was, *t.schema), schemaIn(is, *t.schema)
		if x == nil || y == nil {
			return fmt.Errorf("%s is gone", t.schema)
		}
		for _, s := range []map[string]any{x, y} {
			delete(s, union.Key)
			for _, key := range t.replaced {
				delete(s, key)
			}
		}
		// Compare before plus added with after plus removed: a step may remove an item that
		// another step has added.
		for _, key := range listKeys {
			if l := t.removed[key]; len(l) > 0 {
				y[key] = slices.Concat(itemsOf(y[key]), l)
			}
		}
		if len(t.added) > 0 {
			x[validations] = slices.Concat(itemsOf(x[validations]), t.added)
		}
	}
	for _, t := range touched {
		if t.schema == nil {
			continue
		}
		x, y := schemaIn(t.selected(a), *t.schema), schemaIn(t.selected(b), *t.schema)
		for _, key := range listKeys {
			was, is := sortedItems(x[key]), sortedItems(y[key])
			if !slices.Equal(was, is) {
				return fmt.Errorf("%s.%s lost or gained more than compiled content", t.schema, key)
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

// sortedItems returns the items of a list, or any other value, as sorted texts.
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

// unannotate removes our annotation from a CRD, and the key annotations if none are left.
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
