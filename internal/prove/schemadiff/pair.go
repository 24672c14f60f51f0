package schemadiff

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Side is one of the two versions of a CRD in a [Pair].
type Side struct {
	// CRD must not be changed.
	CRD     *apiextensionsv1.CustomResourceDefinition
	Version int
	// Refusal returns the API server's error for the creation of an object or, if old is not nil,
	// for the update from old to object. Objects have the version of the first side. Refusal must
	// not change them.
	Refusal func(ctx context.Context, old, object map[string]any) Refusal
	// Plain is Refusal for a creation without the rules that have optionalOldSelf.
	Plain func(ctx context.Context, object map[string]any) Refusal
}

// Refusal is an error of the API server. The zero value means that there is no error.
type Refusal struct {
	Errors []string
	// NoRules means that other errors kept the API server from evaluating rules.
	NoRules bool
}

func (r Refusal) String() string {
	const most = 3
	if more := len(r.Errors) - most; more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(r.Errors[:most], "; "), more)
	}
	return strings.Join(r.Errors, "; ")
}

// Clause is a requirement of one schema on a value.
type Clause struct {
	// At leads to the schema with the clause.
	At schemapath.Path
	// Rule is a rule of the schema, or of its allOf. It is nil for other clauses.
	Rule *apiextensionsv1.ValidationRule
	// Keywords are keywords other than rules. Formulas represent presence, and equality with
	// constants.
	Keywords *apiextensionsv1.JSONSchemaProps
	// Property, unless empty, is the property whose schema has the rule or the keywords. Formulas
	// do not represent these keywords: only the API server evaluates them. If Rule and Keywords are
	// nil, only Side.Refusal decides.
	Property string
	// Try lists values of the property that an example may need.
	Try []any
}

// Shift is one difference between two schemas.
type Shift struct {
	// Old and New are the clauses that only one schema has.
	Old, New []Clause
	// Reshaped are the values that the schemas decode differently.
	Reshaped []Reshaping
	// Hints are clauses that only add values to try.
	Hints []Clause
}

// Witness is the creation of an object or, if Old is not nil, the update from Old to Object.
type Witness struct {
	Old, Object map[string]any
	// Exempt means that a rule with optionalOldSelf accepts the update, but would reject the
	// creation of Old. No update of objects that can be created differs.
	Exempt bool
}

// Effect is the result for a Shift.
type Effect struct {
	// Refused is a small example that the first side accepts and the second side rejects because of
	// a clause of the shift. Accepted is the reverse. If an example is nil, there is none, unless
	// the doubt states why this could not be decided.
	Refused, Accepted           *Witness
	RefusedDoubt, AcceptedDoubt string
	// RefusedAnyway is set if the rules of the shift reject objects, but all of these objects have
	// other errors that keep the API server from evaluating the rules. It has the errors of such an
	// object. AcceptedAnyway is the reverse.
	RefusedAnyway, AcceptedAnyway string
}

// Pair compares two schemas. It must not be used concurrently.
type Pair struct {
	sides        [2]Side // by prove.Old and prove.New
	roots        [2]*sample.Schema
	structural   [2]*structuralschema.Structural
	tight, loose *sample.Schema // accept the values of both and of either
}

// NewPair returns a pair of two versions of CRDs. It does not change the CRDs. An error means that
// there is no such version, or that the API server cannot use its schema.
func NewPair(old, new Side) (*Pair, error) {
	p := &Pair{sides: [2]Side{prove.Old: old, prove.New: new}}
	for side, s := range p.sides {
		root, err := sample.RootOf(s.CRD, s.Version)
		if err != nil {
			return nil, err
		}
		if p.structural[side], err = formula.Structural(prove.WithTypeMeta(root)); err != nil {
			return nil, fmt.Errorf("%s: %w", root.Path, err)
		}
		p.roots[side] = root
	}
	merged := func(tight bool) *sample.Schema {
		return sample.New(merging{tight}.merge(p.roots[prove.Old].Props, p.roots[prove.New].Props), p.roots[prove.Old].Path, true)
	}
	p.tight, p.loose = merged(true), merged(false)
	return p, nil
}

