package product

import (
	"errors"
	"fmt"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// NormalizedFile is a rewritten file.
type NormalizedFile struct {
	// Text is the file. Bytes outside the changes are the same as before. It is nil if the file
	// cannot be read or written; errors about objects do not prevent other changes.
	Text []byte
	// Known is the number of objects whose kind has unions.
	Known int
	// Diagnostics report the changes and, as errors, the problems.
	Diagnostics diag.List
}

// files rewrites files.
type files struct {
	// Set has the kinds of the objects. Objects of other kinds stay unchanged.
	Set *union.KindSet
	// Old has the objects that are replaced or patched; it may be nil.
	Old    *yamltext.OldObjects
	Limits yamltext.Limits
	// Parse reads a file.
	Parse func(name string, src []byte, limits yamltext.Limits) (*yamltext.ObjectFile, diag.List)
	// Plan returns the changes of an object that replaces old, which may be nil. It receives the
	// diagnostics of the lookup of old, and returns them with its own, which report the changes, too.
	Plan func(k union.Kind, o, old *yamltext.Object, l diag.List) ([]Change, diag.List)
}

// Rewrite makes the changes in the text of a file. It checks that the result parses to the intended
// objects.
func (f files) Rewrite(name string, src []byte) NormalizedFile {
	file, l := f.Parse(name, src, f.Limits)
	r := NormalizedFile{Diagnostics: l}
	if file == nil || l.HasErrors() {
		return r
	}
	var edits []yamltext.Edit
	var want []any
	for _, o := range file.Objects {
		value := runtime.DeepCopyJSON(o.Value)
		want = append(want, value)
		k, ok := f.Set.Lookup(o.GroupVersionKind)
		if !ok {
			continue
		}
		r.Known++
		old, l := f.Old.Find(o)
		changes, l := f.Plan(k, o, old, l)
		more, wrong := edit(o, changes)
		if wrong.HasErrors() {
			r.Diagnostics = slices.Concat(r.Diagnostics, WithoutChanges(l), wrong)
			continue
		}
		r.Diagnostics = append(r.Diagnostics, l...)
		edits = append(edits, more...)
		ApplyChanges(value, changes)
	}
	out, err := yamltext.ApplyLines(src, edits)
	if err == nil && len(edits) > 0 {
		written, l := f.Parse(name, out, f.Limits)
		err = same(written, l, want)
	}
	if err != nil {
		r.Diagnostics = append(r.Diagnostics, diag.New(codes.Unproved, diag.Pos{File: name}, "the result differs from the intended one: %v", err))
		return r
	}
	r.Text = out
	return r
}

// same returns an error unless a file has exactly the wanted objects.
func same(f *yamltext.ObjectFile, l diag.List, want []any) error {
	if f == nil {
		return errors.New(l[0].Message)
	}
	if len(f.Objects) != len(want) {
		return fmt.Errorf("it has %d objects, not %d", len(f.Objects), len(want))
	}
	for i, o := range f.Objects {
		if !reflect.DeepEqual(any(o.Value), want[i]) {
			return fmt.Errorf("%s is another", o)
		}
	}
	return nil
}
