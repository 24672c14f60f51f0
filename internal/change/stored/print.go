package stored

import (
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/unioncel/unioncel/internal/report/markdown"
	"github.com/unioncel/unioncel/pkg/diag"
)

// meanings say what the states are.
var meanings = [Frozen + 1]string{
	Spared:   "invalid, but writes that leave the invalid values unchanged are accepted",
	Hindered: "invalid, and some writes that leave the invalid values unchanged are rejected",
	Frozen:   "rejected even unchanged: a storage migration fails",
}

// counts are the numbers of objects in each state that has some: "3 legal, 1 frozen".
func counts(states [Frozen + 1]int) string {
	var l []string
	for state, n := range states {
		if n > 0 {
			l = append(l, fmt.Sprintf("%d %s", n, State(state)))
		}
	}
	return strings.Join(l, ", ")
}

func objects(n int) string {
	if n == 1 {
		return "1 object"
	}
	return fmt.Sprintf("%d objects", n)
}

// name is that of the object, with its namespace.
func (v Verdict) name() string { return strings.TrimPrefix(v.Namespace+"/"+v.Name, "/") }

// refused says which writes are refused.
func (v Verdict) refused() string {
	var l []string
	for _, w := range v.RefusedWrites() {
		l = append(l, w.String())
	}
	return strings.Join(l, ", ")
}

// InWords is the state, and in which versions the object is not legal, unless in all.
func (v Verdict) InWords() string {
	said := v.State().String()
	var in []string
	for _, o := range v.Versions {
		if o.State() > Legal {
			in = append(in, o.Version)
		}
	}
	if len(in) > 0 && len(in) < len(v.Versions) {
		said += " in " + strings.Join(in, ", ")
	}
	return said
}

