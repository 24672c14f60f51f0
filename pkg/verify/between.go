package verify

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
)

// Side is a version of a CRD, one of two that a [Pair] has.
type Side struct {
	// CRD is only read.
	CRD     *apiextensionsv1.CustomResourceDefinition
	Version int
	// Refusal is the API server's error for the creation of an object or, when old is not
	// nil, for an update of old to it. Objects are of the first side's version. It must not
	// change them.
	Refusal func(ctx context.Context, old, object map[string]any) Refusal
}

// Refusal is an error of the API server; the zero value is none.
type Refusal struct {
	Errors []string
	// NoRules says that other errors kept the server from evaluating rules.
	NoRules bool
}

func (r Refusal) String() string {
	const most = 3
	if more := len(r.Errors) - most; more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(r.Errors[:most], "; "), more)
	}
	return strings.Join(r.Errors, "; ")
}

// Clause is something that one schema demands of a value.
type Clause struct {
	// At leads to the schema that it stands on.
	At schemapath.Path
	// Rule is a rule that this schema has, in its allOf maybe, or else nil.
	Rule *apiextensionsv1.ValidationRule
	// Keywords are others than rules. They are understood as far as they are about which
	// properties are there and which constants they equal.
	Keywords *apiextensionsv1.JSONSchemaProps
	// Property, unless empty, is the property whose schema the rule or the keywords stand on.
	// Of such keywords nothing is known but what the server answers; and with neither nothing
	// but what Side.Refusal answers.
	Property string
	// Try are values of the property that an example may need.
	Try []any
}

// Shift is a difference between two schemas.
type Shift struct {
	// Old and New are the clauses that only one schema has.
	Old, New []Clause
	// Reshaped are the values that the schemas decode differently.
	Reshaped []Reshaping
	// Hints are clauses of which nothing but the values to try matters.
	Hints []Clause
}

// Witness is an object that is created or, when Old is not nil, an update to it.
type Witness struct{ Old, Object map[string]any }

// Effect is what became of a Shift.
type Effect struct {
	// Refused is a small example that the first side accepts and the second one refuses, for
	// a clause of the shift; Accepted is one of the reverse. What is nil does not exist,
	// unless Doubts say why that could not be decided.
	Refused, Accepted           *Witness
	RefusedDoubt, AcceptedDoubt string
	// RefusedAnyway has the errors of an object that the rules of the shift reject, where every
	// such object has errors that keep the server from evaluating these rules.
	RefusedAnyway, AcceptedAnyway string
}

// Pair is two schemas to compare. It is not for use by several goroutines at a time.
type Pair struct {
	sides        [2]Side
	roots        [2]*node
	structural   [2]*structuralschema.Structural
	tight, loose *node // of values for both, and of values for either
}

// NewPair takes two versions of CRDs, which are only read. An error means that there is no
// such version, or that the API server cannot use its schema.
func NewPair(old, new Side) (*Pair, error) {
	p := &Pair{sides: [2]Side{oldSide: old, newSide: new}}
	for side, s := range p.sides {
		root, err := newRoot(s.CRD, s.Version)
		if err != nil {
			return nil, err
		}
		if p.structural[side], err = formula.Structural(withTypeMeta(root)); err != nil {
			return nil, fmt.Errorf("%s: %w", root.path, err)
		}
		p.roots[side] = root
	}
	merged := func(tight bool) *node {
		return newNode(merging{tight}.of(p.roots[oldSide].schema, p.roots[newSide].schema), p.roots[oldSide].path, nil, true)
	}
	p.tight, p.loose = merged(true), merged(false)
	return p, nil
}

