package yamltext

import "go.yaml.in/yaml/v3"

// Entry is a key of a mapping with its value.
type Entry struct {
	Key, Value *yaml.Node
	// Index is the index of Key in the Content of its mapping. It is -1 for an entry from an alias
	// or a merge key, which other paths share.
	Index int
}

// Entries returns the effective entries of mapping m: aliases are followed and merge keys expanded.
// A mapping's own keys take precedence over merged ones, and earlier merges over later ones. It
// returns nil if m is not a mapping.
func Entries(m *yaml.Node) []Entry {
	return appendEntries(nil, map[string]bool{}, map[*yaml.Node]bool{}, m, false)
}

// Find returns the effective entry of mapping m with a key. Without such an entry, the nodes of the
// result are nil and its index is -1.
func Find(m *yaml.Node, key string) Entry {
	for _, e := range Entries(m) {
		if e.Key.Value == key {
			return e
		}
	}
	return Entry{Index: -1}
}

// appendEntries visits each mapping once, because a second visit adds nothing. Without this, cyclic
// merges would not end, and merges could grow exponentially like an alias bomb.
func appendEntries(l []Entry, seen map[string]bool, visited map[*yaml.Node]bool, m *yaml.Node, shared bool) []Entry {
	if m != nil && m.Kind == yaml.AliasNode {
		m, shared = m.Alias, true
	}
	if m == nil || m.Kind != yaml.MappingNode || visited[m] {
		return l
	}
	visited[m] = true
	var merged []*yaml.Node
	i := -2
	for k, v := range Pairs(m) {
		if i += 2; k.Tag == "!!merge" {
			merged = append(merged, v)
			continue
		}
		if k.Kind != yaml.ScalarNode || seen[k.Value] {
			continue
		}
		seen[k.Value] = true
		e := Entry{Key: k, Value: v, Index: i}
		if shared {
			e.Index = -1
		}
		l = append(l, e)
	}
	for _, v := range merged {
		if r := Resolve(v); r != nil && r.Kind == yaml.SequenceNode {
			for _, w := range r.Content {
				l = appendEntries(l, seen, visited, w, true)
			}
			continue
		}
		l = appendEntries(l, seen, visited, v, true)
	}
	return l
}
