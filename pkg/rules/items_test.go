package rules_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/cel-go/common/types"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	"k8s.io/apiserver/pkg/cel/common"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// byType is a list with one key, the other list has several keys of different types.
const (
	byType = `
type: array
x-kubernetes-list-type: map
x-kubernetes-list-map-keys: [type]
items: {type: object, required: [type], properties: {type: {type: string}, x: {type: string}}}
`
	byPort = `
type: array
x-kubernetes-list-type: map
x-kubernetes-list-map-keys: [port, if, ready]
items: {type: object, required: [port, if, ready], properties: {port: {type: integer}, if: {type: string}, ready: {type: boolean}}}
`
)

// itemsUnions returns declarations of unions of items by the schema of their list.
func itemsUnions() map[string][]string {
	l := map[string][]string{}
	for schema, members := range map[string][][]string{
		byType: {{"{type: A}"}, {"{type: A}", "{type: B}"}, {"{type: A}", "{type: \"it's\"}", "{type: D}"}},
		byPort: {{"{port: 80, if: eth0, ready: true}", "{port: 80, if: eth1, ready: false}", "{port: -1, if: '', ready: false}"}},
	} {
		for _, m := range members {
			for _, cardinality := range []string{"", "cardinality: ExactlyOne, ", "cardinality: AtLeastOne, "} {
				changes := []string{"", "discriminatorChange: Clear, ", "discriminatorChange: Forbid, ", "allowedChanges: {}, "}
				switch {
				case cardinality == "cardinality: AtLeastOne, ":
					changes = changes[:1]
				case schema == byType && len(m) > 1:
					changes = append(changes, `allowedChanges: {A: [""]}, `, `allowedChanges: {A: `+[]string{"", "", "B", "[D, '']"}[len(m)]+`}, `)
				}
				for _, change := range changes {
					for _, ratchet := range []string{"", "ratchet: true, "} {
						l[schema] = append(l[schema], fmt.Sprintf("{%s%s%smembers: [%s]}", cardinality, change, ratchet, join(m)))
					}
				}
			}
		}
	}
	return l
}

func join(l []string) (text string) {
	for i, s := range l {
		if i > 0 {
			text += ", "
		}
		text += s
	}
	return text
}

// TestItems compares the rules of unions of items with the model for every state and every pair of
// states. The lists also have other items, and items without their keys. With
// [unioncases.Exhaustive] it covers all unions in all encodings, otherwise one in 13.
func TestItems(t *testing.T) {
	turn := 0
	for schema, declarations := range itemsUnions() {
		s := schemaOf(t, schema)
		structural := structural(t, s)
		for _, declaration := range declarations {
			u := unionOf(t, declaration, s)
			var states []union.State
			var lists [][]any
			for set := range 1 << len(u.Members) {
				present := make([]bool, len(u.Members))
				list := []any{}
				for i, m := range u.Members {
					if present[i] = set&(1<<i) > 0; present[i] {
						item := map[string]any{}
						for _, k := range m.Item {
							item[k.Name] = k.Value
						}
						list = append(list, item)
					}
				}
				other := map[string]any{"type": "Other", "x": "A", "port": int64(80), "if": "eth2", "ready": true}
				if set%3 > 0 {
					list = append([]any{other, map[string]any{}}, list...)
				}
				states, lists = append(states, union.State{Present: present}), append(lists, list)
				if got := u.StateOf(list); !got.Equal(states[len(states)-1]) {
					t.Fatalf("%s: StateOf(%v) = %v", declaration, list, got)
				}
			}
			for _, enc := range []rules.Encoding{rules.Paired, rules.Fine, rules.Compact, 2, 3} {
				if turn++; turn%13 > 0 && !unioncases.Exhaustive {
					continue
				}
				c := rules.Comparison{Parts: max(int(enc), 0)}
				k := &tried{name: fmt.Sprint(enc, declaration), u: u, rules: rules.Static(u, enc)}
				if u.Ratchet {
					k.rules = rules.Ratcheting(u, enc, c)
				}
				k.rules = append(k.rules, rules.Transition(u, c)...)
				for i := range k.rules {
					k.indices = append(k.indices, i)
				}
				programs := compiled(t, structural, k.rules)
				value := func(l []any) any { return common.UnstructuredToVal(l, &model.Structural{Structural: structural}) }
				for n, new := range lists {
					for o := -1; o < len(lists); o++ {
						variables := map[string]any{schemacel.ScopedVarName: value(new)}
						optional := map[string]any{schemacel.ScopedVarName: variables[schemacel.ScopedVarName], schemacel.OldScopedVarName: types.OptionalNone}
						var before *union.State
						if o >= 0 {
							before = &states[o]
							variables[schemacel.OldScopedVarName] = value(lists[o])
							optional[schemacel.OldScopedVarName] = types.OptionalOf(common.UnstructuredToVal(lists[o], &model.Structural{Structural: structural}))
						}
						got := make(outcome, len(k.rules))
						for i, r := range k.rules {
							in := variables
							if r.OptionalOldSelf {
								in = optional
							} else if o < 0 && programs[i].UsesOldSelf {
								continue
							}
							holds, _, err := programs[i].Program.Eval(in)
							if err != nil {
								t.Fatalf("%s: %v: %v", r.Rule, new, err)
							}
							if holds != types.True {
								got[i] = "."
							}
						}
						k.compare(t, got, before, states[n], u.Judge(before, states[n]))
					}
				}
			}
		}
	}
}

// ExampleStatic_items shows the rules for items of a list.
func ExampleStatic_items() {
	u := &union.Union{Cardinality: union.AtMostOne}
	for _, name := range []string{"Approved", "Denied"} {
		u.Members = append(u.Members, union.Member{Name: name, Item: []union.ItemKey{{Name: "type", Value: name}}})
	}
	for _, r := range slices.Concat(rules.Static(u, rules.Paired), rules.Static(u, rules.Fine)) {
		fmt.Println(r.Rule)
	}
	// Output:
	// self.filter(item, has(item.type) && item.type in ['Approved', 'Denied']).size() <= 1
	// !(self.exists(item, has(item.type) && item.type == 'Denied') && self.exists(item, has(item.type) && item.type == 'Approved'))
}
