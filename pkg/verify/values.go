package verify

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/nested"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// newSlot finds the values of a property. It is nil where there are none to choose.
func (p *problem) newSlot(level int, path []string, r *read) *slot {
	n, name := p.nodes[level], path[len(path)-1]
	if n.root && slices.Contains([]string{"apiVersion", "kind", "metadata"}, path[0]) {
		return nil
	}
	n = n.at(schemapath.Of(path[:len(path)-1]...))
	if n == nil || n.part(name) == nil {
		return nil
	}
	s := &slot{level: level, path: path, node: n.part(name), part: part{member: -1}}
	s.places = [2]*formula.Place{p.places[level].At(path...), p.places[level].Counterpart().At(path...)}
	if level == len(p.nodes)-1 {
		s.part, _ = p.part(path)
	}
	mayLack, mayNull := n.removable(name)
	if s.discriminator {
		s.add(p.discriminatorValues(s.node, mayLack, mayNull, r)...)
		return s
	}
	p.begin(s, name, mayLack, mayNull)
	if formula.KeysOf(name) != nil {
		p.deepen(s, r)
	} else {
		p.extend(s, r)
	}
	return s
}

// begin adds the values that a slot has whatever is asked about it.
func (p *problem) begin(s *slot, name string, mayLack, mayNull bool) {
	switch {
	case s.member >= 0:
		s.add(p.writing.unset[s.member]...)
		s.set = len(s.values)
		s.add(p.writing.set[s.member]...)
	case s.holder:
		// What the union has in it is in slots of its own.
		s.unset(mayLack, mayNull)
		for _, v := range append([]any{p.own[name]}, p.g.several(s.node)...) {
			if v != nil && len(s.path) == 1 {
				s.add(runtime.DeepCopyJSONValue(v))
			}
		}
		s.add(map[string]any{})
	case formula.KeysOf(name) != nil:
		s.add(absent{})
		if v, err := p.g.itemWith(s.node, name); err == nil {
			s.add(v)
		}
	default:
		around := p.own
		if s.level < len(p.nodes)-1 {
			p.surround()
			around = asObject(p.around[s.level])
		}
		usual, ok := around[name]
		if !ok {
			usual = absent{}
		}
		s.add(usual)
		s.unset(mayLack, mayNull)
		if v, err := p.g.first(s.node); err == nil {
			s.add(runtime.DeepCopyJSONValue(v))
		}
	}
}

// extend adds values that answer the questions about a slot.
func (p *problem) extend(s *slot, r *read) {
	accepted := func(v any) {
		if v, err := p.g.accept(s.node, runtime.DeepCopyJSONValue(v)); err == nil {
			s.add(v)
		}
	}
	if r.whole || len(r.constants)+len(r.literals) > 0 {
		for _, v := range p.g.several(s.node) {
			s.add(runtime.DeepCopyJSONValue(v))
		}
	}
	for _, v := range slices.Concat(r.constants, r.literals) {
		if len(s.values) < maxSlot {
			accepted(v)
		}
	}
	if r.whole && isComposite(s.node.schema) {
		// What a rule looks for may be further down.
		for _, v := range slices.Clone(s.values) {
			for _, literal := range r.literals {
				if changed, ok := p.g.inscribed(s.node, v, literal); ok && len(s.values) < maxDeep {
					accepted(changed)
				}
			}
		}
	}
	for _, empty := range []any{map[string]any{}, []any{}, "", int64(0), false, true} {
		if fitsType(empty, s.node.schema.Type, s.node.schema.XIntOrString) {
			accepted(empty)
		}
	}
	p.deepen(s, r)
	if s.holder {
		p.hollow(s)
	}
	if p.loose != nil {
		p.widen(s, r)
	}
}

// add adds values that the slot does not have.
func (s *slot) add(values ...any) {
	for _, v := range values {
		if !slices.ContainsFunc(s.values, func(w any) bool { return reflect.DeepEqual(v, w) }) {
			s.values = append(s.values, v)
		}
	}
}

// unset adds the ways to leave a property unset.
func (s *slot) unset(mayLack, mayNull bool) {
	if mayLack {
		s.add(absent{})
	}
	if mayNull {
		s.add([]any{nil}...)
	}
}

// discriminatorValues are the ways to leave the discriminator unset, then its values, and
// some that nothing mentions.
func (p *problem) discriminatorValues(n *node, mayLack, mayNull bool, r *read) []any {
	var l []any
	if mayLack {
		l = append(l, absent{})
	}
	if p.g.admits(n, "") {
		l = append(l, "")
	}
	if mayNull {
		l = append(l, nil)
	}
	add := func(v any) bool {
		text, ok := v.(string)
		if !ok || text == "" || slices.Contains(l, v) || !p.g.admits(n, text) {
			return false
		}
		l = append(l, v)
		return true
	}
	for _, v := range p.u.Values {
		add(v)
	}
	for _, v := range slices.Concat(formula.EnumValues(n.schema), r.constants) {
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
func (p *problem) deepen(s *slot, r *read) {
	for _, path := range r.deep {
		at, optional := s.node, true
		for _, name := range path {
			optional, _ = at.removable(name)
			if at = at.part(name); at == nil {
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
				if len(s.values) >= maxDeep || !assign(changed, path, f) || !p.g.admits(s.node, changed) {
					continue
				}
				s.add(changed)
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
	holder, _ := nested.Get(object, path[:len(path)-1])
	if _, ok := holder.(map[string]any); !ok {
		return false
	}
	if v == any(absent{}) {
		nested.Drop(object, path)
	} else {
		nested.Put(object, path, v)
	}
	return true
}

// admits reports whether a schema accepts a value.
func (g *generator) admits(n *node, v any) bool {
	_, err := g.accept(n, v)
	return err == nil
}

// hollow takes out of the values of a slot what is in slots of its own.
func (p *problem) hollow(s *slot) {
	values := s.values
	s.values = nil
	for _, v := range values {
		if object, ok := v.(map[string]any); ok {
			for _, path := range p.paths {
				if len(path) > len(s.path) && slices.Equal(path[:len(s.path)], s.path) {
					nested.Drop(object, path[len(s.path):])
				}
			}
		}
		s.add(v)
	}
}
