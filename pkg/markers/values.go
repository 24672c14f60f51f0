package markers

import (
	"go/constant"
	"go/types"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// values are the known values of a discriminator.
type values struct {
	typ       string            // the name of its type, if it has a named type
	constants map[string]string // name to value
	known     []string          // empty: any value
}

// values returns the values in the enum of a field, or else the constants of its type.
func (s *structure) values(f *field) *values {
	v := &values{constants: map[string]string{}}
	typ := types.Unalias(f.typ)
	if p, ok := typ.(*types.Pointer); ok {
		typ = types.Unalias(p.Elem())
	}
	if named, ok := typ.(*types.Named); ok && named.Obj().Pkg() != nil {
		v.typ = named.Obj().Name()
		scope := named.Obj().Pkg().Scope()
		for _, name := range scope.Names() {
			c, ok := scope.Lookup(name).(*types.Const)
			switch {
			case !ok || !types.Identical(c.Type(), named):
			case c.Val().Kind() == constant.String:
				v.constants[name] = constant.StringVal(c.Val())
			case c.Val().Kind() == constant.Int:
				v.constants[name] = c.Val().ExactString()
			}
		}
	}
	at := s.schema().Properties[f.json]
	return v.ofCRD(union.EnumStrings(&at))
}

// ofCRD returns the values for a schema with this enum, which takes precedence over constants.
func (v values) ofCRD(enum []string) *values {
	if len(enum) == 0 || len(enum) == 1 && enum[0] == "" {
		enum = slices.Compact(slices.Sorted(maps.Values(v.constants)))
	}
	v.known = slices.DeleteFunc(slices.Clone(enum), func(s string) bool { return s == "" })
	return &v
}

// valueOf returns the value for a field whose markers set none: its Go name or its JSON name if the
// discriminator can take it; else the only value that differs from either in case only; else the
// value of the only constant named after type and field: StrategyTypeRecreate, RecreateStrategyType.
func (v *values) valueOf(field, json string) (string, bool) {
	if len(v.known) == 0 {
		return field, true
	}
	named := func(value string) bool {
		for name, of := range v.constants {
			if of == value && (strings.EqualFold(name, v.typ+field) || strings.EqualFold(name, field+v.typ)) {
				return true
			}
		}
		return false
	}
	for _, is := range []func(string) bool{
		func(value string) bool { return value == field },
		func(value string) bool { return value == json },
		func(value string) bool { return strings.EqualFold(value, field) },
		func(value string) bool { return strings.EqualFold(value, json) },
		named,
	} {
		found := slices.DeleteFunc(slices.Clone(v.known), func(value string) bool { return !is(value) })
		if len(found) == 1 {
			return found[0], true
		}
	}
	return "", false
}

// value returns the union as the value of x-kubernetes-unions.
func (d *declaration) value() *yaml.Node {
	list := yamltext.ListNode(d.item)
	list.Line, list.Column = d.at.Line, d.at.Col
	return list
}

// set sets a key of the declaration. Nodes without a position get the position of the union.
func (d *declaration) set(key string, value *yaml.Node) {
	d.item.Line, d.item.Column = d.at.Line, d.at.Col
	for n := range yamltext.All(value) {
		if n.Line == 0 {
			n.Line, n.Column = d.at.Line, d.at.Col
		}
	}
	k := place(yamltext.StringNode(key), d.posOf(value))
	switch e := yamltext.Lookup(d.item, key); {
	case e.Key != nil:
		*e.Key, *e.Value = *k, *value
	case key == "name": // comes first
		d.item.Content = slices.Insert(d.item.Content, 0, k, value)
	default:
		d.item.Content = append(d.item.Content, k, value)
	}
}

// posOf returns the position of a node of the declaration.
func (d *declaration) posOf(n *yaml.Node) diag.Pos {
	return diag.Pos{File: d.at.File, Line: n.Line, Col: n.Column}
}

// relates reports whether the union consists of presence relations.
func (d *declaration) relates() bool {
	return yamltext.Value(d.item, "dependentRequired") != nil || yamltext.Value(d.item, "dependentForbidden") != nil
}

// fit returns the value of x-kubernetes-unions for a CRD with the properties in lookup; see
// union.External.
func (d *declaration) fit(lookup func(string) ([]string, bool)) (*yaml.Node, diag.List) {
	enum, _ := lookup(yamltext.Text(d.item, "discriminator"))
	item, diags := d.guess(d.from.ofCRD(enum), func(name string) bool { _, ok := lookup(name); return ok })
	return (&declaration{at: d.at, item: item}).value(), diags
}

// guess returns the declaration with the values of members without a marker for them. Several members
// may share a value that markers set, but not a value guessed from their names, which is more likely
// a slip.
func (d *declaration) guess(values *values, present func(string) bool) (item *yaml.Node, diags diag.List) {
	item = clone(d.item)
	optional := yamltext.Value(item, "optionalMembers")
	first := map[string]*yaml.Node{}
	for key, node := range yamltext.Pairs(yamltext.Value(item, "fields-to-discriminateBy")) {
		field, ok := d.guessed[key.Value]
		if !ok {
			continue
		}
		value, ok := values.valueOf(field, key.Value)
		if !ok {
			if present(key.Value) { // else union.Resolve leaves the member out
				hint := "name the field or a constant after the value, or write +unioncel:union:values=V on the field"
				if _, known := d.from.valueOf(field, key.Value); known {
					hint = "the CRD lacks a value that the Go type has: run controller-gen first"
				}
				diags = append(diags, diag.New(codes.ValueNotInEnum, d.posOf(key), "no value of discriminator %s is for member %s: the values are %s",
					d.discriminators[0].field.name, field, strings.Join(values.known, ", ")).Hinted(hint))
			}
			continue
		}
		fitting := textAt(value, d.posOf(node))
		if o := yamltext.Value(optional, key.Value); o != nil && d.posOf(o) == d.posOf(node) { // of the same marker
			*o = *fitting
		}
		*node = *fitting
		other := first[value]
		if other == nil {
			first[value] = key
			continue
		}
		diags = append(diags, diag.New(codes.DuplicateValue, d.posOf(key), "value %q seems to select both %s and %s", value, d.guessed[other.Value], field).
			Hinted("give each member its own value, or write +unioncel:union:values="+value+" on one of them if they belong together").
			With(diag.Related{Pos: d.posOf(other), Message: "the first member with this value"}))
	}
	return item, diags
}

func clone(n *yaml.Node) *yaml.Node {
	out := *n
	out.Content = slices.Clone(n.Content)
	for i, c := range out.Content {
		out.Content[i] = clone(c)
	}
	return &out
}

// place sets the position of a node and of all nodes below it.
func place(n *yaml.Node, pos diag.Pos) *yaml.Node {
	for n := range yamltext.All(n) {
		n.Line, n.Column = pos.Line, pos.Col
	}
	return n
}
