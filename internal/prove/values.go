package prove

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// newSlot returns a slot with candidate values for a property. It is nil if there is no choice.
func (p *Problem) newSlot(level int, path []string, r *Reads) *Slot {
	n, name := p.Schemas[level], path[len(path)-1]
	if n.Root && slices.Contains([]string{"apiVersion", "kind", "metadata"}, path[0]) {
		return nil
	}
	n = n.Lookup(schemapath.New(path[:len(path)-1]...))
	if n == nil || n.Part(name) == nil {
		return nil
	}
	s := &Slot{Level: level, Path: path, schema: n.Part(name)}
	s.Places = [2]*formula.Place{p.place(level, New).Lookup(path...), p.place(level, Old).Lookup(path...)}
	if level == len(p.Schemas)-1 {
		s.part, s.holder, _ = p.part(path)
	}
	mayLack, mayNull := n.Removable(name)
	s.lacks = !mayLack && s.Places[New].Always() && !s.Places[Old].Always()
	if s.part != nil && s.part.ByValue {
		s.Add(p.texts(s.part, s.schema, mayLack, mayNull, r)...)
		s.Unset(s.lacks, false) // last, because it is unusual
		return s
	}
	p.begin(s, name, mayLack, mayNull)
	s.Unset(s.lacks, false)
	if formula.KeysOf(name) != nil {
		p.deepen(s, r)
	} else {
		p.extend(s, r)
	}
	return s
}

// begin adds the values that do not depend on facts about the slot.
func (p *Problem) begin(s *Slot, name string, mayLack, mayNull bool) {
	switch {
	case s.part != nil:
		s.Add(s.part.Unset...)
		s.set = len(s.Values)
		s.Add(s.part.Set...)
	case s.holder:
		// The parts in the holder have slots of their own.
		s.Unset(mayLack, mayNull)
		for _, v := range append([]any{p.own[name]}, p.Source.Several(s.schema)...) {
			if v != nil && len(s.Path) == 1 {
				s.Add(runtime.DeepCopyJSONValue(v))
			}
		}
		s.Add(map[string]any{})
	case formula.KeysOf(name) != nil:
		s.Add(Absent{})
		if v, err := p.Source.ItemWith(s.schema, name); err == nil {
			s.Add(v)
		}
	default:
		around := p.own
		if s.Level < len(p.Schemas)-1 {
			around = p.surroundings().Others(s.Level)
		}
		usual, ok := around[name]
		if !ok {
			usual = Absent{}
		}
		s.Add(usual)
		s.Unset(mayLack, mayNull)
		if v, err := p.Source.First(s.schema); err == nil {
			s.Add(runtime.DeepCopyJSONValue(v))
		}
	}
}

// extend adds the values that facts about the slot need.
func (p *Problem) extend(s *Slot, r *Reads) {
	accepted := func(v any) {
		if v, err := p.Source.Accept(s.schema, runtime.DeepCopyJSONValue(v)); err == nil {
			s.Add(v)
		}
	}
	if r.whole || len(r.Constants)+len(r.Literals) > 0 {
		for _, v := range p.Source.Several(s.schema) {
			s.Add(runtime.DeepCopyJSONValue(v))
		}
	}
	if r.filled && s.part == nil {
		for _, v := range p.Source.Several(s.schema) {
			if !slices.ContainsFunc(s.schema.Empties(), func(empty any) bool { return reflect.DeepEqual(v, empty) }) {
				s.Add(runtime.DeepCopyJSONValue(v))
				break
			}
		}
	}
	p.AddAccepted(s, s.schema, r)
	if r.whole {
		for _, v := range p.Source.Wanted(s.schema) {
			if len(s.Values) < maxSlot {
				s.Add(v)
			}
		}
	}
	if r.whole && sample.Composite(s.schema.Props) {
		for _, v := range p.Source.Written(s.schema, r.Literals) {
			if len(s.Values) < maxDeep {
				accepted(v)
			}
		}
	}
	if p.Values != nil && s.Level == len(p.Schemas)-1 && len(s.Path) == 1 {
		for _, v := range p.Values(s.Path[0]) {
			accepted(v)
		}
	}
	for _, empty := range s.schema.Empties() {
		accepted(empty)
	}
	if r.costly {
		for _, v := range p.Source.Larger(s.schema) {
			accepted(v)
		}
	}
	if t := s.schema.Props.Type; t == "boolean" {
		accepted(true)
	}
	p.deepen(s, r)
	if s.holder {
		p.clearParts(s)
	}
	if p.Widen != nil {
		p.Widen(s, r)
	}
}

// Add adds values that the slot does not have yet.
func (s *Slot) Add(values ...any) {
	for _, v := range values {
		if !slices.ContainsFunc(s.Values, func(w any) bool { return reflect.DeepEqual(v, w) }) {
			s.Values = append(s.Values, v)
		}
	}
}

