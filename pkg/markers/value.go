package markers

import (
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// value returns u, which is d adapted to one schema, as the value of x-kubernetes-unions. The nodes
// have the positions of their markers.
func (d *declared) value(u *union.Union) *yaml.Node {
	item := u.Node()
	list := yamltext.ListNode(item)
	place(list, d.at)
	for k, value := range yamltext.Pairs(item) {
		key := k.Value
		var pos diag.Pos // the position of a member
		for j, n := range value.Content {
			name := value.Kind != yaml.MappingNode || j%2 == 0
			if name {
				pos = d.pos(key, n.Value)
			}
			place(n, pos)
			for _, v := range append(n.Content, n) {
				if !name && key == "fields-to-discriminateBy" && v.Kind == yaml.ScalarNode {
					place(v, d.spots[spot{valuesKey, v.Value}])
				}
			}
		}
	}
	overlay(item, d.keys)
	return list
}

// pos returns the position of a member that a key names.
func (d *declared) pos(key, member string) diag.Pos {
	if pos, ok := d.spots[spot{key, member}]; ok {
		return pos
	}
	return d.spots[spot{"members", member}]
}

// place sets the position of a node and of all nodes below it.
func place(n *yaml.Node, pos diag.Pos) {
	for n := range yamltext.All(n) {
		n.Line, n.Column = pos.Line, pos.Col
	}
}
