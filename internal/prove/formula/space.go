package formula

import (
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/unioncel/unioncel/internal/prove/logic"
)

// Space is the set of the objects that a schema admits, and of updates of such objects.
type Space struct {
	*logic.Circuit
	// New and Old are the roots of the new and of the old object. The new object is always present.
	// If the old object is absent, the new object is being created.
	New, Old *Place
	// Facts are all facts in use, in order of creation.
	Facts []*Fact

	questions map[string]*Question
	views     int
	same      map[[2]*Place]*Fact
	unnamed   map[string]bool     // the names of representatives of unnamed items
	counts    map[string][]string // the named items of lists with representatives, by path
}

// FactKind is the statement that a fact makes about its place.
type FactKind int

const (
	// Present means that has() is true; null is not present.
	Present FactKind = iota + 1
	// Null means that the value is null.
	Null
	// Equals means that the value is present and equals a constant, such as "" or false.
	Equals
	// Empty means that the value is an empty list or map.
	Empty
	// Same means that the value equals the value at Fact.Other.
	Same
	// Holds means that the answer to the question is true.
	Holds
	// Fails means that evaluating the question fails.
	Fails
)

// Fact is a statement about an object.
type Fact struct {
	Lit      logic.Lit
	Kind     FactKind
	Place    *Place // nil for questions
	Other    *Place
	Constant any // a string, int64 or bool
	Question *Question
}

// Places returns the places that the fact depends on. The caller must not change them.
func (f *Fact) Places() []*Place {
	switch {
	case f.Question != nil:
		return f.Question.Reads
	case f.Other != nil:
		return []*Place{f.Place, f.Other}
	}
	return []*Place{f.Place}
}

// Question is an expression or keyword that formulas do not support.
type Question struct {
	// Text is a CEL expression on the value of At. It is empty if the expression cannot be
	// evaluated separately. If its type is not bool, only Fails is meaningful.
	Text string
	// Schema replaces Text for keywords that validate the value of At.
	Schema *apiextensionsv1.JSONSchemaProps
	At     *Place
	// Reads are the places that the answer depends on.
	Reads []*Place
	// Optional means that oldSelf in Text is an optional value.
	Optional bool
	alone    bool // oldSelf never has a value
	// What is the name of the function or keyword, for messages.
	What         string
	Holds, Fails *Fact
	// Costly means that the evaluation may exceed the cost limit: see [Rule.Costly].
	Costly   bool
	compared *sides // nil before sides is called
}

// Place is the position of a value in an object.
type Place struct {
	space  *Space
	Old    bool
	Parent *Place // nil for the root
	// Name is the property or key. [Item] and [Entry] stand for an item of a list and an entry of a
	// map. See [ItemOf] for an item with keys.
	Name   string
	Schema *apiextensionsv1.JSONSchemaProps // nil if unknown
	stored *apiextensionsv1.JSONSchemaProps // see Space.Stored

	children  map[string]*Place
	present   logic.Lit
	null      logic.Lit
	empty     *Fact
	equals    []*Fact
	constants map[any]*Fact // equals, by the constant
	enum      map[any]bool  // the values of Enum, created lazily
	known     logic.Lit     // the value equals a constant in equals
	types     common.Schema // of its values, created lazily
	key       any           // the constant value of an item's key, or nil

	// For a place in a view:
	view      *View
	base      *Place    // the same value in the sent object
	sent      logic.Lit // the value was sent
	given     []given   // values that the API server sets instead
	canonical *Place    // see asSent
}

// The names of the steps into lists and maps.
const (
	Item  = "\x00item"
	Entry = "\x00entry"
)

// New returns the space of the objects of a schema. The schema of a resource must include
// apiVersion, kind and metadata.
func New(schema *apiextensionsv1.JSONSchemaProps) *Space {
	s := &Space{Circuit: logic.New(), questions: map[string]*Question{}, same: map[[2]*Place]*Fact{}, unnamed: map[string]bool{}, counts: map[string][]string{}}
	s.New = &Place{space: s, Schema: schema, present: logic.True, null: logic.False}
	s.Old = &Place{space: s, Old: true, Schema: schema, null: logic.False}
	s.Old.present = s.fact(&Fact{Kind: Present, Place: s.Old}).Lit
	return s
}

func (s *Space) fact(f *Fact) *Fact {
	f.Lit = s.Var()
	s.Facts = append(s.Facts, f)
	return f
}

// Path returns the names on the path from the root.
func (p *Place) Path() []string {
	if p.Parent == nil {
		return nil
	}
	return append(p.Parent.Path(), p.Name)
}

