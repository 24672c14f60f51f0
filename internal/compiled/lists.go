package compiled

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/rules"
)

// Validations is the key of the list that compiling adds rules to.
const Validations = "x-kubernetes-validations"

// ListKeys are the keys of the lists of constraints whose items compiling may remove.
var ListKeys = []string{"allOf", Validations}

// RuleNodes returns the list of rules.
func RuleNodes(l ...rules.Rule) *yaml.Node {
	list := yamltext.ListNode()
	for _, r := range l {
		list.Content = append(list.Content, ruleNode(r))
	}
	return list
}

// DataOf returns the items of a list as kubectl reads them.
func DataOf(list *yaml.Node) []any {
	l, _ := yamledit.DataOf(list).([]any)
	return l
}

// Remove removes hand-written constraints from the value of a schema. It returns the keys of
// entries that are removed as a whole, and the indices of removed items by list.
func Remove(r compile.Removal, schema map[string]any) (whole []string, items map[string][]int) {
	items = map[string][]int{}
	for _, c := range r.Constraints {
		if slices.Contains(ListKeys, c.Key) {
			items[c.Key] = append(items[c.Key], c.Index)
			continue
		}
		whole = append(whole, c.Key)
		delete(schema, c.Key)
	}
	for _, key := range ListKeys {
		taken := items[key]
		if len(taken) == 0 {
			continue
		}
		slices.Sort(taken)
		if present := ItemsOf(schema[key]); len(taken) < len(present) {
			schema[key] = Omit(present, taken)
			continue
		}
		delete(schema, key)
		delete(items, key)
		whole = append(whole, key)
	}
	return whole, items
}

// ItemsOf returns the items of a list in a schema's value.
func ItemsOf(v any) []any {
	l, _ := v.([]any)
	return l
}

// RuleOf returns the text of a rule that is given as data, or "".
func RuleOf(v any) string {
	m, _ := v.(map[string]any)
	s, _ := m["rule"].(string)
	return s
}

// Omit returns a list without the items at the given indices.
func Omit(l []any, indices []int) []any {
	kept := []any{}
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
			m.Content = append(m.Content, yamledit.StringNode(key), yamledit.StringNode(value))
		}
	}
	add("fieldPath", r.FieldPath)
	add("message", r.Message)
	add("messageExpression", r.MessageExpression)
	if r.OptionalOldSelf {
		m.Content = append(m.Content, yamledit.StringNode("optionalOldSelf"), yamltext.BoolNode(true))
	}
	add("reason", string(r.Reason))
	add("rule", r.Rule)
	return m
}
