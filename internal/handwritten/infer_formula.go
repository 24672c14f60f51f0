package handwritten

import (
	"slices"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/union"
)

// propertyFact is a fact about the property in a slot.
type propertyFact struct {
	*formula.Fact
	slot int
}

// factsOf returns the facts about properties that a formula depends on. There are none if it depends on
// anything else, such as the content of a list item. Properties of objects in the object count if the
// formula does not depend on one such object alone.
func (o *candidateObject) factsOf(f logic.Lit) []propertyFact {
	for _, fact := range o.space.Facts[len(o.facts):] {
		o.facts[fact.Lit] = fact
	}
	isPresence := func(fact *formula.Fact) bool { return fact.Kind == formula.Present || fact.Kind == formula.Null }
	at := o.at(0)
	var facts []propertyFact
	var paths [][]string
	for _, l := range o.space.Support(f) {
		fact := o.facts[l]
		if fact.Place != nil && at.IsWithin(fact.Place) && isPresence(fact) {
			continue // the object is present
		}
		path, ok := below(fact.Place, at)
		if !ok || fact.Kind == formula.Same || o.isList() && (fact.Kind != formula.Present || fact.Place.Unnamed()) {
			return nil
		}
		facts, paths = append(facts, propertyFact{Fact: fact}), append(paths, path)
	}
	heads, inside := map[string]bool{}, false
	var l []propertyFact
	for i, fact := range facts {
		path := paths[i]
		heads[path[0]], inside = true, inside || len(path) > 1
		around := func(p []string) bool { return len(p) > len(path) && slices.Equal(p[:len(path)], path) }
		if isPresence(fact.Fact) && slices.ContainsFunc(paths, around) {
			continue // only the properties inside count
		}
		var ok bool
		if fact.slot, ok = o.slot(path...); !ok || fact.Kind == formula.Equals && !o.compares(fact) {
			return nil
		}
		l = append(l, fact)
	}
	if len(heads) == 1 && inside {
		return nil // it is about the object inside
	}
	return l
}

// below returns the names of the properties that lead from one place to another.
func below(to, from *formula.Place) (path []string, ok bool) {
	for ; to != nil && to != from; to = to.Parent {
		path = append(path, to.Name)
	}
	slices.Reverse(path)
	return path, to != nil && len(path) > 0 && !slices.Contains(path, formula.Item) && !slices.Contains(path, formula.Entry)
}

// tellsZero reports whether a fact distinguishes false or 0 from other values: it compares a boolean
// with true, or a number with 0.
func tellsZero(fact *formula.Fact) bool {
	return fact.Kind == formula.Equals && (fact.Constant == true || fact.Constant == any(int64(0)))
}

// compares reports whether a fact compares a property with a value of a discriminator, or with "",
// false or 0.
func (o *candidateObject) compares(fact propertyFact) bool {
	return tellsZero(fact.Fact) || fact.Constant == any("") || o.typeOf(fact.slot).Text(fact.Constant) != ""
}

// textOf returns the text of a constant that a rule compares a property with.
func textOf(constant any) string {
	for _, t := range []union.ValueType{union.StringValue, union.BooleanValue, union.IntegerValue} {
		if text := t.Text(constant); text != "" {
			return text
		}
	}
	return ""
}