// IsWithin reports whether p is q or a place in q.
func (p *Place) IsWithin(q *Place) bool {
	for ; p != nil; p = p.Parent {
		if p == q {
			return true
		}
	}
	return false
}

// Counterpart returns the same place in the other object of an update.
func (p *Place) Counterpart() *Place {
	switch {
	case p.Parent != nil:
		return p.Parent.Counterpart().Child(p.Name)
	case p.view != nil && p.Old:
		return p.view.New
	case p.view != nil:
		return p.view.Old
	case p.Old:
		return p.space.New
	}
	return p.space.Old
}

// Stored sets the schema of the version in which objects are stored, if it is another version: the
// API server sets the defaults of that version in old objects, not the defaults of their schema. It
// must be called before the places of properties are created.
func (s *Space) Stored(schema *apiextensionsv1.JSONSchemaProps) { s.Old.stored = schema }

// always reports whether an object at p, unless it is nullable, has the property with schema c.
func (p *Place) always(name string, c *Place) bool {
	defaulted := c.Schema.Default != nil
	if p.Old && p.space.Old.stored != nil {
		defaulted = defaulted && c.stored != nil && (c.stored.Default != nil || slices.Contains(p.stored.Required, name))
	}
	return defaulted || slices.Contains(p.Schema.Required, name)
}

// Child returns the place of a property, entry or item.
func (p *Place) Child(name string) *Place {
	if c, ok := p.children[name]; ok {
		return c
	}
	if p.view != nil {
		return p.viewed(name)
	}
	c := &Place{space: p.space, Old: p.Old, Parent: p, Name: name}
	if p.children == nil {
		p.children = map[string]*Place{}
	}
	p.children[name] = c
	isProperty := false
	c.Schema, _, isProperty = childSchema(p.Schema, name)
	c.stored, _, _ = childSchema(p.stored, name)
	if c.key = p.itemKey(name); c.key != nil {
		c.present, c.null = p.present, logic.False
		return c
	}
	always := p.Schema != nil && c.Schema != nil && p.always(name, c)
	if isProperty && always && !p.space.nullable(c.Schema) {
		c.present, c.null = p.present, logic.False
		return c
	}
	c.present, c.null = p.space.fact(&Fact{Kind: Present, Place: c}).Lit, logic.False
	p.space.implies(c.present, p.present)
	if p.space.nullable(c.Schema) {
		c.null = p.space.fact(&Fact{Kind: Null, Place: c}).Lit
		p.space.implies(c.null, p.present)
		p.space.implies(c.null, c.present.Not())
		if always {
			p.space.RequireAny(p.present.Not(), c.present, c.null)
		}
	}
	if p.empty != nil {
		p.space.implies(p.empty.Lit, p.space.Or(c.present, c.null).Not())
	}
	return c
}

// nullable reports whether a value of a schema may be null. The server's enum rejects null, even if it
// lists null. The objects that views decode need not be valid.
func (s *Space) nullable(k *apiextensionsv1.JSONSchemaProps) bool {
	return k != nil && k.Nullable && (len(k.Enum) == 0 || s.views > 0)
}

func (s *Space) implies(a, b logic.Lit) { s.RequireAny(a.Not(), b) }

// Lookup returns the place at a path.
func (p *Place) Lookup(path ...string) *Place {
	for _, name := range path {
		p = p.Child(name)
	}
	return p
}

// Present returns the formula that has() is true for the place.
func (p *Place) Present() logic.Lit { return p.present }

// Always reports whether the object that contains the value cannot lack it.
func (p *Place) Always() bool { return p.present == p.Parent.present }

// Null returns the formula that the value is null.
func (p *Place) Null() logic.Lit { return p.null }

// Key returns the formula that the key exists, as in OpenAPI's required: null counts as a value.
func (p *Place) Key() logic.Lit { return p.space.Or(p.present, p.null) }

// Empty returns the formula that the value is an empty string, list or map, false, or 0.
func (p *Place) Empty() logic.Lit {
	if p.Schema != nil && !isIntOrString(p) {
		switch p.Schema.Type {
		case "string":
			return p.Equals("")
		case "boolean":
			return p.Equals(false)
		case "integer", "number":
			return p.Equals(int64(0))
		}
	}
	if p.view != nil {
		return p.emptyIn()
	}
	if p.empty == nil {
		s := p.space
		p.empty = s.fact(&Fact{Kind: Empty, Place: p})
		s.implies(p.empty.Lit, p.present)
		for _, name := range sortedKeys(p.children) {
			c := p.children[name]
			s.implies(p.empty.Lit, s.Or(c.present, c.null).Not())
		}
		if q := p.Schema; q != nil && (q.MinItems != nil && *q.MinItems > 0 || q.MinProperties != nil && *q.MinProperties > 0) {
			s.Require(p.empty.Lit.Not())
		}
	}
	return p.empty.Lit
}

