package verify

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/formula"
	"github.com/unioncel/unioncel/internal/logic"
	"github.com/unioncel/unioncel/pkg/union"
)

// slot is a property that something depends on, with the values to give it. Objects
// are made of them.
type slot struct {
	level  int // of the schema that has the property
	name   string
	places [2]*formula.Place
	values []any // absent{}, nil for null, or a value that the schema accepts
	member int   // index of the union's member, or -1
	set    int   // the index of the first value that sets it
	chosen [2][]logic.Lit
}

// The sides of an update, as indices.
const (
	newSide = iota
	oldSide
)

// maxDeep bounds the values of a property that differ in what is in it.
const maxDeep = 60

// maxSlot bounds the values of a property.
const maxSlot = 100

// absent stands for a property that is not there.
type absent struct{}

// read collects what facts ask about at one slot.
type read struct {
	constants []any
	deep      [][]string // paths below the property
	whole     bool       // questions about the property itself
	literals  []any
}

// makeSlots makes a slot of every property that a fact is about, and says how facts follow
// from the values chosen.
func (p *problem) makeSlots() error {
	type key struct {
		level int
		name  string
	}
	reads := map[key]*read{}
	var order []key
	note := func(pl *formula.Place) *read {
		level, path := p.locate(pl)
		if len(path) == 0 {
			return nil
		}
		k := key{level, path[0]}
		r, ok := reads[k]
		if !ok {
			r = &read{}
			reads[k] = r
			order = append(order, k)
		}
		if len(path) > 1 && !slices.ContainsFunc(r.deep, func(q []string) bool { return slices.Equal(q, path[1:]) }) {
			r.deep = append(r.deep, path[1:])
		}
		return r
	}
	for _, f := range p.space.Facts {
		switch {
		case f.Question != nil:
			for _, pl := range f.Question.Reads {
				if r := note(pl); r != nil {
					_, path := p.locate(pl)
					r.whole = r.whole || len(path) == 1
				}
			}
		default:
			r := note(f.Place)
			if f.Other != nil {
				note(f.Other)
			}
			if _, path := p.locate(f.Place); r != nil && f.Constant != nil && len(path) == 1 && f.Constant != any(true) {
				r.constants = append(r.constants, f.Constant)
			}
		}
	}
	// What is far from the union first: it is the least likely to matter.
	slices.SortFunc(order, func(a, b key) int {
		if a.level != b.level {
			return a.level - b.level
		}
		return strings.Compare(a.name, b.name)
	})
	for _, c := range p.checks {
		for _, path := range c.Paths {
			level, rest := p.follow(c.level, path)
			if len(rest) > 0 && level < len(p.nodes) {
				if r := reads[key{level, rest[0]}]; r != nil {
					r.literals = append(r.literals, c.Literals...)
				}
			}
		}
	}
	for _, k := range order {
		s, err := p.newSlot(k.level, k.name, reads[k])
		if err != nil {
			return err
		}
		if s != nil {
			p.slots = append(p.slots, s)
		}
	}
	p.connect()
	return nil
}

// locate finds the level whose object has a place in it, and the names from there. The
// path is empty for places on the way to the union object.
func (p *problem) locate(pl *formula.Place) (level int, path []string) {
	return p.follow(0, pl.Path())
}

// follow follows a path from a level towards the union object.
func (p *problem) follow(level int, path []string) (int, []string) {
	for len(path) > 0 && level < len(p.steps) && path[0] == p.steps[level].placeName() {
		level, path = level+1, path[1:]
	}
	return level, path
}

func (s step) placeName() string {
	switch s.kind {
	case item:
		return formula.Item
	case value:
		return formula.Entry
	}
	return s.name
}

