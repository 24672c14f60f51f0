package union

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamlconfig"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Key is the schema key that holds the declarations of a union object
// (KEP-1027).
const Key = "x-kubernetes-unions"

// Declaration is one item of x-kubernetes-unions as it is written, before it is
// checked against a schema. Keys that are absent have zero values.
type Declaration struct {
	// Pos is where the item starts.
	Pos diag.Pos
	// Path is the schema path of the union object, as field.Path prints it.
	Path string

	discriminator   word
	fields          []fieldValues // fields-to-discriminateBy, or members
	fieldsPos       diag.Pos      // of either key
	members         bool          // it is members
	ofItems         bool          // some are items of a list
	mapped          bool          // fields-to-discriminateBy is there, if empty
	deduce          bool
	deducePos       diag.Pos
	name            word
	cardinality     Cardinality
	cardinalityPos  diag.Pos
	optionalMembers []fieldValues // without values: optional for all
	emptyIsUnset    []word
	forbidUnmapped  *bool
	unmapped        diag.Pos
	change          Change
	changePos       diag.Pos
	allowed         []transition
	allowedPos      diag.Pos
	table           bool // allowedChanges is there, if empty
	ratchet         bool
	ratchetPos      diag.Pos
	replace         bool
}

type word = yamlconfig.Word

type fieldValues struct {
	name   word
	values []word
	item   []selector // of a member that is an item of a list; its name has no text yet
}

type transition struct {
	from word
	to   []word
}

// newReader returns the reader of declarations at path.
func newReader(file, path string, at *diag.Pos) *yamlconfig.Reader {
	return &yamlconfig.Reader{File: file, At: at, SchemaPath: &path,
		Code: diag.MalformedDeclaration, UnknownKey: diag.UnknownKey, Ambiguous: diag.AmbiguousScalar}
}

