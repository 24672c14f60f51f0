package markers

import (
	"fmt"
	"strconv"

	"k8s.io/gengo/v2/codetags"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/union"
)

// keysOf reads the keys of +k8s:item.
func (m *mark) keysOf(t *codetags.Tag) {
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
