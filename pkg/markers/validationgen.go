package markers

import (
	"go/types"
	"slices"

	"go.yaml.in/yaml/v3"
	"k8s.io/gengo/v2/codetags"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// tags are the markers of validation-gen for unions.
var tags = table{
	"k8s:unionDiscriminator": {role: discriminator, cardinality: union.ExactlyOne, ofArg: "union", members: "+k8s:unionMember"},
	"k8s:unionMember":        {role: member, cardinality: union.ExactlyOne, ofArg: "union", valueArg: "memberName", zeroUnset: true},
	"k8s:zeroOrOneOfMember":  {role: member, cardinality: union.AtMostOne, ofArg: "union", valueArg: "memberName", zeroUnset: true},
}

// modes are the markers of validation-gen for modes.
var modes = table{
	"k8s:modeDiscriminator": {role: discriminator, ofArg: "modality", members: `+k8s:ifMode("A")=+k8s:required`},
	"k8s:ifMode":            {role: inMode, ofArg: "modality", valueArg: "mode", zeroUnset: true},
	"k8s:discriminator":     {role: discriminator, ofArg: "name", members: `+k8s:member("A")=+k8s:required`}, // in Kubernetes 1.36
	"k8s:member":            {role: inMode, ofArg: "discriminator", valueArg: "value", zeroUnset: true},
}

// relations are the markers of validation-gen for presence relations.
var relations = table{
	"k8s:dependentRequired":  {role: relation, zeroUnset: true},
	"k8s:dependentForbidden": {role: relation, zeroUnset: true},
}

// named returns the unions of markers that name their union, in the order of the first marker. A union
// of the items of a list belongs to the list.
func (s *structure) named(markers table) (l []*declaration) {
	for _, m := range s.marked(markers) {
		list := ""
		if m.item != nil {
			list = m.field.json
		}
		i := slices.IndexFunc(l, func(d *declaration) bool {
			return d.name == m.of && d.cardinality == m.cardinality && d.list == list
		})
		if i < 0 {
			i = len(l)
			l = append(l, &declaration{name: m.of, cardinality: m.cardinality, list: list})
		}
		if m.role == discriminator {
			l[i].discriminators = append(l[i].discriminators, m)
			continue
		}
		if m.item == nil && !slices.ContainsFunc(l[i].members, func(o mark) bool { return o.role == inMode && o.field == m.field }) {
			s.nilable(m.field, m)
		}
		l[i].members = append(l[i].members, m)
	}
	return l
}

// tagged returns the unions of +k8s:unionMember and +k8s:zeroOrOneOfMember. It reports a named union
// that continues in an inlined struct: validation-gen makes two unions of it, which is hardly intended
// unless each has a discriminator.
func (s *structure) tagged() []*declaration {
	l := s.named(tags)
	for _, d := range l {
		named := func(m mark) bool { return m.of == d.name }
		if d.name != "" && d.list == "" && len(d.members) > 0 && s.apart(d.members[0], func(other *structure, o mark) bool {
			return tags.has(o) && named(o) && o.item == nil && o.cardinality == d.cardinality && s.l.inlines(s.id, other.id) &&
				!(len(d.discriminators) > 0 && slices.ContainsFunc(other.marked(tags, discriminator), named))
		}) {
			s.diags[len(s.diags)-1].Hint = "move the fields of the union into one struct, or name the unions differently"
		}
	}
	return l
}

// modal returns the unions of +k8s:modeDiscriminator and +k8s:ifMode.
func (s *structure) modal() []*declaration {
	l := s.named(modes)
	return slices.DeleteFunc(l, func(d *declaration) bool {
		if len(d.discriminators) > 0 {
			return false
		}
		m := d.members[0]
		if !s.apart(m, func(_ *structure, o mark) bool { return o.role == discriminator && modes.has(o) && o.of == m.of }) {
			s.errorf(m.pos, codes.UnknownDiscriminator, "mark the field with the mode with +k8s:modeDiscriminator",
				"member %s has modes, and %s has no discriminator for them", m.field.name, s.id.Name)
		}
		return true
	})
}

// related returns the presence relations of +k8s:dependentRequired and +k8s:dependentForbidden as one
// union. The markers name other properties of the struct.
func (s *structure) related() []*declaration {
	marks := s.marked(relations)
	if len(marks) == 0 {
		return nil
	}
	u := &declaration{at: marks[0].pos, item: yamltext.MappingNode()}
	for _, key := range []string{"dependentRequired", "dependentForbidden"} {
		table := yamltext.MappingNode()
		for _, f := range s.fields {
			var others []*yaml.Node
			for _, m := range marks {
				if m.field == f && m.name == "+k8s:"+key {
					others = append(others, textAt(*m.value, m.pos))
				}
			}
			if len(others) > 0 {
				table.Content = append(table.Content, textAt(f.json, u.posOf(others[0])), oneOrMore(others))
			}
		}
		if len(table.Content) > 0 {
			u.set(key, table)
		}
	}
	var members []mark
	for _, f := range s.fields {
		i := slices.IndexFunc(marks, func(m mark) bool { return m.field == f || *m.value == f.json && !f.inline })
		if i < 0 {
			continue
		}
		s.nilable(f, marks[i])
		members, u.names = append(members, mark{definition: marks[i].definition, field: f, pos: marks[i].pos}), append(u.names, f.json)
	}
	s.empty(u, members)
	return []*declaration{u}
}

// keysOf reads the keys of +k8s:item, and returns the problem. An incomplete tag is one, since its author
// may mean a member.
func (m *mark) keysOf(t *codetags.Tag) *diag.Diagnostic {
	const example = `write it like +k8s:item(type: "A")=+k8s:unionMember`
	switch {
	case t.ValueTag == nil:
		return m.misuse(example, " has no marker for the item")
	case len(t.Args) == 0 || slices.ContainsFunc(t.Args, func(a codetags.Arg) bool { return a.Name == "" }):
		return m.misuse(example, " names no key of the item")
	case m.item == nil:
		m.item = yamltext.MappingNode()
	}
	for _, a := range t.Args {
		value := yamltext.StringNode(a.Value)
		switch a.Type {
		case codetags.ArgTypeInt:
			value = yamltext.IntNode(a.Value)
		case codetags.ArgTypeBool:
			value = yamltext.BoolNode(a.Value == "true")
		case codetags.ArgTypeString:
		}
		m.item.Content = append(m.item.Content, yamltext.StringNode(a.Name), value)
	}
	return nil
}

// nilable reports fields that validation-gen cannot handle: a struct that is not a pointer is
// always set.
func (s *structure) nilable(f *field, m mark) {
	switch types.Unalias(f.typ).Underlying().(type) {
	case *types.Pointer, *types.Map, *types.Slice, *types.Basic:
	default:
		s.misused(m, "make it a pointer", " is on %s, whose type %s is always set: a member is a pointer, map, list, string, number or boolean",
			f.name, types.TypeString(f.typ, (*types.Package).Name))
	}
}

// unsetWhenZero reports whether validation-gen treats the zero value of a field as unset, besides
// null: types that are not pointers. A union can do the same if the schema has the value.
func (s *structure) unsetWhenZero(f *field) bool {
	switch types.Unalias(f.typ).Underlying().(type) {
	case *types.Basic, *types.Slice, *types.Map:
		prop := s.schema().Properties[f.json]
		empty := union.EmptinessOf(&prop)
		return empty != union.PresentWhenEmpty && empty != union.EmptyObject
	}
	return false
}
