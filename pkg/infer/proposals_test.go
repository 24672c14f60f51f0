package infer_test

import (
	"fmt"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/infer"
)

// TestProposals: what is proposed for a schema with rules, and its verdict.
func TestProposals(t *testing.T) {
	const (
		strings2 = `properties: {a: {type: string}, b: {type: string}}`
		filled2  = `properties: {a: {type: string, minLength: 1}, b: {type: string, minLength: 1}}`
		lists2   = `properties: {a: {type: array, items: {type: string}}, b: {type: array, items: {type: string}}}`
		full2    = `properties: {a: {type: array, minItems: 1, items: {type: string}}, b: {type: array, minItems: 1, items: {type: string}}}`
	)
	for _, c := range []struct {
		name, schema string
		rules        []string
		want         string
	}{
		// Whether a string is empty may be asked in many ways.
		{`== ""`, strings2, []string{`!has(self.a) || self.a == "" || !has(self.b) || self.b == ""`},
			`{members: [a, b], cardinality: AtMostOne, emptyIsUnset: [a, b]} equivalent`},
		{`!= "", exactly one`, strings2, []string{`has(self.a) && self.a != "" ? !has(self.b) || self.b == "" : has(self.b) && self.b != ""`},
			`{members: [a, b], cardinality: ExactlyOne, emptyIsUnset: [a, b]} equivalent`},
		{`!= "", at least one`, strings2, []string{`(has(self.a) && self.a != "") || (has(self.b) && self.b != "")`},
			`{members: [a, b], cardinality: AtLeastOne, emptyIsUnset: [a, b]} equivalent`},
		{`!= "" with minLength`, filled2, []string{`has(self.a) && self.a != "" ? !has(self.b) || self.b == "" : has(self.b) && self.b != ""`},
			`{members: [a, b], cardinality: ExactlyOne} equivalent`},
		{`size()`, strings2, []string{`!(has(self.a) && size(self.a) > 0 && has(self.b) && self.b.size() > 0)`},
			`{members: [a, b], cardinality: AtMostOne, emptyIsUnset: [a, b]} equivalent`},
		{`size() with minLength`, filled2, []string{`!(has(self.a) && size(self.a) > 0 && has(self.b) && self.b.size() > 0)`},
			`{members: [a, b], cardinality: AtMostOne} equivalent`},
		{`size() of lists`, lists2, []string{`has(self.a) && size(self.a) > 0 || has(self.b) && self.b.size() != 0`},
			`{members: [a, b], cardinality: AtLeastOne, emptyIsUnset: [a, b]} equivalent`},
		{`size() of lists with minItems`, full2, []string{`has(self.a) && size(self.a) > 0 || has(self.b) && self.b.size() != 0`},
			`{members: [a, b], cardinality: AtLeastOne} equivalent`},
		{`orValue("")`, strings2, []string{`(self.?a.orValue("") != "") != (self.?b.orValue("") != "")`},
			`{members: [a, b], cardinality: ExactlyOne, emptyIsUnset: [a, b]} equivalent`},
		{`orValue("") with minLength`, filled2, []string{`(self.?a.orValue("") != "") != (self.?b.orValue("") != "")`},
			`{members: [a, b], cardinality: ExactlyOne} equivalent`},
		{`orValue("").size()`, strings2, []string{`self.?a.orValue("") != "" || self.?b.orValue("").size() != 0`},
			`{members: [a, b], cardinality: AtLeastOne, emptyIsUnset: [a, b]} equivalent`},
		{`one rule each way`, strings2, []string{`has(self.a) && self.a != "" || has(self.b) && self.b.size() != 0`, `!has(self.a) || self.a == "" || !has(self.b) || size(self.b) == 0`},
			`{members: [a, b], cardinality: ExactlyOne, emptyIsUnset: [a, b]} equivalent`},
		{`of the discriminator, too`, `properties: {type: {type: string, enum: [A, B]}, a: {type: string}}`, []string{`self.?type.orValue("") == "A" ? self.?a.orValue("") != "" : self.?a.orValue("") == ""`},
			`{discriminator: type, fields-to-discriminateBy: {a: A}, emptyIsUnset: [a], discriminatorChange: Allow} equivalent`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := propose(t, c.schema, c.rules...); got != c.want {
				t.Errorf("%s\n%s\nproposed %s\nwant     %s", c.schema, strings.Join(c.rules, "\n"), got, c.want)
			}
		})
	}
}

