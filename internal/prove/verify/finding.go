package verify

import (
	"fmt"
	"strings"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/pkg/union"
)

// Kind is the kind of a finding.
type Kind string

// The kinds of findings. The first two are differences between the CRD and the union.
const (
	// Accepted means that the API server accepts a resource that the union forbids.
	Accepted Kind = "accepted"
	// Rejected means that a rule rejects a resource that the union allows.
	Rejected Kind = "rejected"
	// Restricted means that a rule which reads the union rejects some resources in a legal state
	// and accepts others, depending on other values. The union does not forbid such rules.
	Restricted Kind = "restricted"
	// Undecided means that a question could not be decided.
	Undecided Kind = "undecided"
	// Noted means that older API servers evaluate a rule differently; see the package comment.
	Noted Kind = "noted"
)

// Finding is a result of a proof about one union.
type Finding struct {
	Kind Kind
	// Text states an undecided question with its reason, or a difference between API servers. For a
	// restriction, Text names the other properties that the rule depends on. For a finding of [Request],
	// it states what exceeds the budget.
	Text string
	// Rule is the rule that rejects the example: the text of a CEL rule, or a constraint of the
	// schema, such as "oneOf" or "maxProperties: 1". RuleAt is the path of the rule's schema.
	Rule, RuleAt string
	// Message is the API server's error for the example, or states that the rule fails to evaluate.
	Message string
	// Violations are the conditions that an accepted state or change breaks.
	Violations []union.Violation
	// Removed is the path in the resource at which the example removes the union object, or at
	// which it is absent.
	Removed string
	// Unusual describes the properties that a stored object may lack, and from [Compare] also the
	// unusual values of the example.
	Unusual []string

	// Example shows a difference. For a restriction, the rule rejects Example and accepts Other,
	// and both have the union in the same state.
	Example
	Other *Example
}

// Example is a resource, or an update of one.
type Example struct {
	// Was and Is are the states of the union before and after the request. Was is nil for a
	// creation or if the update adds the union object. Is is nil if the update removes the union
	// object.
	Was, Is *union.State `json:"-"`
	// Old and New are whole resources. Old is nil for a creation.
	Old map[string]any `json:"old,omitempty"`
	New map[string]any `json:"new,omitempty"`
}

// Words describes the states of an example in one line. The example must have a union object.
func (e Example) Words(u *union.Union) string {
	if e.Was == nil {
		return u.Describe(*e.Is)
	}
	return fmt.Sprintf("%s (before: %s)", u.Describe(*e.Is), u.Describe(*e.Was))
}

// Words describes a difference in one line: the violations of an accepted example, or the states of
// a rejected one.
func (f Finding) Words(u *union.Union) string {
	words := f.words(u)
	if len(f.Unusual) > 0 {
		words += " (" + english.List(f.Unusual, "and") + ")"
	}
	return words
}

func (f Finding) words(u *union.Union) string {
	switch {
	case f.Text != "":
		return f.Text
	case f.Is == nil && f.Was == nil:
		return f.Removed + " is absent"
	case f.Is == nil:
		return fmt.Sprintf("%s is removed while %s", f.Removed, u.Describe(*f.Was))
	case f.Kind == Rejected:
		return f.Example.Words(u)
	}
	var l []string
	for _, v := range f.Violations {
		l = append(l, u.DescribeViolation(v, f.Was, *f.Is))
	}
	return strings.Join(l, "; ")
}
