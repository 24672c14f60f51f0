package krm

import (
	"errors"
	"fmt"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/yaml/source"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
)

// encode encodes a document so that it is read back as the same data. The encoder writes some
// folded scalars, tags and comments incorrectly. It then omits comments, folding and flow style.
func encode(root *yaml.Node) ([]byte, error) {
	var err error
	for _, n := range []*yaml.Node{root, plain(root)} {
		var out []byte
		if out, err = yamltext.Encode(n); err != nil {
			continue
		}
		again, wrong := source.Parse("", out, limit.None())
		switch {
		case wrong != nil:
			err = errors.New(wrong.Message)
		case len(again.Docs) != 1 || !same(root, again.Docs[0].Root):
			err = errors.New("it would mean something else")
		default:
			return out, nil
		}
	}
	return nil, fmt.Errorf("it cannot be written as YAML: %w", err)
}

// same reports whether two trees have the same meaning, for yaml.v3 and for kubectl. It ignores
// style and comments.
func same(a, b *yaml.Node) bool {
	if a == nil || b == nil {
		return a == b
	}
	if a.Kind != b.Kind || a.Value != b.Value || a.ShortTag() != b.ShortTag() || len(a.Content) != len(b.Content) {
		return false
	}
	if a.Kind == yaml.ScalarNode && a.Style != b.Style && isString(a) != isString(b) {
		return false
	}
	for i := range a.Content {
		if !same(a.Content[i], b.Content[i]) {
			return false
		}
	}
	return true
}

// isString reports whether a scalar is a string for both yaml.v3 and kubectl, which reads a plain
// on, y or yes as a boolean.
func isString(n *yaml.Node) bool {
	if n.ShortTag() != yaml.NodeTagString {
		return false
	}
	_, err := yamltext.String(n)
	return err == nil
}

// plain copies a tree in block style, without comments and folded scalars.
func plain(n *yaml.Node) *yaml.Node {
	c := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value, Style: n.Style &^ (yaml.FlowStyle | yaml.FoldedStyle)}
	if n.Style&yaml.FoldedStyle != 0 {
		c.Style |= yaml.LiteralStyle
	}
	for _, child := range n.Content {
		c.Content = append(c.Content, plain(child))
	}
	return c
}
