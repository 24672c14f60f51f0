package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/declared"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/testing/testcrd"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

type version = testcrd.Version

// crdOf returns a CRD of the group example.com. The last version is the storage version.
func crdOf(plural string, versions ...version) string {
	return testcrd.Versions(strings.ToUpper(plural[:1])+plural[1:len(plural)-1], versions...)
}

// codes returns code and message of the diagnostics with some codes.
func codesOf(l diag.List, only ...diag.Code) []string {
	var out []string
	for _, d := range l {
		for _, code := range only {
			if d.Code == code {
				out = append(out, fmt.Sprintf("%s %s: %s", d.Code, d.Severity, d.Message))
			}
		}
	}
	return out
}

// adviceOf are the codes that only lint reports, and the codes of compile for ways to bypass rules.
var adviceOf = []diag.Code{
	codes.NoEnum, codes.ValueWithoutMember, codes.RequiredChildren, codes.ListMember, codes.Undiscriminated,
	codes.CostlyRules, codes.VersionBypass, codes.TableBypass, codes.VersionsDiffer, codes.RemovableItem,
	codes.NeverUnchanged,
}

const typed = `
type: object
properties:
  type: {type: string, enum: [HTTP, TCP]}
  http: {type: object, properties: {port: {type: integer}}}
  tcp: {type: object, properties: {port: {type: integer}}}
x-kubernetes-unions:
- discriminator: type
  fields-to-discriminateBy: {http: HTTP, tcp: TCP}
`

const elsewhere = `
type: object
properties:
  at: {type: object, properties: {type: {type: string, enum: [HTTP, TCP]}}}
  to:
    type: object
    properties:
      http: {type: object, properties: {port: {type: integer}}}
      tcp: {type: object, properties: {port: {type: integer}}}
x-kubernetes-unions:
- discriminator: at.type
  fields-to-discriminateBy: {to.http: HTTP, to.tcp: TCP}
`

const untyped = `
type: object
properties:
  http: {type: object, properties: {port: {type: integer}}}
  tcp: {type: object, properties: {port: {type: integer}}}
x-kubernetes-unions:
- members: [http, tcp]
`

// replaced replaces a part of a text that must occur exactly once.
func replaced(text, old, replacement string) string {
	if strings.Count(text, old) != 1 {
		panic(fmt.Sprintf("%q is there %d times", old, strings.Count(text, old)))
	}
	return strings.Replace(text, old, replacement, 1)
}

// neverUnchanged returns the message for a union object with fields that the schema does not name.
func neverUnchanged(holder string) string {
	return "UC529 info: the API server never considers the object of this union unchanged while " + holder +
		" has fields that the schema does not name: a stored object that violates the union cannot be updated until it is fixed, not even its /status"
}

