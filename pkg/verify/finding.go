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
	// Accepted: the API server accepts a resource that the union forbids.
	Accepted Kind = "accepted"
	// Rejected: a rule rejects a resource that the union allows.
	Rejected Kind = "rejected"
	// Restricted: a rule that reads something of the union rejects some resources in a legal state,
	// but not all, depending on something else. The union does not forbid such rules.
	Restricted Kind = "restricted"
	// Undecided: a question could not be decided.
	Undecided Kind = "undecided"
	// Noted: older API servers evaluate a rule otherwise; see the package comment.
	Noted Kind = "noted"
)

// Finding is a fact that a proof found out about one union.
type Finding struct {
	Kind Kind
	// Text says what could not be decided, and why; or the difference between API servers. Of a
	// restriction, it names the other things on which the rule depends.
	Text string
	// Rule rejects: the text of a CEL rule, or a constraint of the schema, such as "oneOf" or
	// "maxProperties: 1". RuleAt is the path of its schema.
	Rule, RuleAt string
	// Message is the error of the API server, or says that the rule fails to evaluate.
	Message string
	// Violations are the conditions that an accepted state, or change, breaks.
	Violations []union.Violation
	// Removed is the path in the resource at which an example removes the union object, or does not
	// have it.
	Removed string
	// Beside are the properties with unusual values in the example, and unusual ways of writing.
	// Only [Compare] fills it in.
	Beside []string

	// Example shows a difference. Of a restriction, the rule rejects it, and accepts Other, whose
	// union is in the same state.
	Example
	Other *Example
}

// Example is a resource, or an update of one.
type Example struct {
	// Was and Is are the states of the union before and after. Was is nil for a creation and where
	// the union object is added, Is where it is removed.
	Was, Is *union.State
	// Old and New are whole resources. Old is nil for a creation.
	Old, New map[string]any
}

// Words describes in a line the states of an example in which the union object exists.
func (e Example) Words(u *union.Union) string {
	if e.Was == nil {
		return u.Describe(*e.Is)
	}
	return fmt.Sprintf("%s (before: %s)", u.Describe(*e.Is), u.Describe(*e.Was))
}

// Words describes a difference in a line: the violations of an accepted example, or the states of a
// rejected one.
func (f Finding) Words(u *union.Union) string {
	words := f.words(u)
	if len(f.Beside) > 0 {
		words += " (" + english.List(f.Beside, "and") + ")"
	}
	return words
}

func (f Finding) words(u *union.Union) string {
	switch {
	case f.Is == nil && f.Was == nil:
		return f.Removed + " is not there"
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
