package prove

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
)

// Lacking describes the properties without the default that the old object of an example lacks.
func (p *Problem) Lacking(m logic.Model) []string {
	version, _ := p.Source.Stored()
	var l []string
	for _, s := range p.Slots {
		if was := s.Places[Old]; s.lacks && m(was.Parent.Present()) && !m(was.Present()) {
			at := strings.Trim(p.PathTo(s.Level)+"."+strings.Join(s.Path, "."), ".")
			l = append(l, fmt.Sprintf("stored objects may lack %s, because the storage version %s has no default for it", at, version))
		}
	}
	return l
}

// Unusual describes the unusual values of an example.
func (p *Problem) Unusual(m logic.Model, update bool) []string {
	var l []string
	for _, s := range p.Slots {
		for side := range s.Chosen {
			if side == Old && !update {
				continue
			}
			for i, c := range s.Chosen[side] {
				if !m(c) || s.usual(i) {
					continue
				}
				text := s.describe(i)
				if !slices.Contains(l, text) {
					l = append(l, text)
				}
			}
		}
	}
	return l
}

// usual reports whether value i of a slot has no other purpose than the state of the subject.
func (s *Slot) usual(i int) bool {
	valued := s.Values[i] != nil && s.Values[i] != any("") && s.Values[i] != any(Absent{})
	return i == 0 || s.part != nil && (i == s.set || s.part.ByValue && valued)
}

func (s *Slot) describe(i int) string {
	name, v := called(s.Path), s.Values[i]
	if s.part != nil && !s.part.ByValue && s.set < i {
		path, inner := differing(s.Values[s.set], v)
		name, v = strings.Join(append([]string{name}, path...), "."), inner
	}
	return name + " is " + briefly(v)
}

// called formats a path for messages.
func called(path []string) string {
	l := slices.Clone(path)
	for i, name := range l {
		if keys := formula.KeysOf(name); keys != nil {
			var values []string
			for _, k := range sortedKeys(keys) {
				values = append(values, fmt.Sprintf("%s: %v", k, keys[k]))
			}
			l[i] = "the item {" + strings.Join(values, ", ") + "}"
		}
	}
	return strings.Join(l, ".")
}

// differing returns the path and value at which b differs from a, if there is only one.
func differing(a, b any) (path []string, v any) {
	x, ok := a.(map[string]any)
	y, isMap := b.(map[string]any)
	if !ok || !isMap {
		return nil, b
	}
	var names []string
	for name := range maps.Keys(y) {
		if !reflect.DeepEqual(x[name], y[name]) {
			names = append(names, name)
		}
	}
	for name := range maps.Keys(x) {
		if _, there := y[name]; !there {
			names = append(names, name)
		}
	}
	if len(names) != 1 {
		return nil, b
	}
	inner, there := y[names[0]]
	if !there {
		return names, Absent{}
	}
	path, v = differing(x[names[0]], inner)
	return append(names, path...), v
}

// briefly describes a value in one or two words.
func briefly(v any) string {
	switch v := v.(type) {
	case Absent:
		return "not set"
	case nil:
		return "null"
	case string:
		return "'" + v + "'"
	case map[string]any:
		if len(v) == 0 {
			return "{}"
		}
	case []any:
		if len(v) == 0 {
			return "[]"
		}
	default:
		return fmt.Sprint(v)
	}
	return "set"
}
