package crdpatch

import (
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// replace takes out of base the hand-written rules that give way to those of
// unions which say so. The result is nil when there are errors.
func (j *job) replace(b *base) *text {
	r := revise(b.text)
	for _, m := range b.manifests() {
		external := j.externals(b, m)
		if !replaces(m.node) && !slices.ContainsFunc(external, func(e union.External) bool { return replaces(e.Value) }) {
			continue
		}
		in, ok := j.input(m, external)
		if !ok {
			continue // reported when it is compiled
		}
		removals, diags := compile.Replaced(in, j.optionsFor(m).compiler())
		for _, d := range diags {
			j.report(d)
		}
		w := write(m, j.opts)
		for _, removal := range removals {
			schema := schemaIn(w.value, removal.Version, removal.Path)
			w.touched = append(w.touched, replacementOf(m, removal, schema))
			if err := w.remove(removal, schema); err != nil {
				j.report(diag.Diagnostic{Code: diag.Unproved, Pos: w.pos(w.schemaAt(removal.Place)), Path: removal.Place.String(), Schema: removal.Place.Structural(),
					Message: fmt.Sprintf("cannot remove the hand-written rules: %v", err),
					Hint:    "delete them yourself, or write the schema in plain block style"})
			}
		}
		j.take(r, w)
	}
	if j.diags.HasErrors() {
		return nil
	}
	if len(r.edits) == 0 {
		return b.text
	}
	t, err := r.text(j.limits)
	if err != nil {
		j.unproved(err)
		return nil
	}
	return t
}

// anchored reports whether an alias refers to n, or to something below it.
func (w *writer) anchored(n *yaml.Node) bool {
	return w.aliased(n) || slices.ContainsFunc(n.Content, w.anchored)
}

// replaces reports whether a declaration at n or below replaces hand-written rules.
func replaces(n *yaml.Node) bool {
	seen := map[*yaml.Node]bool{}
	var visit func(n *yaml.Node) bool
	visit = func(n *yaml.Node) bool {
		if n = yamltext.Resolve(n); n == nil || seen[n] {
			return false
		}
		seen[n] = true
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 && c.Value == "handWrittenRules" || visit(c) {
				return true
			}
		}
		return false
	}
	return visit(n)
}

// remove plans to take constraints out of a schema, and takes them out of its value.
func (w *writer) remove(r compile.Removal, value map[string]any) error {
	n := w.schemaAt(r.Place)
	if w.aliased(n) {
		return errors.New("the schema is shared through an anchor")
	}
	var whole []int // entries of the schema
	items := map[string][]int{}
	for _, c := range r.Constraints {
		if slices.Contains(listKeys, c.Key) {
			items[c.Key] = append(items[c.Key], c.Index)
			continue
		}
		whole = append(whole, indexOf(n, c.Key))
		delete(value, c.Key)
	}
	for _, key := range listKeys {
		taken := items[key]
		if len(taken) == 0 {
			continue
		}
		at := indexOf(n, key)
		if at < 0 {
			return fmt.Errorf("its %s is shared through an alias or merge key", key)
		}
		l := n.Content[at*2+1]
		present := itemsOf(value[key])
		if l.Kind != yaml.SequenceNode || w.aliased(l) || len(l.Content) != len(present) {
			return fmt.Errorf("its %s is shared through an alias", key)
		}
		if len(taken) == len(present) {
			whole = append(whole, at)
			delete(value, key)
			continue
		}
		slices.Sort(taken)
		value[key] = without(present, taken)
		if err := w.cutAll(l, taken); err != nil {
			return err
		}
	}
	slices.Sort(whole)
	if len(whole) > 0 && whole[0] < 0 {
		return errors.New("they are shared through an alias or merge key")
	}
	return w.cutAll(n, whole)
}

// cutAll plans to take entries of a collection out, given in ascending order.
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
