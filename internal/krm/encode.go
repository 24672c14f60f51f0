package krm

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/ordered"
	"github.com/unioncel/unioncel/internal/yaml/source"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
)

// encode encodes the list with the given items and results. If results is nil, the key is omitted.
func (l *resourceList) encode(items []*yaml.Node, results *yaml.Node) ([]byte, error) {
	list := *l.items
	list.Content = items
	if list.Style&yaml.FlowStyle != 0 && len(l.items.Content) == 0 && l.root.Style&yaml.FlowStyle == 0 && len(items) > 0 {
		list.Style = 0 // [] does not indicate a style
	}
	root := *l.root
	root.Content = nil
	for i := 0; i+1 < len(l.root.Content); i += 2 {
		switch k, v := l.root.Content[i], l.root.Content[i+1]; {
		case k.Value == resultsKey:
		case v == l.items:
			root.Content = append(root.Content, k, &list)
		default:
			root.Content = append(root.Content, k, v)
		}
	}
	if results != nil {
		key := yamltext.StringNode(resultsKey)
		if root.Style&yaml.FlowStyle != 0 {
			asJSON(key)
			asJSON(results)
		}
		root.Content = append(root.Content, key, results)
	}
	if out, ok := encodeEach(&root, &list); ok {
		return out, nil
	}
	out, err := encodeProved(&root)
	if err != nil {
		return nil, fmt.Errorf("the output, a %s: %w", listKind, err)
	}
	return out, nil
}

// asJSON sets the style of JSON in case the list is JSON.
func asJSON(n *yaml.Node) {
	switch {
	case n.Kind != yaml.ScalarNode:
		n.Style = yaml.FlowStyle
	case n.ShortTag() == "!!str":
		n.Style = yaml.DoubleQuotedStyle
	}
	for _, c := range n.Content {
		asJSON(c)
	}
}

// encodeEach encodes and proves the items of a list separately, several at a time. It inserts them
// into the text of the list in place of a placeholder. Both root and list must be in block style,
// with items in the first column. Otherwise it returns false.
func encodeEach(root, list *yaml.Node) ([]byte, bool) {
	if len(list.Content) == 0 || (root.Style|list.Style)&yaml.FlowStyle != 0 {
		return nil, false
	}
	var texts bytes.Buffer
	proved := true
	ordered.Each(slices.Values(list.Content), len(list.Content), func(item *yaml.Node) ([]byte, error) {
		return encodeProved(yamltext.ListNode(item))
	}, func(_ *yaml.Node, text []byte, err error) {
		texts.Write(text)
		proved = proved && err == nil
	})

	items := list.Content
	list.Content = []*yaml.Node{yamltext.StringNode("stand-in")}
	rest, err := encodeProved(root)
	list.Content = items
	before, after, ok := bytes.Cut(rest, []byte("\n"+itemsKey+":\n- stand-in\n"))
	if err != nil || !ok || !proved {
		return nil, false
	}
	return slices.Concat(before, []byte("\n"+itemsKey+":\n"), texts.Bytes(), after), true
}

// encodeProved encodes a document so that it is read back as the same data. The encoder writes some
// folded scalars and comments incorrectly. It then omits folding or comments.
func encodeProved(root *yaml.Node) ([]byte, error) {
	var err error
	for _, c := range []care{0, unfolded, unfolded | uncommented, uncommented | quoted} {
		var out []byte
		if out, err = yamltext.Encode(careful(root, c)); err != nil {
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
