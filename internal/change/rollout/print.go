package rollout

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/unioncel/unioncel/internal/report/markdown"
	"github.com/unioncel/unioncel/pkg/diag"
)

// JSON prints a plan as JSON.
func JSON(w io.Writer, p Plan) error {
	if p.Steps == nil {
		p.Steps = []Step{}
	}
	if p.Versions == nil {
		p.Versions = []Version{}
	}
	return diag.WriteJSON(w, p)
}

// Text prints a plan for people.
func Text(w io.Writer, p Plan) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s: %s\n\n", line(p.CRD), p.Verdict)
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "%2d. %-7s  %s\n", i+1, s.State, line(s.Title))
		for _, l := range s.lines() {
			fmt.Fprintf(&b, "             %s\n", line(l))
		}
	}
	if len(p.Versions) > 1 {
		b.WriteString("\n")
		t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
		for _, row := range p.table() {
			fmt.Fprintln(t, strings.Join(row, "\t"))
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// lines are what is below the title of a step.
func (s Step) lines() []string {
	var l []string
	if s.Reason != "" {
		l = append(l, s.Reason)
	}
	for _, d := range s.Details {
		l = append(l, "- "+d)
	}
	for i, r := range s.commands() {
		if i < len(s.Run) {
			r = "$ " + r
		}
		l = append(l, r)
	}
	return l
}

// commands are those of the step, and what the last one reads, as one types them.
func (s Step) commands() []string {
	l := slices.Clone(s.Run)
	if s.Manifest != "" && len(l) > 0 {
		l[len(l)-1] += " <<'EOF'"
		l = append(l, strings.Split(strings.TrimSuffix(s.Manifest, "\n"), "\n")...)
		l = append(l, "EOF")
	}
	return l
}

// line is text of a file on one line, without what a terminal might obey.
func line(s string) string { return diag.Escape(strings.ReplaceAll(s, "\n", `\n`)) }

func (p Plan) table() [][]string {
	rows := [][]string{{"VERSION", "SERVED", "STORAGE", "STORED", "MANAGED", "REMOVABLE"}}
	word := map[bool]string{true: "yes", false: "no"}
	for _, v := range p.Versions {
		stored, managed := "unknown", "unknown"
		if v.Stored != nil {
			stored = word[*v.Stored]
		}
		if v.Managed != nil {
			managed = fmt.Sprint(*v.Managed)
		}
		rows = append(rows, []string{line(v.Name), word[v.Served], word[v.Storage], stored, managed, v.Removable + ": " + v.Why})
	}
	return rows
}

// Markdown prints a plan for a comment on a pull request.
func Markdown(w io.Writer, p Plan) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "### %s: %s\n", markdown.Text(p.CRD), p.Verdict)
	for i, s := range p.Steps {
		fmt.Fprintf(&b, "\n%d. **%s**: %s\n", i+1, s.State, strings.TrimSpace(markdown.Text(s.Title+". "+s.Reason)))
		for _, d := range s.Details {
			fmt.Fprintf(&b, "   - %s\n", markdown.Text(d))
		}
		if len(s.Run) == 0 {
			continue
		}
		b.WriteString("\n   ~~~~sh\n")
		for _, l := range s.commands() {
			fmt.Fprintf(&b, "   %s\n", line(l))
		}
		b.WriteString("   ~~~~\n")
	}
	if len(p.Versions) > 1 {
		b.WriteString("\n")
		for i, row := range p.table() {
			for k := range row {
				row[k] = markdown.Text(row[k])
			}
			fmt.Fprintf(&b, "| %s |\n", strings.Join(row, " | "))
			if i == 0 {
				b.WriteString(strings.Repeat("|---", len(row)) + "|\n")
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}
