package explain

import (
	"cmp"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unioncel/unioncel/internal/cost"
	"github.com/unioncel/unioncel/pkg/rules"
)

// lineWidth is that of the text, but for what cannot be broken: rules and errors.
const lineWidth = 100

// Text writes explanations for a terminal. An error is that of w.
func Text(w io.Writer, crds []CRD) error {
	var p page
	for i, c := range crds {
		if i > 0 {
			p.line("")
		}
		p.crd(c)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

// page collects lines.
type page struct{ strings.Builder }

func (p *page) line(text string) { p.WriteString(text + "\n") }

// wrap writes words after a first prefix, and lines that follow indented as
// far as it.
func (p *page) wrap(prefix, text string) {
	indent := strings.Repeat(" ", utf8.RuneCountInString(prefix))
	line, width := prefix, 0
	for i, word := range strings.Fields(text) {
		if i > 0 && width+1+utf8.RuneCountInString(word) > lineWidth {
			p.line(strings.TrimRight(line, " "))
			line = indent
		} else if i > 0 {
			line += " "
		}
		line += word
		width = utf8.RuneCountInString(line)
	}
	p.line(strings.TrimRight(line, " "))
}

func (p *page) crd(c CRD) {
	p.line(plain(c.Name))
	for _, u := range c.Unions {
		p.line("")
		p.union(u)
	}
	p.line("")
	p.line(c.total())
	for _, v := range c.Versions {
		p.wrap("  ", v.total())
	}
}

// total says what all unions of a CRD add.
func (c CRD) total() string {
	return fmt.Sprintf("Total: %s in %s, %s added", plural(c.Rules, "rule"), plural(len(c.Unions), "union"), plural(c.Bytes, "byte"))
}

// total says what the rules of a version cost.
func (v Version) total() string {
	before := ""
	if v.CostBefore > 0 {
		before = number(v.CostBefore) + " before + "
	}
	return fmt.Sprintf("version %s: %s%s added = %s, %s of %s",
		plain(v.Name), before, number(v.CostAdded), number(v.Cost), share(v.PercentOfLimit), number(v.Limit))
}

// facts are the declared properties of a union, as name and text; byValue says that there is
// no table of its states.
func (u Union) facts(byValue bool) [][2]string {
	var l [][2]string
	add := func(name, text string) {
		if text != "" {
			l = append(l, [2]string{name, text})
		}
	}
	add("discriminator", plain(u.Discriminator))
	add("cardinality", u.cardinality())
	name := "members"
	for _, m := range u.Members {
		text := plain(m.Name)
		if about := u.about(m); about != "" {
			text += ": " + about
		}
		l = append(l, [2]string{name, text})
		name = ""
	}
	if byValue {
		name = "by value"
		for _, text := range u.shared() {
			add(name, text)
			name = ""
		}
	}
	add("other values", u.otherValues())
	encoding := plain(u.Encoding)
	if u.Why != "" {
		encoding += ": " + plain(u.Why)
	}
	add("encoding", encoding)
	add("left out", plain(u.Dropped))
	add("time", u.time())
	return l
}

// time says what the rules take of a request, when that is noticeable.
func (u Union) time() string {
	d := time.Duration(u.RequestMicroseconds) * time.Microsecond
	if d <= cost.Noticeable {
		return ""
	}
	text := fmt.Sprintf("the rules take about %s of every request that writes the object", cost.About(d))
	if u.Many {
		text += ", for each of the union objects in it"
	}
	return text
}

func (p *page) union(u Union) {
	p.wrap("", u.title()+", declared at "+u.declared())
	for _, f := range u.facts(true) {
		p.wrap(fmt.Sprintf("  %-15s", f[0]), f[1])
	}

	p.line("")
	if len(u.Rules) == 0 {
		p.line("  No rules")
	} else {
		p.line("  Rules")
	}
	for i, r := range u.Rules {
		p.rule(i+1, r, u)
	}
	if u.AllOf != nil {
		p.line("")
		p.line("  Schema (allOf)")
		for line := range strings.Lines(u.allOf()) {
			p.line("    " + strings.TrimRight(line, "\n"))
		}
	}

	p.line("")
	p.line("  On update")
	for _, s := range u.OnUpdate {
		p.wrap("  - ", s)
	}
	if u.restricted() {
		p.line("")
		p.line("  Changes allowed")
		for _, c := range u.Changes {
			p.wrap("  - "+u.shown(c.From)+" -> ", u.becomes(c))
		}
	}

	if len(u.Errors) == 0 {
		return
	}
	p.line("")
	p.line("  What users will read")
	p.wrap("  ", u.readings())
	for _, s := range u.Errors {
		p.wrap("  - ", s.Situation)
		for _, e := range s.lines() {
			p.line("      " + e)
		}
	}
}

func (p *page) rule(n int, r Rule, u Union) {
	number := fmt.Sprintf("  %d. ", n)
	indent := strings.Repeat(" ", len(number))
	p.wrap(number, r.heading())
	p.line(indent + plain(r.Rule))
	if r.MessageExpression != "" {
		p.line(indent + "message: " + plain(r.MessageExpression))
	}
	p.wrap(indent, r.facts(u))
}

// heading is what the rule says when it fails, with its fixed message.
func (r Rule) heading() string {
	kind := map[string]field.ErrorType{
		string(rules.ReasonForbidden): field.ErrorTypeForbidden, string(rules.ReasonRequired): field.ErrorTypeRequired,
		string(apiextensionsv1.FieldValueDuplicate): field.ErrorTypeDuplicate,
	}[r.Reason]
	if kind == "" {
		kind = field.ErrorTypeInvalid
	}
	message := r.Message
	if message == "" {
		message = "failed rule: " + r.Rule // as the API server says
	}
	text := kind.String() + ": " + plain(message)
	if r.FieldPath != "" {
		text = plain(r.FieldPath) + ": " + text
	}
	return text
}

// facts says what a rule is and costs.
func (r Rule) facts(u Union) string {
	var l []string
	if r.Schema != u.Schema {
		l = append(l, "on "+plain(cmp.Or(r.Object, "the root")))
	}
	l = append(l, r.Kind, fmt.Sprintf("costs %s × %s = %s, %s of the limit", number(r.CostOnce), number(r.Executions), number(r.Cost), share(r.PercentOfLimit)))
	if r.MessageExpression != "" {
		l = append(l, fmt.Sprintf("message %s, %s", number(r.MessageCost), share(percent(r.MessageCost, cost.MessageLimit))))
	}
	if r.OptionalOldSelf {
		l = append(l, "optionalOldSelf")
	}
	if r.Present {
		l = append(l, "hand-written, already present")
	} else {
		l = append(l, plural(r.Bytes, "byte"))
	}
	return strings.Join(l, "; ")
}
