package change

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/internal/prove/schemadiff"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/union"
)

// unions compares the unions declared in the versions of two CRDs.
func (w *walker) unions(was, is *Input) {
	var declared [2][]compile.UnionPlan
	for side, crd := range []*Input{oldSide: was, newSide: is} {
		for _, u := range crd.Unions {
			if u.Name == w.pair.version(side) {
				declared[side] = append(declared[side], u)
				w.claimed[side] = append(w.claimed[side], u.Rules...)
			}
		}
	}
	old, left := declared[oldSide], declared[newSide]
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
	d := &difference{Change: Change{Path: u.Path, Sort: UnionSort, Subject: label(u.Union), Keyword: union.Key, Kind: Changed}, of: Union}
	if u.Union.Ratchet {
		d.of = RatchetingUnion
	}
	var oldRules []string
	d.shift.Clauses[oldSide], oldRules = w.clauses(o, oldSide)
	d.shift.Clauses[newSide], d.newRules = w.clauses(n, newSide)
	switch {
	case o == nil:
		d.Kind, d.What = Added, d.Subject+" added"
	case n == nil:
		d.Kind, d.What = Removed, d.Subject+" removed"
	case !o.Path.Equal(n.Path):
		d.Kind, d.From, d.What = Moved, o.Path, "moved from "+o.Path.String()
	default:
		if d.What = strings.Join(described(o.Union, n.Union), "; "); d.What == "" {
			if slices.Equal(oldRules, d.newRules) {
				return
			}
			d.What = "the same union in other rules"
		}
		w.foldEnum(d, o, n)
		w.foldMembers(d, o, n)
	}
	w.found = append(w.found, d)
}

// clauses returns the clauses for a union's rules on one side, and their texts. Only the server can evaluate a
// rule on a list.
func (w *walker) clauses(u *compile.UnionPlan, side int) (l []schemadiff.Clause, texts []string) {
	if u == nil {
		return nil, nil
	}
	for _, r := range u.Rules {
		rule := r.Validation()
		texts = append(texts, rule.Rule)
		if u.Union.OfItems() && r.Path.Equal(u.Path) {
			list := r.Path.Schema(w.pair.root(side))
			l = append(l, w.ruleOfProperty(r.Path, rule, sample.Between(w.ctx, withRule(list, nil), withRule(list, &rule))...)...)
			continue
		}
		l = append(l, schemadiff.Clause{At: r.Path, Rule: &rule})
	}
	return l, texts
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
	for side, l := range w.demands(at, x, y, &jsonSchema{Enum: x.Enum}, &jsonSchema{Enum: y.Enum}) {
		d.shift.Clauses[side] = append(d.shift.Clauses[side], l...)
	}
	w.folded[at.String()+" enum"] = true
}

// foldMembers merges added and removed member properties into the change of the union.
func (w *walker) foldMembers(d *difference, plans ...*compile.UnionPlan) {
	for _, u := range plans {
		for _, name := range u.Union.MemberNames() {
			at := u.Path.Append(u.Union.Path(name)...)
			for _, side := range bothSides { // that may lack the property
				lacking, s := at[:len(at)-1].Schema(w.pair.root(side)), at.Schema(w.pair.root(1-side))
				if lacking != nil && s != nil && at[len(at)-1].Schema(lacking) == nil && !w.folded[at.String()] {
					w.lacks(&d.shift, at, side, lacking, s)
					w.folded[at.String()] = true
				}
			}
		}
	}
}

// described describes the differences between two unions.
func described(a, b *union.Union) []string {
	var l []string
	say := func(format string, args ...any) { l = append(l, fmt.Sprintf(format, args...)) }
	for _, k := range []struct {
		name    string
		was, is any
	}{
		{"discriminator", cmp.Or(a.Discriminator, "none"), cmp.Or(b.Discriminator, "none")},
		{"type of the discriminator", a.Type, b.Type},
		{"unset", cmp.Or(a.Unset, "none"), cmp.Or(b.Unset, "none")},
		{"cardinality", a.Cardinality, b.Cardinality},
		{"unmappedValues: Forbid:", a.ForbidUnmapped, b.ForbidUnmapped},
		{"deduceInvalidDiscriminator:", a.Deduce, b.Deduce},
		{"ratchet:", a.Ratchet, b.Ratchet},
		{"discriminatorChange", a.Change, b.Change},
	} {
		if k.was != k.is {
			say("%s %v -> %v", k.name, k.was, k.is)
		}
	}
	if a.Change == b.Change && !maps.EqualFunc(a.Allowed, b.Allowed, equalSets) {
		say("allowedChanges changed")
	}
	both := a.Discriminator != "" && b.Discriminator != ""
	for _, m := range b.Members {
		was, values := memberOf(a, m.Name), strings.Join(m.Values, ", ")
		if was == nil {
			say("member %s added%s", m.Name, strings.TrimSuffix(", for "+values, ", for "))
			continue
		}
		switch {
		case equalSets(was.Values, m.Values):
		case both:
			say("member %s is for %s, was for %s", m.Name, values, strings.Join(was.Values, ", "))
		case a.Discriminator == b.Discriminator:
			say("member %s is in %s, was in %s", m.Name, cmp.Or(values, "no group"), listed(was.Values, "no group"))
		}
		if (both || a.Grouped() && b.Grouped() && equalSets(was.Values, m.Values)) && !equalSets(was.Optional, m.Optional) {
			say("member %s may stay unset: %s -> %s", m.Name, listed(was.Optional, "never"), listed(m.Optional, "never"))
		}
		for _, relation := range []struct {
			key     string
			was, is []string
		}{{"dependentRequired", was.Requires, m.Requires}, {"dependentForbidden", was.Forbids, m.Forbids}} {
			if !equalSets(relation.was, relation.is) {
				say("%s of %s: %s -> %s", relation.key, m.Name, listed(relation.was, "none"), listed(relation.is, "none"))
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
	return l
}

func listed(l []string, none string) string { return cmp.Or(strings.Join(l, ", "), none) }

func memberOf(u *union.Union, name string) *union.Member {
	if i := slices.Index(u.MemberNames(), name); i >= 0 {
		return &u.Members[i]
	}
	return nil
}

func equalSets(a, b []string) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
