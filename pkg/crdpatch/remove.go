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
func (r *restorer) removeLists(c *claimed) (int, error) {
	var alone []int // entries of the schema that go as a whole
	for _, l := range c.lists {
		index, err := r.removeItems(c, l)
		if err != nil {
			return -1, err
		}
		if index >= 0 {
			alone = append(alone, index)
		}
	}
	slices.Sort(alone)
	cuts, err := r.cutRuns(c.place.Node, alone)
	if err != nil || len(cuts) == 0 {
		return -1, err
	}
	return cuts[0].start, nil
}

// removeItems plans to take our items out of one list. It returns the index of the
// list among the entries of the schema when it is to go as a whole, else -1.
func (r *restorer) removeItems(c *claimed, l *claimedList) (int, error) {
	if len(l.ours) == 0 {
		return -1, nil
	}
	kept := []any{}
	for i, v := range l.present {
		if !slices.Contains(l.ours, i) {
			kept = append(kept, v)
		}
	}
	c.value[l.key] = kept
	switch all := len(kept) == 0; {
	case all && l.empty && !isFlow(l.node):
		value, err := r.text.behindKey(l.head, l.node)
		r.edits = append(r.edits, yamltext.Edit{Start: value.start, End: value.end, New: " []"})
		return -1, err
	case all && !l.empty:
		delete(c.value, l.key)
		return l.index / 2, nil
	}
	_, err := r.cutRuns(l.node, l.ours)
	return -1, err
}

// textOf returns the index of the item with the text of a rule, or -1.
func (l *claimedList) textOf(rule string) int {
	if rule == "" {
		return -1
	}
	return slices.IndexFunc(l.present, func(v any) bool { return ruleOf(v) == rule })
}

// changed reports items that are gone or edited.
func (r *restorer) changed(c *claimed, l *claimedList, w *regenerated) {
	at, problem := l.at, "is gone, or its text was edited"
	rule := w.rule(c, l.key, l.missing[0])
	if i := l.textOf(rule); i >= 0 && l.node != nil {
		at, problem = l.item(i), "was edited"
	}
	if rule == "" {
		problem, rule = "is gone, or was edited", "its checksum is "+l.missing[0]
	}
	message := fmt.Sprintf("a compiled rule %s: %s", problem, rule)
	switch {
	case l.key == allOfKey:
		message = "a compiled schema in allOf is gone, or was edited"
	case len(l.missing) > 1:
		message = fmt.Sprintf("%d compiled rules are gone or were edited; the first %s: %s", len(l.missing), problem, rule)
	}
	again := fmt.Sprintf("declare %s here again, which replaces the compiled rules that are left", union.Key)
	if c.External {
		again = "write the file anew, as controller-gen does, and compile it"
	}
	r.report(diag.Diagnostic{Code: diag.RuleChanged, Pos: r.pos(at), Path: c.place.String(), Message: message,
		Hint: fmt.Sprintf("restore it; or %s; or delete the annotation %s, which makes all rules yours", again, Annotation)})
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
