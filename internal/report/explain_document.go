package report

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/server"

	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// ExplanationDocument returns explanations for people: a section for each CRD and union, with a diagram of the
// changes, the rules, and the errors.
func ExplanationDocument(crds []Explanation) Document {
	var d Document
	headings := map[string]int{}
	for _, c := range crds {
		d.Heading(1, N(c.Name))
		d.Say(english.Plural(c.Rules, "rule"), " in ", english.Plural(len(c.Unions), "union"), ", ", english.Plural(c.Bytes, "byte"), " added")
		costs := Table{Columns: []Column{{Name: "version"}, {Name: "cost before", Number: true}, {Name: "added", Number: true}, {Name: "sum", Number: true}, {Name: "of the limit", Number: true}}}
		for _, v := range c.Versions {
			costs.Row(v.Name, english.Number(v.CostBefore), english.Number(v.CostAdded), english.Number(v.Cost), english.Percent(v.PercentOfLimit))
		}
		if len(costs.Rows) > 0 {
			d.Add(costs)
		}
		sections := sectionsOf(c.Unions)
		if len(sections) > 1 {
			index := List{}
			for _, s := range sections {
				title := s.union.title(s.versions)
				index.Add(Link(title, headings[title.String()]))
			}
			d.Add(index)
		}
		for _, s := range sections {
			title := s.union.title(s.versions)
			d.Heading(2, title)
			headings[title.String()]++
			d.Add(append(Facts{{Name: "declared at", Texts: s.declared}}, s.facts...))
			d.Add(s.body...)
		}
	}
	return d
}

// section explains a union of versions that declare it alike.
type section struct {
	union    ExplainedUnion // of the first version
	versions []string
	declared []Line // the positions
	facts    Facts
	body     Document
}

// sectionsOf returns the sections of unions. Versions with equal explanations share a section.
func sectionsOf(unions []ExplainedUnion) []section {
	var l []section
	for _, u := range unions {
		facts, body := u.facts(), u.document()
		i := slices.IndexFunc(l, func(s section) bool {
			return s.union.Object == u.Object && s.union.Name == u.Name && reflect.DeepEqual(s.facts, facts) && reflect.DeepEqual(s.body, body)
		})
		if i < 0 {
			i = len(l)
			l = append(l, section{union: u, facts: facts, body: body})
		}
		l[i].versions = append(l[i].versions, u.Version)
		at := Concat(N(u.Pos.String()))
		if !slices.ContainsFunc(l[i].declared, func(other Line) bool { return slices.Equal(at, other) }) {
			l[i].declared = append(l[i].declared, at)
		}
	}
	return l
}

// document returns the explanation without the parts that depend on the version.
func (u ExplainedUnion) document() Document {
	var d Document
	if u.diagram != "" {
		d.Add(Code{Language: "mermaid", Text: u.diagram})
	}
	d.Heading(3, "Rules")
	if len(u.Rules) == 0 {
		d.Say("None.")
	} else {
		l := List{Numbered: true}
		for _, r := range u.Rules {
			l.Items = append(l.Items, Item{Line: r.heading(), Blocks: r.details(u)})
		}
		d.Add(l)
	}
	if len(u.Errors) > 0 {
		d.Heading(3, "Errors")
		d.Say(u.readings())
		l := List{Numbered: true}
		for _, s := range u.Errors {
			l.Items = append(l.Items, Item{Line: Concat(s.Situation), Blocks: Document{Code{Language: "text", Text: strings.Join(s.lines(), "\n") + "\n"}}})
		}
		d.Add(l)
	}
	return d
}

// title returns the heading of a union in versions.
func (u ExplainedUnion) title(versions []string) Line {
	t := Concat("Union")
	switch {
	case u.Name != "":
		t = Concat(t, " ", N(u.Name))
	case u.beside > 0:
		t = Concat(t, " ", N(cmp.Or(u.Discriminator, strings.Join(u.declared.MemberNames(), ", "))))
	}
	in := " in version "
	if len(versions) > 1 {
		in = " in versions "
	}
	return Concat(t, " of ", named(u.Object), in, english.List(versions, "and"))
}