func TestAdvice(t *testing.T) {
	const tcp = "tcp: {type: object, properties: {port: {type: integer}}}"
	const enum = "type: {type: string, enum: [HTTP, TCP]}"
	lists := func(tcp, key string) string {
		return replaced(replaced(typed, "tcp: {type: object, properties: {port: {type: integer}}}", tcp), "{http: HTTP, tcp: TCP}", "{http: HTTP, tcp: TCP}\n  "+key)
	}
	const change = "discriminatorChange: Clear"
	tests := []struct {
		name     string
		spec     string
		versions []version // replaces v1 with spec
		want     []string
	}{
		{name: "nothing to say", spec: typed},
		{name: "no enum", spec: replaced(typed, enum, "type: {type: string}"),
			want: []string{`UC520 warning: discriminator "type" has no enum: a misspelt value such as "HTPT" is accepted, and selects no member`}},
		{name: "no enum, and a value in allowedChanges", spec: replaced(replaced(typed, enum, "type: {type: string}"), "tcp: TCP}", "tcp: TCP}\n  allowedChanges: {HTTP: None}"),
			want: []string{`UC520 warning: discriminator "type" has no enum: a misspelt value such as "HTPT" is accepted, and selects no member`}},
		{name: "no enum, but other values are forbidden", spec: replaced(replaced(typed, enum, "type: {type: string}"), "tcp: TCP}", "tcp: TCP}\n  unmappedValues: Forbid")},
		{name: "no enum, but a pattern of the values", spec: replaced(typed, enum, `type: {type: string, pattern: "^(HTTP|TCP)$"}`)},
		{name: "no enum, and a pattern of anything", spec: replaced(typed, enum, `type: {type: string, pattern: "^[A-Z]+x?$"}`),
			want: []string{`UC520 warning: discriminator "type" has no enum: a misspelt value such as "HTPT" is accepted, and selects no member`}},
		{name: "no enum, but one below anyOf", spec: replaced(typed, enum, `type: {type: string, anyOf: [{enum: [HTTP]}, {enum: [TCP]}]}`)},
		{name: "an enum with what looks like a typo", spec: replaced(typed, "[HTTP, TCP]", "[HTTP, TCP, http]"),
			want: []string{`UC521 info: "http" in the enum of discriminator "type" selects no member`}},
		{name: "value without a member", spec: replaced(typed, "[HTTP, TCP]", "[HTTP, TCP, None]"),
			want: []string{`UC521 info: "None" in the enum of discriminator "type" selects no member`}},
		{name: "values without a member", spec: replaced(typed, "[HTTP, TCP]", `[HTTP, None, TCP, "a b", ""]`),
			want: []string{`UC521 info: "None" and "a b" in the enum of discriminator "type" select no member`}},
		{name: "value without a member that is forbidden", spec: replaced(replaced(typed, "[HTTP, TCP]", "[HTTP, TCP, None]"), "tcp: TCP}", "tcp: TCP}\n  unmappedValues: Forbid"),
			want: []string{`UC521 info: "None" in the enum of discriminator "type" can never be used: unmappedValues is Forbid`}},

		{name: "in another object", spec: elsewhere},
		{name: "no enum in another object", spec: replaced(elsewhere, enum, "type: {type: string}"),
			want: []string{`UC520 warning: discriminator "at.type" has no enum: a misspelt value such as "HTPT" is accepted, and selects no member`}},
		{name: "value without a member in another object", spec: replaced(elsewhere, "[HTTP, TCP]", "[HTTP, TCP, None]"),
			want: []string{`UC521 info: "None" in the enum of discriminator "at.type" selects no member`}},
		{name: "required children in another object", spec: replaced(elsewhere, tcp, "tcp: {type: object, required: [port], properties: {port: {type: integer}}}"),
			want: []string{`UC522 info: every child of "to.tcp" is required: {} is rejected, and the member cannot be set until all of them are known`}},
		{name: "list in another object", spec: replaced(elsewhere, tcp, "tcp: {type: array, items: {type: string}}"),
			want: []string{`UC523 warning: member "to.tcp" is a list, which counts as set even when it is empty ([])`}},
		{name: "another version without the other object", versions: []version{{Name: "v1beta1", Spec: "{type: object, properties: {x: {type: string}}}"}, {Name: "v1", Spec: elsewhere + "  discriminatorChange: Forbid\n"}},
			want: []string{`UC527 warning: version v1beta1 is served too and has no spec.at.type: an update through it removes the member, and the next one through v1 sets another one, which bypasses the union`}},
		{name: "another version that keeps what the other object has", versions: []version{{Name: "v1beta1", Spec: "{type: object, properties: {at: {type: object, x-kubernetes-preserve-unknown-fields: true}}}"}, {Name: "v1", Spec: elsewhere}},
			want: []string{`UC527 warning: version v1beta1 is served too, and keeps unknown fields where this union is: anything can be written through it`}},
		{name: "unknown fields", spec: replaced(typed, "properties:\n", "x-kubernetes-preserve-unknown-fields: true\nproperties:\n"),
			want: []string{neverUnchanged("it")}},
		{name: "unknown fields below", spec: replaced(typed, tcp, "tcp: {type: object, x-kubernetes-preserve-unknown-fields: true}"),
			want: []string{neverUnchanged(`"tcp"`)}},
		{name: "something without a type", spec: replaced(typed, "properties:\n", "properties:\n  any: {x-kubernetes-preserve-unknown-fields: true}\n"),
			want: []string{neverUnchanged(`"any"`)}},
		{name: "additionalProperties: true", spec: replaced(typed, tcp, "tcp: {type: object, properties: {options: {type: object, additionalProperties: true}}}"),
			want: []string{neverUnchanged(`"tcp.options"`)}},
		{name: "an embedded resource in a map", spec: replaced(typed, "properties:\n", "properties:\n  pods: {type: object, additionalProperties: {type: object, properties: {pod: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}}}}\n"),
			want: []string{neverUnchanged(`"pods[*].pod"`)}},
		{name: "unknown fields in a list-map", spec: replaced(typed, "properties:\n", "properties:\n  items: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], x-kubernetes-preserve-unknown-fields: true, properties: {k: {type: string}}}}\n"),
			want: []string{neverUnchanged(`"items[*]"`)}},
		{name: "unknown fields in a list", spec: replaced(typed, "properties:\n", "properties:\n  list: {type: array, items: {type: object, x-kubernetes-preserve-unknown-fields: true}}\n")},
		{name: "unknown fields, and ratchet", spec: replaced(replaced(typed, "properties:\n", "x-kubernetes-preserve-unknown-fields: true\nproperties:\n"), "tcp: TCP}", "tcp: TCP}\n  ratchet: true")},
		{name: "unknown fields around", spec: "type: object\nx-kubernetes-preserve-unknown-fields: true\nproperties:\n  u:" + strings.ReplaceAll(typed, "\n", "\n    ")},
		{name: "unknown fields in an item of a list", spec: "type: array\nmaxItems: 3\nitems:\n  x-kubernetes-preserve-unknown-fields: true" + strings.ReplaceAll(typed, "\n", "\n  ")},
		{name: "required children", spec: replaced(typed, tcp, "tcp: {type: object, required: [port, host], properties: {port: {type: integer}, host: {type: string}}}"),
			want: []string{`UC522 info: every child of "tcp" is required: {} is rejected, and the member cannot be set until all of them are known`}},
		{name: "required children of several", spec: strings.ReplaceAll(untyped, "{type: object, properties", "{type: object, required: [port], properties"),
			want: []string{`UC522 info: every child of each of "http" and "tcp" is required: {} is rejected, and the member cannot be set until all of them are known`}},
		{name: "a child that is not required", spec: replaced(typed, tcp, "tcp: {type: object, required: [port], properties: {port: {type: integer}, host: {type: string}}}")},
		{name: "a required child with a default", spec: replaced(typed, tcp, "tcp: {type: object, required: [port], properties: {port: {type: integer, default: 80}}}")},
		{name: "required children of an optional member", spec: replaced(replaced(typed, tcp, "tcp: {type: object, required: [port], properties: {port: {type: integer}}}"), "tcp: TCP}", "tcp: TCP}\n  optionalMembers: [tcp]")},
		{name: "a member without children", spec: replaced(typed, tcp, "tcp: {type: object}")},
		{name: "emptyIsUnset and a required child", spec: replaced(replaced(typed, tcp, "tcp: {type: object, required: [port], properties: {port: {type: integer}, host: {type: string}}}"), "tcp: TCP}", "tcp: TCP}\n  emptyIsUnset: [tcp]"),
			want: []string{`UC522 warning: emptyIsUnset does nothing for "tcp": its schema rejects {}, since it requires "port"`}},
		{name: "emptyIsUnset and a default", spec: replaced(replaced(typed, tcp, "tcp: {type: object, required: [port], properties: {port: {type: integer, default: 80}, host: {type: string}}}"), "tcp: TCP}", "tcp: TCP}\n  emptyIsUnset: [tcp]"),
			want: []string{`UC522 warning: emptyIsUnset does nothing for "tcp": it is never empty, since the API server fills in the default of "port"`}},
		{name: "emptyIsUnset", spec: replaced(typed, "tcp: TCP}", "tcp: TCP}\n  emptyIsUnset: [tcp]")},
		{name: "a required child that is not there", spec: replaced(typed, tcp, "tcp: {type: object, required: [prot], properties: {port: {type: integer}}}"),
			want: []string{`UC522 warning: member "tcp" can never be set: it requires "prot", which it has no property for, so that the API server drops values that users write there`}},
		{name: "a required child among unknown fields", spec: replaced(typed, tcp, "tcp: {type: object, x-kubernetes-preserve-unknown-fields: true, required: [prot], properties: {port: {type: integer}}}"),
			want: []string{neverUnchanged(`"tcp"`)}},
		{name: "a required key of a map", spec: replaced(typed, tcp, "tcp: {type: object, required: [prot], minProperties: 1, additionalProperties: {type: string}}")},

		{name: "list", spec: lists("tcp: {type: array, items: {type: string}}", change),
			want: []string{`UC523 warning: member "tcp" is a list, which counts as set even when it is empty ([])`}},
		{name: "map", spec: lists("tcp: {type: object, additionalProperties: {type: string}}", change),
			want: []string{`UC523 warning: member "tcp" is a map, which counts as set even when it is empty ({})`}},
		{name: "list that is not empty", spec: lists("tcp: {type: array, minItems: 1, items: {type: string}}", change)},
		{name: "list that may be empty", spec: lists("tcp: {type: array, minItems: 0, items: {type: string}}", change),
			want: []string{`UC523 warning: member "tcp" is a list, which counts as set even when it is empty ([])`}},
		{name: "map that is not empty", spec: lists("tcp: {type: object, minProperties: 1, additionalProperties: {type: string}}", change)},
		{name: "list that is unset when empty", spec: lists("tcp: {type: array, items: {type: string}}", "emptyIsUnset: [tcp]")},

		{name: "new API", versions: []version{{Name: "v1alpha1", Spec: untyped}, {Name: "v2beta3", Spec: untyped}},
			want: []string{
				`UC524 info: the union of "http" and "tcp" has no discriminator, which KEP-1027 recommends for new APIs; no version of this one is stable yet`,
				`UC524 info: the union of "http" and "tcp" has no discriminator, which KEP-1027 recommends for new APIs; no version of this one is stable yet`,
			}},
		{name: "new API with a discriminator", versions: []version{{Name: "v1alpha1", Spec: typed}}},
		{name: "new API, at least one", versions: []version{{Name: "v1alpha1", Spec: untyped + "  cardinality: AtLeastOne\n"}}},
		{name: "stable API", spec: untyped},
		{name: "API with a stable version", versions: []version{{Name: "v1beta1", Spec: untyped}, {Name: "v1", Spec: untyped}}},
		{name: "API with a stable version that is not served", versions: []version{{Name: "v1beta1", Spec: untyped}, {Name: "v1", Spec: typed, Unserved: true}},
			want: []string{`UC524 info: the union of "http" and "tcp" has no discriminator, which KEP-1027 recommends for new APIs; no version of this one is stable yet`}},
		{name: "API with its own names of versions", versions: []version{{Name: "stable", Spec: untyped}}},

		{name: "table that lets a value be unset", spec: replaced(replaced(typed, "[HTTP, TCP]", "[HTTP, TCP, UDP]"), "{http: HTTP, tcp: TCP}", "{http: HTTP, tcp: [TCP, UDP]}\n  allowedChanges: {HTTP: [TCP, \"\"], TCP: [HTTP]}"),
			want: []string{`UC528 warning: allowedChanges can be bypassed: it lets "HTTP" be unset, and a second update may set it to anything, such as "UDP"`}},
		{name: "table that lets a value be unset, or anything", spec: typed + "  allowedChanges: {HTTP: [TCP, \"\"]}\n"},
		{name: "table that lets nothing be unset", spec: replaced(typed, "[HTTP, TCP]", "[HTTP, TCP]") + "  allowedChanges: {HTTP: [TCP]}\n"},
		{name: "table of members", spec: untyped + "  allowedChanges: {http: [\"\"]}\n",
			want: []string{`UC528 warning: allowedChanges can be bypassed: it lets "http" be unset, and a second update may set it to anything, such as "tcp"`}},

		{name: "another version without the object", versions: []version{{Name: "v1beta1", Spec: "type: string"}, {Name: "v1", Spec: typed + "  discriminatorChange: Forbid\n"}},
			want: []string{`UC527 warning: version v1beta1 is served too and has no spec.type: an update through it removes the member, and the next one through v1 sets another one, which bypasses the union`}},
		{name: "another version without the discriminator", versions: []version{
			{Name: "v1beta1", Spec: replaced(untyped, "[http, tcp]", "[http, tcp]\n  discriminatorChange: Allow")}, {Name: "v1", Spec: typed + "  discriminatorChange: Forbid\n"}},
			want: []string{
				`UC502 warning: version v1beta1 is served too and declares a different one: a write through the laxer version bypasses the stricter one`,
				`UC527 warning: version v1beta1 is served too and has no spec.type: an update through it removes the member, and the next one through v1 sets another one, which bypasses the union`,
			}},
		{name: "another version without the object, where changes are allowed", versions: []version{{Name: "v1beta1", Spec: "type: string"}, {Name: "v1", Spec: typed}}},
		{name: "another version that is not served", versions: []version{{Name: "v1beta1", Spec: "type: string", Unserved: true}, {Name: "v1", Spec: typed + "  discriminatorChange: Forbid\n"}}},
		{name: "the same in both versions", versions: []version{{Name: "v1beta1", Spec: typed + "  discriminatorChange: Forbid\n"}, {Name: "v1", Spec: typed + "  discriminatorChange: Forbid\n"}}},
		{name: "another version that keeps unknown fields", versions: []version{{Name: "v1beta1", Spec: "type: object\nx-kubernetes-preserve-unknown-fields: true"}, {Name: "v1", Spec: typed}},
			want: []string{`UC527 warning: version v1beta1 is served too, and keeps unknown fields where this union is: anything can be written through it`}},
		{name: "another version that keeps unknown fields around the object", versions: []version{
			{Name: "v1beta1", Spec: "type: object\nx-kubernetes-preserve-unknown-fields: true"}, {Name: "v1", Spec: "type: object\nproperties:\n  union:\n" + indented(typed, 4)}},
			want: []string{`UC527 warning: version v1beta1 is served too, and keeps unknown fields where this union is: anything can be written through it`}},
		{name: "another version with members and no union", versions: []version{
			{Name: "v1beta1", Spec: "type: object\nproperties: {http: {type: object}}"}, {Name: "v1", Spec: typed + "  discriminatorChange: Forbid\n"}},
			want: []string{`UC502 warning: version v1beta1 is served too and declares no union there: a write through the laxer version bypasses the stricter one`}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			versions := test.versions
			if versions == nil {
				versions = []version{{Name: "v1", Spec: test.spec}}
			}
			l := report.Lint(crdpatch.Open("crd.yaml", []byte(crdOf("routes", versions...))), crdpatch.Options{})
			if l.HasErrors() {
				t.Fatal(l)
			}
			if diff := cmp.Diff(test.want, codesOf(l, adviceOf...)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			for _, d := range l {
				if d.Hint == "" || d.Pos.Line == 0 || d.Pos.Col == 0 || d.Path == "" {
					t.Errorf("no hint, no position or no path: %+v", d)
				}
			}
		})
	}
}

