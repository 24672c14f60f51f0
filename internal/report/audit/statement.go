package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/nested"
	"github.com/unioncel/unioncel/internal/pattern"
	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// statement is a restriction of an object that a sentence states.
type statement struct {
	sentence string
	form     form
	fields   [][]string // the paths of properties
	// Of a conditional statement: the single field is set exactly where the value is.
	discriminator []string
	value         string
}

// form is the restriction of a statement.
type form int

const (
	atMostOne form = iota + 1
	exactlyOne
	// either is exactlyOne, or at least one: only the rule tells.
	either
	whenValue
)

const beSet = `(?: (?:may|must|can|should|has to|is|are))?(?: be)?(?: (?:set|specified|provided|defined|configured|present|used|allowed|permitted|required|given))?(?: at (?:a|the same) time)?`

// The forms of sentences. Other sentences are not read: their meaning would have to be guessed.
var forms = []struct {
	form
	pattern func() *regexp.Regexp
}{
	{atMostOne, pattern.Lazy(`(?i)^(?:at most|only) one of (?:the fields )?(.+?)` + beSet + `$`)},
	{exactlyOne, pattern.Lazy(`(?i)^exactly one of (?:the fields )?(.+?)` + beSet + `$`)},
	{atMostOne, pattern.Lazy(`(?i)^(?:the fields )?(.+?) (?:fields )?are mutually exclusive$`)},
	{atMostOne, pattern.Lazy(`(?i)^(.+? is mutually exclusive with .+?)$`)},
	{either, pattern.Lazy(`(?i)^either (.+?) must be (?:set|specified|provided|defined|configured|present|used|given)$`)},
	{whenValue, pattern.Lazy(`(?i)^(\S+)(?: configuration| field)? (?:is|must be) (?:set|required) when (\S+) is (\S+?),? and (?:is )?forbidden otherwise$`)},
}

var separator = pattern.Lazy(`(?i),? (?:and|or|and/or|is mutually exclusive with) |, ?`)

const maxFields = 12

// statementsIn returns the statements about an object in a message or a description. All their
// names are properties of the schema.
func statementsIn(text string, n *sample.Schema) []statement {
	var l []statement
	for _, sentence := range english.Sentences(text) {
		sentence = strings.TrimSuffix(sentence, ".")
		for _, f := range forms {
			m := f.pattern().FindStringSubmatch(sentence)
			if m == nil {
				continue
			}
			s := statement{sentence: sentence, form: f.form}
			if s.read(m[1:], n) {
				l = append(l, s)
			}
			break
		}
	}
	return l
}

// read resolves the names of a statement. It reports whether all of them are properties.
func (s *statement) read(words []string, n *sample.Schema) bool {
	list := separator().Split(words[0], -1)
	for _, word := range list {
		path, ok := property(word, n)
		if !ok || slices.ContainsFunc(s.fields, func(other []string) bool { return within(path, other) || within(other, path) }) {
			return false
		}
		s.fields = append(s.fields, path)
	}
	if s.form != whenValue {
		return len(s.fields) > 1 && len(s.fields) <= maxFields
	}
	var ok bool
	if s.discriminator, ok = property(words[1], n); !ok {
		return false
	}
	s.value = strings.Trim(words[2], "`'\"")
	of := schemaAt(n, s.discriminator)
	values := formula.EnumValues(of.Props)
	return len(s.fields) == 1 && of.Props.Type == "string" && slices.Contains(values, any(s.value))
}

// property returns the path of properties that a word names.
func property(word string, n *sample.Schema) ([]string, bool) {
	word = strings.Trim(strings.TrimSpace(word), "`'\".")
	path := strings.Split(strings.TrimPrefix(word, "self."), ".")
	return path, word != "" && schemaAt(n, path) != nil
}