// Equals returns the formula that the value is present and equals a constant, which is a string, an
// int64 or a bool.
func (p *Place) Equals(constant any) logic.Lit {
	if p.key != nil && p.key != constant {
		return logic.False
	}
	if p.key != nil {
		return p.present
	}
	if constant == any(false) {
		return p.space.And(p.present, p.Equals(true).Not())
	}
	if f := p.constants[constant]; f != nil {
		return f.Lit
	}
	if p.view != nil {
		return p.equalsIn(constant)
	}
	if p.enum == nil {
		if values, ok := p.Enum(); ok {
			p.enum = map[any]bool{}
			for _, v := range values {
				p.enum[v] = true
			}
		}
	}
	if p.enum != nil && !p.enum[constant] || !p.admits(constant) {
		return logic.False
	}
	return p.constant(constant)
}

func (p *Place) addConstant(f *Fact) {
	if p.constants == nil {
		p.constants = map[any]*Fact{}
	}
	p.equals, p.constants[f.Constant] = append(p.equals, f), f
}

// enumerate requires one of the values of the place's enumeration, if the value is present.
func (p *Place) enumerate() {
	values, ok := p.Enum()
	if !ok || len(values) == 0 {
		return
	}
	any := []logic.Lit{p.present.Not()}
	for _, v := range values {
		any = append(any, p.Equals(v))
	}
	p.space.RequireAny(any...)
}

func (p *Place) constant(v any) logic.Lit {
	s := p.space
	f := s.fact(&Fact{Kind: Equals, Place: p, Constant: v})
	s.implies(f.Lit, p.present)
	s.implies(f.Lit, p.known.Not()) // a value equals at most one constant
	p.known = s.Or(p.known, f.Lit)
	p.addConstant(f)
	return f.Lit
}

// Constants returns the facts that compare the place with constants. It omits false.
func (p *Place) Constants() []*Fact { return p.equals }

// admits reports whether a constant is within the length bounds of the schema. Bytes are never
// empty: the API server rejects "".
func (p *Place) admits(v any) bool {
	text, ok := v.(string)
	if !ok || p.Schema == nil {
		return true
	}
	if text == "" && p.Schema.Format == "byte" {
		return false
	}
	n := int64(len([]rune(text)))
	return (p.Schema.MinLength == nil || n >= *p.Schema.MinLength) && (p.Schema.MaxLength == nil || n <= *p.Schema.MaxLength)
}

// EnumValues returns the values that a schema enumerates, except null.
func EnumValues(s *apiextensionsv1.JSONSchemaProps) (values []any) {
	for _, j := range s.Enum {
		var v any
		if json.Unmarshal(j.Raw, &v) == nil && v != nil {
			values = append(values, v)
		}
	}
	return values
}

// scalars returns the values that a schema enumerates, each once, except null. ok is false if one of
// them is neither a string, an int64 nor a bool.
func scalars(s *apiextensionsv1.JSONSchemaProps) (values []any, ok bool) {
	there := map[any]bool{}
	for _, j := range s.Enum {
		var v any
		if json.Unmarshal(j.Raw, &v) != nil {
			return nil, false
		}
		switch v.(type) {
		case string, int64, bool:
			if !there[v] {
				values, there[v] = append(values, v), true
			}
		case nil:
		default:
			return nil, false
		}
	}
	return values, true
}

// Enum returns the values that the schema enumerates, except null. ok is false unless the schema
// enumerates scalars.
func (p *Place) Enum() (values []any, ok bool) {
	if p.Schema == nil || len(p.Schema.Enum) == 0 {
		return nil, false
	}
	if values, ok = scalars(p.Schema); !ok {
		return nil, false
	}
	if len(values) > 0 {
		if _, isBool := values[0].(bool); isBool {
			return nil, false
		}
	}
	return values, true
}

