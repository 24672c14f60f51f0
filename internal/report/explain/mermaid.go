package explain

import (
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
)

// graph is a relation between the states of a diagram.
type graph struct {
	labels []string
	edges  [][2]int
}

// mermaid returns a state diagram of the changes between selections, or "" if there is nothing to
// draw.
func (u Union) mermaid() string {
	n := len(u.Changes)
	if n < 2 {
		return ""
	}
	allowed := u.relation()
	g := graph{}
	total := 0
	for i, c := range u.Changes {
		g.labels = append(g.labels, u.stateLabel([]Selection{c.From}))
		for j := range u.Changes {
			if allowed[i][j] {
				g.edges = append(g.edges, [2]int{i, j})
				total++
			}
		}
	}
	note := ""
	switch total {
	case n * (n - 1):
		note = "every change is allowed"
		g.edges = nil
	case 0:
		note = "no change is allowed"
	}
	if len(g.edges) > maxEdges || n > maxStates {
		g = u.grouped(allowed, note == "")
	}
	if len(g.edges) > maxGroupedEdges || len(g.labels) > maxStates {
		return ""
	}
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for i, label := range g.labels {
		fmt.Fprintf(&b, "    state \"%s\" as s%d\n", label, i)
	}
	for _, e := range g.edges {
		fmt.Fprintf(&b, "    s%d --> s%d\n", e[0], e[1])
	}
	if note != "" {
		fmt.Fprintf(&b, "    note right of s0 : %s\n", note)
	}
	return b.String()
}

// relation returns which selection may become which other one, by index in u.Changes.
func (u Union) relation() [][]bool {
	allowed := make([][]bool, len(u.Changes))
	for i, c := range u.Changes {
		allowed[i] = make([]bool, len(u.Changes))
		for j, to := range u.Changes {
			allowed[i][j] = slices.Contains(c.To, to.From)
		}
	}
	return allowed
}

// grouped draws interchangeable selections as one state. An edge from this state to itself means
// that the selections may become each other.
func (u Union) grouped(allowed [][]bool, edges bool) graph {
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
		selections := make([]Selection, len(group))
		for k, index := range group {
			selections[k] = u.Changes[index].From
		}
		g.labels = append(g.labels, u.stateLabel(selections))
		for j, other := range groups {
			from, to := group[0], other[len(other)-1]
			if edges && allowed[from][to] {
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
func (u Union) stateLabel(selections []Selection) string {
	var l []string
	for i, s := range selections {
		if i == maxShown && len(selections) > maxShown+1 {
			l = append(l, fmt.Sprintf("%d more", len(selections)-maxShown))
			break
		}
		switch {
		case s.AnyOther:
			l = append(l, "any other")
		case s.Value == "":
			l = append(l, "unset")
		default:
			l = append(l, plain(s.Value))
		}
	}
	text := english.List(l, "or")
	if u.Discriminator != "" {
		text = plain(u.Discriminator) + " " + text
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
