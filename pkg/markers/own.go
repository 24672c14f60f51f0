package markers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/pattern"
	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// ownPrefix is the start of unioncel's markers, after the "+".
const ownPrefix = "unioncel:union"

var ownForm = pattern.Lazy(`^` + ownPrefix + `(?:\(\s*([^()]*?)\s*\))?:([A-Za-z-]+)(?:\s*:?=\s*(.*?))?\s*$`)

// Keys that describe the field with the marker; all other keys are keys of the declaration and
// describe its union.
const (
	valuesKey   = "values"
	optionalKey = "optional"
	emptyKey    = "emptyIsUnset"
)

// Keys with texts, which may have semicolons. The second describes the field, if it is on one.
const (
	messageKey  = "message"
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
		return mark{name: "+" + name, problem: &misuse{fmt.Sprintf("+%s cannot be read", text),
			"write it like +unioncel:union:discriminatorChange=Forbid, or +unioncel:union(name):discriminatorChange=Forbid"}}
	}
	m := mark{kind: own, of: found[1], key: found[2], name: "+" + ownPrefix + ":" + found[2]}
	value := found[3]
	bare := !strings.Contains(text, "=")
	list := m.key == valuesKey || m.key == optionalKey || strings.HasPrefix(union.Example(m.key), "[")
	switch {
	case bare && (m.key == optionalKey || m.key == emptyKey || union.Example(m.key) == "true"):
		m.node = yamltext.BoolNode(true)
	case bare && !slices.Contains(union.Keys(), m.key): // unknownKey reports it
		m.node = yamltext.StringNode("")
	case bare:
		m.problem = &misuse{m.name + " has no value", "write it like " + m.name + "=" + example(m.key)}
	case value == "" && list:
		m.node = yamltext.StringsNode()
	case value != "" && strings.ContainsRune(`[{"'`, rune(value[0])):
		var document yaml.Node
		if err := yaml.Unmarshal([]byte(value), &document); err != nil || len(document.Content) != 1 {
			m.problem = &misuse{fmt.Sprintf("%s cannot be read: %q is not a list, mapping or string in YAML's flow style", m.name, value),
				"write it like " + m.name + "=" + example(m.key)}
			break
		}
		m.node = document.Content[0]
	case strings.Contains(value, ";") && m.key != messageKey && m.key != messagesKey:
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

// example returns a value of a key as it is written in a marker.
func example(key string) string {
	if key == valuesKey || key == optionalKey {
		return "TCP;TLS"
	}
	return inMarker(union.Example(key))
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
		if m.kind == own && m.key == key && m.problem == nil {
			return m, true
		}
	}
	return mark{}, false
}

// values returns the values that a marker lists, or none.
func (m mark) values() (l []string) {
	if m.node != nil && m.node.Kind == yaml.SequenceNode {
		for _, item := range m.node.Content {
			l = append(l, item.Value)
		}
	}
	return l
}

// yes returns the boolean value of a marker, and reports other values.
func (s *structure) yes(m mark) bool {
	if m.node.Tag != "!!bool" {
		s.errorf(m.pos, codes.MalformedDeclaration, "write "+m.name+" or "+m.name+"=false", "%s is true or false", m.name)
	}
	return m.node.Value == "true"
}

// emptyOf sets the emptiness of a member from the emptyIsUnset marker of its field.
func (s *structure) emptyOf(u *declared, out *union.Member, m markedField) {
	if empty, ok := m.says(emptyKey); ok {
		out.Empty = union.PresentWhenEmpty
		if s.yes(empty) {
			out.Empty = union.EmptyObject // any emptiness writes emptyIsUnset
			u.marked, u.spots[spot{emptyKey, out.Name}] = true, empty.pos
		}
	}
}

// optionalOf makes a member optional for all, some or none of its values, as a marker on its field
// requests.
func (s *structure) optionalOf(u *declared, out *union.Member, m markedField) {
	said, ok := m.says(optionalKey)
	optional := m.mark.optional
	switch {
	case !ok:
		said = mark{name: ",optional", pos: m.mark.pos}
	case said.node.Kind == yaml.SequenceNode && len(said.node.Content) > 0:
		optional = true
		out.Optional, u.optional[out.Name] = said.values(), said
	case said.node.Tag == "!!bool":
		optional, out.Optional = said.node.Value == "true", nil
		if optional {
			out.Optional = out.Values
		}
	default:
		s.errorf(said.pos, codes.MalformedDeclaration, fmt.Sprintf("write %s, %[1]s=false or %[1]s=V", said.name), "%s is true, false or the values for which the member is optional", said.name)
	}
	if ok {
		u.marked, u.spots[spot{"optionalMembers", out.Name}] = true, said.pos
	}
	if optional && u.Discriminator == "" {
		s.errorf(said.pos, codes.Contradiction, "delete "+said.name+": without a discriminator no member is required",
			"member %s is optional in a union that has no discriminator", m.name)
	}
}