// Unset adds the values with which the property is unset, if the schema permits them.
func (s *Slot) Unset(mayLack, mayNull bool) {
	if mayLack {
		s.Add(Absent{})
	}
	if mayNull {
		s.Add([]any{nil}...)
	}
}

// AddAccepted adds the constants and literals that a schema accepts, up to the maximum of a slot.
func (p *Problem) AddAccepted(s *Slot, n *sample.Schema, r *Reads) {
	for _, v := range slices.Concat(r.Constants, r.Literals) {
		if len(s.Values) >= maxSlot {
			break
		}
		if v, err := p.Source.Accept(n, v); err == nil {
			s.Add(v)
		}
	}
}

// texts returns the candidate values of a part that is ByValue: the values with which it is unset,
// known values, and values that no test mentions.
func (p *Problem) texts(of *Part, n *sample.Schema, mayLack, mayNull bool, r *Reads) []any {
	var l []any
	if mayLack {
		l = append(l, Absent{})
	}
	if n.Props.Type == "string" && p.Source.Admits(n, "") {
		l = append(l, "")
	}
	if mayNull {
		l = append(l, nil)
	}
	add := func(v any) bool {
		switch v.(type) {
		case string, bool, int64:
		default:
			return false
		}
		if v == any("") || slices.Contains(l, v) || !p.Source.Admits(n, v) {
			return false
		}
		l = append(l, v)
		return true
	}
	for _, v := range of.Known {
		add(v)
	}
	for _, v := range slices.Concat(formula.EnumValues(n.Props), r.Constants) {
		add(v)
	}
	switch {
	case len(n.Props.Enum) > 0:
		return l
	case n.Props.Type == "boolean":
		add(true)
		add(false)
		return l
	}
	known := len(l)
	if r.whole {
		for _, v := range slices.Concat(r.Literals, r.Constants) {
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
	for _, v := range append([]any{"Unknown", "unknown", "X", int64(7), int64(77)}, p.Source.Several(n)...) {
		if add(v) {
			break
		}
	}
	of.other = len(l) > known
	return l
}

// deepen adds values that differ at the paths below the slot that facts read.
func (p *Problem) deepen(s *Slot, r *Reads) {
	lists := [][]any{{}} // of named items
	for _, path := range r.deep {
		at, optional := s.schema, true
		for _, name := range path {
			optional, _ = at.Removable(name)
			if at = at.Part(name); at == nil {
				break
			}
		}
		if at == nil {
			continue
		}
		if len(path) == 1 && formula.KeysOf(path[0]) != nil {
			item, err := p.Source.ItemWith(at, path[0])
			for _, l := range slices.Clone(lists) {
				if err == nil && len(s.Values) < maxDeep {
					lists = append(lists, append(slices.Clip(l), item))
					s.Add(lists[len(lists)-1])
				}
			}
			continue
		}
		fillings := slices.Clone(p.Source.Several(at))
		for _, v := range p.Source.Written(at, r.Literals) {
			if v, err := p.Source.Accept(at, v); err == nil {
				fillings = append(fillings, v)
			}
		}
		if at.Props.Nullable {
			fillings = append(fillings, nil)
		}
		if optional {
			fillings = append(fillings, Absent{})
		}
		for _, v := range slices.Clone(s.Values) {
			object, ok := v.(map[string]any)
			if !ok {
				continue
			}
			for _, f := range fillings {
				changed := runtime.DeepCopyJSON(object)
				if len(s.Values) >= maxDeep || !assign(changed, path, f) || !p.Source.Admits(s.schema, changed) {
					continue
				}
				s.Add(changed)
			}
		}
	}
}

// assign is put for a path whose parent must exist. It reports whether the parent exists.
func assign(object map[string]any, path []string, v any) bool {
	holder, _ := schemapath.ValueAt(object, path[:len(path)-1])
	if _, ok := holder.(map[string]any); !ok {
		return false
	}
	put(object, path, v)
	return true
}

// put sets the value at a path, or removes it.
func put(object map[string]any, path []string, v any) {
	if v == any(Absent{}) {
		schemapath.DropValueAt(object, path)
	} else {
		schemapath.SetValueAt(object, path, v)
	}
}

// clearParts removes parts from the values of a slot, because the parts have slots of their own.
func (p *Problem) clearParts(s *Slot) {
	values := s.Values
	s.Values = nil
	for _, v := range values {
		if object, ok := v.(map[string]any); ok {
			for _, of := range p.Parts {
				if len(of.Path) > len(s.Path) && slices.Equal(of.Path[:len(s.Path)], s.Path) {
					schemapath.DropValueAt(object, of.Path[len(s.Path):])
				}
			}
		}
		s.Add(v)
	}
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
