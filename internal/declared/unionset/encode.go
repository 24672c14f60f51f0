package unionset

import (
	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
)

// encode writes items in the YAML style of kubectl and kustomize.
func encode(l []item, comments bool) ([]byte, error) {
	schemas := yamltext.ListNode()
	for _, i := range l {
		m := yamltext.MappingNode()
		for _, name := range []struct{ key, value string }{{"crd", i.target.Name}, {"group", i.target.Group}, {"kind", i.target.Kind}} {
			if name.value != "" {
				m.Content = append(m.Content, yamltext.StringNode(name.key), yamltext.StringNode(name.value))
			}
		}
		if len(i.versions) > 0 {
			m.Content = append(m.Content, yamltext.StringNode("versions"), yamltext.StringsNode(i.versions...))
		}
		if i.path != "" {
			m.Content = append(m.Content, yamltext.StringNode("path"), yamltext.StringNode(i.path))
		}
		unions := yamltext.ListNode()
		for _, u := range i.unions {
			unions.Content = append(unions.Content, block(u, comments))
		}
		m.Content = append(m.Content, yamltext.StringNode(i.key()), unions)
		schemas.Content = append(schemas.Content, m)
	}
	return yamltext.Encode(yamltext.MappingNode(yamltext.StringNode("apiVersion"), yamltext.StringNode(APIVersion),
		yamltext.StringNode("kind"), yamltext.StringNode(Kind), yamltext.StringNode("schemas"), schemas))
}

// block copies a node in block style, without aliases, merges and positions. Short nodes in it keep
// their flow style.
func block(n *yaml.Node, comments bool) *yaml.Node {
	r := yamltext.Resolve(n)
	c := &yaml.Node{Kind: r.Kind}
	switch r.Kind {
	case yaml.MappingNode:
		for _, e := range yamltext.Entries(r) {
			c.Content = append(c.Content, block(e.Key, comments), inner(e.Value, comments))
		}
	case yaml.SequenceNode:
		for _, item := range r.Content {
			c.Content = append(c.Content, inner(item, comments))
		}
	default:
		s, err := yamltext.String(r)
		if err != nil { // such as a number
			c.Tag, c.Value = r.ShortTag(), r.Value
			break
		}
		c = yamltext.StringNode(s)
	}
	if comments {
		c.HeadComment, c.LineComment, c.FootComment = n.HeadComment, n.LineComment, n.FootComment
	}
	return c
}

// maxFlow is the maximum length in bytes of a list or mapping in flow style.
const maxFlow = 72

// inner copies a node in an item of x-kubernetes-unions. Lists in a node that was not read from a
// file get the flow style.
func inner(n *yaml.Node, comments bool) *yaml.Node {
	c, r := block(n, comments), yamltext.Resolve(n)
	flow := r.Style&yaml.FlowStyle != 0 || r.Line == 0 && r.Kind == yaml.SequenceNode
	if length, commented := measure(c); flow && length <= maxFlow && !commented {
		c.Style = yaml.FlowStyle
	}
	return c
}

// measure returns the approximate length of a node in flow style, and whether there are comments in
// it.
func measure(n *yaml.Node) (length int, commented bool) {
	length = len(n.Value) + len(", ")
	for _, c := range n.Content {
		inside, comment := measure(c)
		length += inside
		commented = commented || comment || c.HeadComment+c.LineComment+c.FootComment != ""
	}
	return length, commented
}
