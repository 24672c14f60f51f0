package change

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/schemadiff"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// unions compares the unions declared in two versions.
func (w *walker) unions(old, new []compile.UnionPlan) {
	for side, l := range [][]compile.UnionPlan{oldSide: old, newSide: new} {
		for _, u := range l {
			w.claimed[side] = append(w.claimed[side], u.Rules...)
		}
	}
	left := slices.Clone(new)
	take := func(u compile.UnionPlan, like func(a, b compile.UnionPlan) bool) *compile.UnionPlan {
		i := slices.IndexFunc(left, func(v compile.UnionPlan) bool { return like(u, v) })
		if i < 0 {
			return nil
		}
		v := left[i]
		left = slices.Delete(left, i, i+1)
		return &v
	}
	partner := make([]*compile.UnionPlan, len(old))
	for _, like := range likeness {
		for i, u := range old {
			if partner[i] == nil {
				partner[i] = take(u, like)
			}
		}
	}
	for i, u := range old {
		w.union(&u, partner[i])
	}
	for _, u := range left {
		w.union(nil, &u)
	}
}

// likeness matches the unions of two versions. The surest criteria come first.
var likeness = []func(a, b compile.UnionPlan) bool{
	func(a, b compile.UnionPlan) bool { return a.Path.Equal(b.Path) && reflect.DeepEqual(a.Union, b.Union) },
	func(a, b compile.UnionPlan) bool {
		return a.Path.Equal(b.Path) && a.Union.Name != "" && a.Union.Name == b.Union.Name
	},
	func(a, b compile.UnionPlan) bool {
		return a.Path.Equal(b.Path) && a.Union.Discriminator != "" && a.Union.Discriminator == b.Union.Discriminator
	},
	func(a, b compile.UnionPlan) bool { return a.Path.Equal(b.Path) && common(a.Union, b.Union) },
	func(a, b compile.UnionPlan) bool { return reflect.DeepEqual(a.Union, b.Union) }, // moved
}

func common(a, b *union.Union) bool {
	return slices.ContainsFunc(a.MemberNames(), func(name string) bool { return slices.Contains(b.MemberNames(), name) })
}

// label names a union in changes.
func label(u *union.Union) string {
	const most = 4
	names := u.MemberNames()
	text := strings.Join(names[:min(len(names), most)], ", ")
	if len(names) > most {
		text += ", ..."
	}
	return "union " + cmp.Or(u.Name, u.Discriminator, text)
}

// union compares a union of the old version with its counterpart in the new one, if any.
func (w *walker) union(o, n *compile.UnionPlan) {
	u := cmp.Or(n, o)
	d := &difference{Change: Change{Path: u.Path, Sort: UnionSort, Subject: label(u.Union), Keyword: union.Key, Kind: Changed}}
	switch {
	case o == nil:
		d.Kind, d.What = Added, d.Subject+" added"
	case n == nil:
		d.Kind, d.What = Removed, d.Subject+" removed"
	case !o.Path.Equal(n.Path):
		d.Kind, d.From, d.What = Moved, o.Path, "moved from "+o.Path.String()
	default:
		if d.What = strings.Join(w.described(o, n), "; "); d.What == "" {
			if slices.Equal(texts(o.Rules), texts(n.Rules)) {
				return
			}
			d.What = "the same union in other rules"
		}
	}
	d.shift.Old, d.OldRules = append(d.shift.Old, w.clauses(o, o, n)...), texts(planRules(o))
	d.shift.New, d.NewRules = append(d.shift.New, w.clauses(n, o, n)...), texts(planRules(n))
	if o != nil && n != nil && o.Path.Equal(n.Path) {
		w.foldEnum(d, o, n)
		w.foldMembers(d, o, n)
	}
	w.found = append(w.found, d)
}

func planRules(u *compile.UnionPlan) []compile.RulePlan {
	if u == nil {
		return nil
	}
	return u.Rules
}

func texts(l []compile.RulePlan) []string {
	var out []string
	for _, r := range l {
		out = append(out, r.Rule.Rule)
	}
	return out
}

