package crdpatch

import (
	"encoding/json"
	"slices"

	"go.yaml.in/yaml/v3"
	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
)

// The lists of a schema that compiling adds items to.
const (
	allOfKey       = "allOf"
	validationsKey = "x-kubernetes-validations"
)

// listKeys are their keys, in the order of the API server, which is alphabetical.
var listKeys = []string{allOfKey, validationsKey}

// addition is the items that one list gets.
type addition struct {
	key   string
	items *yaml.Node
}

// data are the items as kubectl reads them.
func (a addition) data() []any {
	l, _ := yamledit.DataOf(a.items).([]any)
	return l
}

// additions are the lists, with items, that a schema gets.
func additions(a compile.Addition) ([]addition, error) {
	schemas, validations := addition{allOfKey, yamltext.ListNode()}, addition{validationsKey, yamltext.ListNode()}
	for _, s := range a.AllOf {
		n, err := sorted(s)
		if err != nil {
			return nil, err
		}
		schemas.items.Content = append(schemas.items.Content, n)
	}
	for _, r := range a.Rules {
		validations.items.Content = append(validations.items.Content, ruleNode(r))
	}
	return slices.DeleteFunc([]addition{schemas, validations}, func(l addition) bool { return len(l.items.Content) == 0 }), nil
}

// sorted turns a value into nodes, with keys in alphabetical order.
func sorted(v any) (*yaml.Node, error) {
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	var m any // which is marshalled in that order
	if err := utiljson.Unmarshal(data, &m); err != nil {
		return nil, err
	}
	if data, err = json.Marshal(m); err != nil {
		return nil, err
	}
	return yamltext.FromJSON(data)
}

// note records the items that a list gets.
func (s *schemaRecord) note(a addition) {
	for _, item := range a.data() {
		if a.key == allOfKey {
			s.AllOf = append(s.AllOf, sumOf(item))
		} else {
			s.Rules = append(s.Rules, sumOf(item))
		}
	}
}

// noteEmpty records whether a list that gets items had none.
func (s *schemaRecord) noteEmpty(key string, empty bool) {
	if key == allOfKey {
		s.EmptyAllOf = empty
	} else {
		s.Empty = empty
	}
}

// recordedList is what a record says of one list.
type recordedList struct {
	key   string
	sums  []string
	empty bool
}

// lists are the lists of a record that have items.
func (s schemaRecord) lists() []recordedList {
	l := []recordedList{{allOfKey, s.AllOf, s.EmptyAllOf}, {validationsKey, s.Rules, s.Empty}}
	return slices.DeleteFunc(l, func(l recordedList) bool { return len(l.sums) == 0 })
}

// sums are those of all items.
func (s schemaRecord) sums() []string { return slices.Concat(s.AllOf, s.Rules) }

// itemsOf are the items of a list in a schema's value.
func itemsOf(v any) []any {
	l, _ := v.([]any)
	return l
}

func ruleOf(v any) string {
	m, _ := v.(map[string]any)
	s, _ := m["rule"].(string)
	return s
}

// without is a list without the items at some indices.
func without(l []any, indices []int) []any {
	kept := []any{}
	for i, v := range l {
		if !slices.Contains(indices, i) {
			kept = append(kept, v)
		}
	}
	return kept
}
