package formula

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// View has the objects of a [Space] as the API server decodes them with another schema: it prunes
// unknown properties and nulls that are not allowed, and sets defaults. Rules and keywords of the
// other schema apply to the places of the view. The schema of the space must admit all objects that
// the schemas of its views admit.
type View struct {
	New, Old *Place
	// Dropped are the places in the sent object that the schema of the view does not have. Only
	// places in use are listed.
	Dropped []*Place

	id         int
	structural *structuralschema.Structural
	recent     []decoding // the most recent objects, which are likely to be decoded again
}

// decoding is an object before and after decoding.
type decoding struct{ sent, decoded map[string]any }

// keptDecodings is the number of cached decodings: an update has two objects.
const keptDecodings = 2

// number returns the id of a view, or 0 for nil.
func (v *View) number() int {
	if v == nil {
		return 0
	}
	return v.id
}

// View returns a view of the objects of s with the schema of a resource. The arguments are two
// forms of this schema.
func (s *Space) View(schema *apiextensionsv1.JSONSchemaProps, structural *structuralschema.Structural) *View {
	s.views++
	v := &View{id: s.views, structural: structural}
	of := func(base *Place) *Place {
		return &Place{space: s, Old: base.Old, Schema: schema, present: base.present, null: logic.False, view: v, base: base, sent: base.present}
	}
	v.New, v.Old = of(s.New), of(s.Old)
	return v
}

// Cover adds to the view all places of the sent object that are in use.
func (v *View) Cover() {
	cover(v.New)
	cover(v.Old)
}

func cover(p *Place) {
	for _, name := range sortedKeys(p.base.children) {
		cover(p.Child(name))
	}
}

