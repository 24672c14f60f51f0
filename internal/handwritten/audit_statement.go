package handwritten

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// statement is a statement about an object, with the formula that an object breaks it, and the rule that
// it belongs to. All its names are properties.
type statement struct {
	english.Statement
	fields        [][]string // the paths of properties
	discriminator []string
	from          string // names the message or description
	// described statements are not in the message.
	described bool
	of        *audited
	all       bool     // the message states nothing else
	members   []member // the fields, as the rule uses them
	// The object breaks the statement, or certainly meets it.
	breaks, meets logic.Lit
}

const maxFields = 12

// resolve finds the properties that a statement names. It reports whether all of them are properties.
// reader, unless nil, is the rule with the statement as its message.
func (o *object) resolve(of english.Statement, reader *audited) (s statement, ok bool) {
	s.Statement = of
	n := o.Object()
	for _, word := range of.Fields {
		path := property(word, n, reader)
		if path == nil || slices.ContainsFunc(s.fields, func(other []string) bool { return within(path, other) || within(other, path) }) {
			return s, false
		}
		s.fields = append(s.fields, path)
	}
	switch of.Form {
	case english.Unset:
		return s, len(s.fields) == 1
	case english.WhenValue, english.RequiredWhen:
		if s.discriminator = property(of.Discriminator, n, reader); s.discriminator == nil || len(s.fields) != 1 {
			return s, false
		}
		discriminator := n.Lookup(schemapath.New(s.discriminator...)).Props
		compared := reader != nil && slices.ContainsFunc(reader.Usages(), func(u formula.Usage) bool {
			return slices.Equal(u.Path, s.discriminator) && slices.Contains(u.Literals, any(of.Value))
		})
		return s, discriminator.Type == "string" && (compared || slices.Contains(formula.EnumValues(discriminator), any(of.Value)))
	}
	return s, len(s.fields) > 1 && len(s.fields) <= maxFields
}

// property returns the path of properties that a word names: from the object, or the end of the only
// such path that the rule reads. It returns nil if there is none.
func property(word string, n *sample.Schema, reader *audited) []string {
	path := strings.Split(word, ".")
	switch {
	case word == "":
		return nil
	case n.Lookup(schemapath.New(path...)) != nil:
		return path
	case reader == nil:
		return nil
	}
	var found []string
	for _, read := range reader.Paths {
		if len(read) < len(path) || !slices.Equal(read[len(read)-len(path):], path) || n.Lookup(schemapath.New(read...)) == nil || slices.Equal(read, found) {
			continue
		}
		if found != nil {
			return nil
		}
		found = read
	}
	return found
}

// state collects the statements in the messages of rules on the object, and in the descriptions of the
// object and of its properties, that rules read.
func (o *object) state() {
	n := o.Object()
	var rules []*audited
	for i := range o.audited {
		if a := &o.audited[i]; a.Schema == n && !a.Test.Changing() {
			rules = append(rules, a)
		}
	}
	add := func(text, from string, of *audited) {
		l, all := english.Statements(text)
		for _, stated := range l {
			s, ok := o.resolve(stated, of)
			reader := of
			for _, a := range rules {
				if reader == nil && s.readBy(a) {
					reader = a
				}
			}
			if !ok || reader == nil || !s.readBy(reader) || slices.ContainsFunc(o.statements, func(other statement) bool { return other.of == reader && other.Sentence == s.Sentence }) {
				continue
			}
			s.from, s.described, s.of, s.all = from, of == nil, reader, all || s.Form == english.Unset
			for _, path := range s.fields {
				s.members = append(s.members, o.member(path, reader))
			}
			s.breaks, s.meets = o.verdicts(s)
			o.statements = append(o.statements, s)
		}
	}
	for _, a := range rules {
		add(a.Validation.Message, "its message", a)
	}
	if len(rules) == 0 {
		return
	}
	add(n.Props.Description, "the description of the object", nil)
	for _, step := range schemapath.Children(n.Props) {
		if name, ok := step.Property(); ok {
			add(n.Props.Properties[name].Description, fmt.Sprintf("the description of %q", name), nil)
		}
	}
}

// readBy reports whether a rule reads the fields that a statement relates: two of them, or the
// field and the discriminator.
func (s statement) readBy(a *audited) bool {
	count := 0
	for _, path := range s.fields {
		if slices.ContainsFunc(a.Paths, func(read []string) bool { return within(read, path) }) {
			count++
		}
	}
	if s.discriminator == nil {
		return count > 1 || s.Form == english.Unset && count == 1
	}
	return count == 1 && slices.ContainsFunc(a.Paths, func(read []string) bool { return slices.Equal(read, s.discriminator) })
}

// verdicts returns the formulas that the object breaks a statement, and that it certainly meets it.
func (o *object) verdicts(j statement) (breaks, meets logic.Lit) {
	var set, unset, others []logic.Lit
	for _, m := range j.members {
		set, unset = append(set, m.set), append(unset, o.Self(0).Lookup(m.path...).Present().Not())
	}
	for i := range set {
		others = append(others, o.Space.And(slices.Delete(slices.Clone(unset), i, i+1)...))
		if j.Form != english.AtMostOne {
			others[i] = o.Space.And(others[i], set[i])
		}
	}
	several, meets := o.Space.AtLeast(2, set)[2], o.Space.Or(others...)
	is := logic.False
	if j.discriminator != nil {
		is = o.Self(0).Lookup(j.discriminator...).Equals(j.Value)
	}
	switch j.Form {
	case english.ExactlyOne:
		return o.Space.Or(several, o.Space.And(unset...)), meets
	case english.WhenValue:
		return o.Space.Or(o.Space.And(is, unset[0]), o.Space.And(is.Not(), set[0])), o.Space.Or(o.Space.And(is, set[0]), o.Space.And(is.Not(), unset[0]))
	case english.RequiredWhen:
		return o.Space.And(is, unset[0]), o.Space.Or(is.Not(), set[0])
	case english.Unset:
		return set[0], unset[0]
	}
	return several, meets
}

