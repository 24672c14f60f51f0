package handwritten

import (
	"encoding/json"
	"slices"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// member is a field of a statement, as a rule uses it. Some of its values count neither as set nor
// as unset: zero, false, empty strings, lists and maps, the default, and the literals that the rule
// compares the field with.
type member struct {
	path []string
	kind string // the type in the schema
	// Of an unclear member, that holds for all values.
	unclear   bool
	defaulted bool
	neither   []any      // strings and int64s
	inside    [][]string // the paths below the field that the rule reads: without them, it is not set
	use       formula.Usage
	set       logic.Lit // the member is set in the new object
}

// member returns the field at a path, as a rule on the object uses it.
func (o *object) member(path []string, by *audited) member {
	m := member{path: path}
	for _, u := range by.Usages() {
		switch {
		case slices.Equal(u.Path, path):
			m.use = u
		case within(u.Path, path):
			m.inside = append(m.inside, u.Path)
		}
	}
	s := o.Object().Lookup(schemapath.New(path...)).Props
	m.kind = s.Type
	if s.XIntOrString {
		m.kind = ""
	}
	m.initial(o)
	for _, v := range m.use.Literals {
		if m.kind != "boolean" && !slices.Contains(m.neither, v) {
			m.neither = append(m.neither, v)
		}
	}
	switch m.kind {
	case "boolean":
		m.unclear = m.unclear || m.use.Other
	case "string", "integer":
		m.unclear = m.unclear || m.use.Other || m.use.Sized
	case "array", "object":
		m.unclear = m.unclear || m.use.Other
	default:
		m.unclear = m.unclear || m.use.Reads()
	}
	m.set = m.formula(o)
	return m
}

// initial reads the defaults of the field and of the objects with it.
func (m *member) initial(o *object) {
	for i := range m.path {
		s := o.Object().Lookup(schemapath.New(m.path[:i+1]...)).Props
		if s.Default == nil {
			continue
		}
		var v any
		if json.Unmarshal(s.Default.Raw, &v) != nil {
			m.unclear, m.defaulted = true, true
			return
		}
		if i < len(m.path)-1 {
			around, _ := v.(map[string]any)
			_, within := schemapath.ValueAt(around, m.path[i+1:])
			m.unclear, m.defaulted = m.unclear || within, m.defaulted || within
			continue
		}
		m.defaulted = true
		switch v := v.(type) {
		case string:
			m.neither = append(m.neither, v)
		case float64:
			m.neither = append(m.neither, int64(v))
			m.unclear = m.unclear || m.kind != "integer"
		case bool:
			m.unclear = m.unclear || v
		default:
			m.unclear = true
		}
		m.unclear = m.unclear || s.Nullable
	}
}

// formula returns the formula that the member is set.
func (m member) formula(o *object) logic.Lit {
	if m.unclear {
		return logic.False
	}
	p := o.Self(0).Lookup(m.path...)
	l := []logic.Lit{p.Present()}
	for _, v := range m.neither {
		l = append(l, p.Equals(v).Not())
	}
	if m.kind != "" && (m.kind != "object" || len(p.Schema.Properties) == 0) {
		l = append(l, p.Empty().Not())
	}
	for _, path := range m.inside {
		l = append(l, o.Self(0).Lookup(path...).Present())
	}
	return o.Space.And(l...)
}

// special reports whether the rule compares the field with a value that means something else than an
// absent field: an object with nothing else set may be valid.
func (m member) special() bool {
	return m.kind != "boolean" && !m.defaulted && slices.ContainsFunc(m.use.Literals, func(v any) bool { return v != "" && v != int64(0) })
}

// maxNeither bounds the values that the text of a fix excludes.
const maxNeither = 2

// conditions returns the conditions under which the member is set, as the rule would write them. There
// are none if the member is unclear.
func (m member) conditions() []cel.Expr {
	if m.unclear || len(m.neither) > maxNeither {
		return nil
	}
	self := cel.Var("self")
	value := self.Field(m.path...)
	has := m.path
	if m.defaulted {
		has = has[:len(has)-1]
	}
	var l []cel.Expr
	for i := range has {
		l = append(l, cel.Has(self.Field(has[:i+1]...)))
	}
	for _, v := range m.neither {
		switch v := v.(type) {
		case string:
			l = append(l, value.Ne(cel.String(v)))
		case int64:
			l = append(l, value.Ne(cel.Int(int(v))))
		}
	}
	if m.use.Sized {
		l = append(l, cel.Size(value).Gt(cel.Int(0)))
	}
	if m.kind == "boolean" && (m.defaulted || m.use.Reads()) {
		l = append(l, value)
	}
	for _, path := range m.inside {
		l = append(l, cel.Has(self.Field(path...)))
	}
	return l
}

// present returns the condition that a path, and everything on it, is present.
func present(path []string) cel.Expr {
	var l []cel.Expr
	for i := range path {
		l = append(l, cel.Has(cel.Var("self").Field(path[:i+1]...)))
	}
	return cel.And(l...)
}
