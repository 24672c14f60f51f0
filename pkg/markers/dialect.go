package markers

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"go/ast"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/pattern"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/union"
)

// style is a set of markers that can declare a union.
type style int

const (
	kepStyle    style = iota // +unionMember on fields
	tagStyle                 // +k8s:unionMember on fields
	structStyle              // +unioncel:union:members on the struct
)

// style returns the style of new unions of s: the most frequent one in the struct, else in
// its package, else in the named packages, else that of KEP-1027.
func (s *structure) style() style {
	for _, of := range []func(*structure) bool{
		func(o *structure) bool { return o == s },
		func(o *structure) bool { return o.id.Package == s.id.Package },
		func(o *structure) bool { return s.l.named(o.id.Package) },
	} {
		var found [structStyle + 1]int
		for _, o := range s.l.known {
			if of(o) {
				found[kepStyle] += len(o.marked(kep))
				found[tagStyle] += len(o.marked(tags))
				for _, m := range o.marks {
					if m.role == own && (m.key == "members" || m.key == "fields-to-discriminateBy") {
						found[structStyle]++
					}
				}
			}
		}
		if most := slices.Max(found[:]); most > 0 {
			return style(slices.Index(found[:], most))
		}
	}
	return kepStyle
}

// nodeMarkers are markers to add to a type or a field.
type nodeMarkers map[ast.Node][]string

func (n nodeMarkers) add(to ast.Node, marker string) { n[to] = append(n[to], "+"+marker) }

// own adds a marker of unioncel. of is the name of the union, or empty.
func (n nodeMarkers) own(to ast.Node, of, key string, value *yaml.Node) {
	if of != "" {
		of = "(" + of + ")"
	}
	text := ownPrefix + of + ":" + key
	if value.Tag != "!!bool" || value.Value != "true" {
		text += "=" + markerValue(key, value)
	}
	n.add(to, text)
}

// markFields declares a union with markers of fields. alone reports whether no other union of the struct
// has such markers.
func (s *structure) markFields(out nodeMarkers, d style, u *union.Union, alone bool) {
	name := ""
	if !alone {
		name = u.Names()[0]
	}
	plain := "unionMember"
	anchor := s.property(u.Names()[0]).info.RawField
	cardinality := u.Cardinality
	if d == tagStyle {
		plain = "k8s:unionMember"
		usual := union.ExactlyOne
		switch {
		case u.Discriminator != "":
			implied := union.DefaultCardinality(u.Discriminator, s.schema())
			if usual = union.AtMostOne; demands(s.schema(), u.Discriminator) {
				usual = implied
			}
			cardinality = cmp.Or(cardinality, implied)
		case cardinality == union.AtMostOne:
			usual, plain = cardinality, "k8s:zeroOrOneOfMember"
		}
		if cardinality == usual {
			cardinality = 0
		}
	}
	if u.Discriminator != "" {
		f := s.property(u.Discriminator)
		i := slices.IndexFunc(f.marks, func(m mark) bool { return discriminates(m) })
		switch {
		case i >= 0 && tags.has(f.marks[i]):
			name = f.marks[i].of
		case i >= 0:
		case d == tagStyle:
			out.add(anchor, "k8s:unionDiscriminator"+arguments("union", name))
		default:
			out.add(anchor, "unionDiscriminator")
		}
		s.messagesOf(out, u, f)
	}
	for i := range u.Members {
		s.markMember(out, u, &u.Members[i], plain, name)
	}
	rest := *u
	rest.Cardinality, rest.Messages = cardinality, nil
	for key, value := range yamltext.Pairs(rest.Node()) {
		switch key.Value {
		case "discriminator", "fields-to-discriminateBy", "members", "optionalMembers", emptyKey:
		default:
			out.own(anchor, "", key.Value, value)
		}
	}
}

// discriminates reports whether a marker makes its field a discriminator, without modes.
func discriminates(m mark) bool { return m.role == discriminator && !modes.has(m) }

