package markers

import (
	"cmp"
	"go/ast"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/gengo/v2/codetags"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/union"
)

// memberMarker returns the marker for members of new unions of s: the one of the dialect that is most
// frequent in the struct, or else in its package, or else of KEP-1027. It returns "" for unioncel's
// markers on the struct.
func (s *structure) memberMarker() string {
	uses := map[string]int{}
	marked := len(s.marked(kep))+len(s.marked(tags)) > 0 // as a discriminator that lacks members
	for _, o := range s.l.known {
		if o == s || !marked && o.id.Package == s.id.Package {
			uses["unionMember"] += len(o.marked(kep))
			uses["k8s:unionMember"] += len(o.marked(tags))
			uses[""] += len(slices.DeleteFunc(slices.Clone(o.unions), func(u *declaration) bool { return !u.ofStruct }))
		}
	}
	most := "unionMember"
	for _, marker := range []string{"k8s:unionMember", ""} {
		if uses[marker] > uses[most] {
			most = marker
		}
	}
	return most
}

// lines are markers to add to types and fields.
type lines map[ast.Node][]string

func (l lines) add(to ast.Node, marker string) { l[to] = append(l[to], marker) }

// own adds a marker of unioncel. of is the name of the union, or empty.
func (l lines) own(to ast.Node, of, key string, value *yaml.Node) {
	if of != "" {
		of = "(" + of + ")"
	}
	text := ownPrefix + of + ":" + key
	if value.Tag != "!!bool" || value.Value != "true" {
		text += "=" + flow(value)
	}
	l.add(to, text)
}

// markersOf returns the markers that declare the unions of a struct.
func (e *editing) markersOf(s *structure) lines {
	var requests []*request // one for each union
	for _, r := range e.open() {
		if r.of == s && r.Union != nil && !slices.ContainsFunc(requests, func(o *request) bool { return o.text == r.text }) {
			requests = append(requests, r)
		}
	}
	var onFields, others []*union.Union
	out := lines{}
	marker := s.memberMarker()
	for _, r := range requests {
		u := r.Union
		// Several unions with KEP-1027's markers need discriminators.
		unnamed := marker == "unionMember" && u.Discriminator == "" && len(requests) > 1
		if r.onStruct || marker == "" || unnamed || u.Relates() || u.Grouped() || !s.hasAll(u) || slices.ContainsFunc(onFields, u.Shares) {
			others = append(others, u)
		} else {
			onFields = append(onFields, u)
		}
	}
	for _, u := range onFields {
		s.markFields(out, marker, u, len(onFields) == 1)
	}
	for i, u := range others {
		name := "" // the only such union needs none
		if i > 0 {
			name = u.Members[0].Name
		}
		for key, value := range yamltext.Pairs(u.Node()) {
			out.own(s.info.RawSpec, name, key.Value, value)
		}
	}
	return out
}

// hasAll reports whether the properties of a union are fields of s.
func (s *structure) hasAll(u *union.Union) bool {
	return !slices.ContainsFunc(u.Names(), func(name string) bool { return s.property(name) == nil })
}

