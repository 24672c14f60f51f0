package infer

import (
	"slices"

	"github.com/google/cel-go/common/operators"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
)

// value is what a property has: nothing, or a text that stands for a value of
// any type and is "" when that is empty.
type value struct {
	set  bool
	text string
}

// other is a text that no rule mentions.
const other = "\x00"

var (
	absent = value{}
	empty  = value{set: true}
	full   = value{set: true, text: other}
)

// demand is what a rule or a keyword asks of an object: only which properties are
// set, which of them are empty, and what strings are.
type demand struct {
	facts map[logic.Lit]*formula.Fact
	slots map[logic.Lit]int  // of the facts about properties
	there map[logic.Lit]bool // those about whether the object is there, which it is
	holds func(func(logic.Lit) bool) bool
	size  int
}

// newDemand is a formula of a space, in which the object is at a place; nil when it asks
// for anything else.
func (o *object) newDemand(s *formula.Space, at *formula.Place, f logic.Lit) *demand {
	d := &demand{facts: map[logic.Lit]*formula.Fact{}, slots: map[logic.Lit]int{}, there: map[logic.Lit]bool{}}
	for _, fact := range s.Facts {
		d.facts[fact.Lit] = fact
	}
	support := s.Support(f)
	for _, l := range support {
		fact := d.facts[l]
		if fact.Place != nil && at.Within(fact.Place) && (fact.Kind == formula.Present || fact.Kind == formula.Null) {
			d.there[l] = fact.Kind == formula.Present
			continue
		}
		if fact.Place == nil || fact.Place.Parent != at || fact.Kind == formula.Same {
			return nil
		}
		if _, text := fact.Constant.(string); fact.Kind == formula.Equals && !text {
			return nil
		}
		slot, ok := o.slot(fact.Place.Name)
		if !ok {
			return nil
		}
		d.slots[l] = slot
	}
	d.holds, d.size = s.Function(f), s.Len()
	return d
}

// accepts reports whether an object with these values, by slot, is accepted: rules that
// fail to evaluate refuse it.
func (d *demand) accepts(object []value) bool {
	return d.holds(func(l logic.Lit) bool {
		if there, ok := d.there[l]; ok {
			return there
		}
		fact, v := d.facts[l], object[d.slots[l]]
		switch fact.Kind {
		case formula.Present:
			return v.set
		case formula.Equals:
			return v.set && v.text == fact.Constant
		case formula.Empty:
			return v == empty
		}
		return false // null, which rules take for absent
	})
}

// rule reads a rule; nil when it asks for something else, or is not CEL.
func (o *object) rule(text string) (*demand, Form) {
	r, err := formula.Parse(text)
	if err != nil {
		return nil, ""
	}
	return o.read(r, o.schema)
}

// read reads a rule on a schema from which a path of properties leads to the object.
func (o *object) read(r *formula.Rule, on *apiextensionsv1.JSONSchemaProps, path ...string) (*demand, Form) {
	s := formula.New(on)
	f, err := s.Rule(r, s.New, formula.Plain)
	if err != nil {
		return nil, ""
	}
	return o.newDemand(s, s.New.At(path...), f.Holds), formOfRule(r)
}

func formOfRule(r *formula.Rule) Form {
	numbers := slices.ContainsFunc(r.Literals, func(l any) bool { _, ok := l.(int64); return ok })
	switch {
	case r.Functions["filter"] || r.Functions["exists_one"] || r.Functions["existsOne"]:
		return Filter
	case r.Functions[operators.Add]:
		return Count
	case r.Top == operators.Conditional:
		return Conditional
	case r.Functions[operators.Conditional] && numbers:
		return Count
	}
	return Pairs // or Presence, when there turns out to be no discriminator
}

// keywords reads what keywords of a schema ask of the object; nil when it is something
// else.
func (o *object) keywords(k apiextensionsv1.JSONSchemaProps) *demand {
	s := formula.New(o.schema)
	return o.newDemand(s, s.New, s.Schema(&k, s.New))
}
