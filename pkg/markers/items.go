package markers

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/gengo/v2/codetags"

	"github.com/unioncel/unioncel/internal/codes"
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
	for _, a := range t.Args {
		var v any = a.Value
		switch a.Type {
		case codetags.ArgTypeInt:
			v, _ = strconv.ParseInt(a.Value, 10, 64) // codetags has checked it
		case codetags.ArgTypeBool:
			v = a.Value == "true"
		case codetags.ArgTypeString:
		}
		m.item = append(m.item, union.ItemKey{Name: a.Name, Value: v})
	}
}

// ofItems declares the unions of list items, which +k8s:item marks on one field.
func (s *structure) ofItems() {
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
				i = len(s.unions)
				at[id] = i
				u := declared{Union: union.Union{Name: m.of, Cardinality: union.ExactlyOne}, at: m.pos, list: f.json}
				if m.kind == zeroOrOneMember {
					u.Cardinality = union.AtMostOne
				}
				s.unions = append(s.unions, u)
			}
			if m.value != nil {
				s.errorf(m.pos, codes.Contradiction, "delete memberName", "items of a list have no discriminator that could select %s", fmt.Sprint(m.item[0].Value))
			}
			s.unions[i].Members = append(s.unions[i].Members, union.Member{Item: m.item})
		}
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
