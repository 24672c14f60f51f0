package product

import (
	"fmt"
	"slices"

	"sigs.k8s.io/kustomize/kyaml/fn/framework"
	"sigs.k8s.io/kustomize/kyaml/kio"
	"sigs.k8s.io/kustomize/kyaml/yaml"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

const (
	listKind  = kio.ResourceListKind
	itemsKey  = "items"
	configKey = "functionConfig"
)

var listVersions = []string{kio.ResourceListAPIVersion, "config.kubernetes.io/v1beta1"}

// resourceList is the ResourceList of the input.
type resourceList struct {
	version string
	items   []*yaml.RNode
	config  *yaml.RNode // nil if there is none
}

// readList reads a ResourceList. The error describes any other input.
func readList(in []byte, limits yamltext.Limits) (*resourceList, error) {
	docs, wrong := documents("the input", in, limits)
	if wrong != nil {
		return nil, unreadable(*wrong)
	}
	if len(docs) != 1 {
		return nil, fmt.Errorf("the input has %d documents: a function reads one %s, into which orchestrators such as kustomize put all resources", len(docs), listKind)
	}
	if err := checkList(docs[0]); err != nil {
		return nil, err
	}
	root := yaml.NewRNode(docs[0])
	l := &resourceList{version: word(root, yaml.APIVersionField)}
	l.items, _ = listed(root)
	if config := root.Field(configKey); config != nil && !yaml.IsMissingOrNull(config.Value) {
		l.config = config.Value
	}
	return l, nil
}

// checkList returns an error unless a document is a ResourceList with objects.
func checkList(root *yaml.Node) error {
	kind, version := yamltext.Text(root, yaml.KindField), yamltext.Text(root, yaml.APIVersionField)
	switch {
	case root.Kind != yaml.MappingNode || kind != listKind:
		what := yamltext.Describe(root)
		if kind != "" {
			what = "a " + kind
		}
		return fmt.Errorf("the input is %s, not a %s: this command is run by orchestrators such as kustomize; for files, use unioncel compile", what, listKind)
	case !slices.Contains(listVersions, version):
		return fmt.Errorf("the input is a %s of apiVersion %q: write %s", listKind, version, listVersions[0])
	}
	keys := yamltext.MappingNode()
	for i := 0; i < len(root.Content); i += 2 {
		keys.Content = append(keys.Content, root.Content[i], yamltext.StringNode(""))
	}
	for _, d := range yamltext.Duplicates("", keys) {
		return fmt.Errorf("the %s is malformed: %s", listKind, d.Message)
	}
	items := yamltext.Value(root, itemsKey)
	switch {
	case items == nil:
		return fmt.Errorf("the %s has no items: it is cut off, or write items: []", listKind)
	case items.Kind != yaml.SequenceNode && !yaml.IsYNodeTaggedNull(items):
		return fmt.Errorf("the items of the %s are %s, not a list", listKind, yamltext.Describe(items))
	}
	for i, item := range items.Content {
		if item.Kind != yaml.MappingNode {
			return fmt.Errorf("items[%d] of the %s is %s, not an object", i, listKind, yamltext.Describe(item))
		}
	}
	return nil
}

// write writes the list with the given items and results. Items keep their comments, which may be
// setters of kpt, unless the encoder writes them incorrectly. kyaml's writer would drop empty
// annotations, and panics if metadata is a list.
func (l *resourceList) write(items []*yaml.RNode, results framework.Results) ([]byte, error) {
	list := yamltext.ListNode()
	for _, item := range items {
		list.Content = append(list.Content, item.YNode())
	}
	root := yamltext.MappingNode(yamltext.StringNode(yaml.APIVersionField), yamltext.StringNode(l.version),
		yamltext.StringNode(yaml.KindField), yamltext.StringNode(listKind), yamltext.StringNode(itemsKey), list)
	if l.config != nil {
		root.Content = append(root.Content, yamltext.StringNode(configKey), l.config.YNode())
	}
	if len(results) > 0 {
		n := &yaml.Node{}
		if err := n.Encode(results); err != nil {
			return nil, fmt.Errorf("the results cannot be written: %w", err)
		}
		root.Content = append(root.Content, yamltext.StringNode("results"), n)
	}
	if out, err := encodeStyled(root); err == nil {
		return out, nil
	}
	plainParts(list)
	plainParts(root)
	out, err := encode(root)
	if err != nil {
		return nil, fmt.Errorf("the output, a %s: %w", listKind, err)
	}
	return out, nil
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
func documents(name string, text []byte, limits yamltext.Limits) ([]*yaml.Node, *diag.Diagnostic) {
	file, wrong := yamltext.ParseManifest(name, text, limits)
	if wrong != nil {
		return nil, wrong
	}
	var l []*yaml.Node
	for _, d := range file.Docs {
		root := d.Root
		if root != nil && yamltext.HasAlias(root) {
			data, _, wrong := yamltext.KubectlValue(name, file, d)
			if wrong != nil {
				return nil, wrong
			}
			expanded, wrong := yamltext.ParseManifest(name, data, limits)
			if wrong != nil {
				return nil, wrong
			}
			root = expanded.Docs[0].Root
			root.Line, root.Column = d.Root.Line, d.Root.Column
		}
		if root != nil && !yaml.IsYNodeTaggedNull(root) {
			l = append(l, root)
		}
	}
	return l, nil
}