// Decide decides for each shift whether there is an object that the old side accepts and a new
// clause of the shift rejects, and the reverse. The clauses belong to the schema at path or its
// ancestors, below the last list or map on the path. All schemas on the path decide whether a side
// accepts.
//
// A side accepts only objects without properties that it would prune. Every example has been
// validated by both sides. The absence of an example is proved: formulas represent the rules, and
// the clauses that they support, and leave all other conditions open. Ratcheting is ignored. Shifts
// without a result at the deadline of ctx (see [prove.WithDeadline]) are in doubt.
//
// An error means that there is no such schema, or that ctx was cancelled.
func (p *Pair) Decide(ctx context.Context, path schemapath.Path, shifts []Shift) ([]Effect, error) {
	effects, err := p.decide(ctx, path, shifts)
	if !prove.Late(err) {
		return effects, err
	}
	for len(effects) < len(shifts) {
		effects = append(effects, Effect{RefusedDoubt: err.Error(), AcceptedDoubt: err.Error()})
	}
	return effects, nil
}

// decide is Decide, but returns an error at the deadline.
func (p *Pair) decide(ctx context.Context, path schemapath.Path, shifts []Shift) ([]Effect, error) {
	b, err := p.comparison(ctx, path, shifts)
	if err != nil {
		return nil, err
	}
	posed := make([][2][]suspect, len(shifts))
	for i, s := range shifts {
		for _, h := range s.Hints {
			b.tried(len(h.At), h.Property, h.Try)
		}
		for side, clauses := range [][]Clause{prove.Old: s.Old, prove.New: s.New} {
			for _, c := range clauses {
				l, err := b.pose(side, c)
				if err != nil {
					return nil, err
				}
				posed[i][side] = append(posed[i][side], suspects(logic.True, l...)...)
			}
			for _, r := range s.Reshaped {
				l, err := b.seen(side, r)
				if err != nil {
					return nil, err
				}
				posed[i][side] = append(posed[i][side], l...)
			}
		}
	}
	b.Space.Close()
	for _, y := range b.sides {
		y.view.Cover()
	}
	for i, s := range shifts {
		for _, r := range s.Reshaped {
			moved := b.moved(r.At)
			for side := range posed[i] {
				posed[i][side] = append(posed[i][side], suspects(moved, b.differing(side)...)...)
			}
		}
	}
	own, _ := b.Source.Required(b.Object(), nil) // omits properties without a valid value
	if d := b.Object().Defaults(); d != nil {
		d(own)
	}
	if err := b.Finish(own); err != nil {
		return nil, err
	}
	var effects []Effect
	for i := range shifts {
		if ctx.Err() != nil {
			return effects, context.Cause(ctx)
		}
		var e Effect
		if e.Refused, e.RefusedDoubt, e.RefusedAnyway, err = b.refused(prove.Old, prove.New, posed[i][prove.New]); err != nil {
			return nil, err
		}
		if e.Accepted, e.AcceptedDoubt, e.AcceptedAnyway, err = b.refused(prove.New, prove.Old, posed[i][prove.Old]); err != nil {
			return nil, err
		}
		effects = append(effects, e)
	}
	return effects, nil
}

// pathComparison compares two schemas over the objects that either accepts. The chain has the
// schemas for values that both accept.
type pathComparison struct {
	*prove.Problem
	to    schemapath.Path
	loose *sample.Chain // for values that either schema accepts
	sides [2]*party     // by prove.New and prove.Old
	try   map[property][]any

	// The current question: the side that has to accept the example, and the checks of the other
	// side of which one has to reject it.
	accepting int
	suspected []suspect
	exempt    logic.Lit // see Witness.Exempt
}

// property is a property of the object at a level.
type property struct {
	level int
	name  string
}

