package verify_test

import (
	"strings"
	"testing"
)

// source returns a schema for spec with rules and with a union object in the property source.
func source(keys, rules string) string {
	return "type: object\n" + rules + "\nproperties:\n  source:" + keys + strings.ReplaceAll("\n"+typedSchema+pairs+
		"- rule: \"!has(oldSelf.type) || has(self.type) && self.type == oldSelf.type\"", "\n", "\n    ")
}

func TestRemoval(t *testing.T) {
	const guard = "x-kubernetes-validations: [{rule: '!(has(oldSelf.source) && has(oldSelf.source.type)) || has(self.source)'}]"
	tests := []struct{ name, spec, want, example string }{
		{"guarded", source("", guard), "", ""},
		{"guarded more than needed", source("", "x-kubernetes-validations: [{rule: '!has(oldSelf.source) || has(self.source)'}]"),
			"restricted by !has(oldSelf.source) || has(self.source), which also reads whether the union object is removed", ""},
		{"required", source("", "required: [source]"), "", ""},
		{"needed for another reason", source("", "minProperties: 1\n"+guard), "", ""},
		{"defaulted", source("\n    default: {}", ""), "", ""},
		{"forgotten", source("", ""), "update accepted: spec.source is removed while a is set and type is 'A'",
			"{source: {a: {x: x}, type: A}} -> {}"},
		{"nullable", source("\n    nullable: true", "required: [source]"), "update accepted: spec.source is removed while a is set and type is 'A'",
			"{source: {a: {x: x}, type: A}} -> {source: null}"},
		{"nullable and guarded", source("\n    nullable: true", "required: [source]\n"+guard), "", ""},
		{"guards too much", source("", "x-kubernetes-validations: [{rule: '!(has(oldSelf.source) && !has(oldSelf.source.b)) || has(self.source)'}]"),
			"update rejected by !(has(oldSelf.source) && !has(oldSelf.source.b)) || has(self.source): spec.source is removed while no member is set and type is unset\n" +
				"update accepted: spec.source is removed while b is set and type is 'B'", "{source: {}} -> {}"},
		{"immutable above", source("", "x-kubernetes-validations: [{rule: 'self == oldSelf'}]"),
			"update rejected by self == oldSelf: no member is set and type is unset", "{} -> {source: {}}"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := proofs(t, tt.spec, frozen, "properties", "source")[0]
			if got := summary(p); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if tt.example != "" && len(p.Differences()) > 0 {
				if got := example(t, p.Differences()[0].Example); got != tt.example {
					t.Errorf("example %s, want %s", got, tt.example)
				}
			}
		})
	}
}

// below returns a schema with a union object in a list or map.
func below(list string) string {
	return "type: object\nproperties:\n  l:\n" + list + strings.ReplaceAll("\n"+typedSchema+pairs, "\n", "\n      ")
}

func TestLists(t *testing.T) {
	const never = `
      - rule: "!has(oldSelf.type) || has(self.type) && self.type == oldSelf.type"`
	tests := []struct {
		name, spec, declaration, step, want, example string
	}{
		{"atomic list", below("    type: array\n    items:"), typed, "items", "", ""},
		{"atomic list of two", below("    type: array\n    minItems: 2\n    items:"), typed, "items", "", ""},
		{"atomic list of two, by a rule", "x-kubernetes-validations: [{rule: '!has(self.l) || size(self.l) >= 2'}]\n" + below("    type: array\n    items:"), typed, "items", "", ""},
		{"atomic list of three, by its own rule", below("    type: array\n    x-kubernetes-validations: [{rule: size(self) > 2}]\n    items:"), typed, "items", "", ""},
		{"list-map of two known items, by a rule", "x-kubernetes-validations: [{rule: '!has(self.l) || size(self.l) >= 2'}]\n" +
			strings.NewReplacer("type: {", "name: {type: string, enum: [x, y]}\n        type: {", "type: object\n      properties", "type: object\n      required: [name]\n      properties").Replace(
				below("    type: array\n    x-kubernetes-list-type: map\n    x-kubernetes-list-map-keys: [name]\n    items:")), typed, "items", "", ""},
		{"atomic list, Forbid", below("    type: array\n    items:"), frozen, "items", "update accepted: type changes from 'A' to unset", "{l: [{a: {x: x}, type: A}]} -> {l: [{}]}"},
		{"atomic list, immutable", "x-kubernetes-validations: [{rule: self.l == oldSelf.l}]\n" + below("    type: array\n    items:"), frozen, "items",
			"update rejected by self.l == oldSelf.l: a is set and type is 'A' (before: no member is set and type is unset)", ""},
		{"atomic list, where no rule compares", below("    type: array\n    items:") + never, frozen, "items", "update accepted: type changes from 'A' to unset", ""},
		{"list-map", strings.Replace(below("    type: array\n    x-kubernetes-list-type: map\n    x-kubernetes-list-map-keys: [name]\n    items:"), "type: {", "name: {type: string}\n        type: {", 1) + never,
			frozen, "items", "", ""},
		{"list-map keyed by the discriminator", strings.Replace(below("    type: array\n    x-kubernetes-list-type: map\n    x-kubernetes-list-map-keys: [type]\n    items:"), "type: object\n      properties", "type: object\n      required: [type]\n      properties", 1),
			frozen, "items", "", ""},
		{"list-map, forgotten", strings.Replace(below("    type: array\n    x-kubernetes-list-type: map\n    x-kubernetes-list-map-keys: [name]\n    items:"), "type: {", "name: {type: string, default: x}\n        type: {", 1),
			frozen, "items", "update accepted: type changes from 'A' to unset", "{l: [{a: {x: x}, name: x, type: A}]} -> {l: [{name: x}]}"},
		{"map", below("    type: object\n    minProperties: 2\n    additionalProperties:") + never, frozen, "additionalProperties", "", ""},
		{"a rule on the list", "x-kubernetes-validations: [{rule: '!has(self.l) || self.l.all(x, !has(x.b))'}]\n" + below("    type: array\n    items:"), typed, "items",
			"rejected by !has(self.l) || self.l.all(x, !has(x.b)): b is set and type is 'B'", "{l: [{b: aa, type: B}]}"},
		{"rules on the list alone", "type: object\nproperties:\n  l:\n    type: array\n    items:" + strings.ReplaceAll("\n"+typedSchema, "\n", "\n      ") + `
    x-kubernetes-validations:
    - rule: "self.all(x, has(x.a) == (has(x.type) && x.type == 'A'))"
    - rule: "self.all(x, has(x.b) == (has(x.type) && x.type == 'B'))"`, typed, "items", "", ""},
		{"a rule on the list about two items", "x-kubernetes-validations: [{rule: '!has(self.l) || self.l.all(x, !has(x.b) || self.l.size() < 9)'}]\n" + below("    type: array\n    items:"), typed, "items", "", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p := proofs(t, tt.spec, tt.declaration, "properties", "l", tt.step)[0]
			if got := summary(p); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if tt.example != "" && len(p.Differences()) > 0 {
				if got := example(t, p.Differences()[0].Example); got != tt.example {
					t.Errorf("example %s, want %s", got, tt.example)
				}
			}
		})
	}
}

