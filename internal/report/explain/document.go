package explain

import (
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unioncel/unioncel/internal/cost"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// Document returns explanations for people: a section for each CRD and union, with a diagram of the
// changes, the rules, and the errors.
func Document(crds []Explanation) report.Document {
	var d report.Document
	for _, c := range crds {
		d.Heading(1, report.N(c.Name))
		d.Say(english.Plural(c.Rules, "rule"), " in ", english.Plural(len(c.Unions), "union"), ", ", english.Plural(c.Bytes, "byte"), " added")
		costs := report.Table{Columns: []report.Column{{Name: "version"}, {Name: "cost before", Number: true}, {Name: "added", Number: true}, {Name: "sum", Number: true}, {Name: "of the limit", Number: true}}}
		for _, v := range c.Versions {
			costs.Row(v.Name, english.Number(v.CostBefore), english.Number(v.CostAdded), english.Number(v.Cost), english.Percent(v.PercentOfLimit))
		}
		if len(costs.Rows) > 0 {
			d.Add(costs)
		}
		for _, u := range c.Unions {
			d.Add(u.document()...)
		}
	}
	return d
}

func (u Union) document() report.Document {
	var d report.Document
	d.Heading(2, u.title())
	d.Add(u.facts())
	if u.diagram != "" {
		d.Add(report.Code{Language: "mermaid", Text: u.diagram})
	}
	d.Heading(3, "Rules")
	if len(u.Rules) == 0 {
		d.Say("None.")
	} else {
		l := report.List{Numbered: true}
		for _, r := range u.Rules {
			l.Items = append(l.Items, report.Item{Line: r.heading(), Blocks: r.details(u)})
		}
		d.Add(l)
	}
	if len(u.Errors) > 0 {
		d.Heading(3, "Errors")
		d.Say(u.readings())
		l := report.List{}
		for _, s := range u.Errors {
			l.Items = append(l.Items, report.Item{Line: report.Concat(s.Situation), Blocks: report.Document{report.Code{Language: "text", Text: strings.Join(s.lines(), "\n") + "\n"}}})
		}
		d.Add(l)
	}
	return d
}

// title returns the heading of a union.
func (u Union) title() report.Line {
	t := report.Concat("Union")
	if u.Name != "" {
		t = report.Concat(t, " ", report.N(u.Name))
	}
	return report.Concat(t, " of ", named(u.Object), " in version ", u.Version)
}

// named returns the name of an object in a resource.
func named(path string) report.Line {
	if path == "" {
		return report.Concat("the root")
	}
	return report.Concat(report.N(path))
}

// facts returns the declared properties of a union.
func (u Union) facts() report.Facts {
	var l report.Facts
	add := func(name string, texts ...report.Line) {
		if len(texts) > 0 && texts[0].String() != "" {
			l = append(l, report.Fact{Name: name, Texts: texts})
		}
	}
	add("declared at", report.Concat(report.N(u.Pos.String())))
	if u.Discriminator != "" {
		text := report.Concat(report.N(u.Discriminator))
		if u.declared.Type != union.StringValue {
			text = report.Concat(text, " ("+u.DiscriminatorType+")")
		}
		add("discriminator", text)
	}
	add("cardinality", report.Concat(u.cardinality()))
	var members []report.Line
	for _, m := range u.Members {
		text := report.Concat(report.N(m.Name))
		if about := u.describe(m); about != "" {
			text = report.Concat(text, ": ", about)
		}
		members = append(members, text)
	}
	add("members", members...)
	add("other values", report.Concat(u.otherValues()))
	encoding := u.Encoding
	if u.Why != "" {
		encoding += ": " + u.Why
	}
	add("encoding", report.Concat(encoding))
	add("left out", report.Concat(u.Dropped))
	return l
}

// heading returns the error that a rule reports, with the rule's fixed message.
func (r Rule) heading() report.Line {
	kind := map[string]field.ErrorType{
		string(rules.ReasonForbidden): field.ErrorTypeForbidden, string(rules.ReasonRequired): field.ErrorTypeRequired,
		string(apiextensionsv1.FieldValueDuplicate): field.ErrorTypeDuplicate,
	}[r.Reason]
	if kind == "" {
		kind = field.ErrorTypeInvalid
	}
	message := r.Message
	if message == "" {
		message = "failed rule: " + r.Rule // in the words of the API server
	}
	text := kind.String() + ": " + message
	if r.FieldPath != "" {
		text = r.FieldPath + ": " + text
	}
	return report.Concat(text)
}

// details returns the expressions and the costs of a rule.
func (r Rule) details(u Union) report.Document {
	cel := r.Rule + "\n"
	if r.MessageExpression != "" {
		cel += "// the message\n" + r.MessageExpression + "\n"
	}
	var on report.Line
	if r.Schema != u.Schema {
		on = report.Concat("on ", named(r.Object), "; ")
	}
	l := []string{r.Kind, fmt.Sprintf("costs %s × %s = %s, %s of the limit", english.Number(r.CostOnce), english.Number(r.Executions), english.Number(r.Cost), english.Percent(r.PercentOfLimit))}
	if r.MessageExpression != "" {
		l = append(l, fmt.Sprintf("message %s, %s", english.Number(r.MessageCost), english.Percent(percent(r.MessageCost, cost.MessageLimit))))
	}
	if r.OptionalOldSelf {
		l = append(l, "optionalOldSelf")
	}
	if r.Present {
		l = append(l, "hand-written, already present")
	} else {
		l = append(l, english.Plural(r.Bytes, "byte"))
	}
	return report.Document{report.Code{Language: "cel", Text: cel}, report.Paragraph(report.Concat(on, strings.Join(l, "; ")))}
}