// Parse reads the value of x-kubernetes-unions at path. The list holds every
// problem of every item; items with problems are left out of the result. Nodes
// of a position-less origin may be given, then at is used for all of them.
func Parse(file, path string, value *yaml.Node, at *diag.Pos) ([]*Declaration, diag.List) {
	r := newReader(file, path, at)
	list := r.Value(value, "{members: [a, b]}")
	value = list.Node
	if value.Kind != yaml.SequenceNode || len(value.Content) == 0 {
		hint := "write a list with one item per union, or delete the key"
		if value.Kind == yaml.MappingNode && len(value.Content) > 0 && keys[value.Content[0].Value].read != nil {
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
		d.Pos, d.Path = r.Pos(value.Content[i]), path // of an alias, not of what it refers to
		if len(r.Diags) == before {
			l = append(l, d)
		}
	}
	return l, r.Diags
}

// plainNames returns the items of a list that has nothing but strings.
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

// keys are the keys of a declaration, each with an example, and how it is read.
var keys = map[string]struct {
	example string
	read    func(d *Declaration, k, v yamlconfig.Value)
}{
	"discriminator": {"type", func(d *Declaration, _, v yamlconfig.Value) { d.discriminator = v.Word() }},
	"fields-to-discriminateBy": {"{http: HTTP, tcp: [TCP, TLS]}", func(d *Declaration, k, v yamlconfig.Value) {
		d.fieldsPos, d.mapped = k.Pos(), true
		d.fields = append(d.fields, byMember(v)...)
	}},
	"members": {"[a, b]", func(d *Declaration, k, v yamlconfig.Value) {
		if d.fieldsPos.Line == 0 {
			d.fieldsPos = k.Pos()
		}
		d.members = true
		for _, m := range v.Items() {
			if m.Node.Kind != yaml.MappingNode {
				d.fields = append(d.fields, fieldValues{name: m.Word()})
				continue
			}
			f := fieldValues{name: word{Pos: m.Pos()}, item: []selector{}}
			for _, e := range m.Entries() {
				f.item = append(f.item, selector{e.Key.Word(), e.Value})
			}
			d.fields, d.ofItems = append(d.fields, f), true
		}
	}},
	"deduceInvalidDiscriminator": {"true", func(d *Declaration, k, v yamlconfig.Value) { d.deduce, d.deducePos = v.Bool(false), k.Pos() }},
	"name":                       {"backend", func(d *Declaration, _, v yamlconfig.Value) { d.name = v.Word() }},
	"cardinality": {"ExactlyOne", func(d *Declaration, _, v yamlconfig.Value) {
		d.cardinality, d.cardinalityPos = cardinalities[v.OneOf(cardinalities.list(), "")], v.Pos()
	}},
	"optionalMembers": {"[tcp]", func(d *Declaration, _, v yamlconfig.Value) {
		d.optionalMembers = nil
		if v.Node.Kind == yaml.MappingNode {
			d.optionalMembers = byMember(v)
			return
		}
		for _, w := range v.Words() {
			d.optionalMembers = append(d.optionalMembers, fieldValues{name: w})
		}
	}},
	"emptyIsUnset": {"[http]", func(d *Declaration, _, v yamlconfig.Value) { d.emptyIsUnset = v.Words() }},
	"unmappedValues": {"Forbid", func(d *Declaration, _, v yamlconfig.Value) {
		forbid := v.OneOf([]string{"Allow", "Forbid"}, "") == "Forbid"
		d.forbidUnmapped, d.unmapped = &forbid, v.Pos()
	}},
	"discriminatorChange": {"Clear", func(d *Declaration, _, v yamlconfig.Value) {
		d.change, d.changePos = changes[v.OneOf(changes.list(), "")], v.Pos()
	}},
	"allowedChanges": {"{HTTP: [TCP]}", func(d *Declaration, k, v yamlconfig.Value) {
		d.allowedPos, d.table = k.Pos(), true
		for _, e := range v.Entries() {
			d.allowed = append(d.allowed, transition{e.Key.Word(), e.Value.OneOrMore()})
		}
	}},
	"ratchet": {"true", func(d *Declaration, k, v yamlconfig.Value) { d.ratchet, d.ratchetPos = v.Bool(false), k.Pos() }},
	"handWrittenRules": {"Replace", func(d *Declaration, _, v yamlconfig.Value) {
		d.replace = v.OneOf([]string{"Keep", "Replace"}, "") == "Replace"
	}},
}

// byMember reads a map from a member to one or more values.
func byMember(v yamlconfig.Value) (l []fieldValues) {
	for _, e := range v.Entries() {
		l = append(l, fieldValues{name: e.Key.Word(), values: append([]word{}, e.Value.OneOrMore()...)})
	}
	return l
}

// Keys returns the keys of a declaration, sorted. The caller owns the result.
func Keys() []string { return slices.Sorted(maps.Keys(keys)) }

// Example is a value of a key of declarations, for hints.
func Example(key string) string { return keys[key].example }

// declarationKeys are the keys of a declaration.
var declarationKeys = func() yamlconfig.Mapping {
	m := yamlconfig.Mapping{Name: "a union declaration"}
	for _, name := range Keys() {
		m.Keys = append(m.Keys, yamlconfig.Key{Name: name, Example: Example(name)})
	}
	return m
}()

// parse reads a declaration.
func parse(item yamlconfig.Value) *Declaration {
	d := &Declaration{}
	found := map[string]yamlconfig.Value{}
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
			found[e.Name] = e.Key
			keys[e.Name].read(d, e.Key, e.Value)
		}
	}
	if k, ok := found["members"]; ok && found["fields-to-discriminateBy"].Node != nil {
		k.Errorf("keep fields-to-discriminateBy with a discriminator, members without one",
			"members and fields-to-discriminateBy both list the members").Code = diag.Contradiction
	}
	return d
}

// outdented returns how many of the entries that follow e in a declaration are meant to
// be its own, and have lost their indentation.
func outdented(e yamlconfig.Entry, rest []yamlconfig.Entry) int {
	key, v := e.Key.Node.Value, e.Value.Node
	if key != "fields-to-discriminateBy" && key != "allowedChanges" || v.Kind != yaml.ScalarNode || v.Value != "" {
		return 0
	}
	n := slices.IndexFunc(rest, func(e yamlconfig.Entry) bool { return keys[e.Key.Node.Value].read != nil })
	if n < 0 {
		return len(rest)
	}
	return n
}

func nextToIt(l []yamlconfig.Entry) string {
	var names []string
	for _, e := range l {
		names = append(names, fmt.Sprintf("%q", e.Key.Node.Value))
	}
	if len(names) == 1 {
		return names[0] + " is next to it"
	}
	return strings.Join(names, ", ") + " are next to it"
}
