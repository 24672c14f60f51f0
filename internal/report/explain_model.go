package report

import (
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Explanation describes the additions to a compiled CustomResourceDefinition. Costs are in units of
// the API server's estimator; 18446744073709551615 means unbounded.
type Explanation struct {
	Name string `json:"name"`
	// Rules is the number of added rules. Bytes is the growth of the manifest, including the
	// annotation.
	Rules    int                `json:"rules"`
	Bytes    int                `json:"bytes"`
	Versions []ExplainedVersion `json:"versions"`
	Unions   []ExplainedUnion   `json:"unions"`
}

// ExplainedVersion has the total cost of the rules of a version.
type ExplainedVersion struct {
	Name string `json:"name"`
	// CostBefore is the cost of the existing rules, CostAdded the cost of the new ones, Cost the
	// sum, and Limit the budget of the API server.
	CostBefore uint64 `json:"costBefore"`
	CostAdded  uint64 `json:"costAdded"`
	Cost       uint64 `json:"cost"`
	Limit      uint64 `json:"limit"`
	// PercentOfLimit is Cost as a percentage of Limit.
	PercentOfLimit float64 `json:"percentOfLimit"`
}

// ExplainedUnion describes one union: its declaration, its compiled rules, and its meaning.
type ExplainedUnion struct {
	Name string `json:"name"`
	// Pos is the position of the declaration.
	diag.Pos
	// Version is the version with the union object. Schema is the path of its schema in the CRD,
	// and Object its path in objects: spec.channels[*]; "" is the root.
	Version string `json:"version"`
	Schema  string `json:"schema"`
	Object  string `json:"object"`

	Discriminator string `json:"discriminator"`
	// DiscriminatorType is string, boolean or integer; "" without a discriminator.
	DiscriminatorType string `json:"discriminatorType"`
	// Unset is the value of an unset discriminator, or "".
	Unset       string            `json:"unset"`
	Cardinality string            `json:"cardinality"`
	Members     []ExplainedMember `json:"members"`
	// MemberlessValues are known discriminator values that select no member. AnyValue is set if the
	// discriminator has no enum.
	MemberlessValues []string `json:"memberlessValues"`
	AnyValue         bool     `json:"anyValue"`
	// Default is the default of the discriminator in the schema, or "".
	Default string `json:"discriminatorDefault"`
	// The values of the keys with these names in the declaration.
	UnmappedValues      string `json:"unmappedValues"`
	Deduce              bool   `json:"deduceInvalidDiscriminator"`
	DiscriminatorChange string `json:"discriminatorChange"`
	Ratchet             bool   `json:"ratchet"`

	// Encoding is the encoding of the static rules, Why its reason, and Dropped the omitted rules.
	Encoding string          `json:"encoding"`
	Why      string          `json:"why"`
	Dropped  string          `json:"dropped"`
	Rules    []ExplainedRule `json:"rules"`

	// HandWritten are the hand-written constraints on the union object that read the union's state.
	HandWritten []compile.HandWritten `json:"handWritten"`
	// Errors are the situations in which users get errors, with these errors.
	Errors []Situation `json:"errors"`
	// WithoutExample are the members that no situation sets, because no valid value was found.
	WithoutExample []string `json:"withoutExample"`

	declared *union.Union
	diagram  string // in Mermaid's language, or ""
	changes  string // in words, or ""
	beside   int    // the number of other unions of the object
	examples int    // the maximum number of members with examples in Errors
}

// declare sets the fields for keys of the declaration.
func (u *ExplainedUnion) declare(d *union.Union) {
	u.declared, u.Cardinality, u.UnmappedValues, u.Unset = d, d.Cardinality.String(), "Allow", d.Unset
	if d.Discriminator != "" {
		u.DiscriminatorType = d.Type.String()
	}
	if d.ForbidUnmapped {
		u.UnmappedValues = "Forbid"
	}
	u.Deduce, u.DiscriminatorChange, u.Ratchet = d.Deduce, d.Change.String(), d.Ratchet
}

// ExplainedMember is a member of a union.
type ExplainedMember struct {
	Name string `json:"name"`
	// Values are the discriminator values that select the member.
	Values []string `json:"values"`
	// OptionalFor are the values for which the member may stay unset.
	OptionalFor []string `json:"optionalFor"`
	// Requires and Forbids are the members that must be set, and must not be set, while this member
	// is set.
	Requires []string `json:"requires"`
	Forbids  []string `json:"forbids"`
	// EmptyIsUnset is set if an empty value counts as unset.
	EmptyIsUnset bool `json:"emptyIsUnset"`
}

// ExplainedRule is one validation rule.
type ExplainedRule struct {
	// Kind is static, transition or guard.
	Kind string `json:"kind"`
	// Schema is the path of the schema with the rule, Object the path of its values in objects.
	Schema            string `json:"schema"`
	Object            string `json:"object"`
	Rule              string `json:"rule"`
	Message           string `json:"message"`
	MessageExpression string `json:"messageExpression"`
	Reason            string `json:"reason"`
	FieldPath         string `json:"fieldPath"`
	OptionalOldSelf   bool   `json:"optionalOldSelf"`
	// Present is set if the CRD already has a hand-written rule with this text. Message, reason and
	// field are then those of the hand-written rule.
	Present bool `json:"present"`
	// Cost is CostOnce times Executions, and Limit the budget of the API server.
	CostOnce   uint64 `json:"costOnce"`
	Executions uint64 `json:"executions"`
	Cost       uint64 `json:"cost"`
	Limit      uint64 `json:"limit"`
	// PercentOfLimit is Cost as a percentage of Limit.
	PercentOfLimit float64 `json:"percentOfLimit"`
	// MessageCost is the cost of the messageExpression, which has its own limit.
	MessageCost uint64 `json:"messageCost"`
	// Bytes is the number of bytes that the rule adds to the manifest.
	Bytes int `json:"bytes"`
}

// Situation is an object or update that violates the union, or a hand-written constraint on the
// union object, with its errors.
type Situation struct {
	// Condition is the violated condition of pkg/union, or "removed". "refused" means that the
	// union allows the situation.
	Condition string `json:"condition"`
	// Member is the member at fault, or "".
	Member string `json:"member"`
	// Situation describes the situation.
	Situation string `json:"situation"`
	// Old is null for a creation. New is null if the union object is removed.
	Old *Sample `json:"old"`
	New *Sample `json:"new"`
	// OldObject and NewObject are whole resources in these states. If possible, all other parts of
	// the CRD accept them. OldObject is null for a creation.
	OldObject map[string]any `json:"oldObject"`
	NewObject map[string]any `json:"newObject"`
	// Errors are the errors as kubectl prints them, one per line.
	Errors []string `json:"errors"`
	// ByHand has for each error the hand-written constraint that causes it, or "" if the union's
	// rules or the rest of the schema cause it.
	ByHand []string `json:"byHand"`
}

// Sample is a state: the discriminator's value and the members that are set.
type Sample struct {
	Value string `json:"value"`
	// Empty is set if an unset discriminator is "" instead of absent.
	Empty   bool     `json:"empty"`
	Members []string `json:"members"`
	// EmptyMembers are the members that are present but empty, and count as unset.
	EmptyMembers []string `json:"emptyMembers"`
}

// percent returns part as a percentage of limit.
func percent(part, limit uint64) float64 { return 100 * float64(part) / float64(limit) }

func (r *ExplainedRule) costs(c server.Cost) {
	r.CostOnce, r.Executions, r.Cost, r.MessageCost = c.Once, c.Executions, c.Rule(), c.MessageExpression
	r.Limit = server.RuleLimit
	r.PercentOfLimit = percent(r.Cost, r.Limit)
}
