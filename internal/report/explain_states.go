package report

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/pkg/union"
)

// memberless returns the known values that select no member.
func (s *unionPlan) memberless() []string {
	l := []string{}
	for _, v := range s.Values {
		if len(s.MembersOf(v)) == 0 {
			l = append(l, v)
		}
	}
	return l
}

// anyValue reports whether the discriminator may have unknown values.
func (s *unionPlan) anyValue() bool {
	return s.Discriminator != "" && len(s.enum) == 0
}

// fallback returns the server's default of the discriminator, or "".
func (s *unionPlan) fallback() string {
	var value any
	if union.Defaulted(&s.written) {
		_ = json.Unmarshal(s.written.Default.Raw, &value) // the server rejects a default of another type
	}
	return s.Type.Text(value)
}

// neverUnset reports whether the discriminator is never unset, because the server sets a default
// and the schema rejects "".
func (s *unionPlan) neverUnset() bool {
	admitsEmpty := s.Type == union.StringValue && (s.enum == nil || slices.Contains(s.enum, "")) && (s.written.MinLength == nil || *s.written.MinLength == 0)
	path := s.Path(s.Discriminator)
	return s.Unset != "" || s.fallback() != "" && !admitsEmpty && union.AlwaysThere(&s.schema, path[:len(path)-1])
}

// otherValue returns an unknown value of the discriminator.
func (s *unionPlan) otherValue() string {
	v, more := "Other", "X"
	if s.Type == union.IntegerValue {
		v, more = "1", "0"
	}
	for slices.Contains(s.Values, v) {
		v += more
	}
	return v
}

// stateWith returns the state with a value and with the members of these indices.
func (s *unionPlan) stateWith(value string, members ...int) union.State {
	st := union.State{Value: value, Present: make([]bool, len(s.Members))}
	for _, i := range members {
		st.Present[i] = true
	}
	return st
}

// choice is a selection with a legal state of this selection: a discriminator value or, without a
// discriminator, a member or a group.
type choice struct {
	label string
	state union.State
}

// choices returns the selections of legal states, with the selected members set.
func (s *unionPlan) choices() []choice {
	var l []choice
	add := func(label, value string, members ...int) {
		for _, st := range []union.State{s.stateWith(value, members...), s.stateWith(value)} {
			if len(s.conditions.Broken(st, st)) == 0 {
				l = append(l, choice{label, st})
				return
			}
		}
	}
	if !s.Exclusive() {
		return nil
	}
	if !s.neverUnset() {
		add("unset", "")
	}
	if s.Discriminator == "" {
		for _, g := range s.Groups() {
			add(plainText(g.Name), "", g.Members...)
		}
		return l
	}
	for _, v := range s.Values {
		add(plainText(v), v, s.MembersOf(v)...)
	}
	if s.anyValue() {
		add("any other", s.otherValue())
	}
	return l
}