// named returns the name of an object in a resource.
func named(path string) Line {
	if path == "" {
		return Concat("the root")
	}
	return Concat(N(path))
}

// facts returns the declared properties of a union.
func (u ExplainedUnion) facts() Facts {
	var l Facts
	add := func(name string, texts ...Line) {
		if len(texts) > 0 && texts[0].String() != "" {
			l = append(l, Fact{Name: name, Texts: texts})
		}
	}
	if u.Discriminator != "" {
		text := Concat(N(u.Discriminator))
		if u.declared.Type != union.StringValue {
			text = Concat(text, " ("+u.DiscriminatorType+")")
		}
		add("discriminator", text)
	}
	add("cardinality", Concat(u.cardinality()))
	var members []Line
	for _, m := range u.Members {
		text := Concat(N(m.Name))
		if about := u.describe(m); about != "" {
			text = Concat(text, ": ", about)
		}
		members = append(members, text)
	}
	add("members", members...)
	add("other values", Concat(u.otherValues()))
	add("changes", Concat(u.changes))
	encoding := u.Encoding
	if u.Why != "" {
		encoding += ": " + u.Why
	}
	add("encoding", Concat(encoding))
	add("left out", Concat(u.Dropped))
	return l
}

// heading returns the error that a rule reports, with the rule's fixed message.
func (r ExplainedRule) heading() Line {
	if r.FieldPath != "" {
		return Concat(r.FieldPath, ": ", r.reports())
	}
	return Concat(r.reports())
}

// reports returns the error without its path.
func (r ExplainedRule) reports() string {
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
	return kind.String() + ": " + message
}

// causes reports whether an error is of this rule. The message of a messageExpression is unknown, so its
// errors are those at the same field that no other rule causes.
func (r ExplainedRule) causes(err string, u ExplainedUnion) bool {
	is := func(r ExplainedRule) bool { return strings.HasSuffix(err, ": "+r.reports()) }
	kind, _, _ := strings.Cut(r.reports(), ": ")
	return is(r) || r.MessageExpression != "" && strings.Contains(err, r.FieldPath+": "+kind+": ") && !slices.ContainsFunc(u.Rules, is)
}

// details returns the expressions and the costs of a rule.
func (r ExplainedRule) details(u ExplainedUnion) Document {
	cel := r.Rule + "\n"
	if r.MessageExpression != "" {
		cel += "// the message\n" + r.MessageExpression + "\n"
	}
	var on Line
	if r.Schema != u.Schema {
		on = Concat("on ", named(r.Object), "; ")
	}
	l := []string{r.Kind, fmt.Sprintf("costs %s × %s = %s, %s of the limit", english.Number(r.CostOnce), english.Number(r.Executions), english.Number(r.Cost), english.Percent(r.PercentOfLimit))}
	if r.MessageExpression != "" {
		l = append(l, fmt.Sprintf("message %s, %s", english.Number(r.MessageCost), english.Percent(percent(r.MessageCost, server.MessageLimit))))
	}
	if r.OptionalOldSelf {
		l = append(l, "optionalOldSelf")
	}
	if r.Present {
		l = append(l, "hand-written, already present")
	} else {
		l = append(l, english.Plural(r.Bytes, "byte"))
	}
	var errors []string
	for i, s := range u.Errors {
		if slices.ContainsFunc(s.Errors, func(e string) bool { return r.causes(e, u) }) {
			errors = append(errors, strconv.Itoa(i+1))
		}
	}
	switch len(errors) {
	case 0:
	case 1:
		l = append(l, "see error "+errors[0])
	default:
		l = append(l, "see errors "+english.List(errors, "and"))
	}
	return Document{Code{Language: "cel", Text: cel}, Paragraph(Concat(on, strings.Join(l, "; ")))}
}
