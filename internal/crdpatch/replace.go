package crdpatch

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// replace removes from base the hand-written rules that unions replace. The result is nil on
// errors.
func (j *job) replace(base *fileText) *fileText {
	r := revise(base)
	for _, c := range j.crds {
		removals := c.Replaced()
		if len(removals) == 0 {
			continue
		}
		w := newWriter(c, base)
		for _, removal := range removals {
			schema := schemaIn(w.value, removal.Place)
			w.touched = append(w.touched, replacementOf(w.manifest, removal, schema))
			if err := w.remove(removal, schema); err != nil {
				w.report(diag.New(codes.Unproved, w.at(removal.Place), "cannot remove the hand-written rules: %v", err).In(removal.Place).
					Hinted("delete them yourself, or write the schema in plain block style"))
			}
		}
		j.take(r, w)
	}
	return j.apply(r)
}

// anchored reports whether an alias refers to n or to a node inside it.
func (w *writer) anchored(n *yaml.Node) bool {
	return w.aliased(n) || slices.ContainsFunc(n.Content, w.anchored)
}

// severed reports aliases that would lose their anchors: aliases outside the declarations to be
// cut that refer to a node inside.
func (w *writer) severed(changes []*documentChange) {
	inside := map[*yaml.Node]bool{} // the nodes of the declarations
	for _, c := range changes {
		// The annotation restores declarations without aliases, so only those of the file can have some.
		own := w.crd.m.schema(c.Place)
		if key := declarationOf(own); c.cut.End > 0 && key >= 0 {
			for _, entry := range own.Content[2*key : 2*key+2] {
				for n := range yamltext.All(entry) {
					inside[n] = true
				}
			}
		}
	}
	for n := range yamltext.All(w.crd.m.Root) {
		if inside[n.Alias] && !inside[n] {
			w.errorf(w.crd.m.pos(n), codes.SharedContent, "move the anchor out of the declaration, or write the value out here",
				"*%s refers to an anchor inside the union declaration at line %d, which compiling takes out", n.Value, n.Alias.Line)
		}
	}
}

// remove plans to remove constraints from a schema, and removes them from its value.
func (w *writer) remove(r compile.Removal, value map[string]any) error {
	n := w.schema(r.Place)
	if w.aliased(n) {
		return errors.New("the schema is shared through an anchor")
	}
	present := maps.Clone(value)
	keys, items := removeConstraints(r, value)
	for _, key := range listKeys {
		if len(items[key]) == 0 && !slices.Contains(keys, key) {
			continue
		}
		at := indexOf(n, key)
		if at < 0 {
			return fmt.Errorf("its %s is shared through an alias or merge key", key)
		}
		l := n.Content[at*2+1]
		if l.Kind != yaml.SequenceNode || w.aliased(l) || len(l.Content) != len(itemsOf(present[key])) {
			return fmt.Errorf("its %s is shared through an alias", key)
		}
		if err := w.cutAll(l, items[key]); err != nil {
			return err
		}
	}
	var whole []int // indices of entries of the schema
	for _, key := range keys {
		whole = append(whole, indexOf(n, key))
	}
	slices.Sort(whole)
	if len(whole) > 0 && whole[0] < 0 {
		return errors.New("they are shared through an alias or merge key")
	}
	return w.cutAll(n, whole)
}

// cutAll plans to remove entries of a collection, given by ascending indices.
func (w *writer) cutAll(n *yaml.Node, indices []int) error {
	cuts, err := w.editor().CutRuns(n, indices)
	if err != nil {
		return err
	}
	per := 1
	if n.Kind == yaml.MappingNode {
		per = 2
	}
	for _, i := range indices {
		if slices.ContainsFunc(n.Content[i*per:(i+1)*per], w.anchored) {
			return errors.New("an anchor in them is used elsewhere")
		}
	}
	w.edits = append(w.edits, cuts...)
	return nil
}