// Text writes summaries for people. An error is that of w.
func Text(w io.Writer, summaries []*Summary) error {
	var b bytes.Buffer
	line := func(format string, args ...any) { b.WriteString(diag.Escape(fmt.Sprintf(format, args...)) + "\n") }
	for i, s := range summaries {
		if i > 0 {
			line("")
		}
		line("%s: %s", s.Kind, objects(s.Objects))
		for state, n := range s.States {
			if n > 0 {
				text := fmt.Sprintf("%7d %-8s  %s", n, State(state), meanings[state])
				line("%s", strings.TrimRight(text, " "))
			}
		}
		for _, r := range s.Reasons() {
			line("")
			line("%s: %s", r.Constraint, counts(r.States))
			if r.Constraint.IsRule() {
				line("    %s", oneLine(r.Constraint.Rule))
			}
			line("    %s", oneLine(r.Message))
			for _, e := range r.Examples() {
				said := e.InWords()
				if refused := e.refused(); refused != "" {
					said += ", refused: " + refused
				}
				line("  %s: %s: %s", e.Pos, e.name(), said)
				if e.Repair != nil {
					line("    %s", e.Repair.Command)
				}
			}
			if more := r.Objects - len(r.Examples()); more > 0 {
				line("  and %d more", more)
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// Markdown writes summaries as GitHub renders them. An error is that of w.
func Markdown(w io.Writer, summaries []*Summary) error {
	var b bytes.Buffer
	for i, s := range summaries {
		if i > 0 {
			b.WriteString("\n")
		}
		fmt.Fprintf(&b, "## Stored objects: %s\n\n| objects | | |\n|--:|---|---|\n", markdown.Text(s.Kind.String()))
		for state, n := range s.States {
			if n > 0 {
				fmt.Fprintf(&b, "| %d | %s | %s |\n", n, State(state), meanings[state])
			}
		}
		reasons := s.Reasons()
		if len(reasons) == 0 {
			continue
		}
		b.WriteString("\n| what they break | | objects | repaired by a patch |\n|---|---|---|--:|\n")
		for _, r := range reasons {
			fmt.Fprintf(&b, "| %s | %s | %s | %d |\n", markdown.Text(r.Constraint.String()), markdown.Text(r.Message), counts(r.States), r.Repairable)
		}
		for _, r := range reasons {
			fmt.Fprintf(&b, "\n### %s\n\n| object | | refused |\n|---|---|---|\n", markdown.Text(r.Constraint.String()))
			var commands []string
			for _, e := range r.Examples() {
				fmt.Fprintf(&b, "| %s | %s | %s |\n", markdown.Text(e.name()), e.InWords(), e.refused())
				if e.Repair != nil {
					commands = append(commands, diag.Escape(e.Repair.Command))
				}
			}
			if more := r.Objects - len(r.Examples()); more > 0 {
				fmt.Fprintf(&b, "| and %d more | | |\n", more)
			}
			if len(commands) > 0 {
				b.WriteString("\n" + markdown.Block("sh", strings.Join(commands, "\n")+"\n"))
			}
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// summaryJSON is a summary as JSON.
type summaryJSON struct {
	Group   string         `json:"group"`
	Kind    string         `json:"kind"`
	Objects int            `json:"objects"`
	States  map[string]int `json:"states"`
	Reasons []reasonJSON   `json:"reasons"`
}

type reasonJSON struct {
	Constraint Constraint     `json:"constraint"`
	Message    string         `json:"message"`
	Objects    int            `json:"objects"`
	States     map[string]int `json:"states"`
	Repairable int            `json:"repairable"`
	Examples   []exampleJSON  `json:"examples"`
}

type exampleJSON struct {
	File      string        `json:"file,omitempty"`
	Line      int           `json:"line,omitempty"`
	Version   string        `json:"version"`
	Namespace string        `json:"namespace,omitempty"`
	Name      string        `json:"name"`
	State     State         `json:"state"`
	Versions  []versionJSON `json:"versions"`
	Repair    *Repair       `json:"repair"`
}

type versionJSON struct {
	Version  string              `json:"version"`
	State    State               `json:"state"`
	Problems []Problem           `json:"problems"`
	Asked    []Write             `json:"asked"`
	Refused  map[Write][]Problem `json:"refused"`
	Lost     []string            `json:"lost,omitempty"`
}

func stateCounts(states [Frozen + 1]int) map[string]int {
	m := map[string]int{}
	for state, n := range states {
		m[State(state).String()] = n
	}
	return m
}

// Data returns summaries for programs, to be written as JSON.
func Data(summaries []*Summary) any {
	l := []summaryJSON{}
	for _, s := range summaries {
		j := summaryJSON{s.Kind.Group, s.Kind.Kind, s.Objects, stateCounts(s.States), []reasonJSON{}}
		for _, r := range s.Reasons() {
			reason := reasonJSON{r.Constraint, r.Message, r.Objects, stateCounts(r.States), r.Repairable, []exampleJSON{}}
			for _, e := range r.Examples() {
				example := exampleJSON{e.Pos.File, e.Pos.Line, e.Version, e.Namespace, e.Name, e.State(), nil, e.Repair}
				for _, in := range e.Versions {
					example.Versions = append(example.Versions, versionJSON{in.Version, in.State(), append([]Problem{}, in.Problems...), in.Asked, in.Refused, in.Lost})
				}
				reason.Examples = append(reason.Examples, example)
			}
			j.Reasons = append(j.Reasons, reason)
		}
		l = append(l, j)
	}
	return l
}

// Diagnostics are the objects that are kept as diagnostics: errors are those that are frozen,
// warnings those that are hindered.
func Diagnostics(summaries []*Summary) diag.List {
	var l diag.List
	for _, s := range summaries {
		for _, r := range s.Reasons() {
			for _, e := range r.Examples() {
				d := diag.Diagnostic{Code: diag.StoredObject, Severity: severities[e.State()], Pos: e.Pos, Path: r.Constraint.Path.String(),
					Message: fmt.Sprintf("%s is %s: %s", e.Verdict, e.InWords(), oneLine(r.said(e.Verdict)))}
				if e.Repair != nil {
					d.Hint = e.Repair.Command
				}
				l = append(l, d)
			}
		}
	}
	return l
}

var severities = [Frozen + 1]diag.Severity{Legal: diag.Info, Spared: diag.Info, Hindered: diag.Warning, Frozen: diag.Error}

// said is what the server says of an object about the constraint.
func (r *Reason) said(v Verdict) string {
	for _, p := range v.Problems() {
		if p.Constraint.String() == r.Constraint.String() && p.Constraint.Rule == r.Constraint.Rule {
			return p.String()
		}
	}
	return r.Message
}
