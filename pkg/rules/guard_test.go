package rules_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// TestRemovalGuard compares the guards with Union.Removable. For every state, it keeps the union
// object, and removes it together with each property on its path. Paths have one to three properties,
// in turn or, with [unioncases.Exhaustive], all of them.
func TestRemovalGuard(t *testing.T) {
	plain, discriminated := unioncases.Shape{Members: 3}, unioncases.Shape{Members: 2, Discriminated: true, TwoValues: true, Enum: true}
	boolean := unioncases.Shape{Members: 2, Discriminated: true, Type: union.BooleanValue}
	tests := []struct {
		unioncases.Shape
		name, keys string
	}{
		{plain, "plain Forbid", "discriminatorChange: Forbid"},
		{plain, "plain exactly one, Forbid", "cardinality: ExactlyOne, discriminatorChange: Forbid"},
		{plain, "plain empty table", "allowedChanges: {}"},
		{plain, "plain table", `allowedChanges: {a: b, b: [c, ""]}`},
		{plain, "plain removable", `allowedChanges: {a: "", b: "", c: ""}`},
		{plain, "plain Clear", ""},
		{unioncases.Shape{Members: 3, EmptyIsUnset: true}, "plain Forbid, emptyIsUnset", "emptyIsUnset: [a, b, c], discriminatorChange: Forbid"},
		{discriminated, "Forbid", "discriminatorChange: Forbid"},
		{discriminated, "Allow", "discriminatorChange: Allow"},
		{discriminated, "table", `allowedChanges: {A: [B, ""], B: [A], None: ""}`},
		{discriminated, "long table", `allowedChanges: {A: "", B: "", None: "", A2: ""}`},
		{boolean, "boolean table", `allowedChanges: {"true": [false, ""]}`},
		{boolean, "removable boolean", `allowedChanges: {"true": [false, ""], "false": ""}`},
		{discriminated, "deduced Forbid", "deduceInvalidDiscriminator: true, discriminatorChange: Forbid"},
		{discriminated, "deduced table", `deduceInvalidDiscriminator: true, allowedChanges: {A: [""], B: [A, A2]}`},
		{discriminated, "deduced long table", `deduceInvalidDiscriminator: true, allowedChanges: {A: "", B: "", None: "", A2: ""}`},
	}
	for i, tt := range tests {
		declaration := "members: [a, b, c]"
		if tt.Discriminated {
			declaration = "discriminator: type, fields-to-discriminateBy: {a: [A, A2], b: B}"
		}
		if tt.Type == union.BooleanValue {
			declaration = "discriminator: type, fields-to-discriminateBy: {a: true, b: false}"
		}
		if tt.keys != "" {
			declaration += ", " + tt.keys
		}
		for _, links := range unioncases.Some([]int{1, 2, 3}, 3, i) {
			t.Run(fmt.Sprintf("%s, %d links", tt.name, links), func(t *testing.T) {
				t.Parallel()
				g := newGuarded(t, tt.Shape, "{"+declaration+"}", linkNames[:links])
				g.run(t)
			})
		}
	}
}

// linkNames are the properties on the path to the union object. CEL has to escape two of them.
var linkNames = []string{"spec", "in", "my-source"}

// guarded is a union object nested in other objects.
type guarded struct {
	u      *union.Union
	links  []string
	states []unioncases.State
	*server
}

func newGuarded(t *testing.T, s unioncases.Shape, declaration string, links []string) *guarded {
	schema := schemaOf(t, s.Schema())
	g := &guarded{u: unionOf(t, declaration, schema), links: links, states: s.States(), server: &server{}}
	at := structural(t, schema)
	for i := range slices.Backward(links) {
		at = &structuralschema.Structural{
			Generic:    structuralschema.Generic{Type: "object"},
			Properties: map[string]structuralschema.Structural{links[i]: *at},
		}
		r, ok := rules.RemovalGuard(g.u, links[i:])
		if want := g.u.Guarded() && slices.ContainsFunc(g.states, func(st unioncases.State) bool { return !g.u.Removable(st.State) }); ok != want {
			t.Fatalf("there is a guard: %t", ok)
		}
		if !ok {
			return g
		}
		compiled(t, at, []rules.Rule{r})
		at.XValidations = append(at.XValidations, markedRule(t, i, r))
		g.rules = append([]rules.Rule{r}, g.rules...)
	}
	g.validator = schemacel.NewValidator(at, false, celconfig.PerCallLimit)
	return g
}

func (g *guarded) run(t *testing.T) {
	for turn, st := range g.states {
		object := st.Objects[turn%len(st.Objects)]
		old := g.nest(object, len(g.links))
		for _, next := range g.states {
			if l := g.fails(t, old, g.nest(next.Objects[0], len(g.links))); len(l) > 0 {
				t.Errorf("%v -> %v: %v", old, next.Objects[0], l)
			}
		}
		for level := range g.links {
			for _, left := range []map[string]any{{}, {g.links[level]: nil}} {
				l := g.fails(t, old, g.nest(left, level))
				switch {
				case g.u.Removable(st.State) && len(l) > 0:
					t.Errorf("%v is removable: %v", old, l)
				case !g.u.Removable(st.State) && (len(l) != 1 || l[0].rule != level):
					t.Errorf("%v must be kept from losing link %d: %v", old, level, l)
				case len(l) > 0 && l[0].field != strings.Join(g.links[:level+1], "."):
					t.Errorf("%v: error at %s", old, l[0].field)
				}
			}
			// An ancestor of an absent property may be removed.
			if l := g.fails(t, g.nest(map[string]any{}, level), map[string]any{}); len(l) > 0 {
				t.Errorf("nothing removed: %v", l)
			}
		}
		if t.Failed() {
			return
		}
	}
}

// nest returns object below the first n links.
func (g *guarded) nest(object map[string]any, n int) map[string]any {
	for _, link := range slices.Backward(g.links[:n]) {
		object = map[string]any{link: object}
	}
	return object
}

func TestRemovalGuardMessages(t *testing.T) {
	schema := schemaOf(t, unioncases.Shape{Members: 3, Discriminated: true}.Schema())
	tests := []struct{ declaration, want string }{
		{"{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, discriminatorChange: Forbid}",
			"source may not be removed while source.from.type is set"},
		{"{name: origin, discriminator: type, fields-to-discriminateBy: {a: A, b: B, c: C}, allowedChanges: {A: '', B: [A, '']}}",
			"origin: source may not be removed while source.from.type is set, unless it is 'A' or 'B'"},
		{"{members: [a, b, c], discriminatorChange: Forbid}",
			"source may not be removed while source.from.a or source.from.b or source.from.c is set"},
		{"{members: [a, b, c], allowedChanges: {b: ['']}}",
			"source may not be removed while source.from.a or source.from.c is set"},
		{"{members: [[a, c], b], discriminatorChange: Forbid}",
			"source may not be removed while source.from.a or source.from.c or source.from.b is set"},
	}
	for _, tt := range tests {
		r, ok := rules.RemovalGuard(unionOf(t, tt.declaration, schema), []string{"source", "from"})
		if !ok || r.Message != tt.want {
			t.Errorf("%s: %q, want %q", tt.declaration, r.Message, tt.want)
		}
		if r.FieldPath != ".source" || r.Reason != rules.ReasonRequired {
			t.Errorf("%s: %s at %s", tt.declaration, r.Reason, r.FieldPath)
		}
	}
	if _, ok := rules.RemovalGuard(unionOf(t, tests[0].declaration, schema), nil); ok {
		t.Error("a guard without a link")
	}
}
