package crdpatch

import (
	"encoding/json"
	"maps"
	"slices"

	utiljson "k8s.io/apimachinery/pkg/util/json"

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
	items list
}

// additions are the lists, with items, that a schema gets.
func additions(a compile.Addition) ([]addition, error) {
	schemas, validations := addition{key: allOfKey}, addition{key: validationsKey}
	for _, s := range a.AllOf {
		data, err := json.Marshal(s)
		if err != nil {
			return nil, err
		}
		var v any
		if err := utiljson.Unmarshal(data, &v); err != nil {
			return nil, err
		}
		schemas.items = append(schemas.items, sorted(v))
	}
	for _, r := range a.Rules {
		validations.items = append(validations.items, ruleTable(r))
	}
	return slices.DeleteFunc([]addition{schemas, validations}, func(l addition) bool { return len(l.items) == 0 }), nil
}

// sorted turns data into tables, in order of their keys, and lists.
func sorted(v any) any {
	switch v := v.(type) {
	case map[string]any:
		var t table
		for _, key := range slices.Sorted(maps.Keys(v)) {
			t = append(t, pair{key, sorted(v[key])})
		}
		return t
	case []any:
		l := make(list, len(v))
		for i, item := range v {
			l[i] = sorted(item)
		}
		return l
	}
	return v
}

// note records the items that a list gets.
func (s *schemaRecord) note(a addition) {
	for _, item := range a.items {
		data := asData(item)
		if a.key == allOfKey {
			s.AllOf = append(s.AllOf, sumOf(data))
		} else {
			s.Rules = append(s.Rules, sumOf(data))
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
