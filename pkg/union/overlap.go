package union

import (
	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Shares reports whether two unions of an object have a property in common.
func (u *Union) Shares(other *Union) bool { return len(Sharing([]*Union{u, other})) == 1 }

// Sharing returns the indices of the unions of an object that depend on each other: they share
// properties with one another, or with other unions that do. The groups are in the order of the
// unions. A union that shares nothing is a group by itself.
func Sharing(unions []*Union) [][]int {
	first := make([]int, len(unions)) // an earlier union of the group, or the union itself
	root := func(i int) int {
		for first[i] != i {
			i = first[i]
		}
		return i
	}
	owner := map[string]int{} // by path
	for i, u := range unions {
		first[i] = i
		for _, name := range u.Names() {
			path := u.Path(name).String()
			if j, ok := owner[path]; ok {
				a, b := root(i), root(j)
				first[max(a, b)] = min(a, b)
			} else {
				owner[path] = i
			}
		}
	}
	groups := map[int][]int{}
	var l [][]int
	for i := range unions {
		groups[root(i)] = append(groups[root(i)], i)
	}
	for i := range unions {
		if root(i) == i {
			l = append(l, groups[i])
		}
	}
	return l
}

// overlaps reports a discriminator that an earlier union of the object has, too. Other properties may
// be in several unions.
func (r *resolver) overlaps(earlier []*resolver) {
	w := r.d.discriminator()
	if w.Text == "" {
		return
	}
	for _, o := range earlier {
		if o.u.Discriminator != "" && r.u.Path(w.Text).Equal(o.u.Path(o.u.Discriminator)) {
			r.errorf(w.Pos, codes.DiscriminatorShared, "declare one union, or use different properties", "%q is the discriminator of two unions", w.Text)
			r.diags[len(r.diags)-1].Related = []diag.Related{{Pos: o.d.Pos, Message: "the other union"}}
		}
	}
}