// Same returns the formula that two present places have equal values.
func (s *Space) Same(a, b *Place) logic.Lit {
	if x, y := a.asSent(), b.asSent(); x.view == nil && y.view == nil {
		a, b = x, y
	}
	if a == b {
		return logic.True
	}
	if a.key != nil && b.key != nil && a.key != b.key {
		return logic.False
	}
	if a.key != nil && b.key != nil {
		return s.And(a.present, b.present)
	}
	if fmt.Sprint(a.Old, a.Path()) > fmt.Sprint(b.Old, b.Path()) {
		a, b = b, a
	}
	f, ok := s.same[[2]*Place{a, b}]
	if !ok {
		f = s.fact(&Fact{Kind: Same, Place: a, Other: b})
		s.same[[2]*Place{a, b}] = f
		s.implies(f.Lit, s.And(a.present, b.present))
		if a.Schema != nil && a.view == nil && b.view == nil { // objects differ if one of their properties does
			names := slices.Sorted(maps.Keys(a.Schema.Properties))
			for _, name := range names[:min(len(names), maxCompared)] {
				a.Child(name)
				b.Child(name)
			}
		}
	}
	return f.Lit
}

// maxCompared is the number of properties for which a comparison of two objects adds places.
const maxCompared = 20

// Close relates the facts in use: values of enumerations, and facts about values that are equal.
// Call it after adding all rules and keywords.
func (s *Space) Close() {
	enumerated := map[*Place]bool{}
	for _, f := range slices.Clone(s.Facts) {
		if f.Kind == Equals && !enumerated[f.Place] {
			enumerated[f.Place] = true
			f.Place.enumerate()
		}
	}
	s.order()
	s.bounds()
	s.defaults()
	for n := -1; n != len(s.Facts); { // a comparison may add facts
		n = len(s.Facts)
		for _, f := range slices.Clone(s.Facts) {
			if f.Kind == Same {
				s.congruent(f, f.Place, f.Other, 0, logic.False)
			}
		}
	}
}

// congruent requires that facts about a and b agree if f holds, and unless does not.
func (s *Space) congruent(f *Fact, a, b *Place, depth int, unless logic.Lit) {
	const deep = 8
	// CEL may treat different texts or numbers as the same value.
	exact := isExact(a) && isExact(b)
	for _, c := range slices.Concat(a.equals, b.equals) {
		x, y := a.Equals(c.Constant), b.Equals(c.Constant)
		if exact {
			s.RequireAny(f.Lit.Not(), unless, s.Equal(x, y))
		}
		if depth == 0 {
			s.RequireAny(x.Not(), y.Not(), f.Lit) // equal, because both equal the constant
		}
	}
	if isBool(a) && depth == 0 {
		s.RequireAny(a.present.Not(), b.present.Not(), f.Lit, a.Equals(true), b.Equals(true))
	}
	if a.empty != nil || b.empty != nil {
		x, y := a.Empty(), b.Empty()
		s.RequireAny(f.Lit.Not(), unless, s.Equal(x, y))
		if depth == 0 {
			s.RequireAny(x.Not(), y.Not(), f.Lit)
		}
	}
	if depth > deep {
		return
	}
	// CEL compares objects with null values by the number of their properties and by the other
	// properties of one of them (k8s.io/apiserver/pkg/cel/common: unstructuredMap.Equal).
	names := append(sortedKeys(a.children), sortedKeys(b.children)...)
	for _, name := range names {
		unless = s.Or(unless, a.Child(name).null, b.Child(name).null)
	}
	for _, name := range names {
		x, y := a.Child(name), b.Child(name)
		s.RequireAny(f.Lit.Not(), unless, s.Equal(x.present, y.present))
		s.congruent(f, x, y, depth+1, unless)
	}
}

func isExact(p *Place) bool {
	kind := kindOf(p)
	return kind == "string" || kind == "integer" || kind == "boolean"
}

func isIntOrString(p *Place) bool { return p.Schema != nil && p.Schema.XIntOrString }

func isBool(p *Place) bool { return p.Schema != nil && p.Schema.Type == "boolean" }

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// question returns the question that equals q, or adds q.
func (s *Space) question(q Question) *Question {
	q = q.ofSentObject()
	key := fmt.Sprint(q.At.view.number(), " ", q.key())
	if have, ok := s.questions[key]; ok && (q.Text != "" || q.Schema != nil) {
		return have
	}
	q.Holds = s.fact(&Fact{Kind: Holds, Question: &q})
	q.Fails = s.fact(&Fact{Kind: Fails, Question: &q})
	s.RequireAny(q.Holds.Lit.Not(), q.Fails.Lit.Not())
	s.questions[key] = &q
	return &q
}

// key identifies a question among the questions about one view.
func (q *Question) key() string {
	return fmt.Sprintf("%v %q %s %s", q.At.Old, q.At.Path(), textOf(q.Schema), q.Text)
}