// own adds the keys of unioncel's markers to the unions of the struct, and adds the unions that
// only such markers declare.
func (s *structure) own() {
	if s.diags.HasErrors() {
		return // the markers would cause further errors
	}
	alone := map[string]*declared{}
	for _, m := range s.marks {
		if m.kind == own && slices.Contains(structKeys, m.key) {
			alone[m.of] = &declared{alone: &union.Declaration{}, Union: union.Union{Name: m.of}}
		}
	}
	for _, m := range s.marks {
		switch {
		case m.kind != own:
		case m.key == valuesKey || m.key == optionalKey || !slices.Contains(union.Keys(), m.key):
			s.unknownKey(m)
		case alone[m.of] != nil:
			s.key(alone[m.of], m)
		default:
			if u := s.addressed(m); u != nil && s.key(u, m) {
				s.read(u, m)
			}
		}
	}
	for _, of := range slices.Sorted(maps.Keys(alone)) {
		u := alone[of]
		u.at = u.keys[0].pos
		s.known(u)
		s.unions = append(s.unions, *u)
	}
	for _, f := range s.fields {
		for _, m := range f.marks {
			if m.kind != own {
				continue
			}
			u := s.unionOf(f)
			switch {
			case m.of != "":
				s.errorf(m.pos, codes.BadMarker, "write "+m.name, "%s on a field names a union: it is about that of the field", m.name)
			case u == nil:
				hint := "put it on a member or the discriminator of a union, or on the struct"
				if slices.ContainsFunc(f.marks, func(m mark) bool { return m.item != nil }) {
					hint = "extend the union of its items in a UnionSet"
				}
				s.errorf(m.pos, codes.BadMarker, hint, "%s is on %s, which is not in a union", m.name, f.name)
			case m.key == valuesKey || m.key == optionalKey || m.key == emptyKey:
				s.onMember(u, f, m)
			case slices.Contains(append(slices.Clone(structKeys), "optionalMembers"), m.key):
				hint := "put it on the struct"
				if m.key == "optionalMembers" {
					hint = "write +unioncel:union:optional on a member, or put it on the struct"
				}
				s.errorf(m.pos, codes.BadMarker, hint, "%s describes a struct, but is on a field", m.name)
			case !slices.Contains(union.Keys(), m.key):
				s.unknownKey(m)
			case m.key == messagesKey:
				s.messages(u, f, m)
			case s.key(u, m):
				s.read(u, m)
			}
		}
	}
}

// known checks that the properties of a union declared only by these markers are fields.
func (s *structure) known(u *declared) {
	var names []string
	for _, each := range append(s.family((*structure).inner), s) {
		names = append(names, each.propertyNames()...)
		for f, inner := range each.held() {
			for _, name := range inner.propertyNames() {
				names = append(names, schemapath.New(f.json, name).String())
			}
		}
	}
	for _, d := range s.read(u, u.keys...) {
		u.alone = d
		for _, name := range d.Properties() {
			if slices.Contains(names, name) || s.pathTo(name) != nil { // the CRD decides about the rest
				continue
			}
			var code diag.Code = codes.UnknownMember
			if name == d.Discriminator() {
				code = codes.UnknownDiscriminator
			}
			s.errorf(u.at, code, spelling.Hint(name, names, "name properties as in JSON"), "%q is not a property of %s", name, s.id.Name)
		}
	}
}

// onMember checks a marker that describes a member.
func (s *structure) onMember(u *declared, f *field, m mark) {
	switch {
	case u.alone != nil || u.Replace:
		s.errorf(m.pos, codes.BadMarker, "set it on the struct too", "%s describes a member by its own markers, and %s is one by those of the struct", m.name, f.name)
	case f.json == u.Discriminator || !slices.Contains(u.MemberNames(), f.json):
		s.errorf(m.pos, codes.BadMarker, "put it on a member", "%s describes a member, and %s is the discriminator", m.name, f.name)
	case m.key == valuesKey && slices.ContainsFunc(f.marks, func(o mark) bool { return o.kind == ifMode }):
		s.errorf(m.pos, codes.BadMarker, "delete it: the modes are the values", "%s is on %s, which has modes", m.name, f.name)
	case u.Discriminator == "" && m.key == valuesKey:
		s.errorf(m.pos, codes.Contradiction, "delete it: without a discriminator members have no values", "member %s has values in a union that has no discriminator", f.name)
	}
}

