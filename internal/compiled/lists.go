package compiled

import (
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/rules"
)

// The keys of the lists that compiling adds items to.
const (
	AllOf       = "allOf"
	Validations = "x-kubernetes-validations"
)

// ListKeys are the keys of these lists, in alphabetical order like the API server's output.
var ListKeys = []string{AllOf, Validations}

// Addition holds the items that compiling adds to one list.
type Addition struct {
	Key   string
	Items *yaml.Node
}

// Data returns the items as kubectl reads them.
func (a Addition) Data() []any {
	l, _ := yamledit.DataOf(a.Items).([]any)
	return l
}

// Additions returns the non-empty additions to the lists of a schema.
func Additions(a compile.Addition) ([]Addition, error) {
	schemas, validations := Addition{AllOf, yamltext.ListNode()}, Addition{Validations, yamltext.ListNode()}
	for _, s := range a.AllOf {
		n, err := sorted(s)
		if err != nil {
			return nil, err
		}
		schemas.Items.Content = append(schemas.Items.Content, n)
	}
	for _, r := range a.Rules {
		validations.Items.Content = append(validations.Items.Content, RuleNode(r))
	}
	return slices.DeleteFunc([]Addition{schemas, validations}, func(l Addition) bool { return len(l.Items.Content) == 0 }), nil
}

// sorted turns a value into nodes, with keys in alphabetical order.
func sorted(v any) (*yaml.Node, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var m any // maps are marshalled with sorted keys
	if err := utiljson.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	if data, err = json.Marshal(m); err != nil {
		return nil, err
	}
	return yamltext.FromJSON(data)
}

// list returns the record of one list: the sums of its items, and whether it was empty.
func (s *Schema) list(key string) (sums *[]string, empty *bool) {
	if key == AllOf {
		return &s.AllOf, &s.EmptyAllOf
	}
	return &s.Rules, &s.Empty
}

// Note records the items that a list gets.
func (s *Schema) Note(a Addition) {
	sums, _ := s.list(a.Key)
	for _, item := range a.Data() {
		*sums = append(*sums, Sum(item))
	}
}

// NoteEmpty records whether a list was empty before it gets items.
func (s *Schema) NoteEmpty(key string, is bool) {
	_, empty := s.list(key)
	*empty = is
}

// recordedList is one list of a record.
type recordedList struct {
	key   string
	sums  []string
	empty bool
}

// lists returns the lists of a record that have items.
func (s Schema) lists() []recordedList {
	l := []recordedList{{AllOf, s.AllOf, s.EmptyAllOf}, {Validations, s.Rules, s.Empty}}
	return slices.DeleteFunc(l, func(l recordedList) bool { return len(l.sums) == 0 })
}

// Sums returns the sums of all items.
func (s Schema) Sums() []string { return slices.Concat(s.AllOf, s.Rules) }

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

// FirstList returns the first key of a schema that is in ListKeys, or nil.
func FirstList(n *yaml.Node) *yaml.Node {
	for _, e := range yamltext.Entries(n) {
		if slices.Contains(ListKeys, e.Key.Value) {
			return e.Key
		}
	}
	return nil
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

// RuleNode returns the node of a rule, with its keys in alphabetical order like the API
// server's output.
func RuleNode(r rules.Rule) *yaml.Node {
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
