package markers

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// ownPrefix is the start of unioncel's markers, after the "+".
const ownPrefix = "unioncel:union"

var ownForm = english.Pattern(`^` + ownPrefix + `(?:\(\s*([^()]*?)\s*\))?:([A-Za-z-]+)(?:\s*:?=\s*(.*?))?\s*$`)

// Keys that describe the field with the marker. The last two are also keys of the declaration, which
// describe its union, as all other keys do.
const (
	valuesKey   = "values"
	optionalKey = "optional"
	emptyKey    = "emptyIsUnset"
	messagesKey = "messages"
)

// structKeys are the keys that declare a union on its struct.
var structKeys = []string{"members", "discriminator", "fields-to-discriminateBy", "dependentRequired", "dependentForbidden"}

// parseOwn parses a marker of unioncel, +unioncel:union:KEY=VALUE. The value is written as in a
// declaration, in flow style, or as a list a;b.
func parseOwn(text string) mark {
	found := ownForm().FindStringSubmatch(text)
	if found == nil {
		name, _, _ := strings.Cut(text, "=")
		return mark{name: "+" + name, problem: mark{name: "+" + text}.misuse(
			"write it like +unioncel:union:discriminatorChange=Forbid, or +unioncel:union(name):discriminatorChange=Forbid", " cannot be read")}
	}
	m := mark{definition: definition{role: own}, of: found[1], key: found[2], name: "+" + ownPrefix + ":" + found[2]}
	value := found[3]
	bare := !strings.Contains(text, "=")
	list := m.key == valuesKey || m.key == optionalKey || strings.HasPrefix(union.Example(m.key), "[")
	switch {
	case bare && (m.key == optionalKey || m.key == emptyKey || union.Example(m.key) == "true"):
		m.node = yamltext.BoolNode(true)
	case bare:
		m.node = &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	case value == "" && list:
		m.node = yamltext.StringsNode()
	case value != "" && strings.ContainsRune(`[{"'`, rune(value[0])):
		var document yaml.Node
		if err := yaml.Unmarshal([]byte(value), &document); err != nil || len(document.Content) != 1 {
			m.problem = m.misuse("write it like "+m.name+"="+inMarker(cmp.Or(union.Example(m.key), "[TCP, TLS]")), " cannot be read: %q is not a list, mapping or string in YAML's flow style", value)
			break
		}
		m.node = document.Content[0]
	case strings.Contains(value, ";") && m.key != "message" && m.key != messagesKey: // texts may have semicolons
		m.node = yamltext.StringsNode()
		for item := range strings.SplitSeq(value, ";") {
			m.node.Content = append(m.node.Content, yamltext.StringNode(strings.TrimSpace(item)))
		}
	case (value == "true" || value == "false") && m.key != valuesKey:
		m.node = yamltext.BoolNode(value == "true")
	default:
		m.node = yamltext.StringNode(value)
	}
	if m.node != nil && m.node.Kind == yaml.ScalarNode && m.node.Tag == "!!str" && list {
		m.node = yamltext.StringsNode(m.node.Value)
	}
	return m
}

// inMarker writes the value of a key for a marker.
func inMarker(value string) string {
	if inner, ok := strings.CutPrefix(value, "["); ok {
		return strings.ReplaceAll(strings.TrimSuffix(inner, "]"), ", ", ";")
	}
	return value
}

// says returns unioncel's marker with a key on the field, if there is one.
func (f *field) says(key string) (mark, bool) {
	for _, m := range f.marks {
		if m.role == own && m.key == key && m.problem == nil {
			return m, true
		}
	}
	return mark{}, false
}

// list returns the values that a marker lists, which [union.Parse] checks.
func (m mark) list() []*yaml.Node {
	place(m.node, m.pos)
	if m.node.Kind != yaml.SequenceNode {
		return []*yaml.Node{m.node}
	}
	return m.node.Content
}

// empty sets emptyIsUnset: a member is unset when it is empty if a marker on its field says so, or
// else if it is so in its dialect.
func (s *structure) empty(u *declaration, members []mark) {
	empty := yamltext.StringsNode()
	for _, m := range members {
		at, unset := m.pos, m.zeroUnset && s.unsetWhenZero(m.field)
		if said, ok := m.field.says(emptyKey); ok {
			if at, unset = said.pos, said.node.Value == "true"; said.node.Tag != "!!bool" {
				s.errorf(at, codes.MalformedDeclaration, "write "+said.name+" or "+said.name+"=false", "%s is true or false", said.name)
			}
		}
		if unset {
			empty.Content = append(empty.Content, textAt(m.field.json, at))
		}
	}
	if len(empty.Content) > 0 {
		u.set(emptyKey, empty)
	}
}

// optionalOf returns the position at which a member is made optional, if it is, and the values for
// which it is. listed reports whether a marker lists the values.
func (s *structure) optionalOf(m mark) (at diag.Pos, optional []*yaml.Node, listed bool) {
	said, ok := m.field.says(optionalKey)
	switch {
	case !ok && m.optional:
		return m.pos, m.values, false
	case !ok && len(m.some) > 0:
		return m.pos, m.some, false
	case ok && said.node.Tag != "!!bool":
		return said.pos, said.list(), true
	case ok && said.node.Value == "true":
		return said.pos, m.values, false
	}
	return at, nil, false
}

