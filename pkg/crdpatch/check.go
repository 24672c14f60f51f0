package crdpatch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/unioncel/unioncel/internal/compiled"
	"github.com/unioncel/unioncel/internal/crdtext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// touch is an edit of a schema or, if schema is nil, of the annotation of a CRD.
type touch struct {
	*crdtext.Manifest
	schema *schemapath.Place
	// removed are list items, by the key of their list, and added are rules.
	removed map[string][]any
	added   []any
	// replaced are the keys of other constraints that a union replaced.
	replaced []string
}

// replacementOf returns the edit of a schema that removes constraints.
func replacementOf(m *crdtext.Manifest, r compile.Removal, schema map[string]any) touch {
	t := touch{Manifest: m, schema: &r.Place, removed: map[string][]any{}}
	for _, c := range r.Constraints {
		switch l, ok := schema[c.Key].([]any); {
		case !slices.Contains(compiled.ListKeys, c.Key):
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
	if len(before.Docs) != len(after.Docs) {
		return fmt.Errorf("%d documents became %d", len(before.Docs), len(after.Docs))
	}
	for i, d := range before.Docs {
		if bytes.Equal(d.Bytes(), after.Docs[i].Bytes()) {
			continue
		}
		if err := j.heldDocument(d, after.Docs[i]); err != nil {
			return &crdtext.DocumentError{Index: i, Err: err}
		}
	}
	return nil
}

func (j *job) heldDocument(before, after *crdtext.Document) error {
	touched := slices.DeleteFunc(slices.Clone(j.touched), func(t touch) bool { return t.Index != before.Index })
	if len(touched) == 0 {
		return errors.New("it changed, and nothing in it is compiled")
	}
	for _, d := range []*crdtext.Document{before, after} {
		if _, _, wrong := d.Value(); wrong != nil {
			return errors.New(wrong.Message)
		}
	}
	a, b := before.Copied(), after.Copied()
	for _, t := range touched {
		was, is := t.Select(a), t.Select(b)
		if was == nil || is == nil {
			return fmt.Errorf("a CRD is gone")
		}
		unannotate(was)
		unannotate(is)
		if t.schema == nil {
			continue
		}
		x, y := crdtext.SchemaIn(was, *t.schema), crdtext.SchemaIn(is, *t.schema)
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
		for _, key := range compiled.ListKeys {
			if l := t.removed[key]; len(l) > 0 {
				y[key] = slices.Concat(compiled.ItemsOf(y[key]), l)
			}
		}
		if len(t.added) > 0 {
			x[compiled.Validations] = slices.Concat(compiled.ItemsOf(x[compiled.Validations]), t.added)
		}
	}
	for _, t := range touched {
		if t.schema == nil {
			continue
		}
		x, y := crdtext.SchemaIn(t.Select(a), *t.schema), crdtext.SchemaIn(t.Select(b), *t.schema)
		for _, key := range compiled.ListKeys {
			was, is := sortedItems(x[key]), sortedItems(y[key])
			if !slices.Equal(was, is) {
				return fmt.Errorf("%s.%s lost or gained more than compiled content", t.schema, key)
			}
			delete(x, key)
			delete(y, key)
		}
	}
	if !reflect.DeepEqual(a, b) {
		return fmt.Errorf("%s", crdtext.Difference("", b, a))
	}
	return nil
}

// sortedItems returns the items of a list, or any other value, as sorted texts.
func sortedItems(v any) []string {
	l, ok := v.([]any)
	if !ok && v != nil {
		return []string{compiled.JSON(v)}
	}
	texts := []string{}
	for _, item := range l {
		texts = append(texts, compiled.JSON(item))
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
	if delete(annotations, crdfile.Annotation); len(annotations) == 0 {
		delete(metadata, "annotations")
	}
}

// sameRules reports whether two documents have the same unions and rules, and differ only in
// the texts that their annotations record.
func sameRules(d, e *crdtext.Document) bool {
	if bytes.Equal(d.Bytes(), e.Bytes()) {
		return true
	}
	for _, x := range []*crdtext.Document{d, e} {
		if _, _, wrong := x.Value(); wrong != nil {
			return false
		}
	}
	a, b := d.Copied(), e.Copied()
	for _, m := range d.CRDs {
		if !forget(m.Select(a)) || !forget(m.Select(b)) {
			return false
		}
	}
	return reflect.DeepEqual(a, b)
}

// forget removes recorded texts from a CRD's annotation, and sorts the rules of the
// schemas that it lists: their order does not matter. It returns false if the annotation cannot
// be read.
func forget(crd map[string]any) bool {
	metadata, _ := crd["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	text, ok := annotations[crdfile.Annotation].(string)
	if !ok {
		return annotations[crdfile.Annotation] == nil
	}
	r, err := compiled.Parse(text)
	if err != nil {
		return false
	}
	r.Annotations, r.JSON = nil, false
	for i := range r.Schemas {
		s := &r.Schemas[i]
		s.Source, s.At = "", 0
		slices.Sort(s.Rules)
		spec, _ := crd["spec"].(map[string]any)
		for v := range compiled.ItemsOf(spec["versions"]) {
			items := compiled.ItemsOf(crdtext.SchemaIn(crd, schemapath.Place{Version: v, Path: s.Path})[compiled.Validations])
			slices.SortStableFunc(items, func(a, b any) int {
				return cmp.Or(cmp.Compare(compiled.RuleOf(a), compiled.RuleOf(b)), cmp.Compare(compiled.Sum(a), compiled.Sum(b)))
			})
		}
	}
	slices.SortFunc(r.Schemas, func(a, b compiled.Schema) int {
		return cmp.Or(cmp.Compare(a.Version, b.Version), schemapath.Compare(a.Path, b.Path))
	})
	annotations[crdfile.Annotation], err = r.String()
	return err == nil
}