// TestProse: what descriptions suggest. What they demand is "exactly one" only where
// neither none nor several may be set.
func TestProse(t *testing.T) {
	const (
		exactlyOne = `{members: [a1, b1], cardinality: ExactlyOne} suggestion`
		atMostOne  = `{members: [a1, b1], cardinality: AtMostOne} suggestion`
		atLeastOne = `{members: [a1, b1], cardinality: AtLeastOne} suggestion`
	)
	for _, c := range []struct {
		of, description, want string // of a1, or of the object
	}{
		{"", "Exactly one of a1 or b1 must be set.", exactlyOne},
		{"", "One of a1 and b1 must be set.", exactlyOne},
		{"", "One of the following must be set: a1, b1.", exactlyOne},
		{"", "Only one of a1 or b1 must be set.", exactlyOne},
		{"", "Only one of a1 or b1 may be set.", atMostOne},
		{"", "At most one of a1 or b1 must be set.", atMostOne},
		{"", "At least one of a1 and b1 must be set.", atLeastOne},
		{"", "At least one of a1 or b1 should be specified.", atLeastOne},
		{"", "At least one of the following must be set: a1, b1.", atLeastOne},
		{"", "At least one of a1 or b1 may be set.", ""},
		{"", "One of a1 and b1, or both, must be set.", atLeastOne},
		{"", "One of a1 and/or b1 must be set.", atLeastOne},
		{"", "One of a1 or b1 or both may be set.", ""},
		{"", "One or more of a1 and b1 must be set.", ""},
		{"", "Either a1 or b1 must be set, or none.", ""},
		{"", "Exactly one of a1 or b1, or none of them.", atMostOne},
		{"", "Either one of a1 or b1, or none, must be set.", atMostOne},
		{"", "One of a1 or b1 must be set, or neither of them.", atMostOne},
		{"", "At least one of a1, b1 must be set, or none.", ""},
		{"", "a1 must be set together with b1.", ""},
		{"", "a1 and b1 must be set together.", ""},
		{"", "Exactly one of a1 and b1 must be set, together with c1.", ""},
		{"", "One of a1 and b1 must be set along with c1.", ""},
		{"a1", "Must be set together with b1.", ""},
		{"a1", "Must be used in conjunction with b1.", ""},
		{"a1", "Must not be set together with b1.", atMostOne},
		{"a1", "Cannot be used in conjunction with b1.", atMostOne},
		{"a1", "At least one of a1 and b1 must be set.", atLeastOne},
	} {
		t.Run(c.description, func(t *testing.T) {
			schema := fmt.Sprintf("description: %q\nproperties: {a1: {type: string}, b1: {type: string}, c1: {type: string}}", c.description)
			if c.of != "" {
				schema = fmt.Sprintf("properties: {a1: {type: string, description: %q}, b1: {type: string}, c1: {type: string}}", c.description)
			}
			if got := propose(t, schema); got != c.want {
				t.Errorf("suggested %q, want %q", got, c.want)
			}
		})
	}
}

// propose infers from a schema, or the properties of one, with rules, and prints what is
// found on one line.
func propose(t *testing.T, schema string, rules ...string) string {
	t.Helper()
	var s apiextensionsv1.JSONSchemaProps
	if err := sigs.UnmarshalStrict([]byte(schema), &s); err != nil {
		t.Fatal(err)
	}
	s.Type = "object"
	for _, r := range rules {
		addRule(&s, r)
	}
	crd := crdOf(s)
	var l []string
	for _, f := range find(t, crd) {
		l = append(l, inline(t, f))
	}
	return strings.Join(l, "\n")
}

// inline prints what was found on one line.
func inline(t *testing.T, f infer.Found) string {
	t.Helper()
	n := f.Union.Node()
	n.Style = yaml.FlowStyle
	text, err := yaml.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	verdict := string(f.Comparison.Verdict)
	if f.Suggestion {
		verdict = "suggestion"
	}
	return fmt.Sprintf("%s %s", strings.TrimSpace(string(text)), verdict)
}
