package infer

import (
	"encoding/json"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/equality"
)

// maxJunctors is how deep allOf, anyOf, oneOf and not are followed.
const maxJunctors = 20

// schemaFormula reads a schema that stands in allOf, anyOf, oneOf or not of the
// object; nil when it asks for anything else than a formula can say.
func (o *object) schemaFormula(s *apiextensionsv1.JSONSchemaProps, depth int) *formula {
	rest := *s
	rest.Required, rest.Properties = nil, nil
	f := &formula{kind: all}
	for _, name := range s.Required {
		slot, ok := o.slot(name)
		if !ok {
			return nil
		}
		f.args = append(f.args, isPresent(slot))
	}
	for _, name := range sortedKeys(s.Properties) {
		slot, ok := o.slot(name)
		if !ok {
			return nil
		}
		p := s.Properties[name]
		g := o.valueFormula(slot, &p, depth+1)
		if g == nil {
			return nil
		}
		// What is absent satisfies anything.
		f.args = append(f.args, &formula{kind: choice, args: []*formula{isPresent(slot), g, {kind: always}}})
	}
	return joined(f, rest, depth, o.schemaFormula)
}

// valueFormula reads what a schema says of the value of one property.
func (o *object) valueFormula(slot int, s *apiextensionsv1.JSONSchemaProps, depth int) *formula {
	rest := *s
	f := &formula{kind: all}
	if len(s.Enum) > 0 {
		if !isString(o.schema.Properties[o.names[slot]]) {
			return nil
		}
		oneOf := &formula{kind: some}
		for _, e := range s.Enum {
			var text *string
			if json.Unmarshal(e.Raw, &text) != nil || text == nil {
				return nil
			}
			oneOf.args = append(oneOf.args, &formula{kind: equals, slot: slot, text: *text})
		}
		f.args = append(f.args, oneOf)
		rest.Enum = nil
	}
	isFilled := &formula{kind: filled, slot: slot}
	for _, n := range []**int64{&rest.MinLength, &rest.MinItems, &rest.MinProperties} {
		if *n != nil && **n == 1 {
			f.args = append(f.args, isFilled)
			*n = nil
		}
	}
	for _, n := range []**int64{&rest.MaxLength, &rest.MaxItems, &rest.MaxProperties} {
		if *n != nil && **n == 0 {
			f.args = append(f.args, negation(isFilled))
			*n = nil
		}
	}
	return joined(f, rest, depth, func(s *apiextensionsv1.JSONSchemaProps, depth int) *formula {
		return o.valueFormula(slot, s, depth)
	})
}

// joined adds to f what the junctors of s say, and returns nil when there is
// something else in s.
func joined(f *formula, s apiextensionsv1.JSONSchemaProps, depth int, read func(*apiextensionsv1.JSONSchemaProps, int) *formula) *formula {
	if depth > maxJunctors {
		return nil
	}
	each := func(l []apiextensionsv1.JSONSchemaProps, join func([]*formula) *formula) bool {
		if len(l) == 0 {
			return true
		}
		var args []*formula
		for i := range l {
			g := read(&l[i], depth+1)
			if g == nil {
				return false
			}
			args = append(args, g)
		}
		f.args = append(f.args, join(args))
		return true
	}
	junction := func(k kind) func([]*formula) *formula {
		return func(l []*formula) *formula { return &formula{kind: k, args: l} }
	}
	exactlyOne := func(l []*formula) *formula { return count(l, equal, 1) }
	if !each(s.AllOf, junction(all)) || !each(s.AnyOf, junction(some)) || !each(s.OneOf, exactlyOne) {
		return nil
	}
	if s.Not != nil {
		g := read(s.Not, depth+1)
		if g == nil {
			return nil
		}
		f.args = append(f.args, negation(g))
	}
	s.AllOf, s.AnyOf, s.OneOf, s.Not = nil, nil, nil, nil
	// These say nothing about which objects are valid.
	s.Description, s.Title = "", ""
	if !equality.Semantic.DeepEqual(s, apiextensionsv1.JSONSchemaProps{}) {
		return nil
	}
	return f
}