// judged is a statement with the formula that an object breaks it, and the rule that it belongs to.
type judged struct {
	statement
	from string // names the message or description
	// described statements are not in the message.
	described bool
	of        *audited
	members   []member // the fields, as the rule uses them
	breaks    logic.Lit
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
		for _, s := range statementsIn(text, n) {
			reader := of
			for _, a := range rules {
				if reader == nil && s.readBy(a) {
					reader = a
				}
			}
			if reader == nil || !s.readBy(reader) || slices.ContainsFunc(o.statements, func(j judged) bool { return j.of == reader && j.sentence == s.sentence }) {
				continue
			}
			j := judged{statement: s, from: from, described: of == nil, of: reader}
			for _, path := range s.fields {
				j.members = append(j.members, o.member(path, reader))
			}
			j.breaks = o.breaks(j)
			o.statements = append(o.statements, j)
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
	if s.form != whenValue {
		return count > 1
	}
	return count == 1 && slices.ContainsFunc(a.Paths, func(read []string) bool { return slices.Equal(read, s.discriminator) })
}

// breaks returns the formula that the object breaks a statement.
func (o *object) breaks(j judged) logic.Lit {
	var set, unset []logic.Lit
	for _, m := range j.members {
		set, unset = append(set, m.set), append(unset, o.Self(0).Lookup(m.path...).Present().Not())
	}
	several := o.Space.AtLeast(2, set)[2]
	switch j.form {
	case exactlyOne:
		return o.Space.Or(several, o.Space.And(unset...))
	case whenValue:
		is := o.Self(0).Lookup(j.discriminator...).Equals(j.value)
		return o.Space.Or(o.Space.And(is, unset[0]), o.Space.And(is.Not(), set[0]))
	}
	return several
}

// broken reports whether a value breaks the statement. It repeats the formula for one value.
func (j judged) broken(value any) bool {
	object, _ := value.(map[string]any)
	set, unset := 0, 0
	for _, m := range j.members {
		switch v, _ := nested.Get(object, m.path); {
		case m.isSet(object):
			set++
		case v == nil && !m.defaulted:
			unset++
		}
	}
	switch j.form {
	case exactlyOne:
		return set > 1 || unset == len(j.members)
	case whenValue:
		v, _ := nested.Get(object, j.discriminator)
		return v == j.value && unset == 1 || v != j.value && set == 1
	}
	return set > 1
}

// looser finds statements that objects break which the API server accepts.
func (o *object) looser() []Finding {
	var l []Finding
	told := map[*audited]bool{}
	for _, s := range o.statements {
		if told[s.of] || s.of.constant {
			continue
		}
		if s.form == either || s.described {
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
		if e == nil || !s.broken(o.Self(0).Value(e.New)) {
			continue
		}
		told[s.of] = true
		f := o.finding(codes.LooserThanMessage, s.of.rule, e, "", "this rule accepts an object that %s rules out (%s)", s.from, s.sentence)
		l = append(l, f.fixed(o.enforcing(s, e.New)))
	}
	return l
}

// tellsApart reports whether the rule reads values of other fields: it may restrict the fields only
// in some cases, and on purpose.
func (j judged) tellsApart() bool {
	return slices.ContainsFunc(j.of.Usages(), func(u formula.Usage) bool {
		return u.Reads() && !slices.ContainsFunc(j.fields, func(path []string) bool { return within(u.Path, path) })
	})
}

// maxKept bounds the text of a rule that a fix repeats.
const maxKept = 160

// enforcing returns a rule that rejects an object which breaks the statement, with the rest of the
// hint, or a hint alone. The rule accepts no object that the audited rule rejects, and each field on
// its own, as proved.
func (o *object) enforcing(j judged, bad map[string]any) (fix, rest string) {
	const otherwise = "reject the object, or correct the text"
	text, ok := j.rule()
	if !ok {
		return "", otherwise
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
		rest = ", which rejects this object, or correct the text"
		if c.rule != c.fix {
			rest = " as a further rule" + rest
		}
		return c.fix, rest
	}
	return "", otherwise
}

// eachAlone reports whether a rule may hold for each field without the others, and for the field of a
// conditional statement with and without the value.
func (o *object) eachAlone(j judged, c *prove.Check) bool {
	holds := func(l ...logic.Lit) bool {
		m, err := o.Possible(append(l, o.create(), j.of.Place.Present(), c.Holds)...)
		return m != nil && err == nil
	}
	if j.form == whenValue {
		is := o.Self(0).Lookup(j.discriminator...).Equals(j.value)
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
func (j judged) rule() (text string, ok bool) {
	var l []cel.Expr
	for _, m := range j.members {
		conditions := m.conditions()
		if len(conditions) == 0 || j.form != atMostOne && m.special() {
			return "", false
		}
		l = append(l, cel.And(conditions...))
	}
	if j.form == either {
		for _, u := range j.of.Usages() {
			named := slices.ContainsFunc(j.fields, func(path []string) bool { return within(u.Path, path) })
			p := schemaAt(j.of.Schema, u.Path)
			if named || len(u.Path) != 1 || p == nil || p.Props.Default != nil || !optional(j.of.Schema, u.Path) {
				continue
			}
			l = append(l, present(u.Path))
		}
	}
	item, list := cel.Var("x"), cel.List(l...)
	switch j.form {
	case whenValue:
		is := cel.And(present(j.discriminator), cel.Var("self").Field(j.discriminator...).Eq(cel.String(j.value)))
		if len(j.members[0].conditions()) > 1 {
			l[0] = cel.Paren(l[0])
		}
		return l[0].Eq(cel.Paren(is)).String(), true
	case atMostOne:
		return list.Filter(item, item).Call("size").Le(cel.Int(1)).String(), true
	}
	return list.ExistsOne(item, item).String(), true
}
