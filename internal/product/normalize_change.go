package product

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// mapping is a YAML mapping with the entries that changes clear and put.
type mapping struct {
	at      yamltext.ObjectPath
	changes []*Change
	clear   []string
	puts    []string // in the order of the declarations; each has an entry in values
	values  map[string]any
}

// edit returns the edits of an object's text for changes, and an error for each change that the text
// does not permit.
func edit(o *yamltext.Object, changes []Change) ([]yamltext.Edit, diag.List) {
	var edited []*mapping
	in := func(c *Change, path []string) *mapping {
		at := c.At.Property(path...)
		i := slices.IndexFunc(edited, func(m *mapping) bool { return slices.Equal(m.at, at) })
		if i < 0 {
			i, edited = len(edited), append(edited, &mapping{at: at, values: map[string]any{}})
		}
		m := edited[i]
		m.changes = append(m.changes, c)
		return m
	}
	for i := range changes {
		c := &changes[i]
		for _, name := range c.Clear {
			path := c.Union.Path(name).Properties()
			last := len(path) - 1
			m := in(c, path[:last])
			m.clear = append(m.clear, path[last])
		}
		at, _ := c.At.Lookup(o.Value)
		for _, name := range c.Union.Names() {
			v, ok := c.Put[name]
			if !ok {
				continue
			}
			// A missing nested object is put together with the value.
			path, n := c.Union.Path(name).Properties(), 0
			for object, _ := at.(map[string]any); n < len(path)-1; n++ {
				if object, ok = object[path[n]].(map[string]any); !ok {
					break
				}
			}
			m := in(c, path[:n])
			if !slices.Contains(m.puts, path[n]) {
				m.puts = append(m.puts, path[n])
			}
			schemapath.SetValueAt(m.values, path[n:], v)
		}
	}
	// Inner mappings come first: at the same position, edits of the inner mapping precede.
	slices.SortStableFunc(edited, func(a, b *mapping) int { return len(b.at) - len(a.at) })
	var edits []yamltext.Edit
	failed := map[*Change]error{}
	for _, m := range edited {
		more, err := m.edit(o)
		for _, c := range m.changes {
			failed[c] = cmp.Or(err, failed[c])
		}
		edits = append(edits, more...)
	}
	var l diag.List
	for i, c := range changes {
		if err := failed[&changes[i]]; err != nil {
			l = append(l, diag.New(codes.NotNormalized, o.Pos(c.At), "cannot edit the text (%s): %v", c, err).At(c.At.String()))
		}
	}
	return edits, l
}

// edit returns the edits that change the mapping in the text of an object.
func (m *mapping) edit(o *yamltext.Object) ([]yamltext.Edit, error) {
	n, err := o.Mapping(m.at)
	if err != nil {
		return nil, err
	}
	index := func(key string) int {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key && n.Content[i].Tag != "!!merge" {
				return i / 2
			}
		}
		return -1
	}
	var out []int
	for _, name := range m.clear {
		i := index(name)
		if i < 0 {
			return nil, fmt.Errorf("%s comes from a merge key", name)
		}
		if o.Anchored(n.Content[2*i+1]) {
			return nil, fmt.Errorf("an anchor in %s is used elsewhere: write its value there", name)
		}
		out = append(out, i)
	}
	slices.Sort(out)
	var in []yamltext.NewEntry
	var edits []yamltext.Edit
	for _, name := range m.puts {
		value := nodeOf(m.values[name])
		i := index(name)
		if i < 0 {
			in = append(in, yamltext.NewEntry{Key: name, Value: value, Plain: m.changes[0].plain})
			continue
		}
		// The old value is null, an empty value that counts as unset, or the discriminator.
		e, err := o.SetValue(n, i, value)
		if err != nil {
			return nil, err
		}
		edits = append(edits, e)
	}
	more, err := o.Replace(n, out, in...)
	return append(edits, more...), err
}

// nodeOf returns a value of unstructured JSON as a tree of nodes.
func nodeOf(v any) *yaml.Node {
	if s, ok := v.(string); ok {
		return yamltext.StringNode(s)
	}
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // v was read from JSON
	}
	if n, err := yamltext.FromJSON(data); err == nil {
		return n
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: string(data)}
}
