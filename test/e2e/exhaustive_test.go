package e2e

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/union"
)

// absent is the value of an absent property.
var absent = struct{}{}

// shape is a union object with all values of its properties.
type shape struct {
	name        string
	schema      string // the properties of the union object, in flow style
	declaration string
	properties  []string
	values      [][]any // by property
	encoding    compile.Encoding
}

var shapes = []shape{
	{
		name:   "Clear",
		schema: "{type: {type: string, nullable: true}, a: {type: object}, b: {type: string}}",
		declaration: `{discriminator: type, fields-to-discriminateBy: {a: A, b: [B, "it's"]},
			optionalMembers: [b]}`,
		properties: []string{"type", "a", "b"},
		values: [][]any{
			{absent, nil, "", "A", "B", "it's", "Memberless"},
			{absent, map[string]any{}},
			{absent, ""},
		},
	}, {
		name:        "Members",
		schema:      "{a: {type: string}, b: {type: array, items: {type: string}}, c: {type: integer}}",
		declaration: "{members: [a, b, c], cardinality: ExactlyOne, emptyIsUnset: [b, c]}",
		properties:  []string{"a", "b", "c"},
		values: [][]any{
			{absent, ""},
			{absent, []any{}, []any{""}},
			{absent, 0, 1},
		},
	}, {
		name:        "Group",
		schema:      "{a: {type: string}, b: {type: string}, c: {type: boolean}}",
		declaration: "{members: [a, [b, c]], cardinality: ExactlyOne, emptyIsUnset: [c], optionalMembers: [c], discriminatorChange: Forbid}",
		properties:  []string{"a", "b", "c"},
		values: [][]any{
			{absent, ""},
			{absent, ""},
			{absent, false, true},
		},
	}, {
		name:   "Transitions",
		schema: `{type: {type: string, enum: [A, B, X, ""]}, a: {type: string}, b: {type: object}}`,
		declaration: `{discriminator: type, fields-to-discriminateBy: {a: A, b: B},
			deduceInvalidDiscriminator: true, allowedChanges: {A: [B], B: ["", X]}}`,
		properties: []string{"type", "a", "b"},
		values: [][]any{
			{absent, "", "A", "B", "X"},
			{absent, "x"},
			{absent, map[string]any{}},
		},
		encoding: compile.Fine,
	}, {
		name:   "Ratchet",
		schema: "{type: {type: string}, a: {type: string}, b: {type: object, properties: {c: {type: string}}}}",
		declaration: `{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, emptyIsUnset: [b],
			cardinality: ExactlyOne, unmappedValues: Forbid, discriminatorChange: Forbid, ratchet: true}`,
		properties: []string{"type", "a", "b"},
		values: [][]any{
			{absent, "", "A", "B", "X"},
			{absent, "x"},
			{absent, map[string]any{}, map[string]any{"c": "x"}},
		},
	}, {
		name:        "Sets",
		schema:      "{type: {type: string}, a: {type: object}, b: {type: string}}",
		declaration: "{discriminator: type, fields-to-discriminateBy: {a: [A, AB, B], b: [AB, B]}, optionalMembers: {a: B}}",
		properties:  []string{"type", "a", "b"},
		values: [][]any{
			{absent, "A", "AB", "B", "Memberless"},
			{absent, map[string]any{}},
			{absent, ""},
		},
	}, {
		name:        "Beside",
		schema:      "{platform: {type: object, nullable: true, properties: {type: {type: string, nullable: true}}}, a: {type: object}, b: {type: string}}",
		declaration: "{discriminator: platform.type, fields-to-discriminateBy: {a: A, b: B}}",
		properties:  []string{"platform", "a", "b"},
		values: [][]any{
			{absent, nil, map[string]any{}, map[string]any{"type": nil}, map[string]any{"type": "A"}, map[string]any{"type": "B"}, map[string]any{"type": "Memberless"}},
			{absent, map[string]any{}},
			{absent, ""},
		},
	}, {
		name:        "Around",
		schema:      "{type: {type: string}, config: {type: object, nullable: true, properties: {a: {type: object}, b: {type: string}}}}",
		declaration: "{discriminator: type, fields-to-discriminateBy: {config.a: A, config.b: B}, emptyIsUnset: [config.b], discriminatorChange: Forbid}",
		properties:  []string{"type", "config"},
		values: [][]any{
			{absent, "", "A", "B", "Memberless"},
			{absent, nil, map[string]any{}, map[string]any{"a": map[string]any{}}, map[string]any{"b": "x"}, map[string]any{"a": map[string]any{}, "b": ""}, map[string]any{"a": map[string]any{}, "b": "x"}},
		},
	}, {
		name:        "Boolean",
		schema:      "{type: {type: boolean, nullable: true}, a: {type: object}, b: {type: string}}",
		declaration: "{discriminator: type, fields-to-discriminateBy: {a: true, b: false}, unset: false, optionalMembers: [b], discriminatorChange: Forbid}",
		properties:  []string{"type", "a", "b"},
		values: [][]any{
			{absent, nil, true, false},
			{absent, map[string]any{}},
			{absent, ""},
		},
	}, {
		name:        "Integer",
		schema:      "{type: {type: integer, nullable: true}, a: {type: object}, b: {type: string}}",
		declaration: "{discriminator: type, fields-to-discriminateBy: {a: [0, 80], b: -1}, ratchet: true, allowedChanges: {0: 80, 80: [-1, '']}}",
		properties:  []string{"type", "a", "b"},
		values: [][]any{
			{absent, nil, int64(0), int64(80), int64(-1), int64(7)},
			{absent, map[string]any{}},
			{absent, ""},
		},
	}, {
		name:        "Unset",
		schema:      "{type: {type: string, nullable: true}, a: {type: object}, b: {type: string}}",
		declaration: "{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, unset: A, allowedChanges: {A: B}}",
		properties:  []string{"type", "a", "b"},
		values: [][]any{
			{absent, nil, "", "A", "B", "Memberless"},
			{absent, map[string]any{}},
			{absent, ""},
		},
		encoding: compile.Fine,
	},
}

