package rules

import (
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

// Reason is the reason of a validation rule, as the API server knows them.
type Reason string

// The reasons in use (apiextensions FieldValueErrorReason).
const (
	ReasonForbidden Reason = "FieldValueForbidden"
	ReasonRequired  Reason = "FieldValueRequired"
	ReasonInvalid   Reason = "" // FieldValueInvalid: what the server takes when there is none
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

// Validation returns r as it is written in a CRD.
func (r Rule) Validation() apiextensionsv1.ValidationRule {
	v := apiextensionsv1.ValidationRule{Rule: r.Rule, Message: r.Message, MessageExpression: r.MessageExpression, FieldPath: r.FieldPath}
	if r.Reason != "" {
		reason := apiextensionsv1.FieldValueErrorReason(r.Reason)
		v.Reason = &reason
	}
	if r.OptionalOldSelf {
		v.OptionalOldSelf = &r.OptionalOldSelf
	}
	return v
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

// Encoding is a way to write the static rules of a union: Paired, Fine, or the
// number of groups that the members are split into. All encodings mean the same;
// they differ in cost, in length, and in what the messages can point at.
//
// With a discriminator each group has one rule, with a messageExpression that
// names the member at fault; with as many groups as members they are Paired.
// Without a discriminator every two groups have a rule, since it takes two members
// to break it; one or two groups are a single rule.
type Encoding int

const (
	// Paired is what a careful author writes by hand, with fixed messages: a rule for
	// each member, "required when, and forbidden otherwise", with its fieldPath; one
	// rule for all without a discriminator.
	Paired Encoding = -1
	// Fine is one rule per member and direction, each with its own message,
	// reason and fieldPath: the best errors, in twice the bytes and more.
	Fine Encoding = 0
	// Compact is one rule per union.
	Compact Encoding = 1
)

// String names the encoding as users see it.
func (e Encoding) String() string {
	switch e {
	case Paired:
		return "paired"
	case Fine:
		return "fine"
	case Compact:
		return "compact"
	}
	return fmt.Sprintf("in %d groups", int(e))
}

// Comparison is how rules compare the old state of a union with the new one.
// The zero value compares in one rule, with ==.
type Comparison struct {
	// Lookup compares the discriminator with its old value by "in" instead of ==.
	// The API server's estimator charges == by the greatest length that the schema
	// admits, and "in" a constant.
	Lookup bool
	// Parts is the number of rules that the comparison of members, or a table of
	// changes, is spread over; 0 is one. Clear is never spread.
	Parts int
}

// same compares two strings.
func (c Comparison) same(a, b cel.Expr) cel.Expr {
	if c.Lookup {
		return a.In(cel.List(b))
	}
	return a.Eq(b)
}

// labelled prefixes the messages of a union that has a name.
func labelled(u *union.Union, message string) string {
	if u.Name == "" {
		return message
	}
	return plain(u.Name) + ": " + message
}
