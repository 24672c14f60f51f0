package union

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Key is the schema key that holds the declarations of a union object
// (KEP-1027).
const Key = "x-kubernetes-unions"

// Declaration is one item of x-kubernetes-unions, before it is checked against a schema.
type Declaration struct {
	// Pos is the start of the item.
	Pos diag.Pos
	// Path is the path of the union object, such as spec.channels[*].
	Path string

	keyed  []keyed       // the keys that are present, in order
	union  Union         // the values of the scalar keys
	fields []fieldValues // the entries of members or fields-to-discriminateBy
}

// keyed is a key of a declaration with its value.
type keyed struct {
	yamltext.ConfigEntry
	pos diag.Pos // of errors about the key
}

func (d *Declaration) add(e yamltext.ConfigEntry) {
	d.keyed = append(d.keyed, keyed{e, keyNamed(e.Name).read(d, e.Key, e.Value)})
}

// key returns the named key with its value, or the zero value if the declaration does not have it.
func (d *Declaration) key(name string) keyed {
	for _, k := range d.keyed {
		if k.Name == name {
			return k
		}
	}
	return keyed{}
}

func (d *Declaration) has(key string) bool { return d.key(key).Name != "" }

// posOf returns the position of errors about a key.
func (d *Declaration) posOf(key string) diag.Pos { return d.key(key).pos }

// discriminator returns the name of the discriminator.
func (d *Declaration) discriminator() word { return d.key("discriminator").Value.Word() }

type word = yamltext.ConfigWord

type fieldValues struct {
	name   word
	values []word                 // nil in a list of members
	item   []yamltext.ConfigEntry // the keys of a list item; items sets its name
	group  string                 // the name of the group in a list of members
}

// newReader returns the reader of declarations at path.
func newReader(file, path string, at *diag.Pos) *yamltext.ConfigReader {
	return &yamltext.ConfigReader{File: file, At: at, SchemaPath: &path,
		Code: codes.MalformedDeclaration, UnknownKey: codes.UnknownKey, Ambiguous: codes.AmbiguousScalar}
}

// Parse parses the value of x-kubernetes-unions at path. It reports all problems, and leaves out
// the items that have any. If at is not nil, it replaces the positions of all nodes.
func Parse(file, path string, value *yaml.Node, at *diag.Pos) ([]*Declaration, diag.List) {
	r := newReader(file, path, at)
	list := r.Value(value, "{members: [a, b]}")
	value = list.Node
	if value.Kind != yaml.SequenceNode || len(value.Content) == 0 {
		hint := "write a list with one item per union, or delete the key"
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 && Example(value.Content[0].Value) != "" {
			hint = fmt.Sprintf("begin the line with a dash: \"- %s\"", value.Content[0].Value)
		}
		list.Errorf(hint, "%s must be a list of unions, not %s", Key, yamltext.Describe(value))
		return nil, r.Diags
	}
	if names := plainNames(value); len(names) > 1 {
		list.Errorf(fmt.Sprintf("write [{members: [%s]}]", strings.Join(names, ", ")), "%s must be a list of unions, not of their members", Key)
		return nil, r.Diags
	}
	var l []*Declaration
	for i, item := range list.Items() {
		before := len(r.Diags)
		d := parse(item)
		d.Pos, d.Path = r.Pos(value.Content[i]), path // the position of an alias, not of its anchor
		if len(r.Diags) == before {
			l = append(l, d)
		}
	}
	return l, r.Diags
}

// plainNames returns the items of a list of strings, or nil for other lists.
func plainNames(list *yaml.Node) (names []string) {
	for _, item := range list.Content {
		s, err := yamltext.String(item)
		if err != nil {
			return nil
		}
		names = append(names, s)
	}
	return names
}

var declarationKeys = func() yamltext.ConfigMapping {
	m := yamltext.ConfigMapping{Name: "a union declaration"}
	for _, k := range keys {
		m.Keys = append(m.Keys, yamltext.ConfigKey{Name: k.name, Example: k.example})
	}
	slices.SortFunc(m.Keys, func(a, b yamltext.ConfigKey) int { return strings.Compare(a.Name, b.Name) })
	return m
}()

func parse(item yamltext.ConfigValue) *Declaration {
	d := &Declaration{}
	entries := item.Entries()
	for len(entries) > 0 {
		e := entries[0]
		entries = entries[1:]
		if lost := outdented(e, entries); lost > 0 {
			key := e.Key.Node.Value
			e.Key.Errorf(fmt.Sprintf("indent the lines below %s", key), "%s has no entries: %s", key, nextToIt(entries[:lost]))
			entries = entries[lost:]
			continue
		}
		if e, ok := e.Known(declarationKeys); ok {
			d.add(e)
		}
	}
	if d.has("members") && d.has(mappingKey) {
		d.key("members").Key.Errorf("keep fields-to-discriminateBy with a discriminator, members without one",
			"members and fields-to-discriminateBy both list the members").Code = codes.Contradiction
	}
	return d
}

// outdented returns the number of entries after e that probably belong to e but are not indented
// below it.
func outdented(e yamltext.ConfigEntry, rest []yamltext.ConfigEntry) int {
	key, v := e.Key.Node.Value, e.Value.Node
	if key != mappingKey && key != "allowedChanges" || v.Kind != yaml.ScalarNode || v.Value != "" {
		return 0
	}
	n := slices.IndexFunc(rest, func(e yamltext.ConfigEntry) bool { return Example(e.Key.Node.Value) != "" })
	if n < 0 {
		return len(rest)
	}
	return n
}

func nextToIt(l []yamltext.ConfigEntry) string {
	var names []string
	for _, e := range l {
		names = append(names, fmt.Sprintf("%q", e.Key.Node.Value))
	}
	if len(names) == 1 {
		return names[0] + " is next to it"
	}
	return strings.Join(names, ", ") + " are next to it"
}
