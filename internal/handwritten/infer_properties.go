package handwritten

import (
	"context"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// candidateObject is a schema that may have unions. The properties that conditions read have slots,
// numbered in order of appearance. They are properties of the object or of objects in it.
type candidateObject struct {
	schemapath.Place
	ctx      context.Context // of the questions about the object
	schema   *apiextensionsv1.JSONSchemaProps
	resource bool
	// space has the formulas about resources that contain the object. It is created with the first
	// rule. chain are the places from the root to the object.
	space *formula.Space
	chain []*formula.Place
	root  *apiextensionsv1.JSONSchemaProps
	facts map[logic.Lit]*formula.Fact

	names  []string
	slots  map[string]int
	places []*formula.Place
	// may reports by slot whether a property may be a member of a union.
	may map[int]bool
	// items are the keys of list items, by slot; nil for properties.
	items [][]union.ItemKey

	all []*condition
	// found are the unions of the object, and taken are their properties.
	found []Found
	taken map[string]bool
}

// at returns the place of the object or, with above, of an ancestor.
func (o *candidateObject) at(above int) *formula.Place {
	if o.space == nil {
		o.space = formula.New(o.root)
		o.chain = []*formula.Place{o.space.New}
		for i, step := range o.Path {
			o.chain = append(o.chain, prove.Child(o.chain[i], step))
		}
		o.space.Require(o.at(0).Present())
	}
	return o.chain[len(o.Path)-above]
}

// isList reports whether the members are items of a list, not properties of an object.
func (o *candidateObject) isList() bool { return o.schema.Type == "array" }

// slot returns the slot of the property or the list item at a path from the object; ok is false if
// there is none. Its name is the one that declarations use.
func (o *candidateObject) slot(path ...string) (slot int, ok bool) {
	name, item, ok := o.named(path)
	if !ok {
		return 0, false
	}
	if slot, ok := o.slots[name]; ok {
		return slot, true
	}
	slot = len(o.names)
	o.slots[name] = slot
	o.names, o.items, o.places = append(o.names, name), append(o.items, item), append(o.places, o.at(0).Lookup(path...))
	if !o.isList() && o.mayLack(slot) {
		o.space.Require(o.places[slot].Null().Not()) // null counts as absent
	}
	return slot, true
}

// named returns the name of a property in declarations, or the name and the keys of a list item.
func (o *candidateObject) named(path []string) (name string, item []union.ItemKey, ok bool) {
	if o.isList() {
		return o.namedItem(path)
	}
	if name = path[0]; len(path) > 1 {
		name = schemapath.New(path...).String()
	}
	at, property := union.Property(o.schema, name)
	return name, nil, property != nil && len(at) == len(path)
}

func (o *candidateObject) property(slot int) apiextensionsv1.JSONSchemaProps {
	_, property := union.Property(o.schema, o.names[slot])
	return *property
}

// typeOf returns the type of a property as a discriminator.
func (o *candidateObject) typeOf(slot int) union.ValueType {
	s := o.property(slot)
	t, _ := union.ValueTypeOf(&s)
	return t
}

// nested reports whether the condition reads properties of objects in the object.
func (o *candidateObject) nested(c *condition) bool {
	return slices.ContainsFunc(c.slots, func(slot int) bool {
		path, _ := union.Property(o.schema, o.names[slot])
		return len(path) > 1
	})
}

// mayLack reports whether objects may lack a property when rules see them: it is neither required
// nor defaulted.
func (o *candidateObject) mayLack(slot int) bool {
	path, s := union.Property(o.schema, o.names[slot])
	if len(path) > 1 && !union.AlwaysThere(o.schema, path[:len(path)-1]) {
		return true
	}
	return !union.Requires(o.schema, path) && !union.Defaulted(s)
}

// possible reports whether some object satisfies formulas. It is true if this cannot be decided.
func (o *candidateObject) possible(l ...logic.Lit) bool {
	m, err := o.space.Satisfy(o.ctx, l...)
	return m != nil || err != nil
}

// possibilities returns, for each formula, whether some object satisfies it along with those given.
func (o *candidateObject) possibilities(given, l []logic.Lit) []bool {
	found := make([]bool, len(l))
	for {
		var left []logic.Lit
		for i, f := range l {
			if !found[i] {
				left = append(left, f)
			}
		}
		m, err := o.space.Satisfy(o.ctx, append(slices.Clip(given), o.space.Or(left...))...)
		for i, f := range l {
			found[i] = found[i] || err != nil || m != nil && m(f)
		}
		if m == nil {
			return found
		}
	}
}

// set returns the formula that a property is set, as conditions treat it.
func (o *candidateObject) set(slot int, within []*condition) logic.Lit {
	if o.emptiness(slot, within) != union.PresentWhenEmpty {
		return o.full(slot)
	}
	return o.places[slot].Present()
}

// full returns the formula that a property is set and not empty.
func (o *candidateObject) full(slot int) logic.Lit {
	p := o.places[slot]
	return o.space.And(p.Present(), p.Empty().Not())
}

// holding returns the formulas that conditions hold.
func holding(conditions []*condition) []logic.Lit {
	var l []logic.Lit
	for _, c := range conditions {
		l = append(l, c.holds)
	}
	return l
}
