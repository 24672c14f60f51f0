package prove

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Problem has the tests on the schemas of a chain as formulas, and values for example objects.
// Callers first add and classify tests, then call Finish, then ask questions.
type Problem struct {
	Subject
	*sample.Chain
	Source *sample.Source
	Space  *formula.Space
	// Places are the places in the new object that the chain's schemas describe.
	Places []*formula.Place
	Checks []*Check
	// Broken lists the tests that cannot be evaluated, with reasons.
	Broken []string
	Slots  []*Slot

	around  *sample.Surroundings
	own     map[string]any
	answers *formula.Answers
	lazies  []*formula.Fact
	made    logic.Lit
	// question guards the rejections by Confirm: the examples may suit other questions.
	question logic.Lit
}

// Subject describes the object of a problem without its tests.
type Subject struct {
	Parts []*Part
	// Stored means that old objects may lack the defaults that their storage version lacks (see
	// [sample.Source.Stored]).
	Stored bool
	// Start returns an object with the given properties that may be part of a valid resource.
	Start func(own map[string]any) map[string]any
	// Legal returns formulas that should hold for the old object.
	Legal func() []logic.Lit
	// Widen, unless nil, adds values to a slot. Objects may then be invalid in the schemas of the
	// chain.
	Widen func(*Slot, *Reads)
	// Values, unless nil, returns further values to try for a property of the object.
	Values func(name string) []any
	// Confirm, unless nil, replaces the tests that confirm examples.
	Confirm func(*Example) bool
}

// Part is a property of the object or of an object in it, or an item if the object is a list. The
// states of all parts are the state of the subject.
type Part struct {
	// Path leads to the part from the object, in the names of formulas.
	Path []string
	// ByValue means that the state of the part is its value, which is a string, boolean or integer.
	// Known lists known values. Without ByValue, the state of the part is whether it is set.
	ByValue bool
	Known   []any
	// Unset and Set are the values with which the part is unset and set, usual values first. They
	// are empty with ByValue.
	Unset, Set []any
	// Tells reports whether a fact about the part, or about the path below it, depends only on
	// whether the part is set. It is unused with ByValue.
	Tells func(f *formula.Fact, below []string) bool
	// IsSet are the formulas that the part is set, in the new and the old object.
	IsSet [2]logic.Lit
	// Context means that the question is not about the part: a check that reads only such parts does
	// not touch the state of the subject, but may be narrow.
	Context bool

	other bool // the slot has a value that no test mentions
}

// The sides of an update, used as indices.
const (
	New = iota
	Old
)

// NewProblem returns a problem about the objects of a root schema. The root of the chain may be
// another schema.
func NewProblem(g *sample.Source, c *sample.Chain, root *sample.Schema, of Subject) *Problem {
	p := &Problem{Subject: of, Chain: c, Source: g, Space: formula.New(WithTypeMeta(root)), answers: formula.NewAnswers(), question: logic.True}
	if of.Stored {
		_, schema := g.Stored()
		p.Space.Stored(schema)
	}
	at := p.Space.New
	p.Places = []*formula.Place{at}
	for _, s := range c.Path {
		above := at
		at = Child(at, s)
		p.Places = append(p.Places, at)
		if _, ok := s.Property(); !ok {
			// A list or map that exists contains the item or entry on the path.
			p.Space.Require(p.Space.Equal(at.Present(), above.Present()))
			p.Space.Require(p.Space.Equal(at.Counterpart().Present(), above.Counterpart().Present()))
		}
	}
	return p
}

// Child returns the place below at that a step leads to.
func Child(at *formula.Place, s schemapath.Step) *formula.Place { return at.Child(placeName(s)) }

// placeName returns the name of a step in formulas.
func placeName(s schemapath.Step) string {
	name, ok := s.Property()
	switch {
	case ok:
		return name
	case s == schemapath.Items:
		return formula.Item
	}
	return formula.Entry
}

// WithTypeMeta returns the schema of a resource with the properties that every resource has.
func WithTypeMeta(root *sample.Schema) *apiextensionsv1.JSONSchemaProps {
	s := *root.Props
	s.Properties = maps.Clone(s.Properties)
	if s.Properties == nil {
		s.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
	}
	s.Properties["apiVersion"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	s.Properties["kind"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	s.Properties["metadata"] = apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{
		"name": {Type: "string"}, "generateName": {Type: "string"},
	}}
	s.Required = append(slices.Clone(s.Required), "apiVersion", "kind", "metadata")
	return &s
}

// Self returns the place of the object in the new or the old resource.
func (p *Problem) Self(side int) *formula.Place { return p.place(len(p.Places)-1, side) }

func (p *Problem) place(level, side int) *formula.Place {
	if side == Old {
		return p.Places[level].Counterpart()
	}
	return p.Places[level]
}

// Update reports whether a model has an old object.
func (p *Problem) Update(m logic.Model) bool { return m(p.Space.Old.Present()) }

// Correlates reports whether the API server correlates the old and the new object.
func (p *Problem) Correlates() bool { return p.Correlated == len(p.Schemas) }

// Anchor returns the level of the last list item or map entry on the path, or 0. Only properties
// lead from there to the object. Updates keep the values up to this level.
func (p *Problem) Anchor() int {
	level := len(p.Path)
	for level > 0 {
		if _, ok := p.Path[level-1].Property(); !ok {
			break
		}
		level--
	}
	return level
}

// Finish creates the slots. Callers must have added all checks. own are the other properties of the
// object.
func (p *Problem) Finish(own map[string]any) error {
	p.own = own
	p.Space.Close()
	if err := p.makeSlots(); err != nil {
		return err
	}
	p.bound()
	p.inquire()
	return nil
}

// surroundings finds the surroundings of the object lazily: most proofs need no object, and the
// search may take long.
func (p *Problem) surroundings() *sample.Surroundings {
	if p.around == nil {
		p.around = p.Source.Surround(p.Chain, p.Start(p.own))
	}
	return p.around
}

// PathTo returns the path from the root of the resource to the value at a level.
func (p *Problem) PathTo(level int) string {
	var b strings.Builder
	for _, s := range p.Path[:level] {
		switch name, ok := s.Property(); {
		case ok:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(name)
		case s == schemapath.Items:
			b.WriteString("[0]")
		default:
			fmt.Fprintf(&b, "[%s]", formula.EntryKey)
		}
	}
	return b.String()
}
