package e2e

import (
	"fmt"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/servertest"
	"github.com/unioncel/unioncel/internal/testing/unioncases"
)

// ratchetingFacts assert when an object may keep a value that a newer schema rejects.
func ratchetingFacts(t *testing.T, s *servertest.Server) {
	const (
		union = "type: object, properties: {type: {type: string}, a: {type: string}, b: {type: string}}"
		one   = "{type: object, properties: {sibling: {type: string}, u: {" + union + "%s}}}"
		list  = "{type: object, properties: {sibling: {type: string}, list: {type: array, items: {" + union + "%s}}}}"
		keyed = "{type: object, properties: {sibling: {type: string}, list: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [type], items: {required: [type], " + union + "%s}}}}"

		static     = ", x-kubernetes-validations: [{rule: '!has(self.a) || !has(self.b)', message: one of a and b}]"
		transition = ", x-kubernetes-validations: [{rule: '!has(self.a) || !has(self.b) || oldSelf != oldSelf', message: one of a and b}]"
		optional   = ", x-kubernetes-validations: [{rule: '!has(self.a) || !has(self.b) || oldSelf != oldSelf', optionalOldSelf: true, message: one of a and b}]"
		oneOf      = ", oneOf: [{required: [a]}, {required: [b]}]"
		not        = ", not: {required: [a, b]}"

		inSpec  = "spec: {u: {a: x, b: x}}"
		beside  = "spec: {sibling: new, u: {a: x, b: x}}"
		within  = "spec: {u: {a: x, b: z}}"
		inList  = "spec: {list: [{type: s, a: x, b: x}]}"
		besideL = "spec: {sibling: new, list: [{type: s, a: x, b: x}]}"
		withinL = "spec: {list: [{type: s, a: x, b: x}, {type: t, a: x}]}"

		refused       = "spec.u: Invalid value: one of a and b"
		refusedOneOf  = `"spec.u" must validate one and only one schema (oneOf). Found 2 valid alternatives`
		refusedNot    = `"spec.u" must not validate the schema (not)`
		refusedItem   = "spec.list[0]: Invalid value: one of a and b"
		refusedAtRoot = "Invalid value: one of a and b"
	)
	for i, test := range []struct {
		name                   string
		before, after          string // root schemas
		stored                 string
		beside, within         string // the updated object: sibling changed, or union changed
		label, status          string // expected errors of updates that change neither
		besideWant, withinWant string
	}{
		{
			name:   "a static rule",
			before: root(t, fmt.Sprintf(one, "")), after: root(t, fmt.Sprintf(one, static)),
			stored: inSpec, beside: beside, within: within,
			withinWant: refused,
		}, {
			name:   "a rule that reads oldSelf",
			before: root(t, fmt.Sprintf(one, "")), after: root(t, fmt.Sprintf(one, transition)),
			stored: inSpec, beside: beside, within: within,
			label: refused, status: refused, besideWant: refused, withinWant: refused,
		}, {
			name:   "a rule that reads an optional oldSelf",
			before: root(t, fmt.Sprintf(one, "")), after: root(t, fmt.Sprintf(one, optional)),
			stored: inSpec, beside: beside, within: within,
			label: refused, status: refused, besideWant: refused, withinWant: refused,
		}, {
			name:   "oneOf",
			before: root(t, fmt.Sprintf(one, "")), after: root(t, fmt.Sprintf(one, oneOf)),
			stored: inSpec, beside: beside, within: within,
			withinWant: refusedOneOf,
		}, {
			name:   "not",
			before: root(t, fmt.Sprintf(one, "")), after: root(t, fmt.Sprintf(one, not)),
			stored: inSpec, beside: beside, within: within,
			withinWant: refusedNot,
		}, {
			name:   "a static rule at the root",
			before: root(t, fmt.Sprintf(one, "")),
			after: root(t, fmt.Sprintf(one, "")) +
				"x-kubernetes-validations: [{rule: '!has(self.spec.u.a) || !has(self.spec.u.b)', message: one of a and b}]",
			stored: inSpec, beside: beside, within: within,
			label: refusedAtRoot, status: refusedAtRoot, besideWant: refusedAtRoot, withinWant: refusedAtRoot,
		}, {
			name:   "a static rule in a list, as long as the list is unchanged",
			before: root(t, fmt.Sprintf(list, "")), after: root(t, fmt.Sprintf(list, static)),
			stored: inList, beside: besideL, within: withinL,
			withinWant: refusedItem,
		}, {
			name:   "a static rule in a list-map, as long as the item is unchanged",
			before: root(t, fmt.Sprintf(keyed, "")), after: root(t, fmt.Sprintf(keyed, static)),
			stored: inList, beside: besideL, within: withinL,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			kind := fmt.Sprintf("Ratchet%d", i)
			installed(t, s, crd(t, kind, test.before))
			create(t, s, it(kind, test.stored))
			replace(t, s, crd(t, kind, test.after))
			for _, update := range []struct {
				name string
				send func() error
				want string
			}{
				{"nothing", func() error {
					return only(s.Update(t.Context(), it(kind, test.stored)))
				}, test.label},
				{"status", func() error {
					return only(s.UpdateStatus(t.Context(), it(kind, "status: {phase: Done}")))
				}, test.status},
				{"label", func() error {
					return only(s.Update(t.Context(), relabelled(kind, test.stored)))
				}, test.label},
				{"beside", func() error {
					return only(s.Update(t.Context(), it(kind, test.beside)))
				}, test.besideWant},
				{"within", func() error {
					return only(s.Update(t.Context(), it(kind, test.within)))
				}, test.withinWant},
			} {
				t.Run(update.name, func(t *testing.T) { wantComplaint(t, update.send(), update.want) })
			}
		})
	}
}