// Decode returns the object as the API server decodes it. The result shares nothing with the object.
func (v *View) Decode(object map[string]any) map[string]any {
	object = runtime.DeepCopyJSON(object)
	pruning.Prune(object, v.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(object, v.structural)
	defaulting.Default(object, v.structural)
	return object
}

func (v *View) decode(root any) any {
	object, ok := root.(map[string]any)
	if !ok || object == nil {
		return root
	}
	same := func(d decoding) bool { return reflect.ValueOf(d.sent).Pointer() == reflect.ValueOf(object).Pointer() }
	i := slices.IndexFunc(v.recent, same)
	if i < 0 {
		v.recent = append(v.recent, decoding{object, v.Decode(object)})
		v.recent = v.recent[max(0, len(v.recent)-keptDecodings):]
		i = len(v.recent) - 1
	}
	return v.recent[i].decoded
}

// given is a value that the API server sets if the formula holds.
type given struct {
	when  logic.Lit
	value any
}

// viewed returns the place of a property, entry or item in a view.
func (p *Place) viewed(name string) *Place {
	s := p.space
	c := &Place{space: s, Old: p.Old, Parent: p, Name: name, view: p.view, base: p.base.Child(name), null: logic.False, sent: logic.False}
	if p.children == nil {
		p.children = map[string]*Place{}
	}
	p.children[name] = c
	var known, property bool
	c.Schema, known, property = childSchema(p.Schema, name)
	nullable := c.Schema != nil && c.Schema.Nullable
	if !known && p.Prunes() {
		p.view.Dropped = append(p.view.Dropped, c.base)
	} else if c.sent = c.base.present; p.sent != p.base.present {
		c.sent = s.And(p.sent, c.base.present)
	}
	if nullable && c.sent != logic.False {
		if c.null = c.base.null; p.sent != p.base.present {
			c.null = s.And(p.sent, c.base.null)
		}
	}
	c.present = c.sent
	for _, g := range p.given {
		if v := childValue(g.value, name); v != nil {
			c.given = append(c.given, given{g.when, v})
			c.present = s.Or(c.present, g.when)
		}
	}
	if property && c.Schema.Default != nil {
		var v any
		if when := s.And(p.present, s.Or(c.present, c.null).Not()); when != logic.False && json.Unmarshal(c.Schema.Default.Raw, &v) == nil && v != nil {
			c.given = append(c.given, given{when, v})
			c.present = s.Or(c.present, when)
		}
	}
	return c
}

// defaults answers the questions that only read a value, for the case that a view sets its default.
func (s *Space) defaults() {
	answers := NewAnswers()
	for _, key := range sortedKeys(s.questions) {
		q := s.questions[key]
		if len(q.Reads) != 1 || q.readsOld() || len(q.Reads[0].given) != 1 || len(q.Reads[0].Parent.given) > 0 {
			continue
		}
		p := q.Reads[0]
		if holds, fails, ok := answers.Ask(context.Background(), q, p.base.Parent.Put(map[string]any{}), nil); ok {
			s.implies(p.given[0].when, s.And(q.Holds.Lit.If(holds), q.Fails.Lit.If(fails)))
		}
	}
}

func childValue(v any, name string) any {
	switch v := v.(type) {
	case map[string]any:
		return v[name]
	case []any:
		if name == Item && len(v) > 0 {
			return v[0]
		}
	}
	return nil
}

// childSchema returns the schema of a property, entry or item. known is false if the schema does not
// have one.
func childSchema(s *apiextensionsv1.JSONSchemaProps, name string) (below *apiextensionsv1.JSONSchemaProps, known, property bool) {
	if s == nil {
		return nil, false, false
	}
	sub, isProperty := s.Properties[name]
	switch {
	case strings.HasPrefix(name, Item) && s.Items != nil:
		return s.Items.Schema, true, false
	case isProperty:
		return &sub, true, true
	case name != Item && s.AdditionalProperties != nil:
		return s.AdditionalProperties.Schema, true, false
	}
	return nil, false, false
}

// Decoded returns the formula that the value at a place of a view may differ from the sent value,
// because the API server set a default or replaced a null.
func (p *Place) Decoded() logic.Lit { return p.space.Or(p.base.null, p.Defaulted()) }

// Defaulted returns the formula that the value at a place of a view is a default, or part of one.
func (p *Place) Defaulted() logic.Lit {
	l := logic.False
	for _, g := range p.given {
		l = p.space.Or(l, g.when)
	}
	return l
}

// Prunes reports whether the API server prunes properties that the schema of p does not have.
func (p *Place) Prunes() bool {
	s := p.Schema
	return s != nil && s.Type != "" && !s.XEmbeddedResource && (s.XPreserveUnknownFields == nil || !*s.XPreserveUnknownFields)
}

// equalsIn implements Equals for a place in a view.
func (p *Place) equalsIn(constant any) logic.Lit {
	s := p.space
	l := p.base.Equals(constant)
	if p.sent != p.base.present {
		l = s.And(p.sent, l)
	}
	for _, g := range p.given {
		if is(g.value, constant) {
			l = s.Or(l, g.when)
		}
	}
	p.addConstant(&Fact{Lit: l, Kind: Equals, Place: p, Constant: constant})
	return l
}

// emptyIn implements Empty for a place in a view.
func (p *Place) emptyIn() logic.Lit {
	s := p.space
	if k := p.Schema; k != nil && k.Type == "object" && len(k.Properties) > 0 && k.AdditionalProperties == nil && p.Prunes() && p.asSent() != p.base {
		l := p.present
		for _, name := range sortedKeys(k.Properties) {
			l = s.And(l, p.Child(name).Key().Not())
		}
		return l
	}
	l := p.base.Empty()
	if p.sent != p.base.present {
		l = s.And(p.sent, l)
	}
	for _, g := range p.given {
		if isEmpty(g.value) {
			l = s.Or(l, g.when)
		}
	}
	return l
}

// asSent returns the place in the sent object if the view decodes the value without changes, and
// otherwise p.
func (p *Place) asSent() *Place {
	switch {
	case p.view == nil:
		return p
	case p.canonical != nil:
		return p.canonical
	}
	p.canonical = p
	if p.sent == p.base.present && p.null == p.base.null && len(p.given) == 0 && SameShape(p.Schema, p.base.Schema) {
		p.canonical = p.base
	}
	return p.canonical
}

// RuleKey returns a key that identifies a rule regardless of its messages.
func RuleKey(r apiextensionsv1.ValidationRule) string {
	return fmt.Sprint(HasOptionalOldSelf(r), r.Rule)
}

// SameRule reports whether two rules differ only in their messages.
func SameRule(a, b apiextensionsv1.ValidationRule) bool { return RuleKey(a) == RuleKey(b) }

// SameShape reports whether two schemas, which may be nil, give a value the same type in CEL, set
// the same defaults and prune the same properties. They may differ in other keywords.
func SameShape(a, b *apiextensionsv1.JSONSchemaProps) bool { return extends(b, a, false) }

// SameWhenSent reports whether two schemas, which may be nil, decode any sent value except null in the
// same way.
func SameWhenSent(a, b *apiextensionsv1.JSONSchemaProps) bool {
	if a == nil || b == nil {
		return a == b
	}
	x, y := *a, *b
	x.Default, y.Default, x.Nullable, y.Nullable = nil, nil, false, false
	return SameShape(&x, &y)
}

// extends reports whether b has the shape of a or, if more is set, the shape of a with more
// properties that have no default. A value without these properties looks the same in both.
func extends(b, a *apiextensionsv1.JSONSchemaProps, more bool) bool {
	if a == b || a == nil || b == nil {
		return a == b
	}
	x, y := shape(a), shape(b)
	if !equalSchemas(&x, &y) {
		return false
	}
	for name, q := range b.Properties {
		p, ok := a.Properties[name]
		if ok && !extends(&q, &p, more) || !ok && (!more || q.Default != nil) {
			return false
		}
	}
	for name := range a.Properties {
		if _, ok := b.Properties[name]; !ok {
			return false
		}
	}
	if (a.Items == nil) != (b.Items == nil) || a.Items != nil && !extends(b.Items.Schema, a.Items.Schema, more) {
		return false
	}
	m, n := a.AdditionalProperties, b.AdditionalProperties
	return (m == nil) == (n == nil) && (m == nil || m.Allows == n.Allows && extends(n.Schema, m.Schema, more))
}

// wasSent returns the formula that the value was sent.
func (p *Place) wasSent() logic.Lit {
	if p.view == nil {
		return p.present
	}
	return p.sent
}

// Alike returns the formula that two views give the same answers if their schemas differ only by
// properties that b adds. It assumes objects of which view a drops no property.
func (s *Space) Alike(a, b *View) logic.Lit {
	alike := logic.True
	// A value that a view decodes without changes has a place outside of the view.
	same := func(p, q *Place) logic.Lit {
		switch {
		case p == q:
			return logic.True.If(p.view == nil)
		case p.view != a && p.view != nil || q.view != b && q.view != nil || p.Old != q.Old || !slices.Equal(p.Path(), q.Path()):
			return logic.False
		case p.wasSent() == q.wasSent() && p.present == q.present && p.null == q.null && len(p.given)+len(q.given) == 0 && extends(q.Schema, p.Schema, true):
			return logic.True
		case !SameWhenSent(p.Schema, q.Schema):
			return logic.False
		}
		return s.Or(s.And(p.wasSent(), q.wasSent()), s.And(p.Key().Not(), q.Key().Not()))
	}
	of := map[string][]*Question{}
	for _, key := range sortedKeys(s.questions) {
		q := s.questions[key]
		if q.At.view == b || q.At.view == nil {
			of[q.key()] = append(of[q.key()], q)
		}
	}
	for _, key := range sortedKeys(s.questions) {
		q := s.questions[key]
		for _, r := range of[q.key()] {
			if q == r || len(q.Reads) != len(r.Reads) {
				continue
			}
			equal := logic.True
			for i, p := range q.Reads {
				if equal = s.And(equal, same(p, r.Reads[i])); equal != logic.False {
					equal = s.And(equal, s.sameHolders(p, r.Reads[i]))
				}
			}
			alike = s.And(alike, s.Implies(equal, s.And(s.Equal(q.Holds.Lit, r.Holds.Lit), s.Equal(q.Fails.Lit, r.Fails.Lit))))
		}
	}
	var facts []*Fact
	for _, f := range s.Facts {
		if f.Kind == Same {
			facts = append(facts, f)
		}
	}
	for _, f := range facts {
		for _, g := range facts {
			if equal := s.And(same(f.Place, g.Place), same(f.Other, g.Other)); f != g && equal != logic.False {
				equal = s.And(equal, s.sameHolders(f.Place, g.Place), s.sameHolders(f.Other, g.Other))
				alike = s.And(alike, s.Implies(equal, s.Equal(f.Lit, g.Lit)))
			}
		}
	}
	return alike
}

// shape returns a schema with only the keywords that determine the shape of its own value.
func shape(s *apiextensionsv1.JSONSchemaProps) apiextensionsv1.JSONSchemaProps {
	c := apiextensionsv1.JSONSchemaProps{
		Type: s.Type, Format: s.Format, Nullable: s.Nullable, Default: s.Default,
		XPreserveUnknownFields: s.XPreserveUnknownFields, XEmbeddedResource: s.XEmbeddedResource, XIntOrString: s.XIntOrString,
		XListType: s.XListType, XListMapKeys: s.XListMapKeys, XMapType: s.XMapType,
	}
	if s.Default != nil { // equal defaults may differ as text
		var v any
		if json.Unmarshal(s.Default.Raw, &v) == nil {
			if raw, err := json.Marshal(v); err == nil {
				c.Default = &apiextensionsv1.JSON{Raw: raw}
			}
		}
	}
	return c
}

// sameHolders returns the formula that two places with the same path have ancestors that are
// equally present or null. This matters because reading a property of an absent value fails.
func (s *Space) sameHolders(p, q *Place) logic.Lit {
	same := logic.True
	for p, q = p.Parent, q.Parent; p != nil && q != nil; p, q = p.Parent, q.Parent {
		same = s.And(same, s.Equal(p.present, q.present), s.Equal(p.null, q.null))
	}
	return same
}

// ofSentObject returns the question about the sent object, if the view decodes all values that the
// question reads, and their ancestors, without changes. Otherwise it returns q.
func (q Question) ofSentObject() Question {
	if q.At.view == nil || slices.ContainsFunc(q.Reads, func(p *Place) bool {
		return p.view != nil && (p.asSent() == p || q.At.space.sameHolders(p, p.base) != logic.True)
	}) {
		return q
	}
	q.At = q.At.base
	q.Reads = slices.Clone(q.Reads)
	for i, p := range q.Reads {
		q.Reads[i] = p.asSent()
	}
	return q
}

// textOf returns a schema as text, or "" for nil.
func textOf(s *apiextensionsv1.JSONSchemaProps) string {
	if s == nil {
		return ""
	}
	text, err := json.Marshal(s)
	if err != nil {
		return fmt.Sprintf("%p", s)
	}
	return string(text)
}
