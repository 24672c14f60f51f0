package crdpatch

import (
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
)

// severed reports aliases that would lose their anchors: aliases outside the declarations to be
// cut that refer to a node inside.
func (w *writer) severed(changes []*documentChange) {
	inside := map[*yaml.Node]bool{} // the nodes of the declarations
	for _, c := range changes {
		if c.cut.End > 0 {
			for _, entry := range c.node.Content[2*c.key : 2*c.key+2] {
				for n := range yamltext.All(entry) {
					inside[n] = true
				}
			}
		}
	}
	for n := range yamltext.All(w.Root) {
		if inside[n.Alias] && !inside[n] {
			w.errorf(n, codes.SharedContent, "move the anchor out of the declaration, or write the value out here",
				"*%s refers to an anchor inside the union declaration at line %d, which compiling takes out", n.Value, n.Alias.Line)
		}
	}
}
