package rules

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/pkg/union"
)

// Reason is the reason of a validation rule, as defined by the API server.
type Reason string

// The reasons of rules (apiextensions FieldValueErrorReason).
const (
	ReasonForbidden Reason = "FieldValueForbidden"
	ReasonRequired  Reason = "FieldValueRequired"
	ReasonInvalid   Reason = "" // the server's default, FieldValueInvalid
)

// Rule is one item of x-kubernetes-validations.
type Rule struct {
	Rule              string `json:"rule"`
	Message           string `json:"message,omitempty"`
	MessageExpression string `json:"messageExpression,omitempty"`
	Reason            Reason `json:"reason,omitempty"`
	FieldPath         string `json:"fieldPath,omitempty"`
	OptionalOldSelf   bool   `json:"optionalOldSelf,omitempty"`

	// Conditions are the conditions of the union that the rule enforces. A condition is violated
	// exactly when one of its rules fails.
	Conditions []union.Condition `json:"-"`
}

// Validation returns r in the type of the CRD API.
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

// Features are the optional keys of a rule that an API server supports.
type Features struct {
	MessageExpression  bool // since 1.27
	ReasonAndFieldPath bool // since 1.28
	OptionalOldSelf    bool // since 1.30
}

// Trim returns r without the keys that a server with features f does not know. It keeps
// OptionalOldSelf, since a rule that needs this key is wrong without it.
func (r Rule) Trim(f Features) Rule {
	if !f.MessageExpression {
		r.MessageExpression = ""
	}
	if !f.ReasonAndFieldPath {
		r.Reason, r.FieldPath = "", ""
	}
	return r
}

// Encoding is the form of the static rules of a union: [Paired], [Fine], or the number of groups
// that the members are split into. All encodings enforce the same conditions. They differ in cost,
// length, and the precision of their messages.
//
// With a discriminator, each group has one rule, whose messageExpression names the offending
// member. Groups of one member have the same rules as Paired. Without a discriminator, every two
// groups have a rule, because a violation takes two members; one or two groups have a single rule.
type Encoding int

const (
	// Paired resembles rules written carefully by hand, with fixed messages. With a discriminator,
	// it is a rule for each member, "required when, and forbidden otherwise", with its fieldPath.
	// Without one, it is a single rule for all members.
	Paired Encoding = -1
	// Fine is one rule per member and direction, each with its own message, reason and fieldPath.
	// Its errors are the most precise ones, and its rules more than twice as long.
	Fine Encoding = 0
	// Compact is one rule per union.
	Compact Encoding = 1
)

// String returns the name of the encoding for messages.
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

// Comparison controls how rules compare the old state of a union with the new one. The zero value
// compares in one rule, with ==.
type Comparison struct {
	// Lookup compares the discriminator with its old value by "in" instead of ==. The API server's
	// estimator charges == by the maximum length in the schema, and "in" a constant.
	Lookup bool
	// Parts is the number of rules that share the comparison of members or the table of changes; 0
	// means 1. Rules for Clear are never split.
	Parts int
}

func (c Comparison) same(a, b cel.Expr) cel.Expr {
	if c.Lookup {
		return a.In(cel.List(b))
	}
	return a.Eq(b)
}

// labelled prefixes a message with the name of the union, if there is one.
func labelled(u *union.Union, message string) string {
	if u.Name == "" {
		return message
	}
	return plain(u.Name) + ": " + message
}

// declared returns the declared text of errors about a property, or about any property if it is "", if
// the text is the same for all errors under the conditions, and else "".
func declared(u *union.Union, property string, conditions []union.Condition) string {
	var texts []string
	for _, c := range conditions {
		texts = append(texts, u.Text(property, c))
		for name := range u.Messages {
			member, discriminator := c == union.Required || c == union.Forbidden, c == union.Selected || c == union.Unmapped
			if property == "" && (member && name != u.Discriminator || discriminator && name == u.Discriminator) {
				texts = append(texts, u.Text(name, c))
			}
		}
	}
	if texts = slices.Compact(texts); len(texts) == 1 {
		return texts[0]
	}
	return ""
}
