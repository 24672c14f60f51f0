package union

import (
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

type key struct {
	name, example string
	// rival is the key that excludes this key: an extension with either key replaces both.
	rival string
	// read checks the value. It stores a value that the resolver does not read from the key
	// itself. It returns the position of errors about the key.
	read func(d *Declaration, k, v yamltext.ConfigValue) diag.Pos
	// write returns the value for a union, or nil if the union does not need the key.
	write func(u *Union) *yaml.Node
}

// mappingKey is the key that maps members to values of the discriminator.
const mappingKey = "fields-to-discriminateBy"

// keys are the keys of a declaration, in the order of the documentation.
var keys = []key{
	text("name", "backend", func(u *Union) *string { return &u.Name }),
	{
		name: "members", example: "[a, b]", rival: mappingKey,
		read: func(d *Declaration, k, v yamltext.ConfigValue) diag.Pos {
			for _, m := range v.Items() {
				if m.Node.Kind == yaml.SequenceNode {
					d.fields = append(d.fields, groupOf(m)...)
					continue
				}
				f := fieldValues{name: word{Pos: m.Pos()}}
				if m.Node.Kind != yaml.MappingNode {
					f.name = m.Word()
				} else {
					f.item = append([]yamltext.ConfigEntry{}, m.Entries()...)
				}
				for i := range f.item {
					f.item[i].Name = f.item[i].Key.Word().Text
				}
				d.fields = append(d.fields, f)
			}
			return k.Pos()
		},
		write: func(u *Union) *yaml.Node {
			switch {
			case u.Discriminator != "" || u.Relates():
				return nil
			case !u.OfItems():
				return groupsNode(u)
			}
			list := yamltext.ListNode()
			for _, m := range u.Members {
				list.Content = append(list.Content, itemNode(m.Item))
			}
			return list
		},
	},
	text("discriminator", "type", func(u *Union) *string { return &u.Discriminator }),
	{
		name: mappingKey, example: "{http: HTTP, tcp: [TCP, TLS]}", rival: "members",
		read: func(d *Declaration, k, v yamltext.ConfigValue) diag.Pos {
			d.fields = append(d.fields, byMember(v)...)
			return k.Pos()
		},
		write: func(u *Union) *yaml.Node {
			if u.Discriminator == "" {
				return nil
			}
			return byMemberNode(u, u.Members, func(m Member) []string { return m.Values })
		},
	},
	{
		name: "unset", example: "HTTP",
		read: func(d *Declaration, k, v yamltext.ConfigValue) diag.Pos {
			w := v.Scalar()
			d.union.Unset = w.Text
			return k.Pos()
		},
		write: func(u *Union) *yaml.Node {
			if u.Unset == "" {
				return nil
			}
			return u.Type.node(u.Unset)
		},
	},
	relation(requiredKey, "{http: [port]}", func(m Member) []string { return m.Requires }),
	relation(forbiddenKey, "{http: [socket]}", func(m Member) []string { return m.Forbids }),
	flag("deduceInvalidDiscriminator", func(u *Union) *bool { return &u.Deduce }),
	cardinalityKey,
	{
		name: "optionalMembers", example: "[tcp]",
		read: func(_ *Declaration, _, v yamltext.ConfigValue) diag.Pos {
			l := append(optionalMembers(v), fieldValues{})
			return l[0].name.Pos
		},
		write: func(u *Union) *yaml.Node {
			optional := u.those(func(m Member) bool { return len(m.Optional) > 0 })
			if slices.ContainsFunc(optional, func(m Member) bool { return len(m.Required()) > 0 }) {
				return byMemberNode(u, optional, func(m Member) []string { return m.Optional })
			}
			return namesNode(optional)
		},
	},
	{
		name: "emptyIsUnset", example: "[http]",
		read: func(_ *Declaration, _, v yamltext.ConfigValue) diag.Pos {
			return append(v.Words(), word{})[0].Pos
		},
		write: func(u *Union) *yaml.Node {
			return namesNode(u.those(func(m Member) bool { return m.Empty != PresentWhenEmpty }))
		},
	},
	oneOf("unmappedValues", "Forbid", names[bool]{"Allow": false, "Forbid": true}, func(u *Union) *bool { return &u.ForbidUnmapped }),
	{
		name: "discriminatorChange", example: "Clear", rival: "allowedChanges",
		read: oneOf("", "", changes, func(u *Union) *Change { return &u.Change }).read,
		write: func(u *Union) *yaml.Node {
			if name := changes.name(u.Change); name != "" && (u.Change != Allow || u.Discriminator != "") {
				return yamltext.StringNode(name)
			}
			return nil // the default, or allowedChanges
		},
	},
	{
		name: "allowedChanges", example: "{HTTP: [TCP]}", rival: "discriminatorChange",
		read: func(_ *Declaration, k, v yamltext.ConfigValue) diag.Pos {
			byValue(v)
			return k.Pos()
		},
		write: func(u *Union) *yaml.Node {
			if u.Change != AllowedChanges {
				return nil
			}
			table := yamltext.MappingNode()
			for _, from := range slices.Sorted(maps.Keys(u.Allowed)) {
				table.Content = append(table.Content, u.Type.node(from), u.Type.nodes(u.Allowed[from]))
			}
			return table
		},
	},
	flag("ratchet", func(u *Union) *bool { return &u.Ratchet }),
	oneOf("handWrittenRules", "Replace", names[bool]{"Keep": false, "Replace": true}, func(u *Union) *bool { return &u.Replace }),
	{
		name: "message", example: "exactly one source must be set",
		read: func(d *Declaration, k, v yamltext.ConfigValue) diag.Pos {
			d.union.Message = texts(v, append(stateTexts, yamltext.ConfigKey{Name: "changed", Example: "type is immutable"}))
			return k.Pos()
		},
		write: func(u *Union) *yaml.Node {
			if u.Message == (Texts{}) {
				return nil
			}
			return textsNode(u.Message)
		},
	},
	{
		name: "messages", example: "{http: http goes with type HTTP}",
		read: func(d *Declaration, k, v yamltext.ConfigValue) diag.Pos {
			d.union.Messages = map[string]Texts{}
			for _, e := range v.Entries() {
				d.union.Messages[e.Key.Word().Text] = texts(e.Value, stateTexts)
			}
			return k.Pos()
		},
		write: func(u *Union) *yaml.Node {
			if len(u.Messages) == 0 {
				return nil
			}
			m := yamltext.MappingNode()
			for _, name := range append(u.MemberNames(), u.Discriminator) {
				if t, ok := u.Messages[name]; ok {
					m.Content = append(m.Content, yamltext.StringNode(name), textsNode(t))
				}
			}
			return m
		},
	},
}

// cardinalityKey is the key with the cardinality, except for AnyNumber.
var cardinalityKey = func() key {
	k := oneOf("cardinality", "ExactlyOne", cardinalities, func(u *Union) *Cardinality { return &u.Cardinality })
	declared := k.write
	k.write = func(u *Union) *yaml.Node {
		if u.Relates() {
			return nil
		}
		return declared(u)
	}
	return k
}()

// stateTexts are the keys of Texts about the state.
var stateTexts = []yamltext.ConfigKey{{Name: "required", Example: "http must be set"}, {Name: "forbidden", Example: "http may not be set"}}

// texts reads a text for errors about the state, or a map with the given keys.
func texts(v yamltext.ConfigValue, keys []yamltext.ConfigKey) Texts {
	if v.Node.Kind != yaml.MappingNode {
		text := line(v)
		return Texts{Required: text, Forbidden: text}
	}
	if len(v.Node.Content) == 0 {
		v.Errorf("write {required: TEXT, forbidden: TEXT}, or a text for both", "the map has no text")
	}
	fields := v.Fields(yamltext.ConfigMapping{Name: "a map of texts", Keys: keys})
	return Texts{line(fields["required"]), line(fields["forbidden"]), line(fields["changed"])}
}

// line reads a message. The API server rejects others in rules, or replaces them.
func line(v yamltext.ConfigValue) string {
	w := v.Word()
	text := strings.TrimSpace(w.Text)
	switch {
	case !w.Set:
	case text == "":
		v.Errorf("write a text, or delete the key", "the text is empty")
	case strings.ContainsAny(text, lineBreaks):
		v.Errorf("write it on one line, or fold it with >-", "the text has a line break, which the API server rejects")
	case len(text) > maxMessage:
		v.Errorf("shorten it", "the text has %d bytes; the API server prints at most %d", len(text), maxMessage)
	}
	return text
}

const (
	lineBreaks = "\n\r"
	maxMessage = 5 << 10 // as in k8s.io/apiserver/pkg/apis/cel
)

// Printable reports whether a text, which may be empty, can be declared as a message.
func Printable(text string) bool {
	return !strings.ContainsAny(text, lineBreaks) && len(text) <= maxMessage
}

func textsNode(t Texts) *yaml.Node {
	if t.Required == t.Forbidden && t.Changed == "" {
		return yamltext.StringNode(t.Required)
	}
	m := yamltext.MappingNode()
	for _, e := range [][2]string{{"required", t.Required}, {"forbidden", t.Forbidden}, {"changed", t.Changed}} {
		if e[1] != "" {
			m.Content = append(m.Content, yamltext.StringNode(e[0]), yamltext.StringNode(e[1]))
		}
	}
	return m
}

// text returns a key with a string.
func text(name, example string, of func(*Union) *string) key {
	return scalar(name, example, of, yamltext.StringNode, func(_, v yamltext.ConfigValue) (string, diag.Pos) { return v.Word().Text, v.Pos() })
}

// flag returns a key with a boolean.
func flag(name string, of func(*Union) *bool) key {
	return scalar(name, "true", of, yamltext.BoolNode, func(k, v yamltext.ConfigValue) (bool, diag.Pos) { return v.Bool(false), k.Pos() })
}

// oneOf returns a key with one of the given words.
func oneOf[T comparable](name, example string, words names[T], of func(*Union) *T) key {
	write := func(t T) *yaml.Node { return yamltext.StringNode(words.name(t)) }
	return scalar(name, example, of, write, func(_, v yamltext.ConfigValue) (T, diag.Pos) { return words[v.OneOf(words.list(), "")], v.Pos() })
}

// scalar returns a key whose value is a field of Union. The zero value is not written.
func scalar[T comparable](name, example string, of func(*Union) *T, write func(T) *yaml.Node, read func(k, v yamltext.ConfigValue) (T, diag.Pos)) key {
	return key{
		name: name, example: example,
		read: func(d *Declaration, k, v yamltext.ConfigValue) (pos diag.Pos) {
			*of(&d.union), pos = read(k, v)
			return pos
		},
		write: func(u *Union) *yaml.Node {
			var zero T
			if v := *of(u); v != zero {
				return write(v)
			}
			return nil
		},
	}
}

// optionalMembers reads a list of members, or a map from members to the values for which they are
// optional.
func optionalMembers(v yamltext.ConfigValue) (l []fieldValues) {
	if v.Node != nil && v.Node.Kind == yaml.MappingNode {
		return byMember(v)
	}
	for _, w := range v.Words() {
		l = append(l, fieldValues{name: w})
	}
	return l
}

// byMember reads a map from a member to one or more values.
func byMember(v yamltext.ConfigValue) []fieldValues {
	return byName(v, yamltext.ConfigValue.Word, yamltext.ConfigValue.ScalarOrMore)
}

// byValue reads a map from a value of the discriminator to one or more values.
func byValue(v yamltext.ConfigValue) []fieldValues {
	return byName(v, yamltext.ConfigValue.Scalar, yamltext.ConfigValue.ScalarOrMore)
}

// byName reads a map from a name to one or more words.
func byName(v yamltext.ConfigValue, name func(yamltext.ConfigValue) word, words func(yamltext.ConfigValue) []word) (l []fieldValues) {
	for _, e := range v.Entries() {
		l = append(l, fieldValues{name: name(e.Key), values: append([]word{}, words(e.Value)...)})
	}
	return l
}

// Node returns the union as an item of x-kubernetes-unions. It has the keys with non-zero values,
// in the order of the documentation. Parsing and resolving it gives a union with the same meaning.
// In a union that was not resolved, Cardinality, Values and Change may be zero: they follow from
// the schema or have a default. The caller owns the node; it has no positions.
func (u *Union) Node() *yaml.Node {
	m := yamltext.MappingNode()
	for _, k := range keys {
		if value := k.write(u); value != nil {
			m.Content = append(m.Content, yamltext.StringNode(k.name), value)
		}
	}
	return m
}

// byMemberNode writes a map from members to one or more values.
func byMemberNode(u *Union, members []Member, values func(Member) []string) *yaml.Node {
	node := yamltext.MappingNode()
	for _, m := range members {
		value := u.Type.nodes(values(m))
		if len(value.Content) == 1 {
			value = value.Content[0]
		}
		node.Content = append(node.Content, yamltext.StringNode(m.Name), value)
	}
	return node
}

// namesNode writes a list of members, or nil if there are none.
func namesNode(members []Member) *yaml.Node {
	if len(members) == 0 {
		return nil
	}
	return yamltext.StringsNode((&Union{Members: members}).MemberNames()...)
}

// those returns the members that satisfy a condition.
func (u *Union) those(is func(Member) bool) []Member {
	return slices.DeleteFunc(slices.Clone(u.Members), func(m Member) bool { return !is(m) })
}

// keyNamed returns the named key, or the zero key.
func keyNamed(name string) key {
	for _, k := range keys {
		if k.name == name {
			return k
		}
	}
	return key{}
}

// Keys returns the keys of a declaration, sorted. The caller owns the result.
func Keys() []string { return declarationKeys.Names() }

// Example returns an example value of a key, for hints, or "" if the key is unknown.
func Example(name string) string { return keyNamed(name).example }
