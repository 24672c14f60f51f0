package verify

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// unionProblem compares a union with the tests on the path to its object.
type unionProblem struct {
	*prove.Problem
	*writing
	new, old symbolic
	sharing  [][2]symbolic // the other unions of the object to consider, by side
	context  []*writing    // of these unions, if their members are parts of the problem

	// validator validates whole resources. It is created on first use, or invalid is set.
	validator *sample.Validator
	invalid   error
}

// newProblem reads the schemas on the path to a union object. The caller adds the checks.
func newProblem(g *sample.Source, c *sample.Chain, u *union.Union) (*unionProblem, error) {
	n := c.Object()
	if u.Discriminator != "" && n.Lookup(u.Path(u.Discriminator)) == nil {
		return nil, fmt.Errorf("%s has no property %q, the discriminator", n.Path, u.Discriminator)
	}
	w, err := newWriting(g, n, u)
	if err != nil {
		return nil, err
	}
	p := &unionProblem{writing: w}
	p.Problem = prove.NewProblem(g, c, c.Schemas[0], prove.Subject{Parts: w.parts, Stored: true, Start: w.start, Legal: p.legalBefore})
	sides := p.symbolics(w)
	p.new, p.old = sides[prove.New], sides[prove.Old]
	return p, nil
}

// symbolics returns the states of a union in formulas, by side, and relates its parts to them.
func (p *unionProblem) symbolics(w *writing) [2]symbolic {
	var sides [2]symbolic
	for side := range sides {
		st := newSymbolic(p.Space, w.u, p.Self(side))
		for i, part := range w.parts {
			if part.ByValue {
				part.IsSet[side] = st.unset.Not()
			} else {
				part.IsSet[side] = st.present[i]
			}
		}
		sides[side] = st
	}
	if d := sides[prove.New].discriminator; d != nil {
		p.Space.Same(sides[prove.Old].discriminator, d)
	}
	return sides
}

// consider takes the state of another union of the object into account: legal objects satisfy both,
// and checks may depend on both.
func (p *unionProblem) consider(u *union.Union) error {
	w, err := newWriting(p.source, p.schema, u)
	if err != nil {
		return err
	}
	p.context, p.sharing = append(p.context, w), append(p.sharing, p.symbolics(w))
	for _, part := range w.parts {
		if !slices.ContainsFunc(p.Parts, func(q *prove.Part) bool { return slices.Equal(q.Path, part.Path) }) {
			part.Context = true
			p.Parts = append(p.Parts, part)
		}
	}
	return nil
}

// legalBefore returns formulas that the old state violates no condition.
func (p *unionProblem) legalBefore() []logic.Lit {
	var l []logic.Lit
	for _, b := range p.old.violations() {
		l = append(l, b.when.Not())
	}
	return l
}

// finish creates the values for objects. It returns reasons why the proof is inconclusive.
func (p *unionProblem) finish(unions []*union.Union) ([]string, error) {
	for _, w := range append(p.context, p.writing) {
		w.fill()
	}
	own, err := p.neighbours(unions)
	if err := p.Finish(own); err != nil {
		return nil, err
	}
	if err != nil {
		return append([]string{err.Error()}, p.Broken...), nil
	}
	return p.Broken, nil
}

// writing has the values with which objects of a schema represent the states of a union.
type writing struct {
	source   *sample.Source
	schema   *sample.Schema
	u        *union.Union
	parts    []*prove.Part // the members, then the discriminator if any
	failures []error       // by member: the reason why no value sets it
}