// TestConversionWebhook has a webhook, with which a version may keep fields that its schema lacks.
func TestConversionWebhook(t *testing.T) {
	src := crdOf("routes", version{Name: "v1beta1", Spec: "type: string"}, version{Name: "v1", Spec: typed + "  discriminatorChange: Forbid\n"})
	src = replaced(src, "  scope: Namespaced\n", `  scope: Namespaced
  conversion:
    strategy: Webhook
    webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://example.com"}}
`)
	if got := codesOf(report.Lint(crdpatch.Open("crd.yaml", []byte(src)), crdpatch.Options{}), codes.VersionBypass); got != nil {
		t.Error(got)
	}
}

func TestCostlyRules(t *testing.T) {
	below := func(list string) string {
		return "type: object\nproperties:\n  routes:\n    type: array\n" + list + "    items:\n" + indented(typed, 6)
	}
	tests := []struct {
		name string
		spec string
		want []string
		hint string
	}{
		{name: "a rule", spec: below(""),
			want: []string{
				"UC525 warning: a rule of this union takes 62% of the cost that the API server allows for one (it costs 6 and is evaluated up to 1048576 times)",
			},
			hint: "maxItems: 1000 on spec.routes would bring it to less than 1%, as the API server's estimator confirms, and tighten the API"},
		{name: "a bounded list", spec: below("    maxItems: 1000\n")},
		{name: "a map below a list", spec: "type: object\nproperties:\n  routes:\n    type: array\n    items:\n      type: object\n      additionalProperties:\n" + indented(typed, 8),
			want: []string{
				"UC525 warning: a rule of this union takes 62% of the cost that the API server allows for one (it costs 6 and is evaluated up to 1048576 times)",
			},
			hint: "maxItems: 500 on spec.routes and maxProperties: 500 on spec.routes[*] would bring it to 15%, as the API server's estimator confirms, and tighten the API"},
		{name: "lists of lists of lists", spec: "type: object\nproperties:\n  a:\n    type: array\n    items:\n      type: array\n      items:\n        type: array\n        items:\n" + indented(typed, 10),
			want: []string{
				"UC525 warning: a rule of this union takes 62% of the cost that the API server allows for one (it costs 6 and is evaluated up to 1048576 times)",
			},
			hint: "maxItems: 64 on spec.a and maxItems: 64 on spec.a[*] and maxItems: 64 on spec.a[*][*] would bring it to 15%, as the API server's estimator confirms, and tighten the API"},
		{name: "a dearer rule", spec: "type: object\nproperties:\n  a:\n    type: array\n    items:\n      type: array\n      items:\n        type: object\n        properties:\n" +
			"          {a: {type: string}, b: {type: string}, c: {type: string}, d: {type: string}, e: {type: string}, f: {type: string}, g: {type: string}}\n" +
			"        x-kubernetes-unions:\n        - members: [a, b, c, d, e, f, g]\n          cardinality: AtLeastOne\n",
			want: []string{
				"UC525 warning: a rule of this union takes 73% of the cost that the API server allows for one (it costs 7 and is evaluated up to 1048576 times)",
			},
			hint: "maxItems: 500 on spec.a and maxItems: 500 on spec.a[*] would bring it to 17%, as the API server's estimator confirms, and tighten the API"},
		{name: "a version", spec: replaced(manyUnions, "maxItems: 0", "maxItems: 500000"),
			want: []string{
				"UC525 warning: the rules of version v1 take 60% of the cost that the API server allows for a version; other rules than those of unions take less than 1% of it",
			},
			hint: "unioncel explain lists the cost of each rule: bounds on all lists and maps above the most expensive ones lower it"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			l := report.Lint(crdpatch.Open("crd.yaml", []byte(crdOf("routes", version{Name: "v1", Spec: test.spec}))), crdpatch.Options{})
			if diff := cmp.Diff(test.want, codesOf(l, codes.CostlyRules)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			for _, d := range l {
				if d.Code == codes.CostlyRules && d.Hint != test.hint {
					t.Errorf("hint: %s", d.Hint)
				}
			}
		})
	}
}

