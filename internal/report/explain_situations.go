package report

import (
	"cmp"
	"context"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Conditions of situations that are not conditions of unions.
const (
	refused = "refused" // a hand-written constraint rejects a state that the union allows
	removed = "removed" // a guard rejects the removal of the union object
)

// situations returns the smallest example for each condition that can be violated, and for each
// hand-written constraint that rejects a state that the union allows. unset are the members that no
// example can set. It returns an error if a schema cannot be read.
func (s *unionPlan) situations() (l []Situation, unset []string, err error) {
	x := &situations{unionPlan: s, judges: s.judges(), list: []Situation{}}
	if x.examples, err = verify.NewExamples(context.Background(), s.plan.CRD, s.plan.Place.Version, s.plan.Place.Path, s.Union, s.beside); err != nil {
		return nil, nil, err
	}
	for _, find := range []func() error{x.states, x.contradictions, x.changes, x.removals} {
		if err := find(); err != nil {
			return nil, nil, err
		}
	}
	return x.list, x.examples.Unset(), nil
}

// situations collects situations.
type situations struct {
	*unionPlan
	judges   *judges
	examples *verify.Examples
	list     []Situation
}

// states adds states that violate a condition. If there are many members, it covers only the first.
func (x *situations) states() error {
	conditions := []union.Violation{{Condition: union.Selected, Member: -1}, {Condition: union.Unmapped, Member: -1}}
	for i := range x.Members[:min(len(x.Members), x.shown)] {
		conditions = append(conditions, union.Violation{Condition: union.Forbidden, Member: i}, union.Violation{Condition: union.Required, Member: i})
	}
	conditions = append(conditions, union.Violation{Condition: union.TooMany, Member: -1}, union.Violation{Condition: union.TooFew, Member: -1})
	for _, v := range conditions {
		e, err := x.examples.Violating(v)
		if err != nil {
			return err
		}
		if v.Condition == union.Selected && x.required || v.Condition == union.Unmapped && x.ForbidUnmapped && e == nil {
			// The schema itself rejects such states.
			unchecked, err := x.examples.Unchecked()
			if err != nil {
				return err
			}
			first, err := unchecked.Violating(v)
			if err != nil {
				return err
			}
			if err := x.add(v, first); err != nil {
				return err
			}
		}
		if err := x.add(v, e); err != nil {
			return err
		}
	}
	return nil
}

// contradictions adds states that the union allows and hand-written constraints reject.
func (x *situations) contradictions() error {
	shown := map[string]bool{}
	for _, b := range x.plan.HandWritten {
		if shown[b.Name] {
			continue
		}
		e, err := x.examples.Refused(b.Constraint)
		if err != nil {
			return err
		}
		if e == nil {
			continue
		}
		if err := x.add(union.Violation{Condition: refused, Member: -1}, e); err != nil {
			return err
		}
		found := &x.list[len(x.list)-1]
		found.Situation += ", which the union allows"
		for _, by := range found.ByHand {
			shown[by] = true
		}
	}
	return nil
}

// changes adds updates that violate a condition.
func (x *situations) changes() error {
	for _, target := range []struct {
		condition union.Condition
		unset     bool
	}{{union.NotCleared, false}, {union.NotAllowed, false}, {union.NotAllowed, true}} {
		if (target.condition == union.NotCleared) != (x.Change == union.Clear) {
			continue
		}
		e, err := x.examples.Changing(target.condition, target.unset)
		if err != nil {
			return err
		}
		if err := x.add(union.Violation{Condition: target.condition, Member: -1}, e); err != nil {
			return err
		}
	}
	return nil
}

// removals adds updates that removal guards reject.
func (x *situations) removals() error {
	for _, r := range x.plan.Rules {
		links := links(r.Place.Path, x.plan.Place.Path)
		if r.Kind != compile.Guard || links == nil {
			continue
		}
		e, err := x.examples.Removing(r.Place.Path.Append(schemapath.Property(links[0])))
		if err != nil {
			return err
		}
		if e == nil {
			continue
		}
		if err := x.add(union.Violation{Condition: removed, Member: -1}, e); err != nil {
			return err
		}
		found := &x.list[len(x.list)-1]
		found.Situation = fmt.Sprintf("%s removed, which had %s", plainText(objectPath(r.Place.Path).Child(links[0]).String()), found.Situation)
	}
	return nil
}

// links returns the properties on the path from one schema to another below it, or nil if the path
// contains lists or maps.
func links(from, to schemapath.Path) []string {
	if len(to) < len(from) || !to[:len(from)].Equal(from) || to[len(from):].HasElements() {
		return nil
	}
	return to[len(from):].Properties()
}

// union returns the union object in a resource.
func (x *situations) union(resource map[string]any) any {
	return x.examples.Value(x.plan.Place.Path, resource)
}

// add adds an example with its errors, unless the example is nil.
func (x *situations) add(v union.Violation, e *verify.Example) error {
	if e == nil {
		return nil
	}
	r, err := x.judges.read(e)
	if err != nil {
		return err
	}
	found := Situation{Condition: string(v.Condition), OldObject: e.Old, NewObject: e.New, Errors: r.errors, ByHand: r.byHand}
	if v.Member >= 0 {
		found.Member = x.Members[v.Member].Name
	}
	if e.Was != nil {
		found.Old, found.Situation = x.described(*e.Was, x.union(e.Old))
	}
	if e.Is != nil {
		var words string
		found.New, words = x.described(*e.Is, x.union(e.New))
		if e.Was != nil {
			words = found.Situation + ", updated to " + words
		}
		found.Situation = words
	}
	x.list = append(x.list, found)
	return nil
}

// described returns the state of a union object as data and as text.
func (s *unionPlan) described(st union.State, written any) (*Sample, string) {
	object, _ := written.(map[string]any)
	state := &Sample{Value: st.Value, Members: []string{}, EmptyMembers: []string{}}
	var set, unset []string
	for i, m := range s.Members {
		v, there := s.Lookup(object, m.Name)
		switch {
		case st.Present[i]:
			state.Members, set = append(state.Members, m.Name), append(set, plainText(m.Name))
		case there && v == nil:
			unset = append(unset, plainText(m.Name)+" null")
		case there:
			state.EmptyMembers, unset = append(state.EmptyMembers, m.Name), append(unset, plainText(m.Name)+" "+empty(v))
		}
	}
	words := cmp.Or(english.List(set, "and"), "no member") + " set"
	for _, u := range unset {
		words += ", " + u
	}
	if s.Discriminator == "" {
		return state, words
	}
	value := quoted(s.Type, st.Value)
	switch v, there := s.Lookup(object, s.Discriminator); {
	case there && v == nil:
		value = "null"
	case !there && s.Unset != "":
		value = quoted(s.Type, "")
	case there && v == any(""):
		state.Empty, value = true, "''"
	}
	return state, plainText(s.Discriminator) + " " + value + ", " + words
}

// empty returns the word for an empty value.
func empty(v any) string {
	switch v.(type) {
	case bool, int64, float64:
		return fmt.Sprint(v)
	}
	return "empty"
}

// rulesAt returns the union's rules on the schema at a place.
func (s *unionPlan) rulesAt(p schemapath.Place) []apiextensionsv1.ValidationRule {
	var l []apiextensionsv1.ValidationRule
	for i, r := range s.rules {
		if s.plan.Rules[i].Is(p) {
			l = append(l, r.Validation())
		}
	}
	return l
}