// newSlot finds the values of a property. It is nil where there are none to choose.
func (p *problem) newSlot(level int, name string, r *read) (*slot, error) {
	n := p.nodes[level]
	if n.root && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name) {
		return nil, nil
	}
	property := n.property(name)
	if property == nil {
		return nil, nil
	}
	s := &slot{level: level, name: name, member: -1}
	s.places = [2]*formula.Place{p.places[level].Child(name), p.places[level].Counterpart().Child(name)}
	isObject := level == len(p.nodes)-1
	add := func(v any) {
		if !slices.ContainsFunc(s.values, func(w any) bool { return reflect.DeepEqual(v, w) }) {
			s.values = append(s.values, v)
		}
	}
	accepted := func(v any) {
		if v, err := p.g.accept(property, runtime.DeepCopyJSONValue(v)); err == nil {
			add(v)
		}
	}
	mayLack, mayNull := n.removable(name)
	switch {
	case isObject && name == p.u.Discriminator:
		for _, v := range p.discriminatorValues(property, mayLack, mayNull, r) {
			add(v)
		}
		return s, nil
	case isObject && slices.Contains(p.u.MemberNames(), name):
		s.member = slices.Index(p.u.MemberNames(), name)
		for _, v := range p.writing.unset[s.member] {
			add(v)
		}
		s.set = len(s.values)
		for _, v := range p.writing.set[s.member] {
			add(v)
		}
	default:
		around := p.own
		if !isObject {
			around = asObject(p.around[level])
		}
		if usual, ok := around[name]; ok {
			add(usual)
		} else {
			add(absent{})
		}
		if mayLack {
			add(absent{})
		}
		if mayNull {
			add(nil)
		}
		if v, err := p.g.first(property); err == nil {
			add(runtime.DeepCopyJSONValue(v))
		}
	}
	if r.whole || len(r.constants)+len(r.literals) > 0 {
		for _, v := range p.g.several(property) {
			add(runtime.DeepCopyJSONValue(v))
		}
	}
	for _, v := range slices.Concat(r.constants, r.literals) {
		if len(s.values) < maxSlot {
			accepted(v)
		}
	}
	if r.whole && isComposite(property.schema) {
		// What a rule looks for may be further down.
		for _, v := range slices.Clone(s.values) {
			for _, literal := range r.literals {
				if changed, ok := p.g.inscribed(property, v, literal); ok && len(s.values) < maxDeep {
					accepted(changed)
				}
			}
		}
	}
	for _, empty := range []any{map[string]any{}, []any{}, "", int64(0), false, true} {
		if fitsType(empty, property.schema.Type, property.schema.XIntOrString) {
			accepted(empty)
		}
	}
	p.deepen(s, property, r)
	return s, nil
}

// discriminatorValues are the ways to leave the discriminator unset, then its values, and
// some that nothing mentions.
func (p *problem) discriminatorValues(n *node, mayLack, mayNull bool, r *read) []any {
	var l []any
	admits := func(v any) bool {
		_, err := p.g.accept(n, v)
		return err == nil
	}
	if mayLack {
		l = append(l, absent{})
	}
	if admits("") {
		l = append(l, "")
	}
	if mayNull {
		l = append(l, nil)
	}
	add := func(v any) bool {
		text, ok := v.(string)
		if !ok || text == "" || slices.Contains(l, v) || !admits(text) {
			return false
		}
		l = append(l, v)
		return true
	}
	for _, v := range p.u.Values {
		add(v)
	}
	for i := range n.schema.Enum {
		add(decoded(&n.schema.Enum[i]))
	}
	for _, v := range r.constants {
		add(v)
	}
	if len(n.schema.Enum) > 0 {
		return l
	}
	known := len(l)
	if r.whole {
		for _, v := range slices.Concat(r.literals, r.constants) {
			text, ok := v.(string)
			if !ok || text == "" {
				continue
			}
			for _, like := range []string{text, text + "x", "x" + text, strings.ToUpper(text), strings.ToLower(text)} {
				add(like)
			}
		}
		add(strings.Repeat("a", 64))
	}
	for _, v := range append([]any{"Unknown", "unknown", "X"}, p.g.several(n)...) {
		if add(v) {
			break
		}
	}
	p.otherValue = len(l) > known
	return l
}

// deepen adds values that differ in what facts ask about in them.
func (p *problem) deepen(s *slot, n *node, r *read) {
	for _, path := range r.deep {
		at, optional := n, true
		for _, name := range path {
			optional, _ = at.removable(name)
			if at = at.property(name); at == nil {
				break
			}
		}
		if at == nil {
			continue
		}
		fillings := slices.Clone(p.g.several(at))
		for _, v := range r.literals {
			if v, err := p.g.accept(at, v); err == nil {
				fillings = append(fillings, v)
			}
		}
		if at.schema.Nullable {
			fillings = append(fillings, nil)
		}
		if optional {
			fillings = append(fillings, absent{})
		}
		for _, v := range slices.Clone(s.values) {
			object, ok := v.(map[string]any)
			if !ok {
				continue
			}
			for _, f := range fillings {
				changed := runtime.DeepCopyJSON(object)
				if len(s.values) >= maxDeep || !assign(changed, path, f) || !p.g.admits(p.nodes[s.level], map[string]any{s.name: changed}, []string{s.name}) {
					continue
				}
				if !slices.ContainsFunc(s.values, func(w any) bool { return reflect.DeepEqual(w, any(changed)) }) {
					s.values = append(s.values, changed)
				}
			}
		}
	}
}