func (s shape) manifest() []byte {
	// The property note does not belong to the union.
	properties := "{note: {type: integer}, " + strings.TrimPrefix(s.schema, "{")
	return []byte(testcrd.New(s.name, "spec:\n  type: object\n  properties: "+properties+"\n  x-kubernetes-unions:\n  - "+s.declaration))
}

// objects returns the union objects with every combination of values.
func (s shape) objects() []map[string]any {
	l := []map[string]any{{}}
	for i, property := range s.properties {
		var next []map[string]any
		for _, o := range l {
			for _, v := range s.values[i] {
				o := maps.Clone(o)
				if v != absent {
					o[property] = v
				}
				next = append(next, o)
			}
		}
		l = next
	}
	return l
}

// TestEveryState compares the server, with compiled CRDs, to the model. It creates objects of a
// shape, and updates one object to another, valid or not. With [unioncases.Exhaustive] it tries all
// objects and pairs, otherwise a sample. (pkg/rules evaluates the rules on all pairs.)
func TestEveryState(t *testing.T) {
	t.Parallel()
	server := servertest.Shared(t)
	t.Run("all", func(t *testing.T) {
		for _, s := range shapes {
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				everyState(t, server, s)
			})
		}
	})
}

func everyState(t *testing.T, server *servertest.Server, s shape) {
	u := unionOf(t, s.manifest())
	crd := newTrial(t, server, s.manifest(), crdpatch.Options{Encoding: s.encoding})
	objects := s.objects()
	states := make([]union.State, len(objects))
	for i, o := range objects {
		states[i] = u.StateOf(o)
	}

	// Many old objects are invalid, so they are created before there are rules. An accepted update
	// consumes the old object.
	tried := u.pairs(states)
	stored := map[string]map[string]any{}
	for i, old := range objects {
		copies := 0
		for j := range objects {
			if tried[[2]int{i, j}] {
				stored[fmt.Sprintf("old-%d-%d", i, copies)] = spec(old, 0)
				if len(u.Judge(&states[i], states[j])) == 0 {
					copies++
				}
			}
		}
	}
	crd.install(t, stored)

	created := map[string]bool{}
	for i, o := range objects {
		alike := fmt.Sprint(u.Judge(nil, states[i]))
		if created[alike] && i%5 > 0 && !unioncases.Exhaustive {
			continue
		}
		created[alike] = true
		_, err := server.Create(t.Context(), crd.object(t, fmt.Sprintf("create-%d", i), "", spec(o, 0)))
		if !u.compare(t, s.encoding, nil, states[i], err) {
			t.Errorf("create %v", o)
		}
	}
	for i, old := range objects {
		accepted := 0
		for j, next := range objects {
			if !tried[[2]int{i, j}] {
				continue
			}
			// A change alongside the union prevents ratcheting: the server does not validate an
			// unchanged object.
			name := fmt.Sprintf("old-%d-%d", i, accepted)
			_, err := server.Update(t.Context(), crd.object(t, name, "", spec(next, 1)))
			if !u.compare(t, s.encoding, &states[i], states[j], err) {
				t.Errorf("update from %v to %v", old, next)
			}
			if err == nil {
				accepted++
			}
		}
	}
}

