package yamltext

import (
	"bytes"
	"fmt"

	"go.yaml.in/yaml/v3"
)

// Encode writes a document like kubectl and kustomize do. It returns an error if the encoder panics.
// The result may differ in meaning, because the encoder mishandles some comments and folded scalars.
func Encode(root *yaml.Node) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("write YAML: %v", r)
		}
	}()
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	enc.CompactSeqIndent()
	if err := enc.Encode(root); err != nil {
		return nil, err
	}
	if err := enc.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// Describe describes a value for messages: "a mapping", "a list", "an empty list", "an alias",
// "null", a number or boolean as it is, and any other value in quotes.
func Describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		return "an empty list"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	}
	switch n.ShortTag() {
	case "!!null":
		return "null"
	case "!!bool", "!!int", "!!float":
		return n.Value
	}
	return fmt.Sprintf("%q", n.Value)
}