// looser finds statements that objects break which the API server accepts.
func (o *object) looser() []Finding {
	var l []Finding
	told := map[*audited]bool{}
	for _, s := range o.statements {
		if told[s.of] || s.of.constant || s.Form == english.Unset {
			continue
		}
		if s.Form == english.Either || s.described {
			if s.tellsApart() {
				continue
			}
			// "Either a or b" may mean both, and a rule may be unrelated to a description. The rule
			// enforces the statement in some objects, if it is meant to.
			if e, _ := o.rejected(s.of, sample.Fails, s.breaks, s.of.Holds.Not(), s.of.Fails.Not()); e == nil {
				continue
			}
		}
		e := o.accepted(s.breaks, s.of.Place.Present())
		if e == nil {
			continue
		}
		told[s.of] = true
		f := o.finding(codes.LooserThanMessage, s.of.rule, e, "", "this rule accepts an object that %s rules out (%s)", s.from, s.Sentence)
		l = append(l, f.fixed(o.enforcing(s, e.New)))
	}
	return l
}

// tellsApart reports whether the rule reads values of other fields: it may restrict the fields only
// in some cases, and on purpose.
func (j statement) tellsApart() bool {
	return slices.ContainsFunc(j.of.Usages(), func(u formula.Usage) bool {
		return u.Reads() && !slices.ContainsFunc(j.fields, func(path []string) bool { return within(u.Path, path) })
	})
}

// maxKept bounds the text of a rule that a fix repeats.
const maxKept = 160

// enforcing returns a rule that rejects an object which breaks the statement, with the rest of the
// hint, or a hint alone. The rule accepts no object that the audited rule rejects, and each field on
// its own, as proved.
func (o *object) enforcing(j statement, bad map[string]any) (fixes []fix, hint string) {
	const otherwise = "reject the object, or correct the text"
	text, ok := j.rule()
	if !ok {
		return nil, otherwise
	}
	text = j.of.Quoted(text)
	written := strings.TrimSpace(j.of.Validation.Rule)
	both, repeated := "("+written+") && "+text, "("+written+") && "+text
	if len(written) > maxKept || strings.Contains(written, "\n") {
		both, repeated = "("+written+"\n) && "+text, text
	}
	for _, c := range []struct{ rule, fix string }{{text, text}, {both, repeated}} {
		fixed := o.replaced(j.of, c.rule)
		if fixed == nil || !o.never(o.create(), j.of.Place.Present(), fixed.Holds, j.of.Holds.Not()) || !o.eachAlone(j, fixed) {
			continue
		}
		if said, _ := o.Ask(fixed, bad, nil); said != sample.Fails {
			continue
		}
		kind := o.served(j.of.rule, c.rule)
		if kind == nil {
			continue
		}
		if response, ok := answer(o.Source.Context(), kind, bad, nil); !ok || response == "" {
			continue
		}
		rest := ", which rejects this object, or correct the text"
		if c.rule != c.fix {
			rest = " as a further rule" + rest
		}
		return []fix{{c.fix, rest}}, ""
	}
	return nil, otherwise
}

// eachAlone reports whether a rule may hold for each field without the others, and for the field of a
// conditional statement with and without the value.
func (o *object) eachAlone(j statement, c *prove.Check) bool {
	holds := func(l ...logic.Lit) bool {
		m, err := o.Possible(append(l, o.create(), j.of.Place.Present(), c.Holds)...)
		return m != nil && err == nil
	}
	if j.discriminator != nil {
		is := o.Self(0).Lookup(j.discriminator...).Equals(j.Value)
		return holds(is, j.members[0].set) && holds(is.Not(), j.members[0].set.Not())
	}
	for i := range j.members {
		var l []logic.Lit
		for k, m := range j.members {
			l = append(l, m.set.If(k == i))
		}
		if !holds(l...) {
			return false
		}
	}
	return true
}

// rule returns a rule that enforces the statement. "Either a or b" covers all optional fields whose
// presence the rule reads.
func (j statement) rule() (text string, ok bool) {
	var l []cel.Expr
	for _, m := range j.members {
		conditions := m.conditions()
		if len(conditions) == 0 || j.Form != english.AtMostOne && m.special() {
			return "", false
		}
		l = append(l, cel.And(conditions...))
	}
	if j.Form == english.Either {
		for _, u := range j.of.Usages() {
			named := slices.ContainsFunc(j.fields, func(path []string) bool { return within(u.Path, path) })
			p := j.of.Schema.Lookup(schemapath.New(u.Path...))
			if named || len(u.Path) != 1 || p == nil || p.Props.Default != nil || !optional(j.of.Schema, u.Path) {
				continue
			}
			l = append(l, present(u.Path))
		}
	}
	item, list := cel.Var("x"), cel.List(l...)
	is := cel.And(present(j.discriminator), cel.Var("self").Field(j.discriminator...).Eq(cel.String(j.Value)))
	switch j.Form {
	case english.RequiredWhen:
		return cel.Or(cel.Not(is), l[0]).String(), true
	case english.WhenValue:
		if len(j.members[0].conditions()) > 1 {
			l[0] = cel.Paren(l[0])
		}
		return l[0].Eq(cel.Paren(is)).String(), true
	case english.AtMostOne:
		return list.Filter(item, item).Call("size").Le(cel.Int(1)).String(), true
	}
	return list.ExistsOne(item, item).String(), true
}
