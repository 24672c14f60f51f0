package handwritten

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// statement is a statement about an object, with the formula that an object breaks it, and the rule that
// it belongs to. All its names are properties.
type statement struct {
	Statement
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
	none          logic.Lit // the object has none of the fields
}

const maxFields = 12

// resolve finds the properties that a statement names. It reports whether all of them are properties.
// reader, unless nil, is the rule with the statement as its message.
func (o *object) resolve(of Statement, reader *audited) (s statement, ok bool) {
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
	case Unset:
		return s, len(s.fields) == 1
	case WhenValue, RequiredWhen:
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
	rules := slices.DeleteFunc(slices.Clone(o.audited), func(a *audited) bool { return a.Schema != n || a.Test.Changing() })
	add := func(text, from string, of *audited) {
		l, all := Statements(text)
		for _, stated := range l {
			s, ok := o.resolve(stated, of)
			reader := of
			for _, a := range rules {
				if reader == nil && s.readBy(a) > 1 {
					reader = a
				}
			}
			if !ok || reader == nil || s.readBy(reader) == 0 || slices.ContainsFunc(o.statements, func(other statement) bool { return other.of == reader && other.Sentence == s.Sentence }) {
				continue
			}
			s.from, s.described, s.of, s.all = from, of == nil, reader, all || s.Form == Unset
			var set, present []logic.Lit
			for i, path := range s.fields {
				s.members = append(s.members, o.member(path, reader))
				set, present = append(set, s.members[i].set), append(present, o.Self(0).Lookup(path...).Present())
			}
			form := s.Form
			if s.meets = o.meets(s, form, set, present); form == Either {
				form = AtMostOne // it may mean both, see looser
			}
			s.breaks, s.none = o.meets(s, form, present, set).Not(), o.Space.Or(present...).Not()
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

// readBy returns how many of the fields and the discriminator of a statement a rule reads. It relates two
// of them if it is about the statement.
func (s statement) readBy(a *audited) (n int) {
	for _, path := range s.fields {
		if slices.ContainsFunc(a.Paths, func(read []string) bool { return within(read, path) }) {
			n++
		}
	}
	if s.discriminator != nil && slices.ContainsFunc(a.Paths, func(read []string) bool { return slices.Equal(read, s.discriminator) }) {
		n++
	}
	return n
}

// meets returns the formula that an object meets a statement. A member is certainly set if its formula in
// least holds, and certainly unset unless its formula in most holds.
func (o *object) meets(j statement, form Form, least, most []logic.Lit) logic.Lit {
	is, s := logic.False, o.Space
	if j.discriminator != nil {
		is = o.Self(0).Lookup(j.discriminator...).Equals(j.Value)
	}
	switch form {
	case WhenValue:
		return s.And(s.Implies(is, least[0]), s.Or(is, most[0].Not()))
	case RequiredWhen:
		return s.Implies(is, least[0])
	case Unset:
		return most[0].Not()
	case AtMostOne:
		return s.AtLeast(2, most)[2].Not()
	}
	return s.And(s.AtLeast(2, most)[2].Not(), s.Or(least...))
}

// looser finds statements that objects break which the API server accepts.
func (o *object) looser() []Finding {
	var l []Finding
	told := map[*audited]bool{}
	for _, s := range o.statements {
		if told[s.of] || s.of.constant || s.Form == Unset {
			continue
		}
		if s.Form == Either || s.described {
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
		if e == nil && s.Form == Either {
			e = o.accepted(s.none, s.of.Place.Present())
		}
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

// enforcing returns a fix that rejects an object which breaks the statement, or else a hint. The fixed
// rule accepts no object that the audited rule rejects, and each field on its own, as proved.
func (o *object) enforcing(j statement, bad map[string]any) (fixes []Fix, hint string) {
	const otherwise = "reject the object, or correct the text"
	expr, ok := j.rule()
	if !ok {
		return nil, otherwise
	}
	const effect = ", which rejects this object, or correct the text"
	text, written := j.of.Quoted(expr.String()), strings.TrimSpace(j.of.Validation.Rule)
	alone := Fix{Rule: text, effect: effect}
	both := Fix{Rule: j.of.Quoted(cel.And(cel.Var("("+written+")"), expr).String()), effect: effect}
	if len(written) > maxKept || strings.Contains(written, "\n") {
		both = Fix{Rule: text, Path: pathOf(j.of.rule.path), effect: effect}
	}
	for _, fix := range []Fix{alone, both} {
		whole := fix.Rule
		if fix.Path != "" {
			whole = "(" + written + "\n) && (" + text + ")"
		}
		fixed := o.replaced(j.of, whole)
		if fixed == nil || !o.Never(o.create(), j.of.Place.Present(), fixed.Holds, j.of.Holds.Not()) || !o.eachAlone(j, fixed) {
			continue
		}
		if said, _ := o.Ask(fixed, bad, nil); said != sample.Fails {
			continue
		}
		if v := o.rewritten(whole, j.of.rule); v != nil {
			if response, _ := answer(o.Source.Context(), v.judge, bad, nil); response != "" {
				return []Fix{fix}, ""
			}
		}
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
func (j statement) rule() (rule cel.Expr, ok bool) {
	var l []cel.Expr
	for _, m := range j.members {
		conditions := m.conditions()
		if len(conditions) == 0 || j.Form != AtMostOne && m.special() {
			return cel.Expr{}, false
		}
		l = append(l, cel.And(conditions...))
	}
	if j.Form == Either {
		for _, u := range j.of.Usages() {
			named := slices.ContainsFunc(j.fields, func(path []string) bool { return within(u.Path, path) })
			p := j.of.Schema.Lookup(schemapath.New(u.Path...))
			if named || len(u.Path) != 1 || p == nil || p.Props.Default != nil || !formula.MayLack(j.of.Schema.Props, j.of.Schema.Root, u.Path) {
				continue
			}
			l = append(l, present(u.Path))
		}
	}
	item, list := cel.Var("x"), cel.List(l...)
	is := cel.And(present(j.discriminator), cel.Var("self").Field(j.discriminator...).Eq(cel.String(j.Value)))
	switch j.Form {
	case RequiredWhen:
		return cel.Or(cel.Not(is), l[0]), true
	case WhenValue:
		if len(j.members[0].conditions()) > 1 {
			l[0] = cel.Paren(l[0])
		}
		return l[0].Eq(cel.Paren(is)), true
	case AtMostOne:
		return list.Filter(item, item).Call("size").Le(cel.Int(1)), true
	}
	return list.ExistsOne(item, item), true
}
