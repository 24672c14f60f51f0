package krm

import (
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/yaml/source"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// The names in a ResourceList.
const (
	listKind   = "ResourceList"
	listGroup  = "config.kubernetes.io/"
	itemsKey   = "items"
	configKey  = "functionConfig"
	resultsKey = "results"
)

var listVersions = []string{listGroup + "v1", listGroup + "v1beta1"}

// resourceList is the ResourceList of the input.
type resourceList struct {
	root   *yaml.Node
	items  *yaml.Node // a list
	config *yaml.Node // nil if there is none
}

// readList reads a ResourceList. The error describes any other input.
func readList(in []byte, limits limit.Limits) (*resourceList, error) {
	docs, wrong := documents("the input", in, limits)
	if wrong != nil {
		return nil, unreadable(*wrong)
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("the input has %d documents: a function reads one %s, into which orchestrators such as kustomize put all resources", len(docs), listKind)
	}
	l := &resourceList{root: docs[0]}
	kind, version := word(l.root, "kind"), word(l.root, "apiVersion")
	switch {
	case l.root.Kind != yaml.MappingNode || kind != listKind:
		what := yamltext.Describe(l.root)
		if kind != "" {
			what = "a " + kind
		}
		return nil, fmt.Errorf("the input is %s, not a %s: this command is run by orchestrators such as kustomize; for files, use unioncel compile", what, listKind)
	case !slices.Contains(listVersions, version):
		return nil, fmt.Errorf("the input is a %s of apiVersion %q: write %s", listKind, version, listVersions[0])
	}
	for _, d := range source.Duplicates("", yamltext.MappingNode(withoutValues(l.root)...)) {
		return nil, fmt.Errorf("the %s is malformed: %s", listKind, d.Message)
	}
	l.items, l.config = lookup(l.root, itemsKey), lookup(l.root, configKey)
	switch {
	case l.items == nil:
		return nil, fmt.Errorf("the %s has no items: it is cut off, or write items: []", listKind)
	case isNull(l.items):
		*l.items = *yamltext.StringsNode()
	case l.items.Kind != yaml.SequenceNode:
		return nil, fmt.Errorf("the items of the %s are %s, not a list", listKind, yamltext.Describe(l.items))
	}
	for i, item := range l.items.Content {
		if item.Kind != yaml.MappingNode {
			return nil, fmt.Errorf("items[%d] of the %s is %s, not an object", i, listKind, yamltext.Describe(item))
		}
	}
	if isNull(l.config) {
		l.config = nil
	}
	return l, nil
}

// unreadable turns a diagnostic for the text of the input into an error.
func unreadable(d diag.Diagnostic) error {
	if d.Code == codes.EmptyInput {
		return fmt.Errorf("the input is empty: a function reads a %s", listKind)
	}
	if d.Pos.Line > 0 {
		return fmt.Errorf("the input, a %s, cannot be read: line %d: %s", listKind, d.Pos.Line, d.Message)
	}
	return fmt.Errorf("the input, a %s, cannot be read: %s", listKind, d.Message)
}

// documents returns the roots of the non-empty documents in a text. Aliases are expanded in the
// same way as by kubectl.
func documents(name string, text []byte, limits limit.Limits) ([]*yaml.Node, *diag.Diagnostic) {
	file, wrong := source.Parse(name, text, limits)
	if wrong != nil {
		return nil, wrong
	}
	var l []*yaml.Node
	for _, d := range file.Docs {
		root := d.Root
		if root != nil && hasAlias(root) {
			data, _, wrong := source.Value(name, file, d)
			if wrong != nil {
				return nil, wrong
			}
			expanded, wrong := source.Parse(name, data, limits)
			if wrong != nil {
				return nil, wrong
			}
			root = expanded.Docs[0].Root
			root.Line, root.Column = d.Root.Line, d.Root.Column
		}
		if root != nil && !isNull(root) {
			l = append(l, root)
		}
	}
	return l, nil
}

func hasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, hasAlias)
}

// withoutValues returns the keys of a mapping with empty values.
func withoutValues(m *yaml.Node) []*yaml.Node {
	l := slices.Clone(m.Content)
	for i := 1; i < len(l); i += 2 {
		l[i] = &yaml.Node{Kind: yaml.ScalarNode}
	}
	return l
}

// nodes returns the items of the input.
func (l *resourceList) nodes() []*yaml.Node { return slices.Clone(l.items.Content) }
