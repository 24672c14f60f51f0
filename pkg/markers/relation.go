package markers

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
)

// relations declares the presence relations of +k8s:dependentRequired and +k8s:dependentForbidden,
// which name other properties of the struct.
func (s *structure) relations() {
	related := s.marked(dependentRequired, dependentForbidden)
	if len(related) == 0 {
		return
	}
	u := declared{at: related[0].mark.pos, item: yamltext.MappingNode()}
	empty := yamltext.StringsNode()
	var seen []*field
	for _, p := range related {
		key := "dependentRequired"
		if p.mark.kind == dependentForbidden {
			key = "dependentForbidden"
		}
		others := yamltext.Value(u.item, key)
		if others == nil {
			others = yamltext.MappingNode()
			u.set(key, others)
		}
		other := place(yamltext.StringNode(*p.mark.value), p.mark.pos)
		if of := yamltext.Value(others, p.json); of != nil {
			of.Content = append(of.Content, other)
		} else {
			list := yamltext.StringsNode()
			list.Content = []*yaml.Node{other}
			others.Content = append(others.Content, p.label(p.mark.pos), list)
		}
		for _, f := range []*field{p.field, s.property(other.Value)} {
			if f == nil || slices.Contains(seen, f) {
				continue
			}
			seen = append(seen, f)
			s.nilable(markedField{f, p.mark})
			if at := s.emptyOf(f, p.mark.pos, true); at.Line > 0 {
				empty.Content = append(empty.Content, f.label(at))
			}
		}
	}
	for _, relations := range yamltext.Pairs(u.item) {
		for i, others := range relations.Content {
			if i%2 == 1 {
				relations.Content[i] = oneOrMore(others.Content)
			}
		}
	}
	if len(empty.Content) > 0 {
		u.set(emptyKey, empty)
	}
	s.add(u)
}
