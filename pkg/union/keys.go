package union

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamlconfig"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// key is a key of declarations.
type key struct {
	name, example string
	// rival is the key that excludes this one: an extension with either replaces both.
	rival string
	// read adds the value to a declaration. It returns the position of errors about the key.
	read func(d *Declaration, k, v yamlconfig.Value) diag.Pos
	// write returns the value for a union, or nil if the union does not need the key.
	write func(u *Union) *yaml.Node
}

// keys are all keys, in the order of the documentation.
var keys = []key{
	{
		name: "name", example: "backend",
		read: func(d *Declaration, _, v yamlconfig.Value) diag.Pos {
			d.union.Name = v.Word().Text
			return v.Pos()
		},
		write: func(u *Union) *yaml.Node { return wordNode(u.Name) },
	},
	{
		name: "members", example: "[a, b]", rival: mappingKey,
		read: func(d *Declaration, k, v yamlconfig.Value) diag.Pos {
			for _, m := range v.Items() {
				if m.Node.Kind != yaml.MappingNode {
					d.fields = append(d.fields, fieldValues{name: m.Word()})
					continue
				}
				f := fieldValues{name: word{Pos: m.Pos()}, item: []selector{}}
				for _, e := range m.Entries() {
					f.item = append(f.item, selector{e.Key.Word(), e.Value})
				}
				d.fields = append(d.fields, f)
			}
			return k.Pos()
		},
		write: func(u *Union) *yaml.Node {
			switch {
			case u.Discriminator != "":
				return nil
			case !u.OfItems():
				return wordsNode(u.Members)
			}
			list := yamltext.ListNode()
			for _, m := range u.Members {
				list.Content = append(list.Content, itemNode(m.Item))
			}
			return list
		},
	},
	{
		name: "discriminator", example: "type",
		read: func(d *Declaration, _, v yamlconfig.Value) diag.Pos {
			d.discriminator = v.Word()
			d.union.Discriminator = d.discriminator.Text
			return v.Pos()
		},
		write: func(u *Union) *yaml.Node { return wordNode(u.Discriminator) },
	},
	{
		name: mappingKey, example: "{http: HTTP, tcp: [TCP, TLS]}", rival: "members",
		read: func(d *Declaration, k, v yamlconfig.Value) diag.Pos {
			d.fields = append(d.fields, byMember(v)...)
			return k.Pos()
		},
		write: func(u *Union) *yaml.Node {
			if u.Discriminator == "" {
				return nil
			}
			return byMemberNode(u.Members, func(m Member) []string { return m.Values })
		},
	},
	flag("deduceInvalidDiscriminator", func(u *Union) *bool { return &u.Deduce }),
	oneOf("cardinality", "ExactlyOne", cardinalities, func(u *Union) *Cardinality { return &u.Cardinality }),
	{
		name: "optionalMembers", example: "[tcp]",
		read: func(d *Declaration, _, v yamlconfig.Value) diag.Pos {
			if v.Node.Kind == yaml.MappingNode {
				d.optionalMembers = byMember(v)
			} else {
				for _, w := range v.Words() {
					d.optionalMembers = append(d.optionalMembers, fieldValues{name: w})
				}
			}
			if len(d.optionalMembers) == 0 {
				return diag.Pos{}
			}
			return d.optionalMembers[0].name.Pos
		},
		write: func(u *Union) *yaml.Node {
			optional := u.those(func(m Member) bool { return len(m.Optional) > 0 })
			if slices.ContainsFunc(optional, func(m Member) bool { return len(m.Required()) > 0 }) {
				return byMemberNode(optional, func(m Member) []string { return m.Optional })
			}
			return wordsNode(optional)
		},
	},
	{
		name: "emptyIsUnset", example: "[http]",
		read: func(d *Declaration, _, v yamlconfig.Value) diag.Pos {
			d.emptyIsUnset = v.Words()
			if len(d.emptyIsUnset) == 0 {
				return diag.Pos{}
			}
			return d.emptyIsUnset[0].Pos
		},
		write: func(u *Union) *yaml.Node {
			return wordsNode(u.those(func(m Member) bool { return m.Empty != PresentWhenEmpty }))
		},
	},
	oneOf("unmappedValues", "Forbid", names[bool]{"Allow": false, "Forbid": true}, func(u *Union) *bool { return &u.ForbidUnmapped }),
	{
		name: "discriminatorChange", example: "Clear", rival: "allowedChanges",
		read: oneOf("", "", changes, func(u *Union) *Change { return &u.Change }).read,
		write: func(u *Union) *yaml.Node {
			if u.Change == Allow && u.Discriminator == "" { // the default
				return nil
			}
			return wordNode(changes.name(u.Change))
		},
	},
	{
		name: "allowedChanges", example: "{HTTP: [TCP]}", rival: "discriminatorChange",
		read: func(d *Declaration, k, v yamlconfig.Value) diag.Pos {
			for _, e := range v.Entries() {
				d.allowed = append(d.allowed, transition{e.Key.Word(), e.Value.OneOrMore()})
			}
			return k.Pos()
		},
		write: func(u *Union) *yaml.Node {
			if u.Change != AllowedChanges {
				return nil
			}
			table := yamltext.MappingNode()
			for _, from := range slices.Sorted(maps.Keys(u.Allowed)) {
				table.Content = append(table.Content, yamltext.StringNode(from), yamltext.StringsNode(u.Allowed[from]...))
			}
			return table
		},
	},
	flag("ratchet", func(u *Union) *bool { return &u.Ratchet }),
	oneOf("handWrittenRules", "Replace", names[bool]{"Keep": false, "Replace": true}, func(u *Union) *bool { return &u.Replace }),
}

// mappingKey is the key that maps members to values of the discriminator.
const mappingKey = "fields-to-discriminateBy"

// flag returns a key with a boolean that a schema has no say in.
func flag(name string, of func(*Union) *bool) key {
	return key{
		name: name, example: "true",
		read: func(d *Declaration, k, v yamlconfig.Value) diag.Pos {
			*of(&d.union) = v.Bool(false)
			return k.Pos()
		},
		write: func(u *Union) *yaml.Node {
			if !*of(u) {
				return nil
			}
			return yamltext.BoolNode(true)
		},
	}
}

// oneOf returns a key with one of some words. The word of the zero value is not written.
func oneOf[T comparable](name, example string, words names[T], of func(*Union) *T) key {
	return key{
		name: name, example: example,
		read: func(d *Declaration, _, v yamlconfig.Value) diag.Pos {
			*of(&d.union) = words[v.OneOf(words.list(), "")]
			return v.Pos()
		},
		write: func(u *Union) *yaml.Node {
			var zero T
			if *of(u) == zero {
				return nil
			}
			return wordNode(words.name(*of(u)))
		},
	}
}

// byMember reads a map from a member to one or more values.
func byMember(v yamlconfig.Value) (l []fieldValues) {
	for _, e := range v.Entries() {
		l = append(l, fieldValues{name: e.Key.Word(), values: append([]word{}, e.Value.OneOrMore()...)})
	}
	return l
}

// Keys returns the keys of a declaration, sorted. The caller owns the result.
func Keys() []string { return declarationKeys.Names() }

// Example is a value of a key of declarations, for hints.
func Example(name string) string {
	if k := keyNamed(name); k != nil {
		return k.example
	}
	return ""
}

// keyNamed returns the key with a name, or nil.
func keyNamed(name string) *key {
	if i := slices.IndexFunc(keys, func(k key) bool { return k.name == name }); i >= 0 {
		return &keys[i]
	}
	return nil
}
