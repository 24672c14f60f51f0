package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/english"
)

// If a diagram has more than maxEdges edges or maxStates states, equivalent selections share a
// state. If it then has more than maxGroupedEdges edges or maxStates states, there is no diagram.
const (
	maxEdges        = 24
	maxGroupedEdges = 40
	maxStates       = 24
	maxShown        = 8 // selections that a state names
	maxListed       = 8 // changes in the text
)

// graph is a relation between the states of a diagram.
type graph struct {
	labels []string
	edges  [][2]int
}

// mermaid returns a state diagram of the changes between selections, unless all or none are allowed, and
// the changes as text, unless there are many.
func (s *unionPlan) mermaid() (diagram, sentence string) {
	choices, changes := s.choices(), s.Changes()
	n := len(choices)
	if n < 2 {
		return "", ""
	}
	allowed := make([][]bool, n)
	g := graph{}
	for i, from := range choices {
		g.labels = append(g.labels, s.stateLabel(from))
		allowed[i] = make([]bool, n)
		for j, to := range choices {
			if i != j && len(changes.Broken(from.state, to.state)) == 0 { // both states are legal
				allowed[i][j] = true
				g.edges = append(g.edges, [2]int{i, j})
			}
		}
	}
	switch len(g.edges) {
	case n * (n - 1):
		return "", "every change is allowed"
	case 0:
		return "", "no change is allowed"
	}
	if len(g.edges) <= maxListed {
		var l []string
		for i, from := range choices {
			var to []string
			for j, c := range choices {
				if allowed[i][j] {
					to = append(to, c.label)
				}
			}
			if len(to) > 0 {
				l = append(l, from.label+" to "+english.List(to, "or"))
			}
		}
		sentence = strings.Join(l, "; ")
	}
	if len(g.edges) > maxEdges || n > maxStates {
		g = s.grouped(choices, allowed)
	}
	if len(g.edges) > maxGroupedEdges || len(g.labels) > maxStates {
		return "", sentence
	}
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for i, label := range g.labels {
		fmt.Fprintf(&b, "    state \"%s\" as s%d\n", label, i)
	}
	for _, e := range g.edges {
		fmt.Fprintf(&b, "    s%d --> s%d\n", e[0], e[1])
	}
	return b.String(), sentence
}

// grouped draws interchangeable selections as one state. An edge from this state to itself means
// that the selections may become each other.
func (s *unionPlan) grouped(choices []choice, allowed [][]bool) graph {
	var groups [][]int
	for i := range allowed {
		g := slices.IndexFunc(groups, func(group []int) bool {
			return !slices.ContainsFunc(group, func(j int) bool { return !exchangeable(allowed, i, j) })
		})
		if g < 0 {
			groups = append(groups, []int{i})
		} else {
			groups[g] = append(groups[g], i)
		}
	}
	g := graph{}
	for i, group := range groups {
		var together []choice
		for _, k := range group {
			together = append(together, choices[k])
		}
		g.labels = append(g.labels, s.stateLabel(together...))
		for j, other := range groups {
			from, to := group[0], other[len(other)-1]
			if allowed[from][to] {
				g.edges = append(g.edges, [2]int{i, j})
			}
		}
	}
	return g
}

// exchangeable reports whether the relation is the same if i and j are swapped.
func exchangeable(allowed [][]bool, i, j int) bool {
	for k := range allowed {
		if k != i && k != j && (allowed[i][k] != allowed[j][k] || allowed[k][i] != allowed[k][j]) {
			return false
		}
	}
	return allowed[i][j] == allowed[j][i]
}

// stateLabel returns the label of a state for use in quotes.
func (s *unionPlan) stateLabel(choices ...choice) string {
	var l []string
	for i, c := range choices {
		if i == maxShown && len(choices) > maxShown+1 {
			l = append(l, fmt.Sprintf("%d more", len(choices)-maxShown))
			break
		}
		l = append(l, c.label)
	}
	text := english.List(l, "or")
	if s.Discriminator != "" {
		text = plainText(s.Discriminator) + " " + text
		if len(choices) == 1 {
			var set []string
			for i, m := range s.Members {
				if choices[0].state.Present[i] {
					set = append(set, plainText(m.Name))
				}
			}
			text += ": " + cmp.Or(english.List(set, "and"), "no member")
		}
	}
	return mermaidText(text)
}

// mermaidText replaces each character that Mermaid or HTML could interpret by its Mermaid character
// code.
func mermaidText(text string) string {
	var b strings.Builder
	for _, r := range text {
		safe := r == ' ' || r == ',' || r == '.' || r == '-' || r == '/' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
		if safe || r > 127 {
			b.WriteRune(r)
			continue
		}
		fmt.Fprintf(&b, "#%d;", r)
	}
	return b.String()
}