// markFields declares a union with markers of fields. alone reports whether no other union of the struct
// has such markers.
func (s *structure) markFields(out lines, marker string, u *union.Union, alone bool) {
	name, tagged := "", marker == "k8s:unionMember"
	if !alone {
		name = u.Names()[0]
	}
	rest := *u // the keys with markers of unioncel
	if tagged {
		implied, usual := union.DefaultCardinality(u.Discriminator, s.schema()), union.ExactlyOne
		switch {
		case u.Discriminator != "" && demands(s.schema(), u.Discriminator):
			rest.Cardinality, usual = cmp.Or(u.Cardinality, implied), implied
		case u.Discriminator != "":
			rest.Cardinality, usual = cmp.Or(u.Cardinality, implied), union.AtMostOne
		case u.Cardinality == union.AtMostOne:
			marker, usual = "k8s:zeroOrOneOfMember", union.AtMostOne
		}
		if rest.Cardinality == usual {
			rest.Cardinality = 0
		}
	}
	anchor := s.property(u.Names()[0]).info.RawField
	if u.Discriminator != "" {
		marks := s.property(u.Discriminator).marks
		i := slices.IndexFunc(marks, func(m mark) bool { return m.role == discriminator && !modes.has(m) })
		switch {
		case i >= 0 && tags.has(marks[i]):
			name = marks[i].of
		case i >= 0:
		case tagged:
			out.add(anchor, tag("k8s:unionDiscriminator", name, ""))
		default:
			out.add(anchor, "unionDiscriminator")
		}
	}
	for i := range u.Members {
		s.markMember(out, u, &u.Members[i], marker, name)
	}
	for key, value := range yamltext.Pairs(rest.Node()) {
		switch key.Value {
		case "discriminator", "fields-to-discriminateBy", "members", "optionalMembers", emptyKey:
		case messagesKey:
			for of, texts := range yamltext.Pairs(value) {
				out.own(s.property(of.Value).info.RawField, "", messagesKey, texts)
			}
		default:
			out.own(anchor, "", key.Value, value)
		}
	}
}

// markMember adds the markers of a member.
func (s *structure) markMember(out lines, u *union.Union, m *union.Member, marker, name string) {
	f := s.property(m.Name)
	to := f.info.RawField
	values := m.Values
	if u.Discriminator != "" {
		if value, ok := s.values(s.property(u.Discriminator)).valueOf(f.name, f.json); ok && slices.Equal(values, []string{value}) {
			values = nil // the default
		}
	}
	always, tagged := len(m.Optional) > 0 && len(m.Required()) == 0, strings.HasPrefix(marker, "k8s:")
	switch {
	case tagged && len(values) == 1:
		marker, values = tag(marker, name, values[0]), nil
	case tagged:
		marker = tag(marker, name, "")
	default:
		if name != "" {
			marker += "=" + name
		}
		if always {
			marker += ",optional"
		}
	}
	out.add(to, marker)
	if len(values) > 0 {
		out.own(to, "", valuesKey, oneOrMore(yamltext.StringsNode(values...).Content))
	}
	switch {
	case always && tagged:
		out.own(to, "", optionalKey, yamltext.BoolNode(true))
	case !always && len(m.Optional) > 0:
		out.own(to, "", optionalKey, oneOrMore(yamltext.StringsNode(m.Optional...).Content))
	}
	if unset := m.Empty != union.PresentWhenEmpty; unset != (tagged && s.unsetWhenZero(f)) {
		out.own(to, "", emptyKey, yamltext.BoolNode(unset))
	}
}

// tag returns a marker of validation-gen for a union. It omits arguments without a value.
func tag(name, of, value string) string {
	t := codetags.Tag{Name: name}
	for _, a := range []codetags.Arg{{Name: "union", Value: of}, {Name: "memberName", Value: value}} {
		if a.Type = codetags.ArgTypeString; a.Value != "" {
			t.Args = append(t.Args, a)
		}
	}
	return t.String()
}

var plainWord = english.Pattern(`^[A-Za-z][A-Za-z0-9_./-]*$`)

// flow returns a node, whose style it changes, in YAML's flow style on one line, as [parseOwn] reads it.
// Strings are quoted, except for words.
func flow(n *yaml.Node) string {
	for n := range yamltext.All(n) {
		word := plainWord().MatchString(n.Value) && yamltext.StringNode(n.Value).Style == 0
		if n.Style = yaml.FlowStyle; n.Kind == yaml.ScalarNode && n.Tag == "!!str" && !word {
			n.Style = yaml.DoubleQuotedStyle
		}
	}
	text, err := yaml.Marshal(n)
	if err != nil {
		return "" // the check of the edited packages reports it
	}
	return strings.TrimSpace(string(text))
}
