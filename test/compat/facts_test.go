//go:build compat

package compat

import (
	"encoding/json"
	"strings"

	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/compile"
)

// fact is a statement about the server in docs/compatibility.md or docs/semantics.md.
type fact struct {
	name   string
	schema string // of spec
	rows   []factRow
}

// factRow is an update, or a create if old is empty. Old and new are specs. An update through
// /status keeps the old spec.
type factRow struct {
	old, new string
	status   bool
	refused  func(minor int) bool
	text     string // of the only error, which contains a value until 1.34
	message  string // of the only error
}

func always(int) bool { return true }
func never(int) bool  { return false }
func until(last int) func(int) bool {
	return func(minor int) bool { return minor <= last }
}

const (
	ab  = "a: {type: string}, b: {type: string}"
	abc = "properties: {" + ab + ", c: {type: string}}"
	one = `x-kubernetes-validations: [{rule: "!(has(self.a) && has(self.b))", message: one}]`
)

// unchangedOnly: the violation is ratcheted if the object around it is unchanged, and not if
// another field of that object changes.
var unchangedOnly = []factRow{
	{old: "{u: {a: x, b: x}}", new: "{u: {a: x, b: x}}", refused: never},
	{old: "{u: {a: x, b: x}}", new: "{u: {a: x, b: x}, other: x}", refused: never},
	{old: "{u: {a: x, b: x}}", new: "{u: {a: x, b: x, c: x}}", refused: always},
}

