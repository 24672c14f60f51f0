package union

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
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
		read: func(d *Declaration, k, v yamltext.ConfigValue) diag.Pos {
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
func relations(v yamltext.ConfigValue) []fieldValues {
	return byName(v, yamltext.ConfigValue.Word, yamltext.ConfigValue.WordOrMore)
}

// Relates reports whether the union consists of presence relations: dependentRequired and
// dependentForbidden.
func (u *Union) Relates() bool { return u.Cardinality == AnyNumber }

// Relation is a presence relation: it requires or forbids a member while one of others is set.
type Relation struct {
	// Violation has the member, and the condition Required or Forbidden.
	Violation
	// Others are the indices of the others.
	Others []int
}

// Relations returns the presence relations of the union, in the order of its conditions. The caller
// owns the result.
func (u *Union) Relations() []Relation {
	forbidding, requiring := map[string][]int{}, map[string][]int{}
	for i, m := range u.Members {
		for _, name := range m.Forbids {
			forbidding[name] = append(forbidding[name], i)
		}
		for _, name := range m.Requires {
			requiring[name] = append(requiring[name], i)
		}
	}
	var l []Relation
	for i, m := range u.Members {
		if others := forbidding[m.Name]; len(others) > 0 {
			l = append(l, Relation{Violation{Forbidden, i}, others})
		}
		if others := requiring[m.Name]; len(others) > 0 {
			l = append(l, Relation{Violation{Required, i}, others})
		}
	}
	return l
}

// relation returns the relation that a violation is about.
func (u *Union) relation(v Violation) Relation {
	l := u.Relations()
	return l[slices.IndexFunc(l, func(r Relation) bool { return r.Violation == v })]
}

// clause returns the condition of a relation.
func (r Relation) clause(s at) Clause {
	member := s.set(r.Member)
	if r.Condition == Required {
		member = not(member)
	}
	return Clause{r.Violation, and(member, s.anyOf(r.Others))}
}

// describeRelation implements DescribeViolation for presence relations.
func (u *Union) describeRelation(v Violation, is State) string {
	verb := "is not set"
	if v.Condition == Forbidden {
		verb = "is set"
	}
	others := slices.DeleteFunc(u.relation(v).Others, func(i int) bool { return !is.Present[i] })
	return fmt.Sprintf("%s %s while %s", u.Members[v.Member].Name, verb, are(u.NamesOf(others)))
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
	excluding := slices.DeleteFunc(u.Relations(), func(r Relation) bool { return r.Condition == Required })
	at := map[string]int{}
	for i, m := range u.Members {
		at[m.Name] = i
	}
	for i, m := range u.Members {
		s := State{Present: make([]bool, len(u.Members))}
		s.Present[i] = true
		for next := []int{i}; len(next) > 0; {
			from := u.Members[next[len(next)-1]]
			next = next[:len(next)-1]
			for _, name := range from.Requires {
				if j := at[name]; !s.Present[j] {
					s.Present[j], next = true, append(next, j)
				}
			}
		}
		for _, e := range excluding {
			by := slices.IndexFunc(e.Others, func(j int) bool { return s.Present[j] })
			if by < 0 || !s.Present[e.Member] {
				continue
			}
			with := u.NamesOf(slices.DeleteFunc(s.Set(), func(j int) bool { return j == i }))
			r.errorf(r.d.posOf(r.relationKey()), codes.Contradiction, "delete one of the relations", "%s may never be set: it requires %s, but %s forbids %s",
				m.Name, strings.Join(with, ", "), u.Members[e.Others[by]].Name, u.Members[e.Member].Name)
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