// newWriting returns the parts of an object of schema n that represent a union, without values.
func newWriting(g *sample.Source, n *sample.Schema, u *union.Union) (*writing, error) {
	w := &writing{g, n, u, nil, make([]error, len(u.Members))}
	for _, m := range u.Members {
		switch {
		case m.Item != nil && (n.Props.Type != "array" || n.Child(schemapath.Items) == nil):
			return nil, fmt.Errorf("%s is no list that could have %s, a member", n.Path, m.Name)
		case m.Item == nil && n.Lookup(u.Path(m.Name)) == nil:
			return nil, fmt.Errorf("%s has no property %q, a member", n.Path, m.Name)
		}
		w.parts = append(w.parts, &prove.Part{Path: memberPath(u, m), Unset: []any{prove.Absent{}}, Tells: tellsOf(m)})
	}
	if u.Discriminator != "" {
		w.parts = append(w.parts, &prove.Part{Path: u.Path(u.Discriminator).Properties(), ByValue: true, Known: u.Type.Values(u.Values)})
	}
	return w, nil
}

// memberPath returns the path of a member from the union object, with the names that formulas use.
func memberPath(u *union.Union, m union.Member) []string {
	if m.Item == nil {
		return u.Path(m.Name).Properties()
	}
	keys := map[string]any{}
	for _, k := range m.Item {
		keys[k.Name] = k.Value
	}
	return []string{formula.ItemOf(keys)}
}

// fill searches the values that set and unset each member. Proofs without objects need none.
func (w *writing) fill() {
	for i, m := range w.u.Members {
		w.failures[i] = w.values(w.parts[i], m)
	}
}

// values adds values to the part of a member. The error is the reason why no value sets the member.
func (w *writing) values(part *prove.Part, m union.Member) error {
	if m.Item != nil {
		v, err := w.source.ItemWith(w.schema.Child(schemapath.Items), part.Path[0])
		if err == nil {
			part.Set = []any{v}
		}
		return err
	}
	n := w.schema.Lookup(w.u.Path(m.Name))
	one := &union.Union{Members: []union.Member{m}}
	isSet := func(v any) bool { return one.StateOf(map[string]any{m.Name: v}).Present[0] }
	set, err := w.source.Valid(n, isSet)
	if err == nil {
		part.Set = []any{set}
	}
	var others []any
	if n.Props.Nullable && len(n.Props.Enum) == 0 {
		others = append(others, nil)
	}
	for _, empty := range n.Empties() {
		if e, err := w.source.Accept(n, empty); err == nil {
			others = append(others, e)
		}
	}
	for _, v := range append(others, w.fieldwise(n, m)...) {
		if v != nil && isSet(v) {
			part.Set = append(part.Set, v)
		} else {
			part.Unset = append(part.Unset, v)
		}
	}
	return err
}

// tellsOf returns a function that reports whether a fact depends only on whether the member is set.
func tellsOf(m union.Member) func(f *formula.Fact, below []string) bool {
	return func(f *formula.Fact, below []string) bool {
		presence := f.Kind == formula.Present || f.Kind == formula.Null
		switch len(below) {
		case 0:
			return presence || m.Empty != union.PresentWhenEmpty && (f.Kind == formula.Empty || f.Kind == formula.Equals && f.Constant == emptyFact(m))
		case 1:
			return presence && m.Empty == union.EmptyObject && slices.Contains(m.Fields, below[0])
		}
		return false
	}
}

// emptyFact returns the constant of the fact that distinguishes the empty value of a scalar.
func emptyFact(m union.Member) any {
	if m.Empty == union.EmptyBoolean {
		return true // there is no fact about false
	}
	return m.Empty.Scalar()
}

// maxFieldwise bounds the number of values that fieldwise returns.
const maxFieldwise = 40

