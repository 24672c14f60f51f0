package report_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// The lines that a diagram may have: a state whose label has harmless characters and character
// codes, and an edge.
var (
	stateLine = regexp.MustCompile(`^    state "((?:[A-Za-z0-9 ,./-]|[^\x00-\x7F]|#\d+;)+)" as (s\d+)$`)
	edgeLine  = regexp.MustCompile(`^    (s\d+) --> (s\d+)$`)
)

// diagram is a parsed Mermaid diagram.
type diagram struct {
	states []string
	edges  []string // "label -> label"
}

// diagrams parses the diagrams in a Markdown text and checks their syntax.
func diagrams(t *testing.T, markdown string) []diagram {
	t.Helper()
	var l []diagram
	inside := false
	ids := map[string]string{}
	for line := range strings.Lines(markdown) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case line == "```mermaid":
			inside, ids = true, map[string]string{}
			l = append(l, diagram{})
			continue
		case strings.HasPrefix(line, "```"):
			inside = false
		}
		if !inside {
			continue
		}
		d := &l[len(l)-1]
		known := func(id string) string {
			label, ok := ids[id]
			if !ok {
				t.Errorf("no state %s for %q", id, line)
			}
			return label
		}
		if found := stateLine.FindStringSubmatch(line); found != nil {
			if _, twice := ids[found[2]]; twice {
				t.Errorf("%s occurs twice", found[2])
			}
			label, _, _ := strings.Cut(found[1], "#58; ") // and the members
			ids[found[2]] = label
			d.states = append(d.states, label)
		} else if found := edgeLine.FindStringSubmatch(line); found != nil {
			d.edges = append(d.edges, known(found[1])+" -> "+known(found[2]))
		} else if line != "stateDiagram-v2" || len(ids) > 0 {
			t.Errorf("Mermaid does not take %q", line)
		}
	}
	if inside {
		t.Error("a diagram has no end")
	}
	return l
}

func markdownOf(t *testing.T, crd report.Explanation) string {
	t.Helper()
	return report.ExplanationDocument([]report.Explanation{crd}).Markdown()
}

// many returns a union of n members m0 to mN with values V0 to VN.
func many(n int, keys string) string {
	var mapping, properties []string
	for i := range n {
		mapping = append(mapping, fmt.Sprintf("m%d: V%d", i, i))
		properties = append(properties, fmt.Sprintf("m%d: {type: object}", i))
	}
	return fmt.Sprintf(`spec:
  type: object
  x-kubernetes-unions: [{discriminator: type, fields-to-discriminateBy: {%s}%s}]
  properties: {type: {type: string, maxLength: 9}, %s}`, strings.Join(mapping, ", "), keys, strings.Join(properties, ", "))
}

func TestDiagrams(t *testing.T) {
	for _, tt := range []struct {
		name, properties string
		want             diagram
	}{
		{"a table", thing("{discriminator: kind, fields-to-discriminateBy: {a: A, b: B}, allowedChanges: {A: [None, ''], None: A}}"),
			diagram{states: []string{"kind unset", "kind A", "kind B", "kind None"}, edges: []string{
				"kind unset -> kind A", "kind unset -> kind B", "kind unset -> kind None", "kind A -> kind unset", "kind A -> kind None", "kind None -> kind A",
			}}},
		{"many, frozen", many(30, ", unmappedValues: Forbid, discriminatorChange: Forbid"),
			diagram{states: []string{"type unset", "type V0, V1, V2, V3, V4, V5, V6, V7 or 22 more"}, edges: []string{
				"type unset -> type V0, V1, V2, V3, V4, V5, V6, V7 or 22 more",
			}}},
		{"many, one way", many(30, ", unmappedValues: Forbid, allowedChanges: {V0: V1}"),
			diagram{states: []string{"type unset", "type V0", "type V1", "type V2, V3, V4, V5, V6, V7, V8, V9 or 20 more"}, edges: []string{
				"type unset -> type V0", "type unset -> type V1", "type unset -> type V2, V3, V4, V5, V6, V7, V8, V9 or 20 more",
				"type V0 -> type V1",
			}}},
		{"many to each other", many(7, ", unmappedValues: Forbid, allowedChanges: {"+
			"V0: [V1, V2, V3, V4, V5], V1: [V0, V2, V3, V4, V5], V2: [V0, V1, V3, V4, V5], V3: [V0, V1, V2, V4, V5], V4: [V0, V1, V2, V3, V5], V5: [V0, V1, V2, V3, V4], V6: V0}"),
			diagram{states: []string{"type unset", "type V0", "type V1, V2, V3, V4 or V5", "type V6"}, edges: []string{
				"type unset -> type V0", "type unset -> type V1, V2, V3, V4 or V5", "type unset -> type V6",
				"type V0 -> type V1, V2, V3, V4 or V5", "type V1, V2, V3, V4 or V5 -> type V0",
				"type V1, V2, V3, V4 or V5 -> type V1, V2, V3, V4 or V5", "type V6 -> type V0",
			}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := diagrams(t, markdownOf(t, explained(t, tt.properties, rules.Fine)))
			if len(l) != 1 {
				t.Fatalf("%d diagrams", len(l))
			}
			if got := l[0]; !slices.Equal(got.states, tt.want.states) || !slices.Equal(got.edges, tt.want.edges) {
				t.Errorf("%+v\nwant\n%+v", got, tt.want)
			}
		})
	}
}