// manyUnions are unions with cheap rules in a list.
var manyUnions = func() string {
	var b strings.Builder
	b.WriteString("type: object\nproperties:\n  routes:\n    type: array\n    maxItems: 0\n    items:\n      type: object\n      properties:\n")
	for i := range 40 {
		fmt.Fprintf(&b, "        route%d:\n%s", i, indented(untyped, 10))
	}
	return b.String()
}()

func indented(text string, n int) string {
	var b strings.Builder
	for line := range strings.Lines(strings.Trim(text, "\n") + "\n") {
		b.WriteString(strings.Repeat(" ", n) + line)
	}
	return b.String()
}

// TestCompilerDiagnostics asserts that File returns all diagnostics of compiling, including those
// about the output, and gives no advice if a declaration is invalid.
func TestCompilerDiagnostics(t *testing.T) {
	l := report.Lint(crdpatch.Open("crd.yaml", []byte(crdOf("routes", version{Name: "v1", Spec: replaced(typed, "tcp: TCP}", "tpc: TCP}")}))), crdpatch.Options{})
	if len(l) != 1 || l[0].Code != codes.UnknownMember {
		t.Errorf("got %v", l)
	}
	l = report.Lint(crdpatch.Open("crd.yaml", []byte(crdOf("routes", version{Name: "v1", Spec: replaced(untyped, "[http, tcp]", "[http]\n  cardinality: ExactlyOne")}))), crdpatch.Options{})
	if len(l) != 1 || l[0].Code != codes.SingleMember {
		t.Errorf("got %v", l)
	}
	if l := report.Lint(crdpatch.Open("crd.yaml", []byte(": x")), crdpatch.Options{}); len(l) != 1 || l[0].Code != codes.Syntax {
		t.Errorf("got %v", l)
	}
}

