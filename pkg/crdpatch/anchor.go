package crdpatch

import (
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
)

// severed reports aliases that would lose their anchors: aliases outside the declarations to be
// cut that refer to a node inside.
func (w *writer) severed(changes []*documentChange) {
	declared := map[*yaml.Node]bool{} // the declarations
	inside := map[*yaml.Node]bool{}   // and all nodes in them
	for _, c := range changes {
		if c.cut.End > 0 {
			value := c.node.Content[2*c.key+1]
			declared[value] = true
			markAll(value, inside)
			markAll(c.node.Content[2*c.key], inside)
		}
	}
	var visit func(n *yaml.Node)
	visit = func(n *yaml.Node) {
		switch {
		case declared[n]:
			return
		case n.Kind == yaml.AliasNode && inside[n.Alias]:
			w.errorf(n, codes.SharedContent, "move the anchor out of the declaration, or write the value out here",
				"*%s refers to an anchor inside the union declaration at line %d, which compiling takes out", n.Value, n.Alias.Line)
		}
		for _, child := range n.Content {
			visit(child)
		}
	}
	visit(w.Root)
}

func markAll(n *yaml.Node, set map[*yaml.Node]bool) {
	set[n] = true
	for _, child := range n.Content {
		markAll(child, set)
	}
}
