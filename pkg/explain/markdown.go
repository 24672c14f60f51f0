package explain

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"
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
	p.line("# " + code(c.Name))
	p.line("")
	p.line(c.total() + ".")
	p.line("")
	p.row("version", "cost before", "added", "sum", "of the limit")
	p.line("|---|--:|--:|--:|--:|")
	for _, v := range c.Versions {
		p.row(escaped(v.Name), number(v.CostBefore), number(v.CostAdded), number(v.Cost), escaped(share(v.PercentOfLimit)))
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
		title += " " + code(u.Name)
	}
	object := "the root"
	if u.Object != "" {
		object = code(u.Object)
	}
	p.line(title + " of " + object + " in version " + escaped(u.Version))
	p.line("")
	p.line("Declared at " + code(u.declared()) + ".")
	p.line("")
	for _, f := range u.facts(false) {
		switch f[0] {
		case "discriminator":
			p.line("- " + f[0] + ": " + code(f[1]))
		case "":
			p.line("  - " + escaped(f[1]))
		case "members":
			p.line("- members:")
			p.line("  - " + escaped(f[1]))
		default:
			p.line("- " + f[0] + ": " + escaped(f[1]))
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
		p.fenced("yaml", u.allOf())
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
		p.row(n, r.Kind, escaped(r.heading()), number(r.CostOnce), number(r.Executions), number(r.Cost),
			escaped(share(r.PercentOfLimit)), number(r.MessageCost), bytes)
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
	p.fenced("cel", cel.String())
}

func (p *page) states(u Union) {
	p.heading("States")
	head := []string{}
	if u.Discriminator != "" {
		head = append(head, code(u.Discriminator))
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
				return code(v)
			})
			if s.AnyOther {
				values = append(values, "any other")
			}
			row = append(row, strings.Join(values, ", "))
		}
		rejected := []string{}
		for _, r := range s.Rejected {
			rejected = append(rejected, escaped(r.When+": "+r.Why))
		}
		if len(rejected) == 0 {
			rejected = append(rejected, "nothing")
		}
		p.row(append(row, escaped(s.Accepted), strings.Join(rejected, "; "))...)
	}
}

func (p *page) changes(u Union) {
	p.heading("Updates")
	for _, s := range u.OnUpdate {
		p.line("- " + escaped(s))
	}
	if diagram := u.mermaid(); diagram != "" {
		p.line("")
		p.fenced("mermaid", diagram)
	}
	if !u.restricted() {
		return
	}
	p.line("")
	p.row("from", "to")
	p.line("|---|---|")
	for _, c := range u.Changes {
		p.row(escaped(u.shown(c.From)), escaped(u.becomes(c)))
	}
}

func (p *page) errors(u Union) {
	if len(u.Errors) == 0 {
		return
	}
	p.heading("What users will read")
	p.line(escaped(u.readings()))
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
	p.fenced("text", b.String())
}

// fenced writes a block whose fence is longer than any in it.
func (p *page) fenced(language, text string) {
	fence := strings.Repeat("`", max(3, backticks(text)+1))
	p.line(fence + language)
	p.WriteString(text)
	p.line(fence)
}

// backticks is the length of the longest run of backticks.
func backticks(text string) int {
	longest, n := 0, 0
	for _, r := range text {
		if n++; r != '`' {
			n = 0
		}
		longest = max(longest, n)
	}
	return longest
}

// code shows a name as code. In a span of backticks a table would end at a
// vertical bar, and backslashes before one mean different things to different
// readers; names with such characters are written with entities.
func code(name string) string {
	name = plain(name)
	if name == strings.TrimSpace(name) && name != "" && !strings.ContainsAny(name, "`|\\") {
		return "`" + name + "`"
	}
	return "<code>" + escaped(name) + "</code>"
}

// escaped writes text that Markdown and HTML would treat as markup, or GitHub
// for a formula, as entities.
func escaped(text string) string {
	var b strings.Builder
	for i, r := range plain(text) {
		if strings.ContainsRune("\\`*_[]<>|~&$@#", r) || i == 0 && strings.ContainsRune("+-= ", r) {
			fmt.Fprintf(&b, "&#%d;", r)
			continue
		}
		b.WriteRune(r)
	}
	return strings.ReplaceAll(b.String(), "://", "&#58;//")
}
