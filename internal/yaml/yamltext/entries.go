package yamltext

import "go.yaml.in/yaml/v3"

// Entry is one key and its value in a mapping.
type Entry struct {
	Key, Value *yaml.Node
	// Index of Key in the Content of the mapping it was read from, or -1 when
	// it came in through an alias or a merge key: then other places share it.
	Index int
}

// Entries returns the entries of mapping m as YAML means them: aliases are
// followed and merge keys expanded, an own key before a merged one and an
// earlier merged one before a later. It returns nil when m is no mapping.
func Entries(m *yaml.Node) []Entry {
	return appendEntries(nil, map[string]bool{}, map[*yaml.Node]bool{}, m, false)
}

// appendEntries visits each mapping once: a second visit adds nothing, and merges
// may go in circles or multiply like an alias bomb.
func appendEntries(l []Entry, seen map[string]bool, visited map[*yaml.Node]bool, m *yaml.Node, shared bool) []Entry {
	if m != nil && m.Kind == yaml.AliasNode {
		m, shared = m.Alias, true
	}
	if m == nil || m.Kind != yaml.MappingNode || visited[m] {
		return l
	}
	visited[m] = true
	var merged []*yaml.Node
	for i := 0; i+1 < len(m.Content); i += 2 {
		k, v := m.Content[i], m.Content[i+1]
		if k.Tag == "!!merge" {
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
