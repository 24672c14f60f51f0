package product

import (
	"errors"
	"fmt"

	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// encode encodes a document so that it is read back as the same data. The encoder writes some
// folded scalars, tags and comments incorrectly. It then omits comments, folding and flow style.
func encode(root *yaml.Node) ([]byte, error) {
	if out, err := encodeStyled(root); err == nil {
		return out, nil
	}
	return encodeStyled(plain(root))
}

// encodeStyled encodes a document with its comments and styles. It returns an error unless the text
// is read back as the same data.
func encodeStyled(root *yaml.Node) ([]byte, error) {
	out, err := yamltext.Encode(root)
	if err == nil {
		again, wrong := yamltext.ParseManifest("", out, yamltext.Unlimited())
		switch {
		case wrong != nil:
			err = errors.New(wrong.Message)
		case len(again.Docs) != 1 || !sameMeaning(root, again.Docs[0].Root):
			err = errors.New("it would mean something else")
		default:
			return out, nil
		}
	}
	return nil, fmt.Errorf("it cannot be written as YAML: %w", err)
}

// plainParts replaces the items of a list, or the values of a mapping, that lose data with their
// comments and styles. The other items and values keep them.
func plainParts(n *yaml.Node) {
	for i, part := range n.Content {
		alone := yamltext.ListNode(part)
		if n.Kind == yaml.MappingNode {
			alone = yamltext.MappingNode(yamltext.StringNode(""), part)
		}
		if _, err := encodeStyled(alone); err != nil {
			n.Content[i] = plain(part)
		}
	}
}

// sameMeaning reports whether two trees have the same meaning, for yaml.v3 and for kubectl. It ignores
// style and comments.
func sameMeaning(a, b *yaml.Node) bool {
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
		if !sameMeaning(a.Content[i], b.Content[i]) {
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