// own adds the keys of unioncel's markers to the unions of the struct, and adds the unions that
// only such markers declare.
func (s *structure) own() {
	alone := map[string]*declaration{}
	for _, m := range s.marks {
		if m.role == own && slices.Contains(structKeys, m.key) && alone[m.of] == nil {
			u := &declaration{at: m.pos, item: yamltext.MappingNode(), ofStruct: true}
			if alone[m.of] = u; m.of != "" {
				u.set("name", yamltext.StringNode(m.of))
			}
			s.unions = append(s.unions, u)
		}
	}
	var others []mark // keys of unions that are declared otherwise
	for _, m := range s.marks {
		switch u := alone[m.of]; {
		case m.role != own:
		case m.key == valuesKey || m.key == optionalKey:
			s.misused(m, "put it on the field of the member", " describes a field, but is on a type")
		case !slices.Contains(union.Keys(), m.key):
			s.unknownKey(m)
		case u != nil:
			s.key(u, m)
		default:
			others = append(others, m)
		}
	}
	for _, u := range alone {
		if l, _ := union.Parse("", "", u.value(), nil); len(l) > 0 {
			u.names = l[0].Properties()
		}
	}
	for _, m := range others {
		if u := s.addressed(m); u != nil {
			s.key(u, m)
		}
	}
	for _, f := range s.fields {
		for _, m := range f.marks {
			if m.role == own {
				s.onField(m)
			}
		}
	}
}

// onField adds the key of a marker on a field to its union. Keys that describe the member have been
// read already.
func (s *structure) onField(m mark) {
	f, u := m.field, s.unionOf(m.field)
	ofMember := m.key == valuesKey || m.key == optionalKey || m.key == emptyKey
	switch {
	case m.of != "":
		s.misused(m, "write "+m.name, " on a field names a union: it is about that of the field")
	case u == nil:
		hint := "put it on a member or the discriminator of a union, or on the struct"
		if slices.ContainsFunc(f.marks, func(m mark) bool { return m.item != nil }) {
			hint = "extend the union of its items in a UnionSet"
		}
		s.misused(m, hint, " is on %s, which is not in a union", f.name)
	case ofMember && u.ofStruct:
		s.misused(m, "set it on the struct too", " describes a member by its own markers, and %s is one by those of the struct", f.name)
	case ofMember && f.json == yamltext.Text(u.item, "discriminator"):
		s.misused(m, "put it on a member", " describes a member, and %s is the discriminator", f.name)
	case m.key == valuesKey && slices.ContainsFunc(f.marks, func(o mark) bool { return o.role == inMode }):
		s.misused(m, "delete it: the modes are the values", " is on %s, which has modes", f.name)
	case m.key == valuesKey && u.from == nil:
		s.errorf(m.pos, codes.Contradiction, "delete it: without a discriminator members have no values", "member %s has values in a union that has no discriminator", f.name)
	case ofMember:
	case m.key == "optionalMembers":
		s.misused(m, "write +unioncel:union:optional on a member, or put it on the struct", " describes a struct, but is on a field")
	case slices.Contains(structKeys, m.key):
		s.misused(m, "put it on the struct", " describes a struct, but is on a field")
	case !slices.Contains(union.Keys(), m.key):
		s.unknownKey(m)
	case m.key == messagesKey:
		s.messages(u, m)
	default:
		s.key(u, m)
	}
}

// messages adds the messages of a marker on a field to those of its union.
func (s *structure) messages(u *declaration, m mark) {
	of := m.field
	place(m.node, m.pos)
	all := yamltext.Value(u.item, messagesKey)
	switch {
	case all == nil:
		m.node = yamltext.MappingNode(textAt(of.json, m.pos), m.node)
		s.key(u, m)
	case all.Kind != yaml.MappingNode: // an error
	case yamltext.Value(all, of.json) != nil:
		s.misused(m, "delete one of them", " is set twice for %s", of.name)
	default:
		all.Content = append(all.Content, textAt(of.json, m.pos), m.node)
	}
}

// unionOf returns the union of a field: the first one, except for presence relations if it has
// another union.
func (s *structure) unionOf(f *field) (found *declaration) {
	for _, u := range s.unions {
		if slices.Contains(u.names, f.json) && (found == nil || found.relates() && !u.relates()) {
			found = u
		}
	}
	return found
}

