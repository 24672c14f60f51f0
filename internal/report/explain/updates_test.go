package explain_test

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/report/explain"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/rules"
)

func TestOnUpdate(t *testing.T) {
	const http = "discriminator: type, fields-to-discriminateBy: {a: A, b: B}"
	stored := "If spec.u already violates the union, an update that changes anything in it must fix it; before Kubernetes 1.33, the API server may require this of every update."
	for declaration, want := range map[string][]string{
		"{" + http + "}": {
			"type may change. The update must clear the member of its old value; otherwise the API server reports an error on type.", stored},
		"{" + http + ", discriminatorChange: Allow}": {"Any change is allowed: only the new state matters.", stored},
		"{" + http + ", discriminatorChange: Forbid}": {"Once set, type may be neither changed nor unset.",
			"Removing spec.u does not bypass these rules: u may not be removed while u.type is set.",
			"Removing spec does not bypass these rules: spec may not be removed while spec.u.type is set.", stored},
		"{" + http + ", allowedChanges: {A: [B, '']}, deduceInvalidDiscriminator: true, ratchet: true}": {
			"Once set, type may change only as listed below.",
			"type may be left out: the one member set then counts as selected, for changes too.",
			"Removing spec.u does not bypass these rules: u may not be removed while u.type or a member is set, unless it is 'A'.",
			"Removing spec does not bypass these rules: spec may not be removed while spec.u.type or a member is set, unless it is 'A'.",
			"An object that already violates the union can be updated as long as type and the set of members present stay the same."},
		"{members: [a, b]}":                             {"Any change is allowed: only the new state matters.", stored},
		"{members: [a, b], discriminatorChange: Clear}": {"Another member may be set. The same update must clear the previous one; otherwise the API server reports an error.", stored},
		"{members: [a, b], discriminatorChange: Forbid, ratchet: true}": {"Once a member is set, it may be neither replaced nor unset.",
			"Removing spec.u does not bypass these rules: u may not be removed while u.a or u.b is set.",
			"Removing spec does not bypass these rules: spec may not be removed while spec.u.a or spec.u.b is set.",
			"An object that already violates the union can be updated as long as the set of members present stays the same."},
		"{members: [a, b], allowedChanges: {a: ['', b], b: ['']}}": {"Once a member is set, it may be replaced or unset only as listed below.", stored},
		"{members: [a, b], cardinality: AtLeastOne}":               {"Any change is allowed that leaves one or more members set.", stored},
	} {
		got := explained(t, thing(declaration), rules.Fine).Unions[0].OnUpdate
		if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
			t.Errorf("%s:\n%q\nwant\n%q", declaration, got, want)
		}
	}
}

// TestClearLeftOut asserts that the explanation mentions no rule on changes if none is emitted.
func TestClearLeftOut(t *testing.T) {
	for declaration, want := range map[string]string{
		"{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}": "type may change. A member that stays set is rejected, because type does not select it; no rule mentions the change.",
		"{members: [a, b], discriminatorChange: Clear}":                 "Another member may be set. If the previous one stays set, the update is rejected for having too many; no rule mentions the change.",
	} {
		in := planOf(t, crd(thing(declaration)), rules.Fine)
		plan := &in.Unions[0]
		plan.Rules = plan.Rules[:len(plan.Rules)-1]
		plan.Dropped = "the rule about changes, for want of room"
		got, err := explain.Explain(in)
		if err != nil {
			t.Fatal(err)
		}
		if got.Unions[0].OnUpdate[0] != want || !strings.Contains(textOf(t, got), " the rule about changes, for want of room\n") {
			t.Errorf("%s", textOf(t, got))
		}
	}
}

