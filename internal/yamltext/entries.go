package yamltext

import "go.yaml.in/yaml/v3"

// Entry is a key of a mapping with its value.
type Entry struct {
	Key, Value *yaml.Node
	// Index is the number of the entry in its mapping, from 0. It is -1 for an entry from an alias or
	// a merge key, which other paths share.
	Index int
}

// Entries returns the effective entries of mapping m: aliases are followed and merge keys expanded.
// A mapping's own keys take precedence over merged ones, and earlier merges over later ones. It
// returns nil if m is not a mapping.
func Entries(m *yaml.Node) []Entry {
	var l []Entry
	seen := map[string]bool{}
	visitEntries(m, false, map[*yaml.Node]bool{}, func(e Entry) bool {
		if e.Key.Kind == yaml.ScalarNode && !seen[e.Key.Value] {
			l, seen[e.Key.Value] = append(l, e), true
		}
		return true
	})
	return l
}

// Lookup returns the effective entry of mapping m with a key. Without such an entry, the nodes of the
// result are nil and its index is -1.
//
// Keys are compared as text, not by meaning: On is found as "On", although kubectl reads true.
// [String] reports such a difference.
func Lookup(m *yaml.Node, key string) Entry {
	found := Entry{Index: -1}
	visitEntries(m, false, map[*yaml.Node]bool{}, func(e Entry) bool {
		if k := Resolve(e.Key); k.Kind == yaml.ScalarNode && k.Value == key && k.Tag != "!!binary" {
			found = e
		}
		return found.Key == nil
	})
	return found
}

// Value returns the value at a key of m, through aliases and merge keys, or nil.
func Value(m *yaml.Node, key string) *yaml.Node { return Resolve(Lookup(m, key).Value) }

// Text returns the scalar at a key of m, through aliases and merge keys, or "".
func Text(m *yaml.Node, key string) string {
	if v := Value(m, key); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

// visitEntries yields the entries of m, then those of the merged mappings in order, until yield returns
// false. It visits each mapping once, because a second visit adds nothing. Without this, cyclic merges
// would not end, and merges could grow exponentially like an alias bomb.
func visitEntries(m *yaml.Node, shared bool, visited map[*yaml.Node]bool, yield func(Entry) bool) bool {
	if m != nil && m.Kind == yaml.AliasNode {
		m, shared = Resolve(m), true
	}
	if m == nil || m.Kind != yaml.MappingNode || visited[m] {
		return true
	}
	visited[m] = true
	var merged []*yaml.Node
	i := -1
	for k, v := range Pairs(m) {
		e := Entry{k, v, -1}
		if i++; !shared {
			e.Index = i
		}
		if isMerge(k) {
			merged = append(merged, v)
		} else if !yield(e) {
			return false
		}
	}
	for _, v := range merged {
		from := []*yaml.Node{v}
		if list := Resolve(v); list != nil && list.Kind == yaml.SequenceNode {
			from = list.Content
		}
		for _, m := range from {
			if !visitEntries(m, true, visited, yield) {
				return false
			}
		}
	}
	return true
}