// inscribed is a value in which every enumeration that has a literal takes it. It is not
// ok when there is none.
func (g *generator) inscribed(n *node, v, literal any) (any, bool) {
	switch v := v.(type) {
	case string:
		_, err := g.accept(n, literal)
		return literal, err == nil && len(n.schema.Enum) > 0
	case []any:
		out, found := slices.Clone(v), false
		items := n.child(step{kind: item})
		for i := range v {
			if items == nil {
				break
			}
			if changed, ok := g.inscribed(items, v[i], literal); ok {
				out[i], found = changed, true
			}
		}
		return out, found
	case map[string]any:
		out, found := maps.Clone(v), false
		for _, name := range sortedKeys(v) {
			if p := n.property(name); p != nil {
				if changed, ok := g.inscribed(p, v[name], literal); ok {
					out[name], found = changed, true
				}
			}
		}
		return out, found
	}
	return nil, false
}

// assign sets what is at a path, or takes it out, where what it is part of is there.
func assign(object map[string]any, path []string, v any) bool {
	for len(path) > 1 {
		inner, ok := object[path[0]].(map[string]any)
		if !ok {
			return false
		}
		object, path = inner, path[1:]
	}
	if v == any(absent{}) {
		delete(object, path[0])
	} else {
		object[path[0]] = v
	}
	return true
}

// admits reports whether the values along a path below one of n are valid.
func (g *generator) admits(n *node, v any, path []string) bool {
	for _, name := range path {
		object, ok := v.(map[string]any)
		if n = n.property(name); n == nil || !ok {
			return false
		}
		if v, ok = object[name]; !ok {
			return true
		}
		if v == nil {
			return n.schema.Nullable
		}
		if _, err := g.accept(n, v); err != nil {
			return false
		}
	}
	return true
}

// connect says what follows from the values chosen, for objects that are made of
// them.
func (p *problem) connect() {
	s := p.space
	p.made = s.Var()
	for _, sl := range p.slots {
		for side, pl := range sl.places {
			there := pl.Parent.Present()
			lits := make([]logic.Lit, len(sl.values))
			for i := range lits {
				lits[i] = s.Var()
				s.RequireAny(p.made.Not(), lits[i].Not(), there)
				for _, other := range lits[:i] {
					s.RequireAny(p.made.Not(), lits[i].Not(), other.Not())
				}
			}
			s.RequireAny(append([]logic.Lit{p.made.Not(), there.Not()}, lits...)...)
			sl.chosen[side] = lits
		}
	}
	for _, f := range p.space.Facts {
		if p.lazy(f) {
			p.lazies = append(p.lazies, f)
			continue
		}
		sl := p.slotOf(f.Place)
		if sl == nil {
			continue
		}
		side := newSide
		if f.Place.Old {
			side = oldSide
		}
		level := p.places[sl.level]
		var holds []logic.Lit
		for i, v := range sl.values {
			// The fact, of an object that has nothing else.
			object := map[string]any{}
			if v != any(absent{}) {
				object[sl.name] = v
			}
			if f.Of(level, object) {
				holds = append(holds, sl.chosen[side][i])
			}
		}
		s.RequireAny(append([]logic.Lit{p.made.Not(), f.Lit.Not()}, holds...)...)
		for _, l := range holds {
			s.RequireAny(p.made.Not(), l.Not(), f.Lit)
		}
	}
}

// lazy reports whether a fact does not follow from the value of one property.
func (p *problem) lazy(f *formula.Fact) bool {
	if f.Kind == formula.Same || f.Question != nil {
		return true
	}
	_, path := p.locate(f.Place)
	return len(path) == 0 && f.Kind != formula.Present && f.Kind != formula.Null
}

// slotOf is the slot that a place is in, or nil.
func (p *problem) slotOf(pl *formula.Place) *slot {
	level, path := p.locate(pl)
	if len(path) == 0 {
		return nil
	}
	for _, s := range p.slots {
		if s.level == level && s.name == path[0] {
			return s
		}
	}
	return nil
}

// write puts the values chosen at a level into an object.
func (p *problem) write(m logic.Model, side, level int, object map[string]any) {
	for _, s := range p.slots {
		if s.level != level {
			continue
		}
		for i, l := range s.chosen[side] {
			if !m(l) {
				continue
			}
			if v := s.values[i]; v == any(absent{}) {
				delete(object, s.name)
			} else {
				object[s.name] = runtime.DeepCopyJSONValue(v)
			}
		}
	}
}