// clauses returns the clauses for a union's rules. Only the server can evaluate a rule on a list:
// the values to try are lists of items that either union names.
func (w *walker) clauses(u, o, n *compile.UnionPlan) []schemadiff.Clause {
	var l []schemadiff.Clause
	for _, r := range planRules(u) {
		rule := r.Validation()
		if u.Union.OfItems() && r.Path.Equal(u.Path) {
			l = append(l, w.ruleOfProperty(r.Path, rule, w.lists(u.Path, o, n)...)...)
			continue
		}
		l = append(l, schemadiff.Clause{At: r.Path, Rule: &rule})
	}
	return l
}

// lists returns the empty list, and lists of one and of two items that the unions name.
func (w *walker) lists(p schemapath.Path, unions ...*compile.UnionPlan) []any {
	var items []any
	for i, u := range unions {
		if u == nil {
			continue
		}
		for _, m := range u.Union.Members {
			item := map[string]any{}
			if values := w.values(p.Append(schemapath.Items).Schema(w.pair.root(bothSides[i]))); len(values) > 0 {
				item, _ = values[0].(map[string]any)
			}
			for _, k := range m.Item {
				item[k.Name] = k.Value
			}
			if !slices.ContainsFunc(items, func(v any) bool { return reflect.DeepEqual(v, any(item)) }) {
				items = append(items, item)
			}
		}
	}
	l := []any{[]any{}}
	for i, a := range items {
		l = append(l, []any{a})
		for _, b := range items[:i] {
			l = append(l, []any{b, a})
		}
	}
	return l
}

// foldEnum merges a change of the discriminator's enum into the change of the union.
func (w *walker) foldEnum(d *difference, o, n *compile.UnionPlan) {
	name := o.Union.Discriminator
	if name == "" || n.Union.Discriminator != name || slices.Equal(o.Union.MemberValues(), n.Union.MemberValues()) {
		return
	}
	at := o.Path.Append(n.Union.Path(name)...)
	x, y := at.Schema(w.pair.root(oldSide)), at.Schema(w.pair.root(newSide))
	if x == nil || y == nil || len(x.Enum) == 0 || len(y.Enum) == 0 || reflect.DeepEqual(x.Enum, y.Enum) {
		return
	}
	was, is := formula.EnumValues(x), formula.EnumValues(y)
	more, gone := onlyIn(is, was), onlyIn(was, is)
	for side, l := range [][]any{oldSide: gone, newSide: more} {
		u := [...]*compile.UnionPlan{oldSide: o, newSide: n}[side].Union
		if slices.ContainsFunc(l, func(v any) bool { return !slices.Contains(u.MemberValues(), u.Type.Text(v)) }) {
			return // the enum differs from the values of the union
		}
	}
	d.shift.Old = append(d.shift.Old, w.demand(at, y, &jsonSchema{Enum: x.Enum})...)
	d.shift.New = append(d.shift.New, w.demand(at, x, &jsonSchema{Enum: y.Enum})...)
	w.folded[at.String()+" enum"] = true
}

// foldMembers merges added and removed member properties into the change of the union.
func (w *walker) foldMembers(d *difference, o, n *compile.UnionPlan) {
	for _, path := range memberPaths(o, n) {
		at, holder := o.Path.Append(path...), o.Path.Append(path[:len(path)-1]...)
		x, y := holder.Schema(w.pair.root(oldSide)), holder.Schema(w.pair.root(newSide))
		if x == nil || y == nil {
			continue
		}
		was, is := path[len(path)-1].Schema(x), path[len(path)-1].Schema(y)
		if (was == nil) == (is == nil) || w.folded[at.String()] {
			continue
		}
		var s schemadiff.Shift
		if was == nil {
			s = w.propertyShift(at, Added, x, is)
		} else {
			s = w.propertyShift(at, Removed, y, was)
		}
		d.shift.Old, d.shift.New, d.shift.Reshaped = append(d.shift.Old, s.Old...), append(d.shift.New, s.New...), append(d.shift.Reshaped, s.Reshaped...)
		w.folded[at.String()] = true
	}
}

