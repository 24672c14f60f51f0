package markers

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/gengo/v2/codetags"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/union"
)

// keysOf reads the keys of +k8s:item. An incomplete tag is a problem, since its author may mean a
// member.
func (m *mark) keysOf(t *codetags.Tag) {
	m.name = "+" + t.Name
	const example = `write it like +k8s:item(type: "A")=+k8s:unionMember`
	switch {
	case t.ValueTag == nil:
		m.problem = &misuse{m.name + " has no marker for the item", example}
	case len(t.Args) == 0 || slices.ContainsFunc(t.Args, func(a codetags.Arg) bool { return a.Name == "" }):
		m.problem = &misuse{m.name + " names no key of the item", example}
	}
	if m.item == nil {
		m.item = yamltext.MappingNode()
	}
	for _, a := range t.Args {
		value := yamltext.StringNode(a.Value)
		switch a.Type {
		case codetags.ArgTypeInt:
			value = yamltext.IntNode(a.Value)
		case codetags.ArgTypeBool:
			value = yamltext.BoolNode(a.Value == "true")
		case codetags.ArgTypeString:
		}
		m.item.Content = append(m.item.Content, yamltext.StringNode(a.Name), value)
	}
}

// ofItems declares the unions of list items, which +k8s:item marks on one field.
func (s *structure) ofItems() {
	var found []declared
	for _, f := range s.fields {
		type key struct {
			kind markerKind
			name string
		}
		at := map[key]int{}
		for _, m := range f.marks {
			if m.item == nil || m.problem != nil {
				continue
			}
			id := key{m.kind, m.of}
			i, ok := at[id]
			if !ok {
				i = len(found)
				at[id] = i
				u := declared{at: m.pos, item: yamltext.MappingNode(), list: f.json}
				if m.of != "" {
					u.set("name", yamltext.StringNode(m.of))
				}
				u.set("members", yamltext.ListNode())
				cardinality := union.ExactlyOne
				if m.kind == zeroOrOneMember {
					cardinality = union.AtMostOne
				}
				u.set("cardinality", yamltext.StringNode(cardinality.String()))
				found = append(found, u)
			}
			if m.value != nil {
				s.errorf(m.pos, codes.Contradiction, "delete memberName", "items of a list have no discriminator that could select %s", m.item.Content[1].Value)
			}
			members := yamltext.Value(found[i].item, "members")
			members.Content = append(members.Content, place(m.item, m.pos))
		}
	}
	for _, u := range found {
		s.add(u)
	}
}

// itemMarker returns the marker that makes a list item the first member of a union.
func itemMarker(u *union.Union) string {
	var keys []string
	for _, k := range u.Members[0].Item {
		keys = append(keys, fmt.Sprintf("%s: %#v", k.Name, k.Value))
	}
	kind := "unionMember"
	if u.Cardinality == union.AtMostOne {
		kind = "zeroOrOneOfMember"
	}
	return "+k8s:item(" + strings.Join(keys, ", ") + ")=+k8s:" + kind
}