// make is the resource of a model.
func (p *problem) make(m logic.Model, side int) map[string]any {
	place := func(level int) *formula.Place {
		if side == oldSide {
			return p.places[level].Counterpart()
		}
		return p.places[level]
	}
	last := len(p.nodes) - 1
	var inner any
	for level := last; level >= 0; level-- {
		if !m(place(level).Present()) {
			inner = absent{}
			if m(place(level).Null()) {
				inner = nil
			}
			continue
		}
		var object map[string]any
		switch {
		case level == last:
			object = maps.Clone(p.own)
		case p.steps[level].kind != property:
			inner = p.put(level, inner)
			continue
		case inner == any(absent{}) || inner == nil:
			if object = maps.Clone(p.without[level]); object == nil {
				object = maps.Clone(p.around[level].(map[string]any))
			}
			delete(object, p.steps[level].name)
			if inner == nil {
				object[p.steps[level].name] = nil
			}
		default:
			object, _ = p.put(level, inner).(map[string]any)
		}
		if object == nil {
			object = map[string]any{}
		}
		p.write(m, side, level, object)
		inner = object
	}
	resource, _ := inner.(map[string]any)
	return resource
}

// reads are the literals that the answer to a lazy fact depends on: the values chosen
// of what it reads, and which objects are there.
func (p *problem) reads(f *formula.Fact, m logic.Model) []logic.Lit {
	places := []*formula.Place{f.Place, f.Other}
	if f.Question != nil {
		places = append(slices.Clone(f.Question.Reads), f.Question.At)
	}
	var l []logic.Lit
	for _, pl := range places {
		if pl == nil {
			continue
		}
		side := newSide
		if pl.Old {
			side = oldSide
		}
		level, path := p.locate(pl)
		for _, s := range p.slots {
			if s.level == level && len(path) > 0 && s.name == path[0] || len(path) == 0 && s.level >= level && pl != p.at(f) {
				for _, c := range s.chosen[side] {
					if m(c) {
						l = append(l, c)
					}
				}
			}
		}
		upto := level
		if len(path) == 0 {
			upto = len(p.places) - 1
		}
		for i := range upto + 1 {
			q := p.places[i]
			if side == oldSide {
				q = q.Counterpart()
			}
			l = append(l, q.Present().If(m(q.Present())), q.Null().If(m(q.Null())))
		}
	}
	return append(l, p.space.Old.Present().If(m(p.space.Old.Present())))
}

func (p *problem) at(f *formula.Fact) *formula.Place {
	if f.Question == nil || slices.Contains(f.Question.Reads, f.Question.At) {
		return nil
	}
	return f.Question.At
}

// beside says how an example is written, where not in the usual way.
func (p *problem) beside(m logic.Model, update bool) []string {
	var l []string
	for _, s := range p.slots {
		for side := range s.chosen {
			if side == oldSide && !update {
				continue
			}
			for i, c := range s.chosen[side] {
				if !m(c) || p.usual(s, i) {
					continue
				}
				text := s.describe(i)
				if !slices.Contains(l, text) {
					l = append(l, text)
				}
			}
		}
	}
	return l
}

// usual reports whether the value at an index says nothing but the state of the union.
func (p *problem) usual(s *slot, i int) bool {
	text, _ := s.values[i].(string)
	return i == 0 || s.member >= 0 && i == s.set || s.name == p.u.Discriminator && s.level == len(p.nodes)-1 && text != ""
}

func (s *slot) describe(i int) string {
	name, v := s.name, s.values[i]
	if s.member >= 0 && s.set < i {
		path, inner := differing(s.values[s.set], v)
		name, v = strings.Join(append([]string{name}, path...), "."), inner
	}
	return name + " is " + briefly(v)
}

// differing is where one value differs from another, if it is in one place.
func differing(a, b any) (path []string, v any) {
	x, ok := a.(map[string]any)
	y, isMap := b.(map[string]any)
	if !ok || !isMap {
		return nil, b
	}
	var names []string
	for name := range maps.Keys(y) {
		if !reflect.DeepEqual(x[name], y[name]) {
			names = append(names, name)
		}
	}
	for name := range maps.Keys(x) {
		if _, there := y[name]; !there {
			names = append(names, name)
		}
	}
	if len(names) != 1 {
		return nil, b
	}
	inner, there := y[names[0]]
	if !there {
		return names, absent{}
	}
	path, v = differing(x[names[0]], inner)
	return append(names, path...), v
}

// briefly is a value in a word or two.
func briefly(v any) string {
	switch v := v.(type) {
	case absent:
		return "not set"
	case nil:
		return "null"
	case string:
		return "'" + v + "'"
	case map[string]any:
		if len(v) == 0 {
			return "{}"
		}
	case []any:
		if len(v) == 0 {
			return "[]"
		}
	default:
		return fmt.Sprint(v)
	}
	return "set"
}

// isEmptyUnset reports whether a member counts as unset when it is empty.
func isEmptyUnset(m union.Member) bool { return m.Empty != union.PresentWhenEmpty }