// unchangedFacts assert when the server considers a value unchanged. A value never counts as
// unchanged if it has a field that its schema does not specify: because unknown fields are
// preserved, additionalProperties is true, or the value is or contains an embedded resource with
// metadata. A list without keys is compared as a whole.
func unchangedFacts(t *testing.T, s *servertest.Server) {
	const (
		schema = "{type: object, properties: {u: {type: object, %s, properties: {a: {type: string}, b: {type: string}, %s}, x-kubernetes-validations: [{rule: '%s', message: one of a and b}]}}}"
		static = "!has(self.a) || !has(self.b)"
		// The rule that unioncel writes for ratchet: true, alongside a rule for creates.
		same     = "has(self.a) == has(oldSelf.a) && has(self.b) == has(oldSelf.b) || " + static
		open     = "x-kubernetes-preserve-unknown-fields: true"
		embedded = "x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true"
		resource = "{apiVersion: v1, kind: Pod, metadata: {name: x}}"
		refused  = "spec.u: Invalid value: one of a and b"
	)
	for i, test := range []struct {
		name, key, property string
		value               string // alongside a and b
		want                string
	}{
		{name: "known fields only", key: "nullable: false", property: "c: {type: string}", value: "c: x"},
		{name: "an unknown field", key: open, property: "c: {type: string}", value: "z: x", want: refused},
		{name: "no unknown field, though it may have some", key: open, property: "c: {type: string}", value: "c: x"},
		{name: "an unknown field below", key: "nullable: false", property: "c: {type: object, " + open + "}", value: "c: {z: 1}", want: refused},
		{name: "an unknown field of something without a type", key: "nullable: false", property: "c: {" + open + "}", value: "c: {z: 1}", want: refused},
		{name: "a string of something without a type", key: "nullable: false", property: "c: {" + open + "}", value: "c: z"},
		{name: "a map of strings", key: "nullable: false", property: "c: {type: object, additionalProperties: {type: string}}", value: "c: {z: w}"},
		{name: "an unknown field in a map", key: "nullable: false", property: "c: {type: object, additionalProperties: {type: object, " + open + "}}", value: "c: {z: {y: x}}", want: refused},
		{name: "additionalProperties: true", key: "nullable: false", property: "c: {type: object, additionalProperties: true}", value: "c: {z: 1}", want: refused},
		{name: "an embedded resource", key: "nullable: false", property: "c: {type: object, " + embedded + "}", value: "c: " + resource, want: refused},
		{name: "an unknown field in a list", key: "nullable: false", property: "c: {type: array, items: {type: object, " + open + "}}", value: "c: [{z: 1}]"},
		{name: "an unknown field in a list-map", key: "nullable: false", property: "c: {type: array, x-kubernetes-list-type: map, x-kubernetes-list-map-keys: [k], items: {type: object, required: [k], properties: {k: {type: string}}, " + open + "}}", value: "c: [{k: x, z: 1}]", want: refused},
	} {
		t.Run(test.name, func(t *testing.T) {
			for j, rule := range []string{static, same} {
				if rule == same && i%4 > 0 && !unioncases.Exhaustive {
					continue // it gives all of them the same answer
				}
				kind := fmt.Sprintf("Unchanged%dx%d", i, j)
				stored := "spec: {u: {a: x, b: x, " + test.value + "}}"
				want := test.want
				if rule == same {
					want = "" // the state is unchanged
				}
				installed(t, s, crd(t, kind, root(t, fmt.Sprintf(schema, test.key, test.property, "true"))))
				create(t, s, it(kind, stored))
				replace(t, s, crd(t, kind, root(t, fmt.Sprintf(schema, test.key, test.property, rule))))
				wantComplaint(t, only(s.UpdateStatus(t.Context(), it(kind, "status: {phase: Done}"))), want)
				wantComplaint(t, only(s.Update(t.Context(), relabelled(kind, stored))), want)
			}
		})
	}
}