// markMember adds the markers of a member.
func (s *structure) markMember(out nodeMarkers, u *union.Union, m *union.Member, marker, name string) {
	f := s.property(m.Name)
	to := f.info.RawField
	values := m.Values
	if u.Discriminator != "" {
		if value, ok := s.values(s.property(u.Discriminator)).valueOf(f.name, f.json); ok && slices.Equal(values, []string{value}) {
			values = nil // the default
		}
	}
	usuallyUnset := false
	optional := len(m.Optional) > 0
	if marker == "unionMember" {
		text := marker
		if name != "" {
			text += "=" + name
		}
		if optional && len(m.Required()) == 0 {
			text += ",optional"
			optional = false
		}
		out.add(to, text)
	} else {
		value := ""
		if len(values) == 1 {
			value, values = values[0], nil
		}
		out.add(to, marker+arguments("union", name, "memberName", value))
		usuallyUnset = s.unsetWhenZero(f)
	}
	if len(values) > 0 {
		out.own(to, "", valuesKey, yamltext.StringsNode(values...))
	}
	switch {
	case optional && len(m.Required()) == 0:
		out.own(to, "", optionalKey, yamltext.BoolNode(true))
	case optional:
		out.own(to, "", optionalKey, yamltext.StringsNode(m.Optional...))
	}
	if unset := m.Empty != union.PresentWhenEmpty; unset != usuallyUnset {
		out.own(to, "", emptyKey, yamltext.BoolNode(unset))
	}
	s.messagesOf(out, u, f)
}

// messagesOf adds the marker for the messages of a property.
func (s *structure) messagesOf(out nodeMarkers, u *union.Union, f *field) {
	if all := yamltext.Value(u.Node(), messagesKey); all != nil {
		if texts := yamltext.Value(all, f.json); texts != nil {
			out.own(f.info.RawField, "", messagesKey, texts)
		}
	}
}

// arguments returns arguments of validation-gen's markers. It omits those without a value.
func arguments(pairs ...string) string {
	var l []string
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			l = append(l, fmt.Sprintf("%s: %q", pairs[i], pairs[i+1]))
		}
	}
	if len(l) == 0 {
		return ""
	}
	return "(" + strings.Join(l, ", ") + ")"
}

// markerValue returns the text that [parseOwn] reads as a value.
func markerValue(key string, n *yaml.Node) string {
	texts := key == messageKey || key == messagesKey
	switch n.Kind {
	case yaml.ScalarNode:
		odd := n.Value == "" || strings.TrimSpace(n.Value) != n.Value || strings.ContainsAny(n.Value[:1], `[{"'=:`) ||
			n.Tag == "!!str" && (n.Value == "true" || n.Value == "false") || !union.Printable(n.Value)
		if odd || strings.Contains(n.Value, ";") && !texts {
			return quote(n.Value)
		}
		return n.Value
	case yaml.SequenceNode:
		var l []string
		for _, item := range n.Content {
			l = append(l, item.Value)
		}
		words := len(l) > 0 && !slices.ContainsFunc(l, func(s string) bool { return !plainWord().MatchString(s) })
		if words && (len(l) > 1 || l[0] != "true" && l[0] != "false") {
			return strings.Join(l, ";")
		}
	}
	return flow(n)
}

var plainWord = pattern.Lazy(`^[A-Za-z][A-Za-z0-9_./-]*$`)

// flow returns a node in YAML's flow style, on one line.
func flow(n *yaml.Node) string {
	var l []string
	switch n.Kind {
	case yaml.MappingNode:
		for key, value := range yamltext.Pairs(n) {
			l = append(l, flow(key)+": "+flow(value))
		}
		return "{" + strings.Join(l, ", ") + "}"
	case yaml.SequenceNode:
		for _, item := range n.Content {
			l = append(l, flow(item))
		}
		return "[" + strings.Join(l, ", ") + "]"
	}
	if n.Tag != "!!str" || plainWord().MatchString(n.Value) && yamltext.StringNode(n.Value).Style == 0 {
		return n.Value
	}
	return quote(n.Value)
}

// quote returns a string in quotation marks, as both JSON and YAML read it.
func quote(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // a buffer has no errors
	return strings.TrimSuffix(b.String(), "\n")
}