// TestWhereItStands has unions in lists and maps, which can be removed, and at the root.
func TestWhereItStands(t *testing.T) {
	const u = "{type: object, x-kubernetes-unions: [{members: [a, b], discriminatorChange: Forbid}], properties: {a: {type: object}, b: {type: object}, key: {type: string}}}"
	for properties, want := range map[string]string{
		"m: {type: object, additionalProperties: " + u + "}": "An entry of m can be removed and added again, which the rules of the union do not prevent.",
		"l: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [key], items: " + strings.Replace(u, "type: object", "required: [key], type: object", 1) + "}": "An entry of l can be removed and added again, which the rules of the union do not prevent.",
	} {
		got := explained(t, properties, rules.Fine).Unions[0].OnUpdate
		if got[1] != want {
			t.Errorf("%q", got)
		}
	}
	src := strings.Replace(crd("a: {type: object}\nb: {type: object}"), "        type: object\n", "        type: object\n        x-kubernetes-unions: [{members: [a, b]}]\n", 1)
	got, err := explain.Explain(planOf(t, src, rules.Fine))
	if err != nil {
		t.Fatal(err)
	}
	root := got.Unions[0]
	if root.Object != "" || root.OnUpdate[1] != "An object that already violates the union cannot be updated, /status included, until it is fixed." {
		t.Errorf("%q: %q", root.Object, root.OnUpdate)
	}
	if text := textOf(t, got); !strings.Contains(text, "\nUnion of the root in version v1\n\ndeclared at  crd.yaml:16:31\n") || !strings.Contains(text, "\n    b: Forbidden: at most one of a, b may be set\n") {
		t.Error(text)
	}
}

// TestOnStoredOpen asserts that a union object with unnamed fields never counts as unchanged.
func TestOnStoredOpen(t *testing.T) {
	const spec = "\nspec: {type: object, x-kubernetes-unions: [{members: [a, b]%s}], properties: {a: {type: object%s}, b: {type: string}}}\n"
	const open = ", x-kubernetes-preserve-unknown-fields: true"
	const says = "and so must every update while spec.a has fields that the schema does not name."
	for _, tt := range []struct {
		key, a string
		want   bool
	}{{"", "", false}, {"", open, true}, {", ratchet: true", open, false}} {
		l := explained(t, fmt.Sprintf(spec, tt.key, tt.a), rules.Fine).Unions[0].OnUpdate
		if got := strings.HasSuffix(l[len(l)-1], says); got != tt.want {
			t.Errorf("%q", l)
		}
	}
}

func textOf(t *testing.T, crds ...explain.Explanation) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.WriteText(&b, explain.Document(crds)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestCosts asserts that costs come from the plan, and percentages from the API server's limits.
func TestCosts(t *testing.T) {
	in := planOf(t, crd(thing("{members: [a, b], discriminatorChange: Allow}")), rules.Fine)
	r := &in.Unions[0].Rules[0]
	r.Cost.Once, r.Cost.Executions, r.Cost.MessageExpression, r.MessageExpression = 5, 1_048_576, 20_000, "'x'"
	in.Versions = []compile.VersionPlan{{Name: "v1", Before: 1_000_000, Added: 24_000_000}, {Name: "v2", Before: 1, Added: math.MaxUint64}}
	in.Bytes[0][0], in.Growth = 1234, 56789
	got, err := explain.Explain(in)
	if err != nil {
		t.Fatal(err)
	}
	rule, version := got.Unions[0].Rules[0], got.Versions[0]
	if rule.Cost != 5_242_880 || rule.Limit != 10_000_000 || rule.PercentOfLimit != 52.4288 || rule.MessageCost != 20_000 {
		t.Errorf("%+v", rule)
	}
	if version.Cost != 25_000_000 || version.Limit != 100_000_000 || version.PercentOfLimit != 25 || got.Versions[1].Cost != math.MaxUint64 {
		t.Errorf("%+v", got.Versions)
	}
	text := textOf(t, got)
	if got.Bytes = -2; !strings.Contains(textOf(t, got), " -2 bytes added\n") {
		t.Error(textOf(t, got))
	}
	for _, want := range []string{
		"static; costs 5 × 1,048,576 = 5,242,880, 52.4% of the limit; message 20,000, 0.20%;",
		"; 1,234 bytes\n", "1 rule in 1 union, 56,789 bytes added\n",
		"v1         1,000,000  24,000,000  25,000,000         25.0%\n",
		"v2                 1   unbounded   unbounded   over 1,000%\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

// TestWidth asserts that no line that can be wrapped exceeds the width.
func TestWidth(t *testing.T) {
	for _, tt := range examples {
		text := textOf(t, explained(t, tt.properties, tt.encoding))
		for line := range strings.Lines(text) {
			line = strings.TrimRight(line, "\n")
			code := strings.ContainsAny(line, "?!") || strings.Contains(line, "has(") || strings.HasPrefix(line, "    ")
			if utf8.RuneCountInString(line) > 100 && !code || strings.HasSuffix(line, " ") {
				t.Errorf("%q", line)
			}
		}
	}
}