// transitionFacts assert when a rule that reads oldSelf is evaluated.
func transitionFacts(t *testing.T, s *servertest.Server) {
	const schema = `
type: object
properties:
  plain:
    type: object
    properties: {type: {type: string}}
    x-kubernetes-validations: [{rule: "oldSelf != oldSelf", message: asked}]
  optional:
    type: object
    properties: {type: {type: string}}
    x-kubernetes-validations: [{rule: "!oldSelf.hasValue() && has(self.type)", optionalOldSelf: true, message: asked}]
`
	installed(t, s, crd(t, "Transition", root(t, schema)))
	for _, test := range []struct{ name, old, new, want string }{
		{"oldSelf on create", "", "plain: {}", ""},
		{"oldSelf when added", "{}", "plain: {}", ""},
		{"oldSelf when kept", "plain: {}", "plain: {}", "spec.plain: Invalid value: asked"},
		{"oldSelf when changed", "plain: {}", "plain: {type: A}", "spec.plain: Invalid value: asked"},
		{"oldSelf when removed", "plain: {}", "{}", ""},
		{"optional oldSelf on create", "", "optional: {}", "spec.optional: Invalid value: asked"},
		{"optional oldSelf on create, content", "", "optional: {type: A}", ""},
		{"optional oldSelf when added", "{}", "optional: {}", "spec.optional: Invalid value: asked"},
		{"optional oldSelf when kept", "optional: {type: A}", "optional: {type: A}", "spec.optional: Invalid value: asked"},
		{"optional oldSelf when removed", "optional: {type: A}", "{}", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			spec := func(fields string) string {
				if fields == "{}" {
					return "spec: {}"
				}
				return "spec: {" + fields + "}"
			}
			defer func() {
				if err := s.Delete(t.Context(), it("Transition", "spec: {}")); err != nil {
					t.Log(err)
				}
			}()
			if test.old == "" {
				wantComplaint(t, only(s.Create(t.Context(), it("Transition", spec(test.new)))), test.want)
				return
			}
			create(t, s, it("Transition", spec(test.old)))
			wantComplaint(t, only(s.Update(t.Context(), relabelled("Transition", spec(test.new)))), test.want)
		})
	}
}
