package crdpatch

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/rules"
)

// validations is the key of the list that compiling adds rules to.
const validations = "x-kubernetes-validations"

// listKeys are the keys of the lists of constraints whose items compiling may remove.
var listKeys = []string{"allOf", validations}

// ruleNodes returns the list of rules.
func ruleNodes(l ...rules.Rule) *yaml.Node {
	list := yamltext.ListNode()
	for _, r := range l {
		list.Content = append(list.Content, ruleNode(r))
	}
	return list
}

// dataOf returns the items of a list as kubectl reads them.
func dataOf(list *yaml.Node) []any {
	l, _ := yamltext.DataOf(list).([]any)
	return l
}

// removeConstraints removes hand-written constraints from the value of a schema. It returns the keys of
// entries that are removed as a whole, and the indices of removed items by list.
func removeConstraints(r compile.Removal, schema map[string]any) (whole []string, items map[string][]int) {
	items = map[string][]int{}
	for _, c := range r.Constraints {
		if slices.Contains(listKeys, c.Key) {
			items[c.Key] = append(items[c.Key], c.Index)
			continue
		}
		whole = append(whole, c.Key)
		delete(schema, c.Key)
	}
	for _, key := range listKeys {
		taken := items[key]
		if len(taken) == 0 {
			continue
		}
		slices.Sort(taken)
		if present := itemsOf(schema[key]); len(taken) < len(present) {
			schema[key] = omit(present, taken)
			continue
		}
		delete(schema, key)
		delete(items, key)
		whole = append(whole, key)
	}
	return whole, items
}

// itemsOf returns the items of a list in a schema's value.
func itemsOf(v any) []any {
	l, _ := v.([]any)
	return l
}

// ruleOf returns the text of a rule that is given as data, or "".
func ruleOf(v any) string {
	m, _ := v.(map[string]any)
	s, _ := m["rule"].(string)
	return s
}

// omit returns a list without the items at the given indices.
func omit[T any](l []T, indices []int) []T {
	kept := []T{}
	for i, v := range l {
		if !slices.Contains(indices, i) {
			kept = append(kept, v)
		}
	}
	return kept
}

// ruleNode returns the node of a rule, with its keys in alphabetical order like the API
// server's output.
func ruleNode(r rules.Rule) *yaml.Node {
	m := yamltext.MappingNode()
	add := func(key, value string) {
		if value != "" {
			m.Content = append(m.Content, yamltext.StringNode(key), yamltext.StringNode(value))
		}
	}
	add("fieldPath", r.FieldPath)
	add("message", r.Message)
	add("messageExpression", r.MessageExpression)
	if r.OptionalOldSelf {
		m.Content = append(m.Content, yamltext.StringNode("optionalOldSelf"), yamltext.BoolNode(true))
	}
	add("reason", string(r.Reason))
	add("rule", r.Rule)
	return m
}
