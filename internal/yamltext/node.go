package yamltext

import (
	"iter"
	"slices"

	"go.yaml.in/yaml/v3"
)

// Resolve follows aliases.
func Resolve(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// All yields a node and all nodes below it, each before its content. Aliases are not followed.
func All(n *yaml.Node) iter.Seq[*yaml.Node] {
	return func(yield func(*yaml.Node) bool) { visit(n, yield) }
}

func visit(n *yaml.Node, yield func(*yaml.Node) bool) bool {
	return n == nil || yield(n) && !slices.ContainsFunc(n.Content, func(c *yaml.Node) bool { return !visit(c, yield) })
}

// HasAlias reports whether a node or a node below it is an alias.
func HasAlias(n *yaml.Node) bool {
	return n.Kind == yaml.AliasNode || slices.ContainsFunc(n.Content, HasAlias)
}

// Pairs yields the keys of a mapping with their values, as they are written. Other nodes have none.
func Pairs(m *yaml.Node) iter.Seq2[*yaml.Node, *yaml.Node] {
	return func(yield func(k, v *yaml.Node) bool) {
		for i := 0; m != nil && m.Kind == yaml.MappingNode && i+1 < len(m.Content); i += 2 {
			if !yield(m.Content[i], m.Content[i+1]) {
				return
			}
		}
	}
}

// Omit returns a tree without the nodes in drop, which are items of lists or keys of mappings. The
// tree shares nodes without dropped descendants with n. Aliases are kept.
func Omit(n *yaml.Node, drop map[*yaml.Node]bool) *yaml.Node {
	if n == nil || len(drop) == 0 {
		return n
	}
	step := 1
	if n.Kind == yaml.MappingNode {
		step = 2
	}
	var content []*yaml.Node
	same := true
	for entry := range slices.Chunk(n.Content, step) {
		if drop[entry[0]] {
			same = false
			continue
		}
		for _, c := range entry {
			kept := Omit(c, drop)
			same = same && kept == c
			content = append(content, kept)
		}
	}
	if same {
		return n
	}
	copied := *n
	copied.Content = content
	return &copied
}

// Aliased returns the nodes to which an alias below root refers, and their descendants. An edit of
// such a node also changes other paths.
func Aliased(root *yaml.Node) map[*yaml.Node]bool {
	found := map[*yaml.Node]bool{}
	var mark func(n *yaml.Node)
	mark = func(n *yaml.Node) {
		if n == nil || found[n] {
			return
		}
		found[n] = true
		for _, c := range n.Content {
			mark(c)
		}
	}
	for n := range All(root) {
		mark(n.Alias)
	}
	return found
}

// isMerge reports whether both YAML readers read a key as a merge key.
func isMerge(k *yaml.Node) bool {
	return k.Kind == yaml.ScalarNode && k.Value == "<<" && k.ShortTag() == "!!merge"
}

// DuplicateKeys returns the key nodes that repeat a key of their mapping, in source order, each after
// the first key that it repeats. Keys are compared as kubectl reads them: 1 and "1" are the same key,
// and so are yes and true.
func DuplicateKeys(root *yaml.Node) (dup [][2]*yaml.Node) {
	for n := range All(root) {
		if n.Kind != yaml.MappingNode {
			continue
		}
		seen := make(map[string]*yaml.Node, len(n.Content)/2)
		for written := range Pairs(n) {
			if k := Resolve(written); k.Kind == yaml.ScalarNode {
				text := keyText(k)
				if first := seen[text]; first != nil {
					dup = append(dup, [2]*yaml.Node{first, written})
					continue
				}
				seen[text] = written
			}
		}
	}
	return dup
}
