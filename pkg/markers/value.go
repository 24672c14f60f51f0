package markers

import (
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// value is u, which d has become at one schema, as the value of x-kubernetes-unions.
// Its nodes have the positions of the markers that they come from.
func (d *declared) value(u *union.Union) *yaml.Node {
	item := u.Node()
	list := yamltext.ListNode(item)
	place(list, d.at)
	defer d.overlay(item)
	for i := 0; i+1 < len(item.Content); i += 2 {
		value := item.Content[i+1]
		switch item.Content[i].Value {
		case "members", "optionalMembers", "emptyIsUnset":
			var pos diag.Pos
			for j, name := range value.Content {
				if value.Kind == yaml.MappingNode && j%2 == 1 {
					place(name, pos) // of the member before it
					continue
				}
				var ok bool
				if pos, ok = d.spots[[2]string{item.Content[i].Value, name.Value}]; !ok {
					pos = d.members[name.Value]
				}
				place(name, pos)
			}
		case "fields-to-discriminateBy":
			for j := 0; j+1 < len(value.Content); j += 2 {
				name, values := value.Content[j], value.Content[j+1]
				place(name, d.members[name.Value])
				if values.Kind == yaml.ScalarNode {
					place(values, d.values[values.Value])
					continue
				}
				place(values, d.members[name.Value])
				for _, v := range values.Content {
					place(v, d.values[v.Value])
				}
			}
		}
	}
	return list
}

// place gives a node, and all in it, a position.
func place(n *yaml.Node, pos diag.Pos) {
	n.Line, n.Column = pos.Line, pos.Col
	for _, c := range n.Content {
		place(c, pos)
	}
}