// addressed returns the union that a marker on the struct describes.
func (s *structure) addressed(m mark) *declaration {
	var found []*declaration
	var names []string
	for _, u := range s.unions {
		if len(u.names) == 0 {
			continue // of items, or without members
		}
		names = append(names, u.names[0])
		is := func(f *field) bool { return f.name == m.of && slices.Contains(u.names, f.json) }
		if m.of == "" || m.of == yamltext.Text(u.item, "name") || slices.Contains(u.names, m.of) || slices.ContainsFunc(s.fields, is) {
			found = append(found, u)
		}
	}
	switch {
	case len(found) == 1:
		return found[0]
	case len(found) > 1:
		example := fmt.Sprintf("write +%s(%s):%s for the union of %[2]s, or put it on a field of the union", ownPrefix, names[0], m.key)
		s.errorf(m.pos, codes.BadMarker, example, "%s has several unions, and %s does not say which it is about", s.id.Name, m.name)
	case len(names) > 0:
		s.errorf(m.pos, codes.BadMarker, "write one of "+strings.Join(names, ", "), "%s has no union %q: a union is named by its name, its discriminator or a member", s.id.Name, m.of)
	case slices.ContainsFunc(s.marks, func(m mark) bool { return m.role == listing }):
		s.misused(m, "use --kubebuilder, which compiles these unions too", " is about a union whose rules controller-gen writes, and they stay as they are")
	case slices.ContainsFunc(s.unions, func(u *declaration) bool { return u.list != "" }):
		s.misused(m, "extend the union of the items in a UnionSet", " is on %s, whose union is of items of a list", s.id.Name)
	default:
		s.misused(m, "mark the members, or list them with +unioncel:union:members", " is on %s, which declares no union", s.id.Name)
	}
	return nil
}

// unknownKey reports a key that no declaration has.
func (s *structure) unknownKey(m mark) {
	known := append(union.Keys(), valuesKey, optionalKey)
	s.errorf(m.pos, codes.UnknownKey, english.Hint(m.key, known, "the keys are "+strings.Join(known, ", ")), "+%s has no key %q", ownPrefix, m.key)
}

// key sets a key of a union, and reports a key that is set twice.
func (s *structure) key(u *declaration, m mark) {
	for _, other := range u.keys {
		if other.key == m.key {
			related(s.misused(m, "delete one of them", " is set twice for one union"), other.pos, "the first")
			return
		}
	}
	u.keys = append(u.keys, m)
	u.set(m.key, place(m.node, m.pos))
}

// wording are the keys that are also English words.
const wording = `members|discriminator|message|name|cardinality|unset`

// keyed matches the keys of declarations in a text, and also quoted text and markers, which stay as
// they are. An English word counts as a key if it has a value or is to be deleted.
var keyed = sync.OnceValue(func() *regexp.Regexp {
	others := slices.DeleteFunc(union.Keys(), regexp.MustCompile("^(?:"+wording+")$").MatchString)
	return regexp.MustCompile(`"(?:[^"\\]|\\.)*"` +
		`|\+unioncel:\S+|\+k8s:\w+` +
		`|in fields-to-discriminateBy\b` +
		`|\b(?:` + strings.Join(others, "|") + `)\b(?:: (?:\{[^}]*\}|\[[^]]*\]|[A-Za-z]+))?` +
		`|\b(?:` + wording + `): (?:\[[^]]*\]|[A-Za-z]+)` +
		`|\b(?:delete cardinality\b|cardinality (?:AtLeastOne|must)\b)`)
})

// Words replaces the keys of declarations with markers in the diagnostics about Go files. It
// changes the list in place.
func Words(l diag.List) {
	for i := range l {
		if filepath.Ext(l[i].Pos.File) == ".go" {
			l[i].Message, l[i].Hint = inGo(l[i].Message), inGo(l[i].Hint)
		}
	}
}

// asMarkers replaces keys of schemas with controller-gen's markers for them.
var asMarkers = strings.NewReplacer(" in the declaration", "",
	"optional properties without a default", "optional fields (+optional, or omitempty in the JSON tag) without a default",
	"x-kubernetes-list-type: map with x-kubernetes-list-map-keys", "+listType=map with +listMapKey")

// onFields replaces keys of declarations with the markers on fields that set them.
var onFields = strings.NewReplacer(
	"fields-to-discriminateBy: "+union.Example("fields-to-discriminateBy"), "+unioncel:union:values=TCP;TLS",
	"optionalMembers: "+union.Example("optionalMembers"), "+unioncel:union:optional=TCP;TLS",
	"fields-to-discriminateBy", "+unioncel:union:values",
	"optionalMembers", "+unioncel:union:optional",
)

// orInGo separates the YAML part of a hint from its Go part.
const orInGo = ", or in Go "

func inGo(text string) string {
	if _, markers, ok := strings.Cut(text, orInGo); ok {
		return "write " + markers
	}
	text = keyed().ReplaceAllStringFunc(text, func(found string) string {
		switch {
		case found[0] == '"' || found[0] == '+':
			return found
		case found == "in fields-to-discriminateBy":
			return "with +" + ownPrefix + ":" + valuesKey
		case strings.HasPrefix(found, "delete "):
			return "delete +" + ownPrefix + ":" + strings.TrimPrefix(found, "delete ")
		}
		found = "+" + ownPrefix + ":" + found
		key, value, ok := strings.Cut(found, " ")
		if !ok || value == "want" || value == "must" {
			return found
		}
		return strings.TrimSuffix(key, ":") + "=" + inMarker(value)
	})
	return asMarkers.Replace(text)
}