var facts = []fact{
	{"reading through an optional oldSelf, null", `{u: {type: object, properties: {a: {type: string, nullable: true}},
		x-kubernetes-validations: [{optionalOldSelf: true, rule: "!(oldSelf.hasValue() && has(oldSelf.value().a))"}]}}`, []factRow{
		{old: "{u: {a: null}}", new: "{u: {}}", refused: until(36)},
		{old: "{u: {a: x}}", new: "{u: {}}", refused: always},
		{old: "{u: {}}", new: "{u: {a: x}}", refused: never},
	}},
	{"reading through an optional oldSelf, an escaped name", `{u: {type: object, properties: {namespace: {type: string}},
		x-kubernetes-validations: [{optionalOldSelf: true, rule: "oldSelf.hasValue() ? has(oldSelf.value().__namespace__) : true"}]}}`, []factRow{
		{old: "{u: {namespace: x}}", new: "{u: {}}", refused: until(36)},
		{old: "{u: {}}", new: "{u: {}}", refused: always},
	}},
	{"reading a plain oldSelf", `{u: {type: object, properties: {namespace: {type: string}, a: {type: string, nullable: true}},
		x-kubernetes-validations: [{rule: "has(oldSelf.__namespace__) && !has(oldSelf.a)"}]}}`, []factRow{
		{old: "{u: {namespace: x, a: null}}", new: "{u: {}}", refused: never},
		{old: "{u: {a: null}}", new: "{u: {}}", refused: always},
	}},
	{"static rules", "{u: {type: object, " + abc + ", " + one + "}}", append([]factRow{
		{old: "{u: {a: x, b: x}}", status: true, refused: until(32)},
		{new: "{u: {a: x, b: x}}", refused: always, text: "spec.u: Invalid value: one"},
	}, unchangedOnly...)},
	{"rules on changes", `{u: {type: object, ` + abc + `, x-kubernetes-validations: [{rule: "!has(self.a) || !has(oldSelf.a)"}]}}`, []factRow{
		{old: "{u: {a: x}}", new: "{u: {a: x}}", refused: always},
		{old: "{u: {a: x}}", status: true, refused: always},
		{new: "{u: {a: x}}", refused: never},
	}},
	{"rules that ask whether there is an oldSelf", `{u: {type: object, ` + abc + `, x-kubernetes-validations: [{optionalOldSelf: true, rule: "!has(self.a) || !oldSelf.hasValue()"}]}}`, []factRow{
		{old: "{u: {a: x}}", new: "{u: {a: x}}", refused: always},
		{new: "{u: {a: x}}", refused: never},
	}},
	{"evaluation errors", `{u: {type: object, ` + abc + `, x-kubernetes-validations: [{rule: "self.a == 'x'"}]}}`, []factRow{
		{old: "{u: {}}", new: "{u: {}}", refused: always},
		{old: "{u: {}}", status: true, refused: always},
	}},
	{"enum", "{u: {type: object, properties: {t: {type: string, enum: [A]}, c: {type: string}}}}", []factRow{
		{old: "{u: {t: B}}", new: "{u: {t: B, c: x}}", refused: never},
		{old: "{u: {t: B}}", new: "{u: {t: C}}", refused: always},
		{old: "{u: {t: B}}", status: true, refused: never},
	}},
	{"enum and null", "{u: {type: object, properties: {t: {type: string, nullable: true, enum: [A, null]}, c: {type: string}}}}", []factRow{
		{new: "{u: {t: null}}", refused: always},
		{old: "{u: {t: null}}", new: "{u: {t: null, c: x}}", refused: never},
	}},
	{"minLength", "{u: {type: object, properties: {t: {type: string, minLength: 1}, c: {type: string}}}}", []factRow{
		{old: `{u: {t: ""}}`, new: `{u: {t: "", c: x}}`, refused: never},
		{old: "{u: {t: x}}", new: `{u: {t: ""}}`, refused: always},
	}},
	{"required", "{u: {type: object, required: [t], properties: {t: {type: string}, c: {type: string}}}, other: {type: string}}", []factRow{
		{old: "{u: {}}", new: "{u: {}, other: x}", refused: never},
		{old: "{u: {}}", new: "{u: {c: x}}", refused: always},
	}},
	{"oneOf", "{u: {type: object, " + abc + ", oneOf: [{required: [a]}, {required: [b]}]}, other: {type: string}}", unchangedOnly},
	{"anyOf", "{u: {type: object, " + abc + ", anyOf: [{not: {required: [a]}}, {not: {required: [b]}}]}, other: {type: string}}", unchangedOnly},
	{"allOf", "{u: {type: object, " + abc + ", allOf: [{not: {required: [a, b]}}]}, other: {type: string}}", unchangedOnly},
	{"not", "{u: {type: object, " + abc + ", not: {required: [a, b]}}, other: {type: string}}", unchangedOnly},
	{"unknown fields", "{u: {type: object, " + abc + ", x-kubernetes-preserve-unknown-fields: true, " + one + "}}", []factRow{
		{old: "{u: {a: x, b: x, z: 1}}", new: "{u: {a: x, b: x, z: 1}}", refused: always},
	}},
	{"unknown fields below", "{u: {type: object, properties: {" + ab + ", c: {type: object, x-kubernetes-preserve-unknown-fields: true}}, " + one + "}}", []factRow{
		{old: "{u: {a: x, b: x, c: {z: 1}}}", new: "{u: {a: x, b: x, c: {z: 1}}}", refused: always},
	}},
	{"a plain list", "{u: {type: array, items: {type: object, " + abc + ", " + one + "}}, other: {type: string}}", []factRow{
		{old: "{u: [{a: x, b: x}]}", new: "{u: [{a: x, b: x}], other: x}", refused: never},
		{old: "{u: [{a: x, b: x}]}", new: "{u: [{a: x, b: x}, {a: x}]}", refused: always},
	}},
	{"a list-map", "{u: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [c], items: {type: object, required: [c], " + abc + ", " + one + "}}}", []factRow{
		{old: "{u: [{a: x, b: x, c: x}]}", new: "{u: [{c: z}, {a: x, b: x, c: x}]}", refused: never},
		{old: "{u: [{a: x, b: x, c: x}]}", new: "{u: [{a: z, b: x, c: x}]}", refused: always},
	}},
	{"a map", "{u: {type: object, additionalProperties: {type: object, " + abc + ", " + one + "}}}", []factRow{
		{old: "{u: {k: {a: x, b: x}}}", new: "{u: {l: {a: x}, k: {a: x, b: x}}}", refused: never},
		{old: "{u: {k: {a: x, b: x}}}", new: "{u: {l: {a: x, b: x}}}", refused: always},
	}},

	// The following schemas are compiled. Earlier rules read escaped names and null through an
	// optional oldSelf.
	{"ratchet with escaped names", `{u: {type: object, properties: {namespace: {type: string, nullable: true}, cluster-ref: {type: object, nullable: true}, c: {type: string}},
		x-kubernetes-unions: [{members: [namespace, cluster-ref], cardinality: ExactlyOne, ratchet: true}]}}`, []factRow{
		{old: "{u: {namespace: x}}", new: "{u: {namespace: null}}", refused: always},
		{old: "{u: {namespace: x}}", new: "{u: {}}", refused: always},
		{old: "{u: {namespace: x}}", new: "{u: {namespace: x, cluster-ref: {}}}", refused: always},
		{old: "{u: {namespace: null}}", new: "{u: {namespace: null, cluster-ref: null, c: x}}", refused: never},
		{old: "{u: {namespace: null}}", new: "{u: {c: x}}", refused: never},
		{old: "{u: {namespace: null}}", new: "{u: {namespace: x}}", refused: never},
		{old: "{u: {namespace: x, cluster-ref: {}}}", new: "{u: {namespace: z, cluster-ref: {}}}", refused: never},
		{old: "{u: {namespace: x, cluster-ref: {}}}", status: true, refused: never},
		{old: "{u: {}}", new: "{u: {namespace: null, cluster-ref: null}}", refused: never},
		{old: "{}", new: "{u: {}}", refused: always},
		{new: "{u: {namespace: null}}", refused: always},
	}},
	{"nullable discriminator and members", `{u: {type: object, properties: {if: {type: string, nullable: true}, a-b: {type: object, nullable: true}, x__y: {type: array, nullable: true, items: {type: string}}},
		x-kubernetes-unions: [{discriminator: if, fields-to-discriminateBy: {a-b: A, x__y: X}, emptyIsUnset: [x__y], ratchet: true, discriminatorChange: Forbid}]}}`, []factRow{
		{new: "{u: {if: null, a-b: null, x__y: null}}", refused: never},
		{new: "{u: {if: null, x__y: []}}", refused: never},
		{new: "{u: {if: null, x__y: [x]}}", refused: always},
		{new: "{u: {if: X, x__y: null}}", refused: always},
		{new: "{u: {if: X, x__y: []}}", refused: always},
		{old: "{u: {if: null, x__y: [x]}}", new: "{u: {x__y: [z]}}", refused: never},
		{old: "{u: {if: X, x__y: null}}", new: "{u: {if: X, x__y: []}}", refused: never},
		{old: "{u: {if: X, x__y: [x]}}", new: "{u: {if: X, x__y: null}}", refused: always},
		{old: "{u: {if: X, x__y: [x]}}", new: "{u: {if: null}}", refused: always},
		{old: "{u: {if: null}}", new: "{u: {if: A, a-b: {}}}", refused: never},
		{old: "{u: {if: A, a-b: {}}}", new: "{u: null}", refused: always},
	}},
	{"nullable lists that are empty", `{u: {type: object, properties: {a: {type: array, nullable: true, items: {type: string}}, b: {type: string, nullable: true}, c: {type: string}},
		x-kubernetes-unions: [{members: [a, b], emptyIsUnset: [a, b], cardinality: ExactlyOne}]}}`, []factRow{
		{new: "{u: {a: null, b: x}}", refused: never},
		{new: `{u: {a: [], b: ""}}`, refused: always, message: "exactly one of a, b must be set"},
		{new: "{u: {a: null}}", refused: always, message: "exactly one of a, b must be set"},
		{old: "{u: {a: null}}", new: "{u: {a: null, c: x}}", refused: always, message: "exactly one of a, b must be set"},
		{old: "{u: {a: [x]}}", new: "{u: {a: null, b: x}}", refused: never},
	}},
}