func spec(object map[string]any, note int) map[string]any {
	object = maps.Clone(object)
	object["note"] = note
	return map[string]any{"spec": object}
}

// judged is a union whose model predicts the server's answer.
type judged struct{ *union.Union }

// unionOf returns the only union of a manifest.
func unionOf(t *testing.T, manifest []byte) judged {
	t.Helper()
	var node yaml.Node
	if err := yaml.Unmarshal(manifest, &node); err != nil {
		t.Fatal(err)
	}
	data, err := sigsyaml.YAMLToJSON(manifest)
	if err != nil {
		t.Fatal(err)
	}
	result, diags := compile.New(compile.Manifest{File: "crd.yaml", Node: node.Content[0], JSON: data}, compile.Options{}).Result()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return judged{result.Objects[0].Unions[0]}
}

// pairs returns the updates to try, as pairs of state indices. With [unioncases.Exhaustive] it
// returns all pairs. Otherwise it returns one in 128, and the first of each group of similar pairs:
// with the same violations, the same violations of the new state alone, and the same answer to
// whether it is the old one.
func (u judged) pairs(states []union.State) map[[2]int]bool {
	l, seen := map[[2]int]bool{}, map[string]bool{}
	for i := range states {
		for j := range states {
			alike := fmt.Sprint(u.Judge(&states[i], states[j]), u.Judge(nil, states[j]), i == j)
			l[[2]int{i, j}] = unioncases.Exhaustive || !seen[alike] || rand.New(rand.NewPCG(uint64(i), uint64(j))).IntN(128) == 0
			seen[alike] = true
		}
	}
	return l
}

// compare reports whether err matches the model: the server rejects exactly the updates that the
// model rejects, for the same reasons and at the same fields.
func (u judged) compare(t *testing.T, encoding compile.Encoding, old *union.State, next union.State, err error) bool {
	t.Helper()
	var want, got []string
	for _, v := range u.Judge(old, next) {
		want = append(want, u.cause(encoding, v))
	}
	for _, c := range statusCauses(t, err) {
		cause := string(c.Type) + " " + c.Field
		if u.Discriminator == "" && c.Type == metav1.CauseTypeForbidden && c.Field != "spec" {
			// The encoding determines which of several members is reported.
			cause = string(c.Type) + " spec.*"
		}
		got = append(got, cause)
	}
	for _, l := range []*[]string{&want, &got} {
		slices.Sort(*l)
		*l = slices.Compact(*l)
	}
	if slices.Equal(want, got) {
		return true
	}
	t.Errorf("the server says %q, the model %q", got, want)
	return false
}

// cause returns the reason and the field of the error for a violation.
func (u judged) cause(encoding compile.Encoding, v union.Violation) string {
	field := "spec"
	switch {
	case v.Member >= 0:
		field = "spec." + u.Members[v.Member].Name
	case u.Discriminator != "" && v.Condition != union.TooMany:
		field = "spec." + u.Discriminator
	}
	static := v.Condition != union.NotCleared && v.Condition != union.NotAllowed
	paired := encoding == compile.Auto
	switch {
	case u.Ratchet && static: // compact encoding
		return string(metav1.CauseTypeFieldValueInvalid) + " spec"
	case paired && static && (u.Discriminator == "" && v.Member < 0 || u.Discriminator != "" && v.Member >= 0 && len(u.Members[v.Member].Required()) > 0):
		return string(metav1.CauseTypeFieldValueInvalid) + " " + field
	}
	reason := metav1.CauseTypeFieldValueInvalid
	switch v.Condition {
	case union.Forbidden, union.NotAllowed:
		reason = metav1.CauseTypeForbidden
	case union.Required, union.Selected, union.TooFew:
		reason = metav1.CauseTypeFieldValueRequired
	case union.TooMany:
		if u.Discriminator == "" {
			reason, field = metav1.CauseTypeForbidden, "spec.*"
		}
	}
	return string(reason) + " " + field
}