// messages adds the messages of a marker on a field to those of its union.
func (s *structure) messages(u *declared, f *field, m mark) {
	m.node = yamltext.MappingNode(yamltext.StringNode(f.json), m.node)
	place(m.node, m.pos)
	i := slices.IndexFunc(u.keys, func(k mark) bool { return k.key == messagesKey })
	switch {
	case i < 0:
		u.keys = append(u.keys, m)
	case u.keys[i].node.Kind != yaml.MappingNode:
		return // read has reported it
	case yamltext.Value(u.keys[i].node, f.json) != nil:
		s.errorf(m.pos, codes.BadMarker, "delete one of them", "%s is set twice for %s", m.name, f.name)
		return
	default:
		u.keys[i].node.Content = append(u.keys[i].node.Content, m.node.Content...)
	}
	s.read(u, m)
}

// unionOf returns the union of a field: the first one, except for presence relations if it has
// another union.
func (s *structure) unionOf(f *field) (found *declared) {
	for i := range s.unions {
		if found != nil && !found.Relates() {
			break
		}
		if slices.Contains(s.unions[i].properties(), f.json) {
			if found == nil || !s.unions[i].Relates() {
				found = &s.unions[i]
			}
		}
	}
	return found
}

// addressed returns the union that a marker on the struct describes.
func (s *structure) addressed(m mark) *declared {
	var found []*declared
	var names []string
	for i := range s.unions {
		u := &s.unions[i]
		is := func(f *field) bool { return f.name == m.of && slices.Contains(u.properties(), f.json) }
		if m.of == "" || m.of == u.Name || slices.Contains(u.properties(), m.of) || slices.ContainsFunc(s.fields, is) {
			found = append(found, u)
		}
		names = append(names, u.properties()[0])
	}
	switch {
	case len(s.unions) == 0 && slices.ContainsFunc(s.marks, func(m mark) bool { return m.kind.kubebuilder() }):
		s.errorf(m.pos, codes.BadMarker, "use --kubebuilder, which compiles these unions too", "%s is about a union whose rules controller-gen writes, and they stay as they are", m.name)
	case len(s.unions) == 0:
		s.errorf(m.pos, codes.BadMarker, "mark the members, or list them with +unioncel:union:members", "%s is on %s, which declares no union", m.name, s.id.Name)
	case len(found) == 0:
		s.errorf(m.pos, codes.BadMarker, "write one of "+strings.Join(names, ", "), "%s has no union %q: a union is named by its name, its discriminator or a member", s.id.Name, m.of)
	case len(found) > 1:
		l := make([]string, len(names))
		for i, name := range names {
			l[i] = fmt.Sprintf("+%s(%s):%s", ownPrefix, name, m.key)
		}
		s.errorf(m.pos, codes.BadMarker, "write "+strings.Join(l, " or ")+", or put it on a field of the union", "%s has several unions, and %s does not say which it is about", s.id.Name, m.name)
	default:
		return found[0]
	}
	return nil
}

// unknownKey reports a key that no declaration has, or that belongs on a field.
func (s *structure) unknownKey(m mark) {
	if m.key == valuesKey || m.key == optionalKey {
		s.errorf(m.pos, codes.BadMarker, "put it on the field of the member", "%s describes a field, but is on a type", m.name)
		return
	}
	known := append(union.Keys(), valuesKey, optionalKey)
	s.errorf(m.pos, codes.UnknownKey, spelling.Hint(m.key, known, "the keys are "+strings.Join(known, ", ")), "+%s has no key %q", ownPrefix, m.key)
}

// key adds a key to a union. It returns false, with an error, if the union already has the key.
func (s *structure) key(u *declared, m mark) bool {
	for _, other := range u.keys {
		if other.key == m.key {
			related(s.errorf(m.pos, codes.BadMarker, "delete one of them", "%s is set twice for one union", m.name), other.pos, "the first")
			return false
		}
	}
	place(m.node, m.pos)
	u.keys = append(u.keys, m)
	return true
}

// read parses the values of keys as in YAML. It returns no declaration if one is malformed.
func (s *structure) read(u *declared, keys ...mark) []*union.Declaration {
	item := yamltext.MappingNode()
	overlay(item, keys)
	l, diags := union.Parse(u.at.File, "", yamltext.ListNode(item), nil)
	s.diags = append(s.diags, diags...)
	return l
}

// properties returns the names of the discriminator and the members, in this order.
func (d *declared) properties() []string {
	if d.alone != nil {
		return d.alone.Properties()
	}
	return d.Names()
}

// overlay adds the keys of markers to a declaration.
func overlay(item *yaml.Node, keys []mark) {
	for _, m := range keys {
		key := yamltext.StringNode(m.key)
		place(key, m.pos)
		switch k, v, _, ok := yamltext.Lookup(item, m.key); {
		case ok:
			*k, *v = *key, *m.node
		case m.key == "name": // comes first
			item.Content = slices.Insert(item.Content, 0, key, m.node)
		default:
			item.Content = append(item.Content, key, m.node)
		}
	}
}