// askFacts asks about all facts. Schemas with a union are compiled in every encoding.
func askFacts(v *version, send func(*question)) {
	for _, f := range facts {
		of := encodings
		if !strings.Contains(f.schema, "x-kubernetes-unions") {
			of = encodings[:1]
		}
		for _, encoding := range of {
			if q := v.factQuestion(f, encoding); q != nil {
				send(q)
			}
		}
	}
}

func (v *version) factQuestion(f fact, encoding compile.Encoding) *question {
	schema := map[string]any{"type": "object", "properties": map[string]any{
		"spec":   map[string]any{"type": "object", "properties": v.decode(f.schema)},
		"status": v.decode("{type: object, properties: {n: {type: integer}}}"),
	}}
	crd := v.compiled(f.name, manifest(v.T, schema), encoding)
	if crd == nil {
		return nil
	}
	q := &question{request: request{Name: f.name, CRD: crd}, evaluations: len(f.rows)}
	for _, r := range f.rows {
		var old map[string]any
		new := map[string]any{"spec": v.decode(r.new)}
		if r.old != "" {
			old = map[string]any{"spec": v.decode(r.old)}
		}
		if r.status {
			new = map[string]any{"status": map[string]any{"n": 1}}
		}
		a := askOf(q, old, new)
		a.Status = r.status
		q.Asks = append(q.Asks, a)
	}
	q.full = func(got [][]refusal) {
		for i, r := range f.rows {
			if refused := len(got[i]) > 0; refused != r.refused(v.minor) {
				v.disagree("%s, %s: %s -> %s (status: %t): expected %s, got %v", f.name, encoding, r.old, r.new, r.status, said(r.refused(v.minor)), got[i])
			}
			text := r.text
			if v.minor <= 34 {
				text = strings.Replace(text, "Invalid value: ", `Invalid value: "object": `, 1)
			}
			if text != "" && (len(got[i]) != 1 || got[i][0].Text != text) ||
				r.message != "" && (len(got[i]) != 1 || !strings.HasPrefix(got[i][0].Message, r.message)) {
				v.disagree("%s, %s: %s -> %s: expected %q, got %v", f.name, encoding, r.old, r.new, text+r.message, got[i])
			}
		}
	}
	return q
}

// decode reads the YAML of the tables.
func (v *version) decode(text string) map[string]any {
	data, err := sigsyaml.YAMLToJSON([]byte(strings.ReplaceAll(text, "\t", " ")))
	var m map[string]any
	if err == nil && text != "" {
		err = json.Unmarshal(data, &m)
	}
	if err != nil {
		v.disagree("%s: %v", text, err)
	}
	return m
}