// TestDiagramMeaning compares diagrams with pkg/union.
func TestDiagramMeaning(t *testing.T) {
	for _, declaration := range declarations {
		in := planOf(t, crd(thing(declaration)), rules.Fine)
		got, err := report.Explain(in)
		if err != nil {
			t.Fatal(err)
		}
		u := in.Unions[0].Union
		text := markdownOf(t, got)
		drawn := diagrams(t, text)
		all, none := strings.Contains(text, "changes: every change is allowed"), strings.Contains(text, "changes: no change is allowed")
		if u.Discriminator == "" || !all && !none && len(drawn) == 0 {
			continue
		}
		d := diagram{states: english.Each(u.Values, func(v string) string { return u.Discriminator + " " + v })}
		if len(drawn) > 0 {
			d = drawn[0]
		}
		for _, from := range u.Values {
			for _, to := range u.Values {
				a, b := selecting(u, from), selecting(u, to)
				labels := [2]string{u.Discriminator + " " + from, u.Discriminator + " " + to}
				if from == to || !slices.Contains(d.states, labels[0]) || !slices.Contains(d.states, labels[1]) {
					continue
				}
				allowed := len(u.ChangeViolations(a, b)) == 0
				if edge := all || slices.Contains(d.edges, labels[0]+" -> "+labels[1]); edge != allowed {
					t.Errorf("%s: %s to %s is allowed: %v; it is drawn: %v", declaration, from, to, allowed, edge)
				}
			}
		}
	}
}

// selecting returns the state with a value and all of its members.
func selecting(u *union.Union, value string) union.State {
	s := union.State{Value: value, Present: make([]bool, len(u.Members))}
	for _, i := range u.MembersOf(value) {
		s.Present[i] = true
	}
	return s
}

// TestNoDiagram asserts that a diagram that is too large, or says nothing, is omitted.
func TestNoDiagram(t *testing.T) {
	var rows []string
	for i := range 29 {
		rows = append(rows, fmt.Sprintf("V%d: V%d", i, i+1))
	}
	for name, properties := range map[string]string{
		"every change": thing("{members: [a, b]}"),
		"no change":    thing("{members: [a, b], cardinality: ExactlyOne, discriminatorChange: Forbid}"),
		"a long chain": many(30, ", allowedChanges: {"+strings.Join(rows, ", ")+"}"),
		"one state":    thing("{members: [a], cardinality: ExactlyOne}"),
		"no selection": thing("{members: [a, b], cardinality: AtLeastOne}"),
	} {
		markdown := markdownOf(t, explained(t, properties, rules.Fine))
		if strings.Contains(markdown, "mermaid") {
			t.Errorf("%s is drawn:\n%s", name, markdown)
		}
	}
}
