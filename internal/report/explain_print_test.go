package report_test

import (
	"bytes"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
)

const backend = `
spec:
  type: object
  required: [type]
  x-kubernetes-unions:
  - discriminator: type
    fields-to-discriminateBy: {http: HTTP, tcp: [TCP, TLS]}
    optionalMembers: [tcp]
  properties:
    type: {type: string, enum: [HTTP, TCP, TLS, None]}
    http: {type: object, properties: {path: {type: string}}}
    tcp: {type: object, properties: {port: {type: integer}}}
`

const frozen = `
spec:
  type: object
  properties:
    backend:
      type: object
      x-kubernetes-unions:
      - name: backend
        discriminator: type
        fields-to-discriminateBy: {http: HTTP, tcp: TCP, udp: UDP}
        unmappedValues: Forbid
        allowedChanges: {HTTP: [TCP, ""], TCP: [HTTP]}
      properties:
        type: {type: string, maxLength: 10}
        http: {type: object}
        tcp: {type: object}
        udp: {type: object}
`

const sources = `
spec:
  type: object
  properties:
    sources:
      type: array
      items:
        type: object
        x-kubernetes-unions:
        - members: [git, image, oci]
          cardinality: ExactlyOne
          discriminatorChange: Allow
          emptyIsUnset: [image, oci]
        properties:
          git: {type: object}
          image: {type: string}
          oci: {type: array, items: {type: string}}
`

const services = `
spec:
  type: object
  required: [type]
  x-kubernetes-unions:
  - discriminator: type
    fields-to-discriminateBy: {loadBalancer: [LoadBalancer, Global], ports: [LoadBalancer, NodePort, Global], dns: [External, Global]}
    optionalMembers: {dns: [Global], ports: [LoadBalancer]}
  properties:
    type: {type: string, enum: [LoadBalancer, NodePort, External, Global, None]}
    loadBalancer: {type: object, required: [address], properties: {address: {type: string, format: ipv4}}}
    ports: {type: array, minItems: 1, items: {type: integer, minimum: 1}}
    dns: {type: string, minLength: 1}
`

var examples = []struct {
	name, properties string
	encoding         rules.Encoding
}{
	{"backend", backend, rules.Fine},
	{"frozen", frozen, rules.Fine},
	{"sources", sources, rules.Compact},
	{"services", services, rules.Paired},
}

func TestGolden(t *testing.T) {
	for _, tt := range examples {
		t.Run(tt.name, func(t *testing.T) {
			l := []report.Explanation{explained(t, tt.properties, tt.encoding)}
			golden(t, tt.name+".txt", report.ExplanationDocument(l).Text())
			golden(t, tt.name+".md", report.ExplanationDocument(l).Markdown())
		})
	}
}

// TestScalars has a boolean as discriminator, whose values are not in quotes.
func TestScalars(t *testing.T) {
	text := textOf(t, explained(t, `
spec:
  type: object
  x-kubernetes-unions: [{discriminator: active, fields-to-discriminateBy: {a: true, b: false}, unset: false, optionalMembers: {b: false}}]
  properties: {active: {type: boolean}, a: {type: string}, b: {type: string}}
`, rules.Paired))
	for _, want := range []string{"active is false when it is left out", "a: selected by true\n", "other values   none\n", "active true, "} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in\n%s", want, text)
		}
	}
	if strings.Contains(text, "'true'") || strings.Contains(text, "'false'") {
		t.Errorf("a boolean is quoted:\n%s", text)
	}
}

func TestJSON(t *testing.T) {
	var want []report.Explanation
	for _, tt := range examples {
		want = append(want, explained(t, tt.properties, tt.encoding))
	}
	var b bytes.Buffer
	if err := diag.WriteJSON(&b, want); err != nil {
		t.Fatal(err)
	}
	var got []report.Explanation
	decoder := json.NewDecoder(bytes.NewReader(b.Bytes()))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), jsonOf(t, got)); diff != "" { // numbers have no Go types here
		t.Error("the JSON reads as something else:", diff)
	}
	// null appears only with a meaning: no old state, no new state, no schema. The API server also
	// prints null.
	for line := range strings.Lines(b.String()) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "null") && !slices.Contains([]string{`"old": null,`, `"new": null,`, `"oldObject": null,`, `"allOf": null,`}, line) && !strings.Contains(line, "were not checked") {
			t.Error("a null:", line)
		}
	}
	golden(t, "frozen.json", jsonOf(t, want[1:2]))
}

func jsonOf(t *testing.T, l []report.Explanation) string {
	t.Helper()
	var b strings.Builder
	if err := diag.WriteJSON(&b, l); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHeadings has a union at the root, and a rule that is left out.
func TestHeadings(t *testing.T) {
	src := strings.Replace(crd("a: {type: object}\nb: {type: object}"), "        type: object\n", "        type: object\n        x-kubernetes-unions: [{members: [a, b]}]\n", 1)
	in := planOf(t, src, rules.Fine)
	in.Unions[0].Dropped = "the rule about changes, for want of room"
	got, err := report.Explain(in)
	if err != nil {
		t.Fatal(err)
	}
	if object := got.Unions[0].Object; object != "" {
		t.Errorf("the root is at %q", object)
	}
	text := textOf(t, got)
	for _, want := range []string{"\nUnion of the root in version v1\n\ndeclared at  crd.yaml:16:31\n", " the rule about changes, for want of room\n", "\n     b: Forbidden: at most one of a, b may be set\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
}

func textOf(t *testing.T, crds ...report.Explanation) string {
	t.Helper()
	return report.ExplanationDocument(crds).Text()
}

// TestCosts asserts that costs come from the plan, and percentages from the API server's limits.
func TestCosts(t *testing.T) {
	in := planOf(t, crd(thing("{members: [a, b], discriminatorChange: Allow}")), rules.Fine)
	r := &in.Unions[0].Rules[0]
	r.Cost.Once, r.Cost.Executions, r.Cost.MessageExpression, r.MessageExpression = 5, 1_048_576, 20_000, "'x'"
	in.Versions = []compile.VersionPlan{{Name: "v1", Before: 1_000_000, Added: 24_000_000}, {Name: "v2", Before: 1, Added: math.MaxUint64}}
	in.Bytes[0][0], in.Growth = 1234, 56789
	got, err := report.Explain(in)
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
		"; 1,234 bytes;\n", "1 rule in 1 union, 56,789 bytes added\n",
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