// memberPaths returns the paths of the members of several unions on one schema.
func memberPaths(l ...*compile.UnionPlan) []schemapath.Path {
	var paths []schemapath.Path
	for _, u := range l {
		for _, name := range u.Union.MemberNames() {
			paths = append(paths, u.Union.Path(name))
		}
	}
	return paths
}

// described describes the differences between two unions.
func (w *walker) described(o, n *compile.UnionPlan) []string {
	a, b := o.Union, n.Union
	var l []string
	say := func(format string, args ...any) { l = append(l, fmt.Sprintf(format, args...)) }
	if a.Discriminator != b.Discriminator {
		say("discriminator %s -> %s", cmp.Or(a.Discriminator, "none"), cmp.Or(b.Discriminator, "none"))
	}
	if a.Type != b.Type {
		say("type of the discriminator %s -> %s", a.Type, b.Type)
	}
	if a.Unset != b.Unset {
		say("unset %s -> %s", cmp.Or(a.Unset, "none"), cmp.Or(b.Unset, "none"))
	}
	both := a.Discriminator != "" && b.Discriminator != ""
	for _, m := range b.Members {
		was := memberOf(a, m.Name)
		switch {
		case was == nil && len(m.Values) > 0:
			say("member %s added, for %s", m.Name, strings.Join(m.Values, ", "))
		case was == nil:
			say("member %s added", m.Name)
		case a.Discriminator == b.Discriminator && !both && !equalSets(was.Values, m.Values):
			say("member %s is in %s, was in %s", m.Name, groupOf(m), groupOf(*was))
		case both && !equalSets(was.Values, m.Values):
			say("member %s is for %s, was for %s", m.Name, strings.Join(m.Values, ", "), strings.Join(was.Values, ", "))
		}
		if was == nil {
			continue
		}
		if (both || a.Grouped() && b.Grouped() && equalSets(was.Values, m.Values)) && !equalSets(was.Optional, m.Optional) {
			say("member %s may stay unset: %s -> %s", m.Name, optional(*was), optional(m))
		}
		for _, relation := range []struct {
			key     string
			was, is []string
		}{{"dependentRequired", was.Requires, m.Requires}, {"dependentForbidden", was.Forbids, m.Forbids}} {
			if !equalSets(relation.was, relation.is) {
				say("%s of %s: %s -> %s", relation.key, m.Name, listed(relation.was), listed(relation.is))
			}
		}
		if was.Empty != m.Empty {
			say("emptyIsUnset of %s changed", m.Name)
		}
	}
	for _, m := range a.Members {
		if memberOf(b, m.Name) == nil {
			say("member %s removed", m.Name)
		}
	}
	if a.Cardinality != b.Cardinality {
		say("cardinality %s -> %s", a.Cardinality, b.Cardinality)
	}
	toggled := func(name string, was, is bool) {
		if was != is {
			say("%s: %t -> %t", name, was, is)
		}
	}
	toggled("unmappedValues: Forbid", a.ForbidUnmapped, b.ForbidUnmapped)
	toggled("deduceInvalidDiscriminator", a.Deduce, b.Deduce)
	toggled("ratchet", a.Ratchet, b.Ratchet)
	if a.Change != b.Change {
		say("discriminatorChange %s -> %s", a.Change, b.Change)
	} else if !maps.EqualFunc(a.Allowed, b.Allowed, equalSets) {
		say("allowedChanges changed")
	}
	return l
}

// groupOf returns the name of the group of a member without a discriminator.
func groupOf(m union.Member) string {
	if len(m.Values) == 0 {
		return "no group"
	}
	return m.Values[0]
}

func optional(m union.Member) string { return cmp.Or(strings.Join(m.Optional, ", "), "never") }

func listed(l []string) string { return cmp.Or(strings.Join(l, ", "), "none") }

func memberOf(u *union.Union, name string) *union.Member {
	if i := slices.Index(u.MemberNames(), name); i >= 0 {
		return &u.Members[i]
	}
	return nil
}

func equalSets(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
