package policy

import (
	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

// groups is the list of the names of the groups that are set in an object. In a union with groups,
// these take the place of members.
func (w writer) groups(object cel.Expr) cel.Expr {
	return cel.Add(cel.Each(w.u.Groups(), func(g union.Group) cel.Expr {
		return listIf(cel.Or(cel.Each(g.Members, func(i int) cel.Expr { return present(object, w.u, w.u.Members[i]) })...), cel.String(g.Name))
	})...)
}

// respectGroup clears the members of all groups except the only name in chosen, if this group is
// complete. to is the new selection of the union.
func (w writer) respectGroup(chosen, first, to cel.Expr) cel.Expr {
	conditions := []cel.Expr{cel.Size(chosen).Eq(cel.Int(1))}
	var removals []cel.Expr
	for _, g := range w.u.Groups() {
		is := first.Eq(cel.String(g.Name))
		for _, i := range w.u.Require(g) {
			conditions = append(conditions, cel.Or(cel.Not(is), present(w.new, w.u, w.u.Members[i])))
		}
		for _, i := range g.Members {
			m := w.u.Members[i]
			set := present(w.new, w.u, m)
			if !w.opts.Unselected {
				conditions = append(conditions, cel.Or(is, cel.Not(set), equal(read(w.new, w.u, m.Name), read(w.old, w.u, m.Name))))
			}
			removals = append(removals, listIf(cel.And(set, cel.Not(is)), removal(w.path(m.Name))))
		}
	}
	return guarded(append(conditions, where(w.u.Guarded(), w.allowed(to))), removals...)
}
