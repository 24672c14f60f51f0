package declared

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/union"
)

// FormatUnionSet writes declarations for versions of named CRDs as a UnionSet. It has an item per schema,
// sorted by CRD, path and versions. Versions with equal declarations share an item, and several
// declarations for one schema become one list. [ParseUnionSet] returns the same declarations from the
// result.
//
// FormatUnionSet returns an error if a UnionSet cannot express a declaration, for example because no path
// leads to its schema.
func FormatUnionSet(declarations []union.External) ([]byte, error) {
	for _, e := range declarations {
		if slices.Contains(e.Path.Properties(), "") {
			return nil, errors.New("a property without a name has no path")
		}
	}
	l := items(declarations)
	out, err := encode(l)
	if err != nil {
		return nil, err
	}
	set, diags := ParseUnionSet(UnionSetKind, out)
	if set == nil {
		return nil, errors.New(diags[0].Message)
	}
	if !slices.EqualFunc(l, items(set.Declarations), item.equal) {
		return nil, fmt.Errorf("the declarations cannot be written as a %s", UnionSetKind)
	}
	return out, nil
}

// item is the content of an item of schemas.
type item struct {
	crd      string
	path     string
	versions []string     // sorted
	unions   []*yaml.Node // the items of x-kubernetes-unions
	meaning  string       // the same text for equal unions
}

func (i item) equal(j item) bool {
	return i.crd == j.crd && i.path == j.path && slices.Equal(i.versions, j.versions) && i.meaning == j.meaning
}

// items returns the sorted items of a UnionSet with these declarations.
func items(declarations []union.External) []item {
	var single []item // one per schema and version
	for _, e := range declarations {
		at := slices.IndexFunc(single, func(o item) bool {
			return o.crd == e.Name && o.path == e.Path.String() && o.versions[0] == e.Version
		})
		if at < 0 {
			at = len(single)
			single = append(single, item{crd: e.Name, path: e.Path.String(), versions: []string{e.Version}})
		}
		for _, u := range e.Value.Content {
			single[at].unions = append(single[at].unions, u)
			single[at].meaning += yamltext.JSONOnOneLine(yamltext.PlainNode(u))
		}
	}
	sortItems(single)
	var l []item
	for _, i := range single {
		at := slices.IndexFunc(l, func(o item) bool { return o.crd == i.crd && o.path == i.path && o.meaning == i.meaning })
		if at < 0 {
			l = append(l, i)
			continue
		}
		l[at].versions = append(l[at].versions, i.versions...)
	}
	sortItems(l)
	return l
}

func sortItems(l []item) {
	slices.SortStableFunc(l, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.crd, b.crd), cmp.Compare(a.path, b.path), slices.Compare(a.versions, b.versions))
	})
}

// encode writes items in the YAML style of kubectl and kustomize.
func encode(l []item) ([]byte, error) {
	schemas := yamltext.ListNode()
	for _, i := range l {
		m := yamltext.MappingNode(yamltext.StringNode("crd"), yamltext.StringNode(i.crd),
			yamltext.StringNode("versions"), yamltext.StringsNode(i.versions...))
		if i.path != "" {
			m.Content = append(m.Content, yamltext.StringNode("path"), yamltext.StringNode(i.path))
		}
		unions := yamltext.ListNode()
		for _, u := range i.unions {
			unions.Content = append(unions.Content, styled(u))
		}
		m.Content = append(m.Content, yamltext.StringNode(union.Key), unions)
		schemas.Content = append(schemas.Content, m)
	}
	return yamltext.Encode(yamltext.MappingNode(yamltext.StringNode("apiVersion"), yamltext.StringNode(APIVersion),
		yamltext.StringNode("kind"), yamltext.StringNode(UnionSetKind), yamltext.StringNode("schemas"), schemas))
}

// maxFlow is the maximum length in bytes of a list in flow style.
const maxFlow = 72

// styled copies a node, with short lists in flow style.
func styled(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = nil
	for _, child := range n.Content {
		c.Content = append(c.Content, styled(child))
	}
	if c.Kind == yaml.SequenceNode {
		c.Style = 0
		if length(n) <= maxFlow {
			c.Style = yaml.FlowStyle
		}
	}
	return &c
}

// length returns the approximate length of a node in flow style.
func length(n *yaml.Node) int {
	l := len(n.Value) + len(", ")
	for _, c := range n.Content {
		l += length(c)
	}
	return l
}
