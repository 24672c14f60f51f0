package explain

import (
	"cmp"
	"io"
	"strconv"
	"strings"

	"github.com/unioncel/unioncel/internal/report/markdown"
)

// Markdown writes explanations as GitHub renders them: a section per CRD and
// union, with tables of rules and states and a Mermaid diagram of the changes.
// An error is that of w.
func Markdown(w io.Writer, crds []CRD) error {
	var p page
	for i, c := range crds {
		if i > 0 {
			p.line("")
		}
		p.markdown(c)
	}
	_, err := io.WriteString(w, p.String())
	return err
}

func (p *page) markdown(c CRD) {
	p.line("# " + markdown.Code(c.Name))
	p.line("")
	p.line(c.total() + ".")
	p.line("")
	p.row("version", "cost before", "added", "sum", "of the limit")
	p.line("|---|--:|--:|--:|--:|")
	for _, v := range c.Versions {
		p.row(markdown.Text(v.Name), number(v.CostBefore), number(v.CostAdded), number(v.Cost), markdown.Text(share(v.PercentOfLimit)))
	}
	for _, u := range c.Unions {
		p.line("")
		p.markdownUnion(u)
	}
}

func (p *page) row(cells ...string) { p.line("| " + strings.Join(cells, " | ") + " |") }

func (p *page) markdownUnion(u Union) {
	title := "## Union"
	if u.Name != "" {
		title += " " + markdown.Code(u.Name)
	}
	object := "the root"
	if u.Object != "" {
		object = markdown.Code(u.Object)
	}
	p.line(title + " of " + object + " in version " + markdown.Text(u.Version))
	p.line("")
	p.line("Declared at " + markdown.Code(u.declared()) + ".")
	p.line("")
	for _, f := range u.facts(false) {
		switch f[0] {
		case "discriminator":
			p.line("- " + f[0] + ": " + markdown.Code(f[1]))
		case "":
			p.line("  - " + markdown.Text(f[1]))
		case "members":
			p.line("- members:")
			p.line("  - " + markdown.Text(f[1]))
		default:
			p.line("- " + f[0] + ": " + markdown.Text(f[1]))
		}
	}
	p.rules(u)
	p.states(u)
	p.changes(u)
	p.errors(u)
}

func (p *page) heading(text string) {
	p.line("")
	p.line("### " + text)
	p.line("")
}

func (p *page) rules(u Union) {
	p.heading("Rules")
	if len(u.Rules) == 0 {
		p.line("None.")
	} else {
		p.ruleTable(u)
	}
	if u.AllOf != nil {
		p.heading("Schema (allOf)")
		p.WriteString(markdown.Block("yaml", u.allOf()))
	}
}

func (p *page) ruleTable(u Union) {
	p.row("", "kind", "error", "once", "executions", "cost", "of the limit", "message", "bytes")
	p.line("|--:|---|---|--:|--:|--:|--:|--:|--:|")
	var cel page
	for i, r := range u.Rules {
		n := strconv.Itoa(i + 1)
		bytes := number(uint64(r.Bytes))
		if r.Present {
			bytes = "by hand"
		}
		p.row(n, r.Kind, markdown.Text(r.heading()), number(r.CostOnce), number(r.Executions), number(r.Cost),
			markdown.Text(share(r.PercentOfLimit)), number(r.MessageCost), bytes)
		if i > 0 {
			cel.line("")
		}
		where := ""
		if r.Schema != u.Schema {
			where = " on " + plain(cmp.Or(r.Object, "the root"))
		}
		if r.OptionalOldSelf {
			where += " with optionalOldSelf"
		}
		cel.line("// rule " + n + where)
		cel.line(plain(r.Rule))
		if r.MessageExpression != "" {
			cel.line("// its message")
			cel.line(plain(r.MessageExpression))
		}
	}
	p.line("")
	p.WriteString(markdown.Block("cel", cel.String()))
}

func (p *page) states(u Union) {
	p.heading("States")
	head := []string{}
	if u.Discriminator != "" {
		head = append(head, markdown.Code(u.Discriminator))
	}
	p.row(append(head, "members accepted", "rejected")...)
	p.line(strings.Repeat("|---", len(head)+2) + "|")
	for _, s := range u.States {
		var row []string
		if u.Discriminator != "" {
			values := each(s.Values, func(v string) string {
				if v == "" {
					return "unset"
				}
				return markdown.Code(v)
			})
			if s.AnyOther {
				values = append(values, "any other")
			}
			row = append(row, strings.Join(values, ", "))
		}
		rejected := []string{}
		for _, r := range s.Rejected {
			rejected = append(rejected, markdown.Text(r.When+": "+r.Why))
		}
		if len(rejected) == 0 {
			rejected = append(rejected, "nothing")
		}
		p.row(append(row, markdown.Text(s.Accepted), strings.Join(rejected, "; "))...)
	}
}

func (p *page) changes(u Union) {
	p.heading("Updates")
	for _, s := range u.OnUpdate {
		p.line("- " + markdown.Text(s))
	}
	if diagram := u.mermaid(); diagram != "" {
		p.line("")
		p.WriteString(markdown.Block("mermaid", diagram))
	}
	if !u.restricted() {
		return
	}
	p.line("")
	p.row("from", "to")
	p.line("|---|---|")
	for _, c := range u.Changes {
		p.row(markdown.Text(u.shown(c.From)), markdown.Text(u.becomes(c)))
	}
}

func (p *page) errors(u Union) {
	if len(u.Errors) == 0 {
		return
	}
	p.heading("What users will read")
	p.line(markdown.Text(u.readings()))
	p.line("")
	var b page
	for i, s := range u.Errors {
		if i > 0 {
			b.line("")
		}
		b.line("# " + s.Situation)
		for _, e := range s.lines() {
			b.line(e)
		}
	}
	p.WriteString(markdown.Block("text", b.String()))
}