// TestNeighbours tests that unions alongside, above or inside a union do not affect its proof.
func TestNeighbours(t *testing.T) {
	beside := `
type: object
required: [mode]
properties:
  mode: {type: string}
  type: {type: string, enum: [A, B]}
  a: {type: object}
  b: {type: object}
  c: {type: string}
  d: {type: string}
x-kubernetes-validations:
- rule: "has(self.c) != has(self.d)"
- rule: "has(self.a) == (has(self.type) && self.type == 'A')"
- rule: "has(self.b) == (has(self.type) && self.type == 'B')"
- rule: "self.mode != 'off'"
`
	for _, p := range proofs(t, beside, "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}}, {members: [c, d], cardinality: ExactlyOne}]") {
		if !p.Proved() {
			t.Errorf("%v: %s", p.Union.MemberNames(), summary(p))
		}
	}
	nested := `
type: object
properties:
  type: {type: string, enum: [A, B]}
  b: {type: object}
  a:
    type: object
    properties: {c: {type: string}, d: {type: string, format: ipv4}}
    x-kubernetes-validations:
    - rule: "has(self.c) != has(self.d)"
x-kubernetes-validations:
- rule: "has(self.a) == (has(self.type) && self.type == 'A')"
- rule: "has(self.b) == (has(self.type) && self.type == 'B')"
- rule: "!has(oldSelf.type) || has(self.type) && self.type == oldSelf.type"
`
	outer := proofs(t, nested, "[{discriminator: type, fields-to-discriminateBy: {a: A, b: B}, discriminatorChange: Forbid}]")[0]
	if !outer.Proved() {
		t.Error(summary(outer))
	}
	for _, keys := range []string{"", ", discriminatorChange: Allow"} {
		inner := proofs(t, nested, "[{members: [c, d], cardinality: ExactlyOne"+keys+"}]", "properties", "a")[0]
		if !inner.Proved() {
			t.Error(summary(inner))
		}
	}
	movable := strings.Replace(nested, "- rule: \"!has(oldSelf.type) || has(self.type) && self.type == oldSelf.type\"\n", "", 1)
	kept := proofs(t, strings.Replace(movable, "- rule: \"has(self.c) != has(self.d)\"", "- rule: \"has(self.c) != has(self.d)\"\n    - rule: has(oldSelf.c) == has(oldSelf.d) || has(oldSelf.c) == has(self.c)", 1),
		"[{members: [c, d], cardinality: ExactlyOne, discriminatorChange: Forbid}]", "properties", "a")[0]
	if got := summary(kept); got != "update accepted: spec.a is removed while c is set" {
		t.Error(got)
	} else if got := example(t, kept.Differences()[0].Example); got != "{a: {c: a}, type: A} -> {}" {
		t.Error(got)
	}
	wrong := proofs(t, nested, "[{members: [c, d]}]", "properties", "a")[0]
	if got := summary(wrong); got != "rejected by has(self.c) != has(self.d): no member is set" {
		t.Error(got)
	}
	if got := flow(t, wrong.Differences()[0].New["spec"]); got != "{a: {}, type: A}" {
		t.Errorf("the example's surroundings are %s", got)
	}
}
