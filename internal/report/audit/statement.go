package audit

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/internal/nested"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/diag"
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
	*regexp.Regexp
}{
	{atMostOne, regexp.MustCompile(`(?i)^(?:at most|only) one of (?:the fields )?(.+?)` + beSet + `$`)},
	{exactlyOne, regexp.MustCompile(`(?i)^exactly one of (?:the fields )?(.+?)` + beSet + `$`)},
	{atMostOne, regexp.MustCompile(`(?i)^(?:the fields )?(.+?) (?:fields )?are mutually exclusive$`)},
	{atMostOne, regexp.MustCompile(`(?i)^(.+? is mutually exclusive with .+?)$`)},
	{either, regexp.MustCompile(`(?i)^either (.+?) must be (?:set|specified|provided|defined|configured|present|used|given)$`)},
	{whenValue, regexp.MustCompile(`(?i)^(\S+)(?: configuration| field)? (?:is|must be) (?:set|required) when (\S+) is (\S+?),? and (?:is )?forbidden otherwise$`)},
}

var (
	spaces    = regexp.MustCompile(`\s+`)
	separator = regexp.MustCompile(`(?i),? (?:and|or|and/or|is mutually exclusive with) |, ?`)
)

const maxFields = 12

// statementsIn returns the statements about an object in a message or a description. All their
// names are properties of the schema.
func statementsIn(text string, n *sample.Schema) []statement {
	var l []statement
	for _, sentence := range strings.Split(spaces.ReplaceAllString(text, " ")+" ", ". ") {
		sentence = strings.TrimSuffix(strings.TrimSpace(sentence), ".")
		for _, f := range forms {
			m := f.FindStringSubmatch(sentence)
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
	list := separator.Split(words[0], -1)
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
			o.statements = append(o.statements, judged{s, from, of == nil, reader, o.breaks(s)})
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

// breaks returns the formula that the object breaks a statement. Zero, false, empty strings, lists
// and maps count neither as set nor as unset.
func (o *object) breaks(s statement) logic.Lit {
	var set, unset []logic.Lit
	for _, path := range s.fields {
		p := o.Self(0).Lookup(path...)
		set, unset = append(set, o.isSet(p)), append(unset, p.Present().Not())
	}
	several := o.Space.AtLeast(2, set)[2]
	switch s.form {
	case exactlyOne:
		return o.Space.Or(several, o.Space.And(unset...))
	case whenValue:
		is := o.Self(0).Lookup(s.discriminator...).Equals(s.value)
		return o.Space.Or(o.Space.And(is, unset[0]), o.Space.And(is.Not(), set[0]))
	}
	return several
}

func (o *object) isSet(p *formula.Place) logic.Lit {
	switch s := p.Schema; {
	case s.Type == "boolean":
		return p.Equals(true)
	case s.Type == "integer":
		return o.Space.And(p.Present(), p.Equals(int64(0)).Not())
	case s.Type == "string" && !s.XIntOrString, s.Type == "array", s.Type == "object" && len(s.Properties) == 0:
		return o.Space.And(p.Present(), p.Empty().Not())
	}
	return p.Present()
}

// broken reports whether a value breaks the statement. It repeats the formula for one value.
func (s statement) broken(value any) bool {
	object, _ := value.(map[string]any)
	set, unset := 0, 0
	for _, path := range s.fields {
		switch v, _ := nested.Get(object, path); v := v.(type) {
		case nil:
			unset++
		case string:
			if v != "" {
				set++
			}
		case []any:
			if len(v) > 0 {
				set++
			}
		case bool:
			if v {
				set++
			}
		case int64:
			if v != 0 {
				set++
			}
		default:
			set++
		}
	}
	switch s.form {
	case exactlyOne:
		return set > 1 || unset == len(s.fields)
	case whenValue:
		v, _ := nested.Get(object, s.discriminator)
		return v == s.value && unset == 1 || v != s.value && set == 1
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
		f := o.finding(diag.LooserThanMessage, s.of.rule, e, "", "this rule accepts an object that %s rules out (%s)", s.from, s.sentence)
		fix := s.rule(s.of)
		if fixed := o.replaced(s.of, fix); fixed != nil {
			if said, _ := o.Ask(fixed, e.New, nil); said == sample.Fails {
				f.Hint = "write " + fix + ", which rejects this object, or correct the text"
			}
		}
		if f.Hint == "" {
			f.Hint = "reject the object, or correct the text"
		}
		l = append(l, f)
	}
	return l
}

// rule returns a rule that enforces the statement. "Either a or b" covers all fields whose presence the
// rule reads.
func (s statement) rule(of *audited) string {
	has := func(path []string) cel.Expr {
		var l []cel.Expr
		for i := range path {
			l = append(l, cel.Has(cel.Var("self").Field(path[:i+1]...)))
		}
		return cel.And(l...)
	}
	item := cel.Var("x")
	fields := s.fields
	if s.form == either {
		for _, path := range of.Paths {
			if len(path) == 1 && !slices.ContainsFunc(fields, func(f []string) bool { return slices.Equal(f, path) }) {
				fields = append(fields, path)
			}
		}
	}
	list := cel.List(cel.Each(fields, has)...)
	switch s.form {
	case whenValue:
		return has(s.fields[0]).Eq(cel.Paren(cel.And(has(s.discriminator), cel.Var("self").Field(s.discriminator...).Eq(cel.String(s.value))))).String()
	case atMostOne:
		return list.Filter(item, item).Call("size").Le(cel.Int(1)).String()
	}
	return list.ExistsOne(item, item).String()
}
