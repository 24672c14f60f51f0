package clientschema

import (
	"strings"

	"github.com/unioncel/unioncel/pkg/union"
)

// relate adds presence relations to a schema. asWritten is the schema before the translation.
func relate(u *union.Union, asWritten, n node, d dialect) {
	for _, forms := range relations(u) {
		l := restrictions(u, asWritten, forms, d)
		if d == jsonSchema && takesNull(asWritten) {
			for _, form := range l {
				form.(node)["type"] = asWritten["type"]
			}
			l = append(l, jsonSchema.null())
		}
		restrict(n, "anyOf", l)
	}
}

// relations returns the forms of an object under each presence relation. An object with a legal state
// has at least one form under each relation.
func relations(u *union.Union) [][]branch {
	var l [][]branch
	add := func(others []int, then branch) {
		if len(others) == 0 {
			return
		}
		var names []string
		for _, i := range others {
			names = append(names, u.Members[i].Name)
		}
		l = append(l, []branch{{title: "without " + strings.Join(names, ", "), clear: others}, then})
	}
	for i, m := range u.Members {
		add(u.ForbiddenBy(i), branch{title: "without " + m.Name, clear: []int{i}})
		add(u.RequiredBy(i), branch{title: "with " + m.Name, set: []int{i}})
	}
	return l
}