// TestAdviceWithoutRules asserts that rules that are too expensive do not prevent advice.
func TestAdviceWithoutRules(t *testing.T) {
	spec := "type: object\nproperties:\n  routes:\n    type: array\n    items:\n" + indented(typed, 6)
	spec = replaced(spec, "enum: [HTTP, TCP]", "enum: [HTTP, TCP, None]")
	l := report.Lint(crdpatch.Open("crd.yaml", []byte(crdOf("routes", version{Name: "v1", Spec: spec}))), crdpatch.Options{Encoding: compile.Compact, KubeVersion: "1.24"})
	if !l.HasErrors() || len(codesOf(l, codes.ValueWithoutMember)) != 1 {
		t.Errorf("got %v", l)
	}
}

func TestNothing(t *testing.T) {
	for _, src := range []string{
		"kind: ConfigMap\napiVersion: v1\n",
		crdOf("routes", version{Name: "v1", Spec: "type: object"}),
	} {
		if l := report.Lint(crdpatch.Open("x.yaml", []byte(src)), crdpatch.Options{}); l != nil {
			t.Errorf("%s: %v", src, l)
		}
	}
}

// TestCompiled asserts that a compiled CRD has the findings of its source, at the union objects.
func TestCompiled(t *testing.T) {
	spec := replaced(replaced(typed, "[HTTP, TCP]", "[HTTP, TCP, None]"), "tcp: {type: object, properties: {port: {type: integer}}}", "tcp: {type: array, items: {type: string}}")
	src := []byte(crdOf("routes", version{Name: "v1", Spec: spec}))
	for _, encoding := range []compile.Encoding{compile.Auto} {
		compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", src), crdpatch.Options{Encoding: encoding})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		want := codesOf(report.Lint(crdpatch.Open("crd.yaml", src), crdpatch.Options{}), adviceOf...)
		l := report.Lint(crdpatch.Open("crd.yaml", compiled), crdpatch.Options{})
		if diff := cmp.Diff(want, codesOf(l, adviceOf...)); diff != "" || len(want) != 2 {
			t.Errorf("%s: -source +compiled\n%s", encoding, diff)
		}
		lines := strings.Split(string(compiled), "\n")
		for i, property := range []string{"type:", "tcp:"} {
			if len(l[i].Related) > 0 {
				t.Errorf("%s refers to itself", l[i].Code)
			}
			if line := lines[l[i].Pos.Line-1]; !strings.HasPrefix(strings.TrimSpace(line), property) {
				t.Errorf("%s: %s stands at %q", encoding, l[i].Code, line)
			}
		}
	}
}

