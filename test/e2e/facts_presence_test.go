package e2e

import (
	"fmt"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/servertest"
)

// presenceFacts assert for which values has() is true.
func presenceFacts(t *testing.T, s *servertest.Server) {
	// Every create is rejected, with a message that names the present fields.
	installed(t, s, crd(t, "Presence", root(t, `
type: object
properties:
  string: {type: string}
  integer: {type: integer}
  boolean: {type: boolean}
  list: {type: array, items: {type: string}}
  map: {type: object, additionalProperties: {type: string}}
  object: {type: object, properties: {a: {type: string}}}
  defaulted: {type: string, default: d}
  nullableString: {type: string, nullable: true}
  nullableInteger: {type: integer, nullable: true}
  nullableBoolean: {type: boolean, nullable: true}
  nullableList: {type: array, nullable: true, items: {type: string}}
  nullableMap: {type: object, nullable: true, additionalProperties: {type: string}}
  nullableObject: {type: object, nullable: true, properties: {a: {type: string}}}
  nullableDefaulted: {type: string, nullable: true, default: d}
x-kubernetes-validations:
- rule: "false"
  message: fallback
  messageExpression: >-
    'present:'
    + (has(self.string) ? ' string' : '')
    + (has(self.integer) ? ' integer' : '')
    + (has(self.boolean) ? ' boolean' : '')
    + (has(self.list) ? ' list' : '')
    + (has(self.map) ? ' map' : '')
    + (has(self.object) ? ' object' : '')
    + (has(self.defaulted) ? ' defaulted' : '')
    + (has(self.nullableString) ? ' nullableString' : '')
    + (has(self.nullableInteger) ? ' nullableInteger' : '')
    + (has(self.nullableBoolean) ? ' nullableBoolean' : '')
    + (has(self.nullableList) ? ' nullableList' : '')
    + (has(self.nullableMap) ? ' nullableMap' : '')
    + (has(self.nullableObject) ? ' nullableObject' : '')
    + (has(self.nullableDefaulted) ? ' nullableDefaulted' : '')
`)))
	const defaults = " defaulted nullableDefaulted"
	for _, test := range []struct{ name, spec, want string }{
		{"nothing but defaults", "", defaults},
		{"empty string", "string: ''", " string" + defaults},
		{"zero", "integer: 0", " integer" + defaults},
		{"false", "boolean: false", " boolean" + defaults},
		{"empty list", "list: []", " list" + defaults},
		{"empty map", "map: {}", " map" + defaults},
		{"empty object", "object: {}", " object" + defaults},
		{"nullable empty string", "nullableString: ''", " defaulted nullableString nullableDefaulted"},
		{"nullable zero", "nullableInteger: 0", " defaulted nullableInteger nullableDefaulted"},
		{"nullable false", "nullableBoolean: false", " defaulted nullableBoolean nullableDefaulted"},
		{"nullable empty list", "nullableList: []", " defaulted nullableList nullableDefaulted"},
		{"nullable empty map", "nullableMap: {}", " defaulted nullableMap nullableDefaulted"},
		{"nullable empty object", "nullableObject: {}", " defaulted nullableObject nullableDefaulted"},
		{"nullable nulls", "nullableString: null, nullableInteger: null, nullableBoolean: null, nullableList: null, nullableMap: null, nullableObject: null", defaults},
		{"nulls, pruned", "string: null, integer: null, boolean: null, list: null, map: null, object: null", defaults},
		{"null, defaulted", "defaulted: null", defaults},
		{"nullable null, not defaulted", "nullableDefaulted: null", " defaulted"},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := only(s.Create(t.Context(), it("Presence", "spec: {"+test.spec+"}")))
			if got, want := complaint(t, err), "spec: Invalid value: present:"+test.want; got != want {
				t.Errorf("the server says %q, want %q", got, want)
			}
		})
	}

	t.Run("a nullable null is stored, any other null is not", func(t *testing.T) {
		installed(t, s, crd(t, "Nulled", root(t, "{type: object, properties: {plain: {type: string}, nullable: {type: string, nullable: true}}}")))
		stored, err := s.Create(t.Context(), it("Nulled", "spec: {plain: null, nullable: null}"))
		if err != nil {
			t.Fatal(err)
		}
		spec := stored.Object["spec"].(map[string]any)
		if null, ok := spec["nullable"]; len(spec) != 1 || !ok || null != nil {
			t.Errorf("stored %v, want nullable alone", spec)
		}
	})
}

// absenceFacts assert the effect of a rule that reads a field which a stored object lacks.
func absenceFacts(t *testing.T, s *servertest.Server) {
	const stored = "spec: {u: {a: x}}"
	const union = "{type: object, properties: {u: {type: object, properties: {type: {type: string}, a: {type: string}}%s}}}"
	const unguarded = ", x-kubernetes-validations: [{rule: self.type == 'A', message: broken}]"
	const guarded = ", x-kubernetes-validations: [{rule: has(self.type) && self.type == 'A', message: broken}]"
	const noSuchKey = `spec.u: Invalid value: "object": no such key: type evaluating rule: broken`
	for _, test := range []struct{ name, kind, added, want string }{
		{"an unguarded read of an absent field", "Unguarded", unguarded, noSuchKey},
		{"an unguarded read of a required field", "UnguardedRequired", ", required: [type]" + unguarded, noSuchKey},
		{"a guarded read of an absent field", "Guarded", guarded, ""},
		{"a guarded read of a required field", "GuardedRequired", ", required: [type]" + guarded, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			installed(t, s, crd(t, test.kind, root(t, fmt.Sprintf(union, ""))))
			create(t, s, it(test.kind, stored))
			replace(t, s, crd(t, test.kind, root(t, fmt.Sprintf(union, test.added))))
			t.Run("on update of a label", func(t *testing.T) {
				wantComplaint(t, only(s.Update(t.Context(), relabelled(test.kind, stored))), test.want)
			})
			t.Run("on update of the status", func(t *testing.T) {
				wantComplaint(t, only(s.UpdateStatus(t.Context(), it(test.kind, "status: {phase: Done}"))), test.want)
			})
		})
	}
	t.Run("a create without a required field is refused before rules are asked", func(t *testing.T) {
		err := only(s.Create(t.Context(), []byte("{apiVersion: facts.test/v1, kind: UnguardedRequired, metadata: {name: other}, spec: {u: {}}}")))
		wantComplaint(t, err, "[spec.u.type: Required value, <nil>: Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation]")
	})
}
