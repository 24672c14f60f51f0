package handwritten

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// constant finds rules that reject no object, or every object. Rules that read oldSelf are left
// out: stored objects may be older than the schema.
func (o *object) constant(a *audited) []Finding {
	if a.Test.Changing() || len(a.Paths) == 0 || len(a.impossible) > 0 {
		return nil
	}
	there := []logic.Lit{a.Place.Present(), o.create()}
	if o.Never(append(there, a.Holds.Not())...) {
		if e := o.accepted(a.Place.Present()); e != nil && !o.rejectsLists(a) {
			a.constant = true
			return []Finding{o.finding(codes.NeverRejects, a.rule, e, "",
				"this rule rejects no object: the rest of the schema implies it").hinted("delete the rule, or correct it if it should reject something")}
		}
	}
	if o.Never(append(there, a.Holds)...) {
		e, response := o.rejected(a, sample.Fails, a.Holds.Not(), a.Fails.Not())
		if e == nil { // another rule may reject every object, too
			e, response = o.find(o.rejectedByBoth(a, a), append(there, a.Holds.Not(), a.Fails.Not())...)
		}
		if e != nil {
			a.constant = true
			return []Finding{o.finding(codes.AlwaysRejects, a.rule, e, response,
				"this rule rejects every object").hinted("correct the rule, or delete it")}
		}
	}
	return nil
}

// rejectsLists reports whether a rule rejects an accepted object with a list in the place of a string.
// If the string has a format, the schema accepts the list, and rules fail to evaluate.
func (o *object) rejectsLists(a *audited) bool {
	return slices.ContainsFunc(a.Paths, func(path []string) bool {
		p := a.Place.Lookup(path...)
		if p.Schema == nil || p.Schema.Type != "string" || p.Schema.Format == "" {
			return false
		}
		e := o.accepted(a.Place.Present(), p.Parent.Present())
		if e == nil {
			return false
		}
		object := runtime.DeepCopyJSON(e.New)
		around, ok := p.Parent.Value(object).(map[string]any)
		if ok {
			around[p.Name] = []any{}
			_, ok = o.rejects(a, sample.Errs, object)
		}
		return ok
	})
}

// impossibleValues finds values of an enumeration that a rule reads, together with something else,
// and for which it rejects all objects.
func (o *object) impossibleValues(a *audited) []Finding {
	if a.Test.Changing() || a.Level >= len(o.Schemas) {
		return nil
	}
	var l []Finding
	for _, path := range a.Paths {
		property := a.Schema.Lookup(schemapath.New(path...))
		if property == nil || len(path) == 0 || !slices.ContainsFunc(a.Paths, func(other []string) bool { return !within(other, path) && !within(path, other) }) {
			continue
		}
		values := formula.EnumValues(property.Props)
		var impossible []string
		var example Finding
		for _, v := range values {
			text, ok := v.(string)
			is := a.Place.Lookup(path...).Equals(v)
			if !ok || text == "" || slices.Contains(a.impossible, is) || !o.Never(o.create(), is, a.Holds) || excludes(a, path, text) {
				continue
			}
			e, response := o.rejected(a, sample.Errs, is, a.Fails)
			if e == nil {
				e, response = o.rejected(a, sample.Fails, is, a.Fails.Not())
			}
			if e == nil {
				continue
			}
			a.impossible = append(a.impossible, is)
			if len(impossible) == 0 {
				example = o.finding(codes.ImpossibleValue, a.rule, e, response, "")
			}
			impossible = append(impossible, fmt.Sprintf("%q", text))
		}
		name := strings.Join(path, ".")
		switch n := len(impossible); {
		case n == 0:
		case n == len(values):
			a.impossible = nil // the rule rejects every object, or all with the property
		default:
			example.Message = fmt.Sprintf("no object can have %s in %s: this rule rejects all of them", english.List(impossible, "or"), name)
			l = append(l, example.hinted("accept an object with %s %s, or remove the value from the enum", name, impossible[0]))
		}
	}
	return l
}

// excludes reports whether a rule excludes a value on purpose: it would reject the value without the
// restrictions of other properties, too.
func excludes(a *audited, path []string, value string) bool {
	s := formula.New(shape(formula.Pruned(a.Schema.Props, a.Paths)))
	f, err := s.Rule(a.Test.Rule, s.New, formula.Plain)
	if err != nil {
		return true
	}
	is := s.New.Lookup(path...).Equals(value)
	s.Close()
	m, err := s.Satisfy(context.Background(), f.Holds, is)
	return m == nil || err != nil
}

// shape returns a schema without restrictions of the values.
func shape(s *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	c := apiextensionsv1.JSONSchemaProps{Type: s.Type, Format: s.Format, AdditionalProperties: s.AdditionalProperties, Items: s.Items,
		XIntOrString: s.XIntOrString, XPreserveUnknownFields: s.XPreserveUnknownFields, XListType: s.XListType, XListMapKeys: s.XListMapKeys}
	for name, p := range s.Properties {
		if c.Properties == nil {
			c.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
		}
		c.Properties[name] = *shape(&p)
	}
	return &c
}

// within reports whether a path is, or leads through, another path.
func within(path, other []string) bool {
	return len(path) >= len(other) && slices.Equal(path[:len(other)], other)
}

// unread returns the properties that the message of a rule names and that the rule does not read.
func (a *audited) unread() (l []string) {
	for _, word := range words().FindAllString(a.Validation.Message, -1) {
		read := slices.ContainsFunc(a.Paths, func(path []string) bool { return len(path) == 0 || path[0] == word })
		if a.Schema.Property(word) != nil && !read && !slices.Contains(l, word) {
			l = append(l, word)
		}
	}
	return l
}

var words = english.Pattern(`\w+`)

// same finds two rules on one schema that read the same fields and reject the same objects.
func (o *object) same() []Finding {
	var l []Finding
	readsWithin := func(a, b *audited) bool { // cheaper than a proof
		return !slices.ContainsFunc(a.Paths, func(path []string) bool {
			return !slices.ContainsFunc(b.Paths, func(other []string) bool { return slices.Equal(path, other) })
		})
	}
	for i, b := range o.audited {
		if b.constant || b.Test.Changing() || len(b.impossible) > 0 {
			continue
		}
		for _, a := range o.audited[:i] {
			if a.constant || a.Test.Changing() || a.Place != b.Place || a.Validation.FieldPath != b.Validation.FieldPath || !readsWithin(a, b) || !readsWithin(b, a) ||
				!o.Never(o.create(), o.Space.Equal(a.Holds, b.Holds).Not()) {
				continue
			}
			e, response := o.find(o.rejectedByBoth(a, b), append(o.others(a.Check, b.Check), o.create(), a.Holds.Not(), b.Holds.Not())...)
			if e == nil {
				continue
			}
			f := o.finding(codes.SameRule, b.rule, e, response, "this rule rejects the same objects as another rule of the schema").hinted("delete one of them")
			if other := a.unread(); len(other) > 0 {
				f = f.hinted("read %s in the other rule, as its message says, or delete one of them", english.List(other, "and"))
			}
			if own := b.unread(); len(own) > 0 {
				f = f.hinted("read %s in this rule, as its message says, or delete one of them", english.List(own, "and"))
			}
			f.Related = []diag.Related{{Pos: o.finding(codes.SameRule, a.rule, nil, "", "").Pos, Message: "the other rule"}}
			l = append(l, f)
			break
		}
	}
	return l
}