// TestCompiledNotes asserts that notes on a compiled CRD refer to its rules in its encoding.
func TestCompiledNotes(t *testing.T) {
	spec := typed + "x-kubernetes-validations:\n- {rule: has(self.http) == (has(self.type) && self.type == 'HTTP'), message: mine}\n"
	src := []byte(crdOf("routes", version{Name: "v1", Spec: spec}))
	compiled, diags := crdpatch.Compile(crdpatch.Open("crd.yaml", src), crdpatch.Options{Encoding: compile.Fine})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	for name, text := range map[string][]byte{"source": src, "compiled": compiled} {
		l := codesOf(report.Lint(crdpatch.Open("crd.yaml", text), crdpatch.Options{}), codes.HandWrittenRulePresent)
		if (len(l) > 0) != (name == "source") {
			t.Errorf("%s: %v", name, l)
		}
	}
}

// TestTwoErrors asserts that an error of one CRD does not hide an error in the output of another.
func TestTwoErrors(t *testing.T) {
	shared := replaced(crdOf("routes", version{Name: "v1", Spec: typed}), "metadata:\n", "metadata:\n  labels: &shared {a: b}\n  annotations: *shared\n")
	wrong := crdOf("others", version{Name: "v1", Spec: replaced(typed, "tcp: TCP", "udp: TCP")})
	l := report.Lint(crdpatch.Open("crd.yaml", []byte(shared+"---\n"+wrong)), crdpatch.Options{})
	if got := codesOf(l, codes.SharedContent, codes.UnknownMember); len(got) != 2 {
		t.Error(l)
	}
}

// TestElsewhere asserts that findings on declarations in a UnionSet have positions in the UnionSet.
func TestElsewhere(t *testing.T) {
	set, diags := declared.ParseUnionSet("unions.yaml", []byte(`apiVersion: unioncel.dev/v1alpha1
kind: UnionSet
schemas:
- crd: routes.example.com
  path: spec
  x-kubernetes-unions:
  - discriminator: type
    fields-to-discriminateBy: {http: HTTP}
`))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	spec, _, _ := strings.Cut(typed, "x-kubernetes-unions")
	l := report.Lint(crdpatch.Open("crd.yaml", []byte(crdOf("routes", version{Name: "v1", Spec: spec}))), crdpatch.Options{External: *set})
	if len(l) != 1 || l[0].Code != codes.ValueWithoutMember || l[0].Pos != (diag.Pos{File: "unions.yaml", Line: 7, Col: 20}) ||
		len(l[0].Related) != 1 || l[0].Related[0].Pos.File != "crd.yaml" {
		t.Errorf("got %+v", l)
	}
}
