package crdpatch

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// removeLists plans to take our items out of the lists of one schema. It returns
// where those stood that stood alone, else -1.
func (r *restorer) removeLists(s schemaRecord, place string, node *yaml.Node, value map[string]any, fresh bool) (int, error) {
	var alone []int // entries of the schema that go as a whole
	for _, l := range s.lists() {
		index, err := r.removeItems(l, place, node, value, fresh)
		if err != nil {
			return -1, err
		}
		if index >= 0 {
			alone = append(alone, index)
		}
	}
	slices.Sort(alone)
	cuts, err := r.cutRuns(node, alone)
	if err != nil || len(cuts) == 0 {
		return -1, err
	}
	return cuts[0].start, nil
}

// removeItems plans to take our items out of one list. It returns the index of the
// list among the entries of the schema when it is to go as a whole, else -1.
func (r *restorer) removeItems(ours recordedList, place string, node *yaml.Node, value map[string]any, fresh bool) (int, error) {
	present, _ := value[ours.key].([]any)
	var key, l *yaml.Node
	index := -1
	for _, e := range yamltext.Entries(node) {
		if e.Key.Value == ours.key {
			key, l, index = e.Key, e.Value, e.Index
		}
	}
	at := node
	if key != nil {
		at = key
	}
	var found []int
	var changed []ruleRecord
	problem := "is gone, or its text was edited"
	for _, item := range ours.items {
		i, unedited := item.find(present)
		there := i >= 0 && l != nil && index >= 0 && l.Kind == yaml.SequenceNode && i < len(l.Content)
		if there && unedited {
			found = append(found, i)
			continue
		}
		if there && len(changed) == 0 {
			at, problem = l.Content[i], "was edited"
		}
		changed = append(changed, item)
	}
	if len(changed) > 0 && !fresh {
		r.changed(ours, changed, problem, at, place)
	}
	if len(found) == 0 {
		return -1, nil
	}
	slices.Sort(found)
	found = slices.Compact(found)
	kept := []any{}
	for i, v := range present {
		if !slices.Contains(found, i) {
			kept = append(kept, v)
		}
	}
	value[ours.key] = kept
	switch all := len(kept) == 0; {
	case all && ours.empty && !isFlow(l):
		value, err := r.text.behindKey(key, l)
		r.edits = append(r.edits, yamltext.Edit{Start: value.start, End: value.end, New: " []"})
		return -1, err
	case all && !ours.empty:
		delete(value, ours.key)
		return index / 2, nil
	}
	_, err := r.cutRuns(l, found)
	return -1, err
}

// changed reports items that are gone or edited.
func (r *restorer) changed(l recordedList, items []ruleRecord, problem string, at *yaml.Node, place string) {
	message := fmt.Sprintf("a compiled rule %s: %s", problem, items[0].Rule)
	switch {
	case l.key == allOfKey:
		message = "a compiled schema in allOf is gone, or was edited"
	case len(items) > 1:
		message = fmt.Sprintf("%d compiled rules are gone or were edited; the first %s: %s", len(items), problem, items[0].Rule)
	}
	r.report(diag.Diagnostic{Code: diag.RuleChanged, Pos: r.pos(at), Path: place, Message: message,
		Hint: fmt.Sprintf("restore it; or declare %s here again, which replaces the compiled rules that are left; or delete the annotation %s, which makes all rules yours",
			union.Key, Annotation)})
}

// cutRuns plans to take entries of collection n out, given in ascending order,
// and returns the ranges: one for those that follow each other.
func (r *restorer) cutRuns(n *yaml.Node, indices []int) ([]span, error) {
	var cuts []span
	for i := 0; i < len(indices); {
		j := i
		for j+1 < len(indices) && indices[j+1] == indices[j]+1 {
			j++
		}
		cut, err := r.text.cut(n, indices[i], indices[j])
		if err != nil {
			return nil, err
		}
		r.edits = append(r.edits, yamltext.Edit{Start: cut.start, End: cut.end})
		cuts = append(cuts, cut)
		i = j + 1
	}
	return cuts, nil
}