// Decide decides what differs between two schemas: of each shift whether there is anything
// that the old side accepts as a whole and a new clause of the shift refuses, and the
// reverse. The clauses stand on the schema at path or on the way to it, below the last list
// or map on it. All that is on the way counts for what a side accepts.
//
// An object accepted by one side is one that has nothing that this side would drop. Each
// example has been judged by both sides. Where there is none this is proved: rules, and
// what Clause understands, are read as formulas, and what is not understood may be anything.
// Ratcheting is not taken into account. What is open at the deadline of ctx (see [WithDeadline])
// is in doubt for that reason.
//
// An error means that there is no such schema, or that ctx was cancelled.
func (p *Pair) Decide(ctx context.Context, path schemapath.Path, shifts []Shift) ([]Effect, error) {
	effects, err := p.decide(ctx, path, shifts)
	if !late(err) {
		return effects, err
	}
	for len(effects) < len(shifts) {
		effects = append(effects, Effect{RefusedDoubt: err.Error(), AcceptedDoubt: err.Error()})
	}
	return effects, nil
}

// decide is Decide, but for what is left at the deadline.
func (p *Pair) decide(ctx context.Context, path schemapath.Path, shifts []Shift) ([]Effect, error) {
	b, err := p.between(ctx, path)
	if err != nil {
		return nil, err
	}
	posed := make([][2][]suspect, len(shifts))
	for i, s := range shifts {
		for _, h := range s.Hints {
			b.tried(len(h.At), h.Property, h.Try)
		}
		for side, clauses := range [][]Clause{oldSide: s.Old, newSide: s.New} {
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
	b.space.Close()
	for _, y := range b.sides {
		y.view.Cover()
	}
	for i, s := range shifts {
		for _, r := range s.Reshaped {
			moved := b.moved(r.At)
			for side := range posed[i] {
				posed[i][side] = append(posed[i][side], suspects(moved, b.unlike(side)...)...)
			}
		}
	}
	if _, err := b.finish([]*union.Union{b.u}); err != nil {
		return nil, err
	}
	var effects []Effect
	for i := range shifts {
		if ctx.Err() != nil {
			return effects, context.Cause(ctx)
		}
		var e Effect
		if e.Refused, e.RefusedDoubt, e.RefusedAnyway, err = b.refused(oldSide, newSide, posed[i][newSide]); err != nil {
			return nil, err
		}
		if e.Accepted, e.AcceptedDoubt, e.AcceptedAnyway, err = b.refused(newSide, oldSide, posed[i][oldSide]); err != nil {
			return nil, err
		}
		effects = append(effects, e)
	}
	return effects, nil
}

// between is two schemas over the objects of either.
type between struct {
	*problem
	to    schemapath.Path
	sides [2]*party // by newSide and oldSide
	// suspected are the checks of which one is to fail in the example that is looked for.
	suspected []suspect
}

// party is one of the schemas.
type party struct {
	Side
	nodes  []*node // of the chain, as far as it has them
	places []*formula.Place
	view   *formula.View
	checks []*check
	// unread are tests that are no checks, by the level of what they are on.
	unread map[int][]*test
	// stored are formulas for what is stored to be valid.
	stored []logic.Lit
	doubt  string // the last that was said of an example that was to be accepted
	masked string // and of one for which the other side had other errors, and evaluated no rules
}

func (p *Pair) between(ctx context.Context, path schemapath.Path) (*between, error) {
	c, err := newChain(p.tight, path)
	if err != nil {
		return nil, err
	}
	loose, err := newChain(p.loose, path)
	if err != nil {
		return nil, err
	}
	old := p.sides[oldSide]
	pr, err := newProblemIn(newGenerator(ctx, old.CRD, old.Version), c, p.loose, &union.Union{Cardinality: union.AtMostOne})
	if err != nil {
		return nil, err
	}
	pr.loose = loose
	b := &between{problem: pr, to: path}
	for side, s := range p.sides {
		y := &party{Side: s, unread: map[int][]*test{}, view: pr.space.View(withTypeMeta(p.roots[side]), p.structural[side])}
		at, place := p.roots[side], y.view.New
		for level := 0; at != nil; level++ {
			y.nodes, y.places = append(y.nodes, at), append(y.places, place)
			if level == len(c.steps) {
				break
			}
			at, place = at.child(c.steps[level]), place.Child(c.steps[level].placeName())
		}
		b.sides[side] = y
	}
	for side := range b.sides {
		if b.read(side); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
	}
	pr.judge = b.judged
	return b, nil
}

// read adds what a side demands on the way.
func (b *between) read(side int) {
	y, other := b.sides[side], b.sides[1-side]
	for level, n := range y.nodes {
		for _, t := range n.tests() {
			b.check(side, level, t)
		}
		for _, t := range n.constraints() {
			b.check(side, level, t)
		}
		if isComposite(n.schema) && len(n.schema.Enum) > 0 {
			b.check(side, level, newConstraint(n, "enum", apiextensionsv1.JSONSchemaProps{Type: n.schema.Type, Enum: n.schema.Enum}))
		}
		for _, name := range n.schema.Required {
			mine, theirs := n.schema.Properties[name], apiextensionsv1.JSONSchemaProps{}
			required := false
			if level < len(other.nodes) {
				theirs, required = other.nodes[level].schema.Properties[name], slices.Contains(other.nodes[level].schema.Required, name)
			}
			if !required || !formula.SameShape(&mine, &theirs) {
				b.check(side, level, newConstraint(n, requiredText(name), apiextensionsv1.JSONSchemaProps{Type: n.schema.Type, Required: []string{name}}))
			}
		}
	}
}

func requiredText(name string) string { return "required: " + name }

// check reads a test of a side. It is nil when it cannot be evaluated.
func (b *between) check(side, level int, t *test) *check {
	y := b.sides[side]
	c := &check{test: t, id: len(b.checks), level: level, node: y.nodes[level], place: y.places[level]}
	if t.broken != nil || b.problem.read(c) != nil {
		y.unread[level] = append(y.unread[level], t)
		return nil
	}
	y.checks, b.checks = append(y.checks, c), append(b.checks, c)
	c.changing = t.rule != nil && (t.ReadsOld || t.optional())
	before := c.place.Counterpart()
	switch {
	case t.only != nil:
		y.stored = append(y.stored, b.space.Implies(before.Present(), b.space.Schema(t.only, before)))
	case !c.changing:
		if f, err := b.space.Rule(t.Rule, before, formula.Plain); err == nil {
			y.stored = append(y.stored, b.space.Implies(before.Present(), f.Holds))
		}
	}
	return c
}

// pose adds the checks of a clause, or finds them. An error is in what the caller asks.
func (b *between) pose(side int, k Clause) ([]*check, error) {
	y, level := b.sides[side], len(k.At)
	if level > len(b.steps) || level < b.anchor() || level >= len(y.nodes) && k.Property == "" {
		return nil, fmt.Errorf("no schema at %s can be compared", k.At)
	}
	if k.Property != "" {
		b.tried(level, k.Property, k.Try)
		return b.poseProperty(side, level, k), nil
	}
	if k.Rule != nil {
		for _, c := range y.checks {
			if c.level == level && c.rule != nil && formula.SameRule(*c.rule, *k.Rule) {
				return []*check{c}, nil
			}
		}
	} else if k.Keywords != nil { // nil for a property with an empty name
		only := *k.Keywords
		only.Type = y.nodes[level].schema.Type
		if c := b.check(side, level, newConstraint(y.nodes[level], b.posedText(), only)); c != nil {
			return append(b.onNull(side, y.places[level], only), c), nil
		}
	}
	return []*check{b.unclear(b.places[level])}, nil
}

// poseProperty adds the checks of a clause about one property.
func (b *between) poseProperty(side, level int, k Clause) []*check {
	y, unclear := b.sides[side], []*check{b.unclear(b.places[level].Child(k.Property))}
	if level >= len(y.nodes) || k.Rule == nil && k.Keywords == nil {
		return unclear
	}
	n, place := y.nodes[level], y.places[level]
	c := &check{id: len(b.checks), level: level, node: n, place: place}
	var onNull []*check
	if k.Rule == nil {
		keywords := *k.Keywords
		keywords.Nullable = n.schema.Properties[k.Property].Nullable
		c.test = newConstraint(n, b.posedText(), apiextensionsv1.JSONSchemaProps{Type: n.schema.Type, Properties: map[string]apiextensionsv1.JSONSchemaProps{k.Property: keywords}})
		if c.test.broken != nil {
			return unclear
		}
		c.holds = b.space.Unread(&keywords, place.Child(k.Property))
		onNull = b.onNull(side, place.Child(k.Property), keywords)
	} else {
		if c.node, c.place = n.property(k.Property), place.Child(k.Property); c.node == nil {
			return unclear
		}
		i := slices.IndexFunc(c.node.tests(), func(t *test) bool { return formula.SameRule(*t.rule, *k.Rule) })
		if i < 0 {
			return unclear
		}
		c.test = c.node.tests()[i]
		if c.test.broken != nil || b.problem.read(c) != nil {
			return unclear
		}
		c.changing = c.test.ReadsOld || c.optional()
	}
	y.checks, b.checks = append(y.checks, c), append(b.checks, c)
	return append(onNull, c)
}

// posedText is a name that no other check has.
func (b *between) posedText() string { return fmt.Sprint("clause ", len(b.checks)) }

// unclear is a check that nobody can evaluate but for the side as a whole.
func (b *between) unclear(at *formula.Place) *check {
	return &check{test: &test{Rule: &formula.Rule{}}, place: at, holds: b.space.Implies(at.Present(), b.space.Unknown(at)), changing: true}
}

// refused looks for what one side accepts and checks of the other refuse.
// Masked has the errors of the refusing side if all objects found have errors that keep it from
// evaluating the suspected rules.
func (b *between) refused(accepting, refusing int, suspected []suspect) (w *Witness, doubt, masked string, err error) {
	if len(suspected) == 0 {
		return nil, "", "", nil
	}
	s, y := b.space, b.sides[accepting]
	var l, violated []logic.Lit
	for _, c := range y.checks {
		l = append(l, c.holds)
	}
	for _, at := range y.view.Dropped {
		l = append(l, at.Present().Not(), at.Null().Not())
	}
	l = append(l, s.Alike(y.view, b.sides[refusing].view))
	changing := false
	var checks []*check
	for _, c := range suspected {
		violated = append(violated, s.And(c.when, c.holds.Not()))
		checks = append(checks, c.check)
		changing = changing || c.changing
	}
	l = append(l, s.Or(violated...))
	modes := [][]logic.Lit{{s.Old.Present().Not()}}
	if changing {
		modes = append(modes, append([]logic.Lit{s.Old.Present()}, y.stored...))
	}
	b.accepting, b.suspected, y.doubt, y.masked = accepting, suspected, "", ""
	b.question = s.Var()
	l = append(l, b.question)
	for _, mode := range modes {
		l := append(slices.Clone(l), mode...)
		m, err := b.possible(l...)
		if m == nil && err == nil {
			continue
		}
		var e *example
		if err == nil {
			e, err = b.shown(l, b.otherwise(refusing, checks))
		}
		switch {
		case e != nil:
			return &Witness{e.old, e.new}, "", "", nil
		case err == nil:
			// What the server said of what was tried leaves nothing; but not all was tried.
			doubt = "no object was found that shows it"
		case late(err):
			return nil, err.Error(), "", nil
		case undecided(err):
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
		doubt = "the objects tried are refused for another reason: " + y.doubt
	}
	return nil, doubt, "", nil
}

// shown makes an example, if possible one for which all of several wishes hold, or else the
// first of them.
func (b *between) shown(l []logic.Lit, wishes []logic.Lit) (*example, error) {
	for n := len(wishes); ; n-- {
		e, err := b.search(b.wishes, append(slices.Clone(l), wishes[:n]...)...)
		if e != nil || n == 0 || err != nil && !errors.Is(err, errNotMade) {
			return e, err
		}
	}
}

// otherwise says that a side has nothing else against an object than some checks: no other
// check, and nothing that it drops.
func (b *between) otherwise(side int, but []*check) []logic.Lit {
	var holds, kept []logic.Lit
	for _, c := range b.sides[side].checks {
		if !slices.Contains(but, c) {
			holds = append(holds, c.holds)
		}
	}
	for _, at := range b.sides[side].view.Dropped {
		kept = append(kept, at.Key().Not())
	}
	return []logic.Lit{b.space.And(holds...), b.space.And(kept...)}
}

// wishes are for few properties, and few that change.
func (b *between) wishes(update bool) []wish {
	var few, changed []logic.Lit
	for _, sl := range b.slots {
		for side, chosen := range sl.chosen {
			for i, l := range chosen {
				if sl.values[i] == any(absent{}) && (side == newSide || update) {
					few = append(few, b.space.And(sl.places[side].Parent.Present(), l.Not()))
				}
			}
		}
		if update {
			for i, l := range sl.chosen[newSide] {
				changed = append(changed, b.space.And(l, sl.chosen[oldSide][i].Not()))
			}
		}
	}
	return []wish{{few: few}, {few: changed}}
}

// judged asks both sides about an example, and the suspects of which one is to fail.
func (b *between) judged(e *example) bool {
	accepting, refusing := b.sides[b.accepting], b.sides[1-b.accepting]
	if e.old != nil {
		e.old = accepting.view.Of(e.old) // as it was stored, with the defaults of then
	}
	fails := func(s suspect) bool {
		if !e.model(s.when) || e.model(s.holds) {
			return false
		}
		said, _ := b.asked(s.check, e.new, e.old)
		return s.ask == nil || said != holds
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
	if e.old != nil {
		if said := accepting.Refusal(b.ctx, nil, e.old); len(said.Errors) > 0 {
			accepting.doubt = said.String()
			return false
		}
	}
	if said := accepting.Refusal(b.ctx, e.old, e.new); len(said.Errors) > 0 {
		accepting.doubt = said.String()
		return false
	}
	said := refusing.Refusal(b.ctx, e.old, e.new)
	if said.NoRules && !slices.ContainsFunc(failing, func(s suspect) bool { return s.rule == nil }) {
		accepting.masked = said.String()
		return false
	}
	return len(said.Errors) > 0
}

// tried notes values to try.
func (p *problem) tried(level int, name string, values []any) {
	if p.try == nil {
		p.try = map[slotKey][]any{}
	}
	k := slotKey{level, name}
	p.try[k] = append(p.try[k], values...)
}

// widen adds the values that are not for all of what is compared.
func (p *problem) widen(s *slot, r *read) {
	name := s.path[0] // there is no union that could have more
	n := p.loose.nodes[s.level].property(name)
	if n == nil {
		return
	}
	s.unset(p.loose.nodes[s.level].removable(name))
	s.add(p.try[slotKey{s.level, name}]...)
	s.add(p.g.several(n)...)
	for _, v := range slices.Concat(r.constants, r.literals) {
		if len(s.values) >= maxSlot {
			break
		}
		if v, err := p.g.accept(n, v); err == nil {
			s.add(v)
		}
	}
}

// ReadsOld reports whether a rule compares with the stored object, or may. What cannot be
// parsed does not.
func ReadsOld(r apiextensionsv1.ValidationRule) bool {
	read, err := formula.Parse(r.Rule)
	return err == nil && read.ReadsOld || r.OptionalOldSelf != nil && *r.OptionalOldSelf
}

// Reads are the properties that a rule reads, as paths from what it stands on. There are none
// if it cannot be parsed.
func Reads(r apiextensionsv1.ValidationRule) [][]string {
	read, err := formula.Parse(r.Rule)
	if err != nil {
		return nil
	}
	return read.Paths
}