// fieldwise returns values of a member that its properties make present: each property alone, all
// properties together, then each two of them.
func (w *writing) fieldwise(n *sample.Schema, m union.Member) []any {
	if m.Empty != union.EmptyObject {
		return nil
	}
	values := map[string]any{}
	for _, f := range m.Fields {
		if p := n.Property(f); p != nil {
			if v, err := w.source.First(p); err == nil && v != nil {
				values[f] = v
			}
		}
	}
	fields := slices.Sorted(maps.Keys(values))
	var l []any
	add := func(names ...string) {
		object := map[string]any{}
		for _, name := range append(names, n.Props.Required...) {
			if v, ok := values[name]; ok {
				object[name] = v
			}
		}
		if v, err := w.source.Accept(n, runtime.DeepCopyJSONValue(object)); err == nil && len(l) < maxFieldwise {
			l = append(l, v)
		}
	}
	for _, f := range fields {
		add(f)
	}
	add(slices.Clone(fields)...)
	for i, f := range fields {
		for _, other := range fields[:i] {
			add(other, f)
		}
	}
	return l
}

// start returns a union object in a legal state if one is easily found.
func (w *writing) start(own map[string]any) map[string]any {
	u := w.u
	object := maps.Clone(own)
	if object == nil {
		object = map[string]any{}
	}
	mayLack := true
	var discriminator *prove.Part
	if u.Discriminator != "" {
		discriminator = w.parts[len(u.Members)]
		mayLack = w.schema.MayLack(u.Path(u.Discriminator))
	}
	try := func(value string, members ...int) bool {
		o := runtime.DeepCopyJSON(object)
		if value != "" {
			if !w.source.Admits(w.schema.Lookup(u.Path(u.Discriminator)), u.Type.Value(value)) {
				return false
			}
			schemapath.SetValueAt(o, discriminator.Path, u.Type.Value(value))
		}
		for _, i := range members {
			if len(w.parts[i].Set) == 0 {
				return false
			}
			schemapath.SetValueAt(o, w.parts[i].Path, w.parts[i].Set[0])
		}
		if len(u.Violations(u.StateOf(w.schema.Value(o)))) > 0 {
			return false
		}
		object = o
		return true
	}
	if mayLack && try("") {
		return object
	}
	for i, m := range u.Members {
		if u.Discriminator == "" {
			if mayLack && (try("", i) || try("", groupOf(u, i).Members...)) {
				return object
			}
			continue
		}
		for _, v := range append(slices.Clone(m.Values), "") {
			if (v != "" || mayLack) && (try(v) || try(v, i) || try(v, u.MembersOf(v)...)) {
				return object
			}
		}
	}
	for _, v := range u.Values {
		if try(v) {
			return object
		}
	}
	return object
}

// groupOf returns the group of a member.
func groupOf(u *union.Union, member int) union.Group {
	groups := u.Groups()
	return groups[slices.IndexFunc(groups, func(g union.Group) bool { return slices.Contains(g.Members, member) })]
}

// neighbours returns the other properties of the union object: required properties, and properties
// that put other unions into a legal state.
func (w *writing) neighbours(unions []*union.Union) (map[string]any, error) {
	n := w.schema
	theirs := map[string]bool{}
	for _, v := range unions {
		if v != nil {
			for _, name := range append(v.MemberNames(), v.Discriminator) {
				theirs[v.Path(name).Properties()[0]] = true
			}
		}
	}
	var problems []error
	own, err := w.source.Required(n, theirs)
	if err != nil {
		problems = append(problems, err)
	}
	for _, v := range unions {
		if v == nil || v == w.u {
			continue
		}
		other, err := newWriting(w.source, n, v)
		if err != nil {
			problems = append(problems, err)
			continue
		}
		other.fill()
		object := other.start(nil)
		if len(v.Violations(v.StateOf(n.Value(object)))) > 0 {
			problems = append(problems, errors.New("there is no legal state of the union of "+fmt.Sprint(v.MemberNames())))
			continue
		}
		for _, part := range other.parts {
			if value, ok := schemapath.ValueAt(object, part.Path); ok {
				schemapath.SetValueAt(own, part.Path, value)
			}
		}
	}
	if d := n.Defaults(); d != nil && n.Props.Type == "object" {
		// Rules only see objects with defaults.
		d(own)
		schemapath.DropValueAt(own, w.u.Path(w.u.Discriminator).Properties())
	}
	return own, errors.Join(problems...)
}
