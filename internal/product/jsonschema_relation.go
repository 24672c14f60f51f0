package product

import (
	"strings"

	"github.com/unioncel/unioncel/pkg/union"
)

// relate adds presence relations to a schema. asWritten is the schema before the translation.
func relate(u *union.Union, asWritten, n node) {
	for _, forms := range relations(u) {
		l := restrictions(u, asWritten, forms)
		if takesNull(asWritten) {
			for _, form := range l {
				form.(node)["type"] = asWritten["type"]
			}
			l = append(l, null())
		}
		restrict(n, "anyOf", l)
	}
}

// relations returns the forms of an object under each presence relation. An object with a legal state
// has at least one form under each relation.
func relations(u *union.Union) [][]branch {
	var l [][]branch
	for _, r := range u.Relations() {
		name, member := u.Members[r.Member].Name, []int{r.Member}
		then := branch{title: "with " + name, set: member}
		if r.Condition == union.Forbidden {
			then = branch{title: "without " + name, clear: member}
		}
		l = append(l, []branch{{title: "without " + strings.Join(u.NamesOf(r.Others), ", "), clear: r.Others}, then})
	}
	return l
}
