// Package testmanifest reads manifests for tests of the compiler.
package testmanifest

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
)

// Parse reads a file with one CustomResourceDefinition, YAML or JSON. A syntax error has the form
// file:line:col: message.
func Parse(file string, src []byte) (compile.Manifest, error) {
	parsed, err := yamltext.Parse(src)
	if err != nil {
		return compile.Manifest{}, fmt.Errorf("%s:%w", file, err)
	}
	var node *yaml.Node
	for _, d := range parsed.Docs {
		if d.Root == nil {
			continue
		}
		if node != nil {
			return compile.Manifest{}, fmt.Errorf("%s:%d:%d: a second document", file, d.Root.Line, d.Root.Column)
		}
		node = d.Root
	}
	if node == nil || node.Kind != yaml.MappingNode {
		return compile.Manifest{}, fmt.Errorf("%s: no manifest", file)
	}
	data, err := yamltext.JSON(src)
	if err != nil {
		return compile.Manifest{}, fmt.Errorf("%s: %w", file, err)
	}
	return compile.Manifest{File: file, Node: node, JSON: data}, nil
}
