package infer

import (
	"maps"
	"slices"
	"strings"

	"github.com/google/cel-go/parser"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/verify"
)

// object is a schema that may hold unions. Properties that conditions read have
// slots, in the order in which they are come by.
type object struct {
	parser   *parser.Parser
	schema   *apiextensionsv1.JSONSchemaProps
	resource bool
	names    []string
	slots    map[string]int
	work     *int // done so far on all formulas of the CRD
	// may says, by slot, whether a union may have the property as a member.
	may map[int]bool
}

func (o *object) slot(name string) (int, bool) {
	if _, ok := o.schema.Properties[name]; !ok {
		return 0, false
	}
	if slot, ok := o.slots[name]; ok {
		return slot, true
	}
	o.slots[name] = len(o.names)
	o.names = append(o.names, name)
	return len(o.names) - 1, true
}

func (o *object) property(slot int) apiextensionsv1.JSONSchemaProps {
	return o.schema.Properties[o.names[slot]]
}

// condition is a hand-written constraint that a union could stand for.
type condition struct {
	*formula
	verify.Constraint
	form Form
	size int // of the formula
	// slots are the properties it reads, in order of appearance.
	slots []int
	// texts are what it compares strings with, by slot; "" is not among them.
	texts map[int][]string
	// sized are the slots that it asks whether they are empty.
	sized map[int]bool
	// loose are those among them of which it takes empty values for unset.
	loose map[int]bool
}

// discriminator returns the one property whose value the condition asks for; -1
// when it asks for none, and not ok when for several.
func (c *condition) discriminator() (slot int, ok bool) {
	if len(c.texts) == 0 {
		return -1, true
	}
	for s := range c.texts {
		slot = s
	}
	return slot, len(c.texts) == 1
}

// conditions reads the constraints on the object that are about nothing but which
// properties are set and the values of strings.
func (o *object) conditions() []*condition {
	var l []*condition
	add := func(key string, index int, form Form, f *formula) {
		if f == nil {
			return
		}
		c := &condition{formula: f, Constraint: verify.Constraint{Key: key, Index: index}, form: form, texts: map[int][]string{}, sized: map[int]bool{}, loose: map[int]bool{}}
		if c.read(); len(c.slots) > 0 && len(c.slots) <= maxSlots {
			if d, _ := c.discriminator(); d < 0 && (form == Pairs || form == Conditional) {
				c.form = Presence
			}
			c.loosen(o)
			l = append(l, c)
		}
	}
	for i, r := range o.schema.XValidations {
		// A cheap look spares most rules the parser. What compares with the old object
		// says nothing about which objects are valid.
		if !strings.Contains(r.Rule, "self.") || strings.Contains(r.Rule, "oldSelf") {
			continue
		}
		if f, form, ok := o.ruleFormula(r.Rule); ok {
			add("x-kubernetes-validations", i, form, f)
		}
	}
	s := o.schema
	schema := func(s apiextensionsv1.JSONSchemaProps) *formula { return o.schemaFormula(&s, 0) }
	for i := range s.AllOf {
		add("allOf", i, formOf(&s.AllOf[i]), schema(s.AllOf[i]))
	}
	if len(s.AnyOf) > 0 {
		add("anyOf", 0, AnyOf, schema(apiextensionsv1.JSONSchemaProps{AnyOf: s.AnyOf}))
	}
	if len(s.OneOf) > 0 {
		add("oneOf", 0, OneOf, schema(apiextensionsv1.JSONSchemaProps{OneOf: s.OneOf}))
	}
	if s.Not != nil {
		add("not", 0, Not, schema(apiextensionsv1.JSONSchemaProps{Not: s.Not}))
	}
	if minimum, maximum, ok := o.counted(); ok {
		add("minProperties", 0, PropertyCount, minimum)
		add("maxProperties", 0, PropertyCount, maximum)
	}
	return l
}

// formOf names a schema of allOf.
func formOf(s *apiextensionsv1.JSONSchemaProps) Form {
	switch {
	case len(s.OneOf) > 0:
		return OneOf
	case len(s.AnyOf) > 0:
		return AnyOf
	}
	for i := range s.AllOf {
		if f := formOf(&s.AllOf[i]); f != Not {
			return f
		}
	}
	return Not
}

// counted reads minProperties and maxProperties of an object that may have one
// property, of those its schema lists.
func (o *object) counted() (minimum, maximum *formula, ok bool) {
	s := o.schema
	open := s.AdditionalProperties != nil || s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
	if s.MaxProperties == nil || *s.MaxProperties != 1 || open || o.resource {
		return nil, nil, false
	}
	var l []*formula
	for _, name := range sortedKeys(s.Properties) {
		slot, _ := o.slot(name)
		l = append(l, isPresent(slot))
	}
	if s.MinProperties != nil {
		minimum = count(l, greaterOrEqual, int(min(*s.MinProperties, maxNumber)))
	}
	return minimum, count(l, lessOrEqual, 1), true
}

// read finds out what the formula asks for.
func (c *condition) read() {
	c.visit(func(f *formula) {
		c.size++
		if f.kind != present && f.kind != filled && f.kind != equals {
			return
		}
		if !slices.Contains(c.slots, f.slot) {
			c.slots = append(c.slots, f.slot)
		}
		switch {
		case f.kind == filled, f.text == "" && f.kind == equals:
			c.sized[f.slot] = true
		case f.kind == equals && !slices.Contains(c.texts[f.slot], f.text):
			c.texts[f.slot] = append(c.texts[f.slot], f.text)
		}
	})
}

// loosen finds the properties whose empty values are the same to the condition as
// none at all.
func (c *condition) loosen(o *object) {
	d, ok := c.discriminator()
	if !ok {
		return
	}
	var values []value
	if d >= 0 {
		values = o.values(d, []*condition{c})
	}
	for _, slot := range c.slots {
		if slot == d || !c.sized[slot] || !canBeEmpty(o.property(slot)) {
			continue
		}
		t := c.table(o, d)
		t.without = slot
		if !o.affords(t, 2*len(values)) {
			continue
		}
		c.loose[slot] = true
		for _, v := range orNone(values) {
			t.each(v, func(object []value) {
				object[slot] = absent
				unset := c.evaluate(object) == yes
				object[slot] = empty
				if unset != (c.evaluate(object) == yes) {
					c.loose[slot] = false
				}
				object[slot] = absent
			})
		}
	}
}

// canBeEmpty reports whether the schema of a property admits "", [] or {}.
func canBeEmpty(s apiextensionsv1.JSONSchemaProps) bool {
	positive := func(n *int64) bool { return n != nil && *n > 0 }
	switch s.Type {
	case "string":
		return s.Format == "" && !positive(s.MinLength) && (len(s.Enum) == 0 || slices.Contains(enumOf(s), ""))
	case "array":
		return !positive(s.MinItems)
	case "object":
		return !positive(s.MinProperties) && len(s.Required) == 0
	}
	return false
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
