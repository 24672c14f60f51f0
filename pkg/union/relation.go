package union

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/yaml/yamlconfig"
	"github.com/unioncel/unioncel/pkg/diag"
)

// The keys of a union of presence relations.
const (
	requiredKey  = "dependentRequired"
	forbiddenKey = "dependentForbidden"
)

// relation returns a key that maps a property to other properties, which become members.
func relation(name, example string, of func(Member) []string) key {
	return key{
		name: name, example: example,
		read: func(d *Declaration, k, v yamlconfig.Value) diag.Pos {
			for _, f := range relations(v) {
				for _, w := range append([]word{f.name}, f.values...) {
					if !slices.ContainsFunc(d.fields, func(f fieldValues) bool { return f.name.Text == w.Text }) {
						d.fields = append(d.fields, fieldValues{name: w})
					}
				}
			}
			return k.Pos()
		},
		write: func(u *Union) *yaml.Node {
			related := u.those(func(m Member) bool { return len(of(m)) > 0 })
			if len(related) == 0 {
				return nil
			}
			return byMemberNode(u, related, of)
		},
	}
}

// relations reads a map from a property to one or more properties.
func relations(v yamlconfig.Value) (l []fieldValues) {
	for _, e := range v.Entries() {
		l = append(l, fieldValues{name: e.Key.Word(), values: append([]word{}, e.Value.WordOrMore()...)})
	}
	return l
}

// Relates reports whether the union consists of presence relations: dependentRequired and
// dependentForbidden.
func (u *Union) Relates() bool { return u.Cardinality == AnyNumber }

// RequiredBy returns the indices of the members that require member i while they are set. The caller
// owns the result.
func (u *Union) RequiredBy(i int) []int {
	return u.indicesOf(func(m Member) bool { return slices.Contains(m.Requires, u.Members[i].Name) })
}

// ForbiddenBy returns the indices of the members that forbid member i while they are set. The caller
// owns the result.
func (u *Union) ForbiddenBy(i int) []int {
	return u.indicesOf(func(m Member) bool { return slices.Contains(m.Forbids, u.Members[i].Name) })
}

func (u *Union) indicesOf(is func(Member) bool) []int {
	return slices.DeleteFunc(u.indices(), func(i int) bool { return !is(u.Members[i]) })
}

// relations calls add for each condition of a union of presence relations.
func (u *Union) relations(add func(c Condition, member int, when Expr)) {
	s := at{Union: u}
	for i := range u.Members {
		if by := u.ForbiddenBy(i); len(by) > 0 {
			add(Forbidden, i, and(s.set(i), s.anyOf(by)))
		}
		if by := u.RequiredBy(i); len(by) > 0 {
			add(Required, i, and(not(s.set(i)), s.anyOf(by)))
		}
	}
}

// describeRelation implements DescribeViolation for presence relations.
func (u *Union) describeRelation(v Violation, is State) string {
	by, verb := u.RequiredBy(v.Member), "is not set"
	if v.Condition == Forbidden {
		by, verb = u.ForbiddenBy(v.Member), "is set"
	}
	var names []string
	for _, i := range by {
		if is.Present[i] {
			names = append(names, u.Members[i].Name)
		}
	}
	are := "is"
	if len(names) > 1 {
		are = "are"
	}
	return fmt.Sprintf("%s %s while %s %s", u.Members[v.Member].Name, verb, english.List(names, "and"), are)
}

// relates reports keys that presence relations exclude. It sets the cardinality.
func (r *resolver) relates() bool {
	d := r.d
	r.u.Cardinality = AnyNumber
	for _, key := range []string{"members", mappingKey, "discriminator", "cardinality"} {
		if d.has(key) {
			r.errorf(d.posOf(key), codes.Contradiction, "delete it, or write a second item of "+Key+" with it",
				"a declaration with %s has no %s: it restricts no number of members", r.relationKey(), key)
			return false
		}
	}
	return true
}

// related resolves the keys of presence relations.
func (r *resolver) related() {
	d := r.d
	for _, key := range []string{requiredKey, forbiddenKey} {
		for _, f := range relations(d.key(key).Value) {
			m := r.member(f.name, key)
			if m == nil {
				continue
			}
			l := &m.Requires
			if key == forbiddenKey {
				l = &m.Forbids
			}
			if len(f.values) == 0 {
				r.errorf(f.name.Pos, codes.NoMembers, "list the other properties, or delete the entry", "%s relates %q to no property", key, f.name.Text)
			}
			for _, w := range f.values {
				switch {
				case w.Text == f.name.Text:
					r.errorf(w.Pos, codes.Contradiction, "delete it", "%s relates %q to itself", key, w.Text)
				case slices.Contains(*l, w.Text):
					r.errorf(w.Pos, codes.DuplicateValue, "delete one of them", "%q is listed twice for %q", w.Text, f.name.Text)
				default:
					*l = append(*l, w.Text)
				}
			}
		}
	}
	if !r.diags.HasErrors() {
		r.never()
	}
}

// relationKey returns a key of presence relations that the declaration has, or "".
func (r *resolver) relationKey() string {
	return cmp.Or(r.d.key(requiredKey).Name, r.d.key(forbiddenKey).Name)
}

// never reports a member that no object may set, because the members that it requires exclude each
// other. The smallest object with the member has exactly these members.
func (r *resolver) never() {
	u := r.u
	for i, m := range u.Members {
		s := State{Present: make([]bool, len(u.Members))}
		s.Present[i] = true
		for {
			violations := slices.DeleteFunc(u.Violations(s), func(v Violation) bool { return v.Condition != Required })
			if len(violations) == 0 {
				break
			}
			for _, v := range violations {
				s.Present[v.Member] = true
			}
		}
		if broken := u.Violations(s); len(broken) > 0 {
			var with []string
			for _, name := range chosen(u, s.Present) {
				if name != m.Name {
					with = append(with, name)
				}
			}
			forbidden := broken[0].Member
			by := slices.DeleteFunc(u.ForbiddenBy(forbidden), func(i int) bool { return !s.Present[i] })
			r.errorf(r.d.posOf(r.relationKey()), codes.Contradiction, "delete one of the relations", "%s may never be set: it requires %s, but %s forbids %s",
				m.Name, strings.Join(with, ", "), u.Members[by[0]].Name, u.Members[forbidden].Name)
			return
		}
	}
}

// unrestricted names a union whose changes cannot be restricted.
func (r *resolver) unrestricted() string {
	if r.u.Relates() {
		return r.relationKey()
	}
	return "cardinality AtLeastOne"
}