// party is one of the two schemas.
type party struct {
	Side
	nodes  []*sample.Schema // the schemas on the path, as far as they exist
	places []*formula.Place
	view   *formula.View
	checks []*prove.Check
	// unread are the tests that cannot be translated into checks, by level.
	unread map[int][]*sample.Test
	// stored are the formulas that the old object is valid. Those of rules with optionalOldSelf,
	// which may exempt updates of other objects, are in created.
	stored, created []logic.Lit
	doubt           string // the last error of the accepting side about an example
	masked          string // the last errors that kept the other side from evaluating rules
}

func (p *Pair) comparison(ctx context.Context, path schemapath.Path, shifts []Shift) (*pathComparison, error) {
	c, err := sample.NewChain(p.tight, path)
	if err != nil {
		return nil, err
	}
	loose, err := sample.NewChain(p.loose, path)
	if err != nil {
		return nil, err
	}
	b := &pathComparison{to: path, loose: loose, try: map[property][]any{}}
	old := p.sides[prove.Old]
	b.Problem = prove.NewProblem(sample.NewSource(ctx, old.CRD, old.Version), c, p.loose, prove.Subject{
		Start:   func(own map[string]any) map[string]any { return own },
		Legal:   func() []logic.Lit { return nil },
		Widen:   b.widen,
		Confirm: b.confirms,
	})
	for side, s := range p.sides {
		y := &party{Side: s, unread: map[int][]*sample.Test{}, view: b.Space.View(prove.WithTypeMeta(p.roots[side]), p.structural[side])}
		at, place := p.roots[side], y.view.New
		for level := 0; at != nil; level++ {
			y.nodes, y.places = append(y.nodes, at), append(y.places, place)
			if level == len(path) {
				break
			}
			at, place = at.Child(path[level]), prove.Child(place, path[level])
		}
		b.sides[side] = y
	}
	b.nameItems(shifts)
	for side := range b.sides {
		if b.read(side); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	return b, nil
}

// nameItems names the items of lists with keys that rules on the path or in the shifts read.
func (b *pathComparison) nameItems(shifts []Shift) {
	lists, constants := []*formula.Place{}, map[*formula.Place][]any{}
	note := func(at *formula.Place, r *formula.Rule) {
		for _, path := range r.Paths {
			list := at.Lookup(path...)
			if len(r.Literals) > 0 && !slices.Contains(lists, list) {
				lists = append(lists, list)
			}
			constants[list] = append(constants[list], r.Literals...)
		}
	}
	for _, y := range b.sides {
		for level, n := range y.nodes {
			for _, t := range n.Rules() {
				if t.Broken == nil {
					note(b.Places[level], t.Rule)
				}
			}
		}
	}
	for _, s := range shifts {
		for _, c := range slices.Concat(s.Old, s.New) {
			if c.Rule == nil || c.Property == "" || len(c.At) >= len(b.Places) {
				continue
			}
			if r, err := formula.Parse(c.Rule.Rule); err == nil {
				note(b.Places[len(c.At)].Child(c.Property), r)
			}
		}
	}
	for _, list := range lists {
		list.NameItems(constants[list])
	}
}

// read adds the requirements of a side at the schemas on the path.
func (b *pathComparison) read(side int) {
	y, other := b.sides[side], b.sides[1-side]
	for level, n := range y.nodes {
		for _, t := range n.Rules() {
			b.check(side, level, t)
		}
		for _, t := range n.Constraints() {
			b.check(side, level, t)
		}
		if sample.Composite(n.Props) && len(n.Props.Enum) > 0 {
			b.check(side, level, sample.NewConstraint(n, "enum", apiextensionsv1.JSONSchemaProps{Type: n.Props.Type, Enum: n.Props.Enum}))
		}
		for _, name := range n.Props.Required {
			mine, theirs := n.Props.Properties[name], apiextensionsv1.JSONSchemaProps{}
			required := false
			if level < len(other.nodes) {
				theirs, required = other.nodes[level].Props.Properties[name], slices.Contains(other.nodes[level].Props.Required, name)
			}
			if !required || !formula.SameShape(&mine, &theirs) {
				b.check(side, level, sample.NewConstraint(n, requiredText(name), apiextensionsv1.JSONSchemaProps{Type: n.Props.Type, Required: []string{name}}))
			}
		}
	}
}

func requiredText(name string) string { return "required: " + name }

// check adds a test of a side. It returns nil if the test cannot be evaluated.
func (b *pathComparison) check(side, level int, t *sample.Test) *prove.Check {
	y := b.sides[side]
	c := &prove.Check{Test: t, Level: level, Schema: y.nodes[level], Place: y.places[level]}
	if t.Broken != nil || b.Read(c) != nil {
		y.unread[level] = append(y.unread[level], t)
		return nil
	}
	c.Changing = t.Validation != nil && t.Changing()
	b.add(y, c)
	before := c.Place.Counterpart()
	switch {
	case t.Keywords != nil:
		y.stored = append(y.stored, b.Space.Implies(before.Present(), b.Space.Schema(t.Keywords, before)))
	case !c.Changing:
		if f, err := b.Space.Rule(t.Rule, before, formula.Plain); err == nil {
			y.stored = append(y.stored, b.Space.Implies(before.Present(), f.Holds))
		}
	}
	return c
}

// add adds a check of a side.
func (b *pathComparison) add(y *party, c *prove.Check) {
	y.checks, b.Checks = append(y.checks, c), append(b.Checks, c)
	if !c.Optional() {
		return
	}
	before := c.Place.Counterpart()
	if f, err := b.Space.Rule(c.Rule, before, formula.Missing); err == nil {
		y.created = append(y.created, b.Space.Implies(before.Present(), f.Holds))
	}
}

// pose returns the checks of a clause, and adds new ones. An error means that the clause is
// invalid.
func (b *pathComparison) pose(side int, k Clause) ([]*prove.Check, error) {
	y, level := b.sides[side], len(k.At)
	if level > len(b.Path) || level < b.Anchor() || level >= len(y.nodes) && k.Property == "" {
		return nil, fmt.Errorf("no schema at %s can be compared", k.At)
	}
	if k.Property != "" {
		b.tried(level, k.Property, k.Try)
		return b.poseProperty(side, level, k), nil
	}
	if k.Rule != nil {
		for _, c := range y.checks {
			if c.Level == level && c.Validation != nil && formula.SameRule(*c.Validation, *k.Rule) {
				return []*prove.Check{c}, nil
			}
		}
	} else if k.Keywords != nil { // nil if the name of the property is empty
		only := *k.Keywords
		only.Type = y.nodes[level].Props.Type
		if c := b.check(side, level, sample.NewConstraint(y.nodes[level], b.posedText(), only)); c != nil {
			return append(b.onNull(side, y.places[level], only), c), nil
		}
	}
	return []*prove.Check{b.unclear(b.Places[level])}, nil
}

// poseProperty adds the checks of a clause on one property.
func (b *pathComparison) poseProperty(side, level int, k Clause) []*prove.Check {
	y, unclear := b.sides[side], []*prove.Check{b.unclear(b.Places[level].Child(k.Property))}
	if level >= len(y.nodes) || k.Rule == nil && k.Keywords == nil {
		return unclear
	}
	n, place := y.nodes[level], y.places[level]
	c := &prove.Check{Level: level, Schema: n, Place: place}
	var onNull []*prove.Check
	if k.Rule == nil {
		keywords := *k.Keywords
		keywords.Nullable = n.Props.Properties[k.Property].Nullable
		c.Test = sample.NewConstraint(n, b.posedText(), apiextensionsv1.JSONSchemaProps{Type: n.Props.Type, Properties: map[string]apiextensionsv1.JSONSchemaProps{k.Property: keywords}})
		if c.Test.Broken != nil {
			return unclear
		}
		c.Holds = b.Space.Unread(&keywords, place.Child(k.Property))
		onNull = b.onNull(side, place.Child(k.Property), keywords)
	} else {
		if c.Schema, c.Place = n.Property(k.Property), place.Child(k.Property); c.Schema == nil {
			return unclear
		}
		i := slices.IndexFunc(c.Schema.Rules(), func(t *sample.Test) bool { return formula.SameRule(*t.Validation, *k.Rule) })
		if i < 0 {
			return unclear
		}
		c.Test = c.Schema.Rules()[i]
		if c.Test.Broken != nil || b.Read(c) != nil {
			return unclear
		}
		c.Changing = c.Test.Changing()
	}
	b.add(y, c)
	return append(onNull, c)
}

// posedText returns a unique text for a check.
func (b *pathComparison) posedText() string { return fmt.Sprint("clause ", len(b.Checks)) }

// unclear returns a check that only Side.Refusal can evaluate.
func (b *pathComparison) unclear(at *formula.Place) *prove.Check {
	return &prove.Check{Test: &sample.Test{Rule: &formula.Rule{}}, Place: at, Holds: b.Space.Implies(at.Present(), b.Space.Unknown(at)), Changing: true}
}

// refused looks for an object that one side accepts and a suspected check of the other side
// rejects. If all objects found have errors that keep the rejecting side from evaluating the
// suspected rules, masked has these errors.
func (b *pathComparison) refused(accepting, refusing int, suspected []suspect) (w *Witness, doubt, masked string, err error) {
	if len(suspected) == 0 {
		return nil, "", "", nil
	}
	s, y := b.Space, b.sides[accepting]
	var l, violated []logic.Lit
	for _, c := range y.checks {
		l = append(l, c.Holds)
	}
	for _, at := range y.view.Dropped {
		l = append(l, at.Present().Not(), at.Null().Not())
	}
	l = append(l, s.Alike(y.view, b.sides[refusing].view))
	changing := false
	var checks []*prove.Check
	for _, c := range suspected {
		violated = append(violated, s.And(c.when, c.Holds.Not()))
		checks = append(checks, c.Check)
		changing = changing || c.Changing
	}
	l = append(l, s.Or(violated...))
	stored, created := s.And(append(y.stored, s.Old.Present())...), s.And(y.created...)
	modes := []logic.Lit{s.Old.Present().Not()}
	// A rule with optionalOldSelf may accept an update to a state that it rejects on creation.
	if changing || slices.ContainsFunc(y.checks, func(c *prove.Check) bool { return c.Optional() }) {
		modes = append(modes, s.And(stored, created))
	}
	b.accepting, b.suspected, b.exempt, y.doubt, y.masked = accepting, suspected, s.And(stored, created.Not()), "", ""
	l = append(l, b.Tell())
	for _, mode := range append(modes, b.exempt) {
		if mode == b.exempt && doubt != "" {
			break // updates of other objects may differ, too
		}
		l := append(slices.Clone(l), mode)
		m, err := b.Possible(l...)
		if m == nil && err == nil {
			continue
		}
		var e *prove.Example
		if err == nil {
			e, err = b.shown(l, b.nothingElse(refusing, checks))
		}
		switch {
		case e != nil:
			return &Witness{e.Old, e.New, mode == b.exempt}, "", "", nil
		case err == nil:
			// The API server's results exclude all candidates, but other values may exist.
			doubt = "no object was found that shows it"
		case prove.Late(err):
			return nil, err.Error(), "", nil
		case prove.Undecided(err):
			doubt = err.Error()
		default:
			return nil, "", "", err
		}
	}
	switch {
	case doubt == "":
	case y.masked != "":
		return nil, "", y.masked, nil
	case y.doubt != "":
		doubt = "the objects tried are rejected for another reason: " + y.doubt
	}
	return nil, doubt, "", nil
}

// shown returns an example that satisfies as many of the first wishes as possible.
func (b *pathComparison) shown(l []logic.Lit, wishes []logic.Lit) (*prove.Example, error) {
	for n := len(wishes); ; n-- {
		e, err := b.Search(b.wishes, append(slices.Clone(l), wishes[:n]...)...)
		if e != nil || n == 0 || err != nil && !errors.Is(err, prove.ErrNotMade) {
			return e, err
		}
	}
}

// nothingElse returns the condition that the side rejects the object only because of the given
// checks: no other check fails, and no property is pruned.
func (b *pathComparison) nothingElse(side int, but []*prove.Check) []logic.Lit {
	var holds, kept []logic.Lit
	for _, c := range b.sides[side].checks {
		if !slices.Contains(but, c) {
			holds = append(holds, c.Holds)
		}
	}
	for _, at := range b.sides[side].view.Dropped {
		kept = append(kept, at.Key().Not())
	}
	return []logic.Lit{b.Space.And(holds...), b.Space.And(kept...)}
}

// wishes prefers examples with few properties and few changes.
func (b *pathComparison) wishes(update bool) []prove.Wish {
	var few, changed []logic.Lit
	for _, sl := range b.Slots {
		for side, chosen := range sl.Chosen {
			for i, l := range chosen {
				if sl.Values[i] == any(prove.Absent{}) && (side == prove.New || update) {
					few = append(few, b.Space.And(sl.Places[side].Parent.Present(), l.Not()))
				}
			}
		}
		if update {
			for i, l := range sl.Chosen[prove.New] {
				changed = append(changed, b.Space.And(l, sl.Chosen[prove.Old][i].Not()))
			}
		}
	}
	return []prove.Wish{{Few: few}, {Few: changed}}
}

// confirms validates an example with both sides, and evaluates the suspected checks.
func (b *pathComparison) confirms(e *prove.Example) bool {
	accepting, refusing := b.sides[b.accepting], b.sides[1-b.accepting]
	if e.Old != nil {
		e.Old = accepting.view.Decode(e.Old) // as stored, with the defaults of the accepting side
	}
	fails := func(s suspect) bool {
		if !e.Model(s.when) || e.Model(s.Holds) {
			return false
		}
		said, _ := b.Ask(s.Check, e.New, e.Old)
		return !s.Evaluable() || said != sample.Holds
	}
	var failing []suspect
	for _, s := range b.suspected {
		if fails(s) {
			failing = append(failing, s)
		}
	}
	if len(failing) == 0 {
		return false
	}
	if e.Old != nil {
		var said Refusal
		if e.Model(b.exempt) {
			said = accepting.Plain(b.Source.Context(), e.Old)
		} else {
			said = accepting.Refusal(b.Source.Context(), nil, e.Old)
		}
		if len(said.Errors) > 0 {
			accepting.doubt = said.String()
			return false
		}
	}
	if said := accepting.Refusal(b.Source.Context(), e.Old, e.New); len(said.Errors) > 0 {
		accepting.doubt = said.String()
		return false
	}
	said := refusing.Refusal(b.Source.Context(), e.Old, e.New)
	if said.NoRules && !slices.ContainsFunc(failing, func(s suspect) bool { return s.Validation == nil }) {
		accepting.masked = said.String()
		return false
	}
	return len(said.Errors) > 0
}

// tried adds values to try for a property.
func (b *pathComparison) tried(level int, name string, values []any) {
	k := property{level, name}
	b.try[k] = append(b.try[k], values...)
}

// widen adds values to a slot that only one of the schemas accepts.
func (b *pathComparison) widen(s *prove.Slot, r *prove.Reads) {
	name := s.Path[0] // the path has a single step
	holder := b.loose.Schemas[s.Level]
	n := holder.Property(name)
	if n == nil {
		return
	}
	s.Unset(holder.Removable(name))
	s.Add(b.try[property{s.Level, name}]...)
	s.Add(b.Source.Several(n)...)
	b.AddAccepted(s, n, r)
}
