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

// Problem is the formulas of tests on the schemas of a chain, and the objects that may show them.
// Tests are added and classified first, then Finish is called, then questions are asked.
type Problem struct {
	Subject
	*sample.Chain
	Source *sample.Source
	Space  *formula.Space
	// Places are those of the schemas of the chain, in the new object.
	Places []*formula.Place
	Checks []*Check
	// Broken says which tests cannot be evaluated, and why.
	Broken []string
	Slots  []*Slot

	around  *sample.Surroundings
	own     map[string]any
	answers *formula.Answers
	lazies  []*formula.Fact
	made    logic.Lit
	// question guards the examples that Confirm has rejected: another question may have them.
	question logic.Lit
}

// Subject is the object of a problem, as far as tests do not say it.
type Subject struct {
	Parts []*Part
	// Start returns an object that has other properties, and with which a resource may be valid.
	Start func(own map[string]any) map[string]any
	// Legal returns formulas that should hold of what is stored.
	Legal func() []logic.Lit
	// Widen, unless nil, says that objects need not be valid by the schemas of the chain, and adds
	// values to a slot.
	Widen func(*Slot, *Reads)
	// Confirm, unless nil, confirms examples instead of the tests.
	Confirm func(*Example) bool
}

// Part is a property of the object, or of one in it, or an item if the object is a list. The state
// of the subject is the states of its parts.
type Part struct {
	// Path leads to it from the object, by the names of formulas.
	Path []string
	// ByValue says that the state of the part is its value, a string of which Known are known;
	// else it is whether the part is set.
	ByValue bool
	Known   []string
	// Unset and Set are the values, unless ByValue, with which the part is unset and set, the usual
	// ones first.
	Unset, Set []any
	// Tells reports, unless ByValue, whether a fact about the part, or about the property below it
	// that names lead to, says no more than whether the part is set.
	Tells func(f *formula.Fact, below []string) bool
	// IsSet is the formula by side, for questions.
	IsSet [2]logic.Lit

	other bool // it may have a value that nothing mentions
}

// The sides of an update, as indices.
const (
	New = iota
	Old
)

// NewProblem returns a problem about the objects of a root, which need not be that of the chain.
func NewProblem(g *sample.Source, c *sample.Chain, root *sample.Schema, of Subject) *Problem {
	g.Reset()
	p := &Problem{Subject: of, Chain: c, Source: g, Space: formula.New(WithTypeMeta(root)), answers: formula.NewAnswers(), question: logic.True}
	at := p.Space.New
	p.Places = []*formula.Place{at}
	for _, s := range c.Path {
		above := at
		at = Child(at, s)
		p.Places = append(p.Places, at)
		if _, ok := s.Property(); !ok {
			// Lists and maps that are there have the item or entry in question.
			p.Space.Require(p.Space.Equal(at.Present(), above.Present()))
			p.Space.Require(p.Space.Equal(at.Counterpart().Present(), above.Counterpart().Present()))
		}
	}
	return p
}

// Child returns the place that a step leads to.
func Child(at *formula.Place, s schemapath.Step) *formula.Place { return at.Child(placeName(s)) }

// placeName is the name of a step in formulas.
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

// At returns the place of the object on a side.
func (p *Problem) At(side int) *formula.Place { return p.place(len(p.Places)-1, side) }

// place is that of a level on a side.
func (p *Problem) place(level, side int) *formula.Place {
	if side == Old {
		return p.Places[level].Counterpart()
	}
	return p.Places[level]
}

// Update reports whether a model has an old object.
func (p *Problem) Update(m logic.Model) bool { return m(p.Space.Old.Present()) }

// Correlates reports whether the API server matches the object with its old self.
func (p *Problem) Correlates() bool { return p.Correlated == len(p.Schemas) }

// Anchor returns the level from which properties lead to the object. The values above stay, and so
// does the list or map that has it.
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

// Finish makes the values of which objects consist, when all checks are there. The object has other
// properties, its own.
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

// surroundings are those of the object. Most proofs need no object, and finding what is around it
// may take long.
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
