package infer

import (
	"cmp"
	"maps"
	"slices"

	"github.com/google/cel-go/common/operators"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/union"
)

// value is the value of a property: absent, or a text that represents a value of any type. The text
// is "" for an empty value.
type value struct {
	set  bool
	text string
}

// other is the text of a value that no rule mentions.
const other = "\x00"

var (
	absent = value{}
	empty  = value{set: true}
	full   = value{set: true, text: other}
)

// demand is a rule or keyword as a formula. The formula depends on which properties are set, which
// are empty, and the values of strings.
type demand struct {
	facts map[logic.Lit]*formula.Fact
	slots map[logic.Lit]int  // facts about properties
	there map[logic.Lit]bool // facts about whether the object is present, which it is
	// around has the facts about whether objects in it are present, with the slots inside. They count
	// as present if one of these is set.
	around map[logic.Lit][]int
	holds  func(func(logic.Lit) bool) bool
	size   int
}

// newDemand returns a formula of a space for the object or list at a place, or nil if the formula
// depends on anything else, such as the content of a list item. Properties of objects in the object
// count if the formula does not depend on one such object alone.
func (o *candidateObject) newDemand(s *formula.Space, at *formula.Place, f logic.Lit) *demand {
	d := &demand{facts: map[logic.Lit]*formula.Fact{}, slots: map[logic.Lit]int{}, there: map[logic.Lit]bool{}, around: map[logic.Lit][]int{}}
	for _, fact := range s.Facts {
		d.facts[fact.Lit] = fact
	}
	support := s.Support(f)
	paths := map[logic.Lit][]string{}
	for _, l := range support {
		fact := d.facts[l]
		if fact.Place != nil && at.IsWithin(fact.Place) && (fact.Kind == formula.Present || fact.Kind == formula.Null) {
			d.there[l] = fact.Kind == formula.Present
			continue
		}
		path, ok := below(fact.Place, at)
		if !ok || fact.Kind == formula.Same || o.isList() && (fact.Kind != formula.Present || fact.Place.Unnamed()) {
			return nil
		}
		paths[l] = path
	}
	heads := map[string]bool{}
	for _, l := range support {
		fact, path := d.facts[l], paths[l]
		if path == nil {
			continue
		}
		heads[path[0]] = true
		if fact.Kind == formula.Present || fact.Kind == formula.Null {
			for _, inside := range slices.Sorted(maps.Keys(paths)) {
				if p := paths[inside]; len(p) > len(path) && slices.Equal(p[:len(path)], path) {
					slot, ok := o.slot(p...)
					if !ok {
						return nil
					}
					d.around[l] = append(d.around[l], slot)
				}
			}
			if d.around[l] != nil {
				continue
			}
		}
		if fact.Kind == formula.Equals && !o.compares(path, fact.Constant) && !tellsZero(fact) {
			return nil
		}
		slot, ok := o.slot(path...)
		if !ok {
			return nil
		}
		d.slots[l] = slot
	}
	if len(heads) == 1 && slices.ContainsFunc(slices.Collect(maps.Values(paths)), func(p []string) bool { return len(p) > 1 }) {
		return nil // it is about the object inside
	}
	d.holds, d.size = s.Function(f), s.Len()
	return d
}

// below returns the names of the properties that lead from one place to another.
func below(to, from *formula.Place) (path []string, ok bool) {
	for ; to != nil && to != from; to = to.Parent {
		path = append(path, to.Name)
	}
	slices.Reverse(path)
	return path, to != nil && len(path) > 0 && !slices.Contains(path, formula.Item) && !slices.Contains(path, formula.Entry)
}

// accepts reports whether the formula accepts an object with these values, by slot. A rule that
// fails to evaluate rejects it.
func (d *demand) accepts(object []value) bool {
	return d.holds(func(l logic.Lit) bool {
		if there, ok := d.there[l]; ok {
			return there
		}
		if inside, ok := d.around[l]; ok {
			return d.facts[l].Kind == formula.Present && slices.ContainsFunc(inside, func(slot int) bool { return object[slot].set })
		}
		fact, v := d.facts[l], object[d.slots[l]]
		switch fact.Kind {
		case formula.Present:
			return v.set
		case formula.Equals:
			if tellsZero(fact) {
				return v.set && v.isZero() != (fact.Constant == any(true))
			}
			return v.set && v.text == textOf(fact.Constant)
		case formula.Empty:
			return v == empty
		}
		return false // null, which counts as absent in rules
	})
}

// meaning returns the value of a state of u whose discriminator has the value v.
func (v value) meaning(u *union.Union) string { return cmp.Or(v.text, u.Unset) }

// isZero reports whether a value is empty, false or 0.
func (v value) isZero() bool { return v == empty || v.text == "false" || v.text == "0" }

// tellsZero reports whether a fact distinguishes false or 0 from other values: it compares a boolean
// with true, or a number with 0.
func tellsZero(fact *formula.Fact) bool {
	return fact.Kind == formula.Equals && (fact.Constant == true || fact.Constant == any(int64(0)))
}

// read reads a rule on a schema. path leads from this schema to the object. It returns nil if the
// rule depends on other values.
func (o *candidateObject) read(r *formula.Rule, on *apiextensionsv1.JSONSchemaProps, path ...string) (*demand, Form) {
	s := formula.New(on)
	f, err := s.Rule(r, s.New, formula.Plain)
	if err != nil {
		return nil, ""
	}
	return o.newDemand(s, s.New.Lookup(path...), f.Holds), formOfRule(r)
}

func formOfRule(r *formula.Rule) Form {
	numbers := slices.ContainsFunc(r.Literals, func(l any) bool { _, ok := l.(int64); return ok })
	switch {
	case r.Functions["filter"] || r.Functions["exists_one"] || r.Functions["existsOne"]:
		return Filter
	case r.Functions[operators.Add]:
		return Count
	case r.Top == operators.Conditional, r.Top == "" && r.Functions[operators.Conditional] && !numbers:
		return Conditional
	case r.Functions[operators.Conditional] && numbers:
		return Count
	}
	return Pairs // Presence, if there is no discriminator
}

// keywords reads keywords of a schema. It returns nil if the keywords depend on other values.
func (o *candidateObject) keywords(k apiextensionsv1.JSONSchemaProps) *demand {
	s := formula.New(o.schema)
	return o.newDemand(s, s.New, s.Schema(&k, s.New))
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

// compares reports whether a discriminator at a path may have a constant as value, or "".
func (o *candidateObject) compares(path []string, constant any) bool {
	slot, ok := o.slot(path...)
	if !ok {
		return false
	}
	t := o.typeOf(slot)
	return constant == any("") || t.Text(constant) != ""
}

// typeOf returns the type of a property as a discriminator.
func (o *candidateObject) typeOf(slot int) union.ValueType {
	s := o.property(slot)
	t, _ := union.ValueTypeOf(&s)
	return t
}
