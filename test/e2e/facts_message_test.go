package e2e

import (
	"fmt"
	"strings"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/servertest"
)

// errorFacts assert the text of rule errors.
func errorFacts(t *testing.T, s *servertest.Server) {
	for i, test := range []struct{ name, rule, want string }{
		{"forbidden", "reason: FieldValueForbidden, fieldPath: .http", "spec.u.http: Forbidden: msg"},
		{"required", "reason: FieldValueRequired, fieldPath: .http", "spec.u.http: Required value: msg"},
		{"invalid", "reason: FieldValueInvalid, fieldPath: .http", "spec.u.http: Invalid value: msg"},
		{"duplicate", "reason: FieldValueDuplicate, fieldPath: .http", "spec.u.http: Duplicate value"},
		{"no reason", "fieldPath: .http", "spec.u.http: Invalid value: msg"},
		{"no fieldPath", "reason: FieldValueForbidden", "spec.u: Forbidden: msg"},
		{"deeper fieldPath", "reason: FieldValueForbidden, fieldPath: .http.port", "spec.u.http.port: Forbidden: msg"},
		{"bracketed fieldPath", `reason: FieldValueForbidden, fieldPath: "['x.y']"`, "spec.u.x.y: Forbidden: msg"},
		{"fieldPath with a dash", "reason: FieldValueForbidden, fieldPath: .x-y", "spec.u.x-y: Forbidden: msg"},
	} {
		t.Run(test.name, func(t *testing.T) {
			kind := fmt.Sprintf("Reason%d", i)
			installed(t, s, crd(t, kind, root(t, `
type: object
properties:
  u:
    type: object
    properties:
      http: {type: object, properties: {port: {type: integer}}}
      x.y: {type: string}
      x-y: {type: string}
    x-kubernetes-validations: [{rule: "false", message: msg, `+test.rule+`}]`)))
			// The field at the fieldPath is absent.
			err := only(s.Create(t.Context(), it(kind, "spec: {u: {}}")))
			if got := complaint(t, err); got != test.want {
				t.Errorf("the server says %q, want %q", got, test.want)
			}
		})
	}
}

// messageFacts assert when message is used instead of messageExpression.
func messageFacts(t *testing.T, s *servertest.Server) {
	const limit = 5 * 1024
	// These rules allow the create and reject the update.
	const static = `{rule: self.size != 2, message: msg, messageExpression: %q}`
	for i, test := range []struct {
		name, rules, want string
	}{
		{"text", fmt.Sprintf(static, "'the text is ' + self.text"), "spec: Invalid value: the text is ok"},
		{"trimmed text", fmt.Sprintf(static, "' ' + self.text + '\\n'"), "spec: Invalid value: ok"},
		{"empty", fmt.Sprintf(static, "''"), "spec: Invalid value: msg"},
		{"blank", fmt.Sprintf(static, "'  \\n '"), "spec: Invalid value: msg"},
		{"newline", fmt.Sprintf(static, "'one\\n' + self.text"), "spec: Invalid value: msg"},
		{"carriage return", fmt.Sprintf(static, "'one\\r' + self.text"), "spec: Invalid value: one\rok"},
		{"longest", fmt.Sprintf(static, "self.long"), "spec: Invalid value: " + strings.Repeat("x", limit)},
		{"too long", fmt.Sprintf(static, "self.long + '.'"), "spec: Invalid value: msg"},
		{"error", fmt.Sprintf(static, "self.absent"), "spec: Invalid value: msg"},
		{"error without a message", `{rule: self.size != 2, messageExpression: self.absent}`, "spec: Invalid value: failed rule: self.size != 2"},
		// oldSelf is available in the expression only if a rule of the same schema reads it. It is
		// never an optional there, although the expression is compiled with an optional oldSelf.
		{"oldSelf that its rule does not read", fmt.Sprintf(static, "'was ' + oldSelf.text"), "spec: Invalid value: msg"},
		{"oldSelf that its rule reads", `{rule: oldSelf.size != 1, message: msg, messageExpression: "'was ' + oldSelf.text"}`, "spec: Invalid value: was ok"},
		{"oldSelf that another rule reads", fmt.Sprintf(static, "'was ' + oldSelf.text") + ", {rule: oldSelf == oldSelf}", "spec: Invalid value: was ok"},
		{"optional oldSelf", `{rule: "!oldSelf.hasValue()", optionalOldSelf: true, message: msg, messageExpression: "'was ' + oldSelf.value().text"}`, "spec: Invalid value: msg"},
	} {
		t.Run(test.name, func(t *testing.T) {
			kind := fmt.Sprintf("Message%d", i)
			const schema = "{type: object, properties: {text: {type: string, maxLength: 10}, absent: {type: string, maxLength: 10}, long: {type: string, maxLength: 6000}, size: {type: integer}}, x-kubernetes-validations: [%s]}"
			installed(t, s, crd(t, kind, root(t, fmt.Sprintf(schema, test.rules))))
			const stored = "spec: {text: ok, long: %s, size: %d}"
			create(t, s, it(kind, fmt.Sprintf(stored, strings.Repeat("x", limit), 1)))
			err := only(s.Update(t.Context(), it(kind, fmt.Sprintf(stored, strings.Repeat("x", limit), 2))))
			if got := complaint(t, err); got != test.want {
				t.Errorf("the server says %q, want %q", got, test.want)
			}
		})
	}
}
