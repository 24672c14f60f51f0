package rules

import (
	"github.com/unioncel/unioncel/pkg/union"
)

// Reason is the reason of a validation rule, as the API server knows them.
type Reason string

// The reasons in use (apiextensions FieldValueErrorReason).
const (
	ReasonForbidden Reason = "FieldValueForbidden"
	ReasonRequired  Reason = "FieldValueRequired"
	ReasonInvalid   Reason = "FieldValueInvalid"
)

// Rule is one item of x-kubernetes-validations.
type Rule struct {
	Rule              string `json:"rule"`
	Message           string `json:"message,omitempty"`
	MessageExpression string `json:"messageExpression,omitempty"`
	Reason            Reason `json:"reason,omitempty"`
	FieldPath         string `json:"fieldPath,omitempty"`
	OptionalOldSelf   bool   `json:"optionalOldSelf,omitempty"`

	// Conditions are those of the union that the rule enforces. A condition is
	// violated exactly when one of its rules fails.
	Conditions []union.Condition `json:"-"`
}

// Features are the parts of a rule that an API server understands.
type Features struct {
	MessageExpression  bool // since 1.27
	ReasonAndFieldPath bool // since 1.28
	OptionalOldSelf    bool // since 1.30
}

// Trim returns r without the keys that a server with features f does not know.
// A rule that needs OptionalOldSelf cannot be trimmed and is returned as it is.
func (r Rule) Trim(f Features) Rule {
	if !f.MessageExpression {
		r.MessageExpression = ""
	}
	if !f.ReasonAndFieldPath {
		r.Reason, r.FieldPath = "", ""
	}
	return r
}

// Encoding is a way to write the static rules of a union. All of them mean the
// same.
type Encoding string

const (
	// Fine is one rule per member and direction, each with its own message,
	// reason and fieldPath: the best errors.
	Fine Encoding = "fine"
	// Compact is one rule per union, with a messageExpression that names the
	// offending member: fewer bytes.
	Compact Encoding = "compact"
)

// labelled prefixes the messages of a union that has a name.
func labelled(u *union.Union, message string) string {
	if u.Name == "" {
		return message
	}
	return plain(u.Name) + ": " + message
}
