package explain

import (
	"github.com/unioncel/unioncel/internal/cost"
	"github.com/unioncel/unioncel/pkg/union"
)

// Explanation describes the additions to a compiled CustomResourceDefinition. Costs are in the unit of the
// API server's estimator; 18446744073709551615 stands for unbounded.
type Explanation struct {
	Name string `json:"name"`
	// Rules is the number of added rules, and Bytes the growth of the manifest, including the
	// annotation.
	Rules    int       `json:"rules"`
	Bytes    int       `json:"bytes"`
	Versions []Version `json:"versions"`
	Unions   []Union   `json:"unions"`
}

// Version has the total cost of the rules of a version.
type Version struct {
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

// Union is one union: its declaration, how it is compiled and its meaning.
type Union struct {
	Name string `json:"name"`
	// File, Line and Col are the position of the declaration.
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
	// Version has the union object. Schema is the path of its schema in the CRD, and Object its
	// path in objects: spec.channels[*]; "" is the root.
	Version string `json:"version"`
	Schema  string `json:"schema"`
	Object  string `json:"object"`

	Discriminator string   `json:"discriminator"`
	Cardinality   string   `json:"cardinality"`
	Members       []Member `json:"members"`
	// MemberlessValues are known values of the discriminator that select no member. AnyValue is set
	// if the discriminator has no enum.
	MemberlessValues []string `json:"memberlessValues"`
	AnyValue         bool     `json:"anyValue"`
	// Default is the server's default of the discriminator; empty if there is none.
	Default string `json:"discriminatorDefault"`
	// The keys of the declaration with these names.
	UnmappedValues      string `json:"unmappedValues"`
	Deduce              bool   `json:"deduceInvalidDiscriminator"`
	DiscriminatorChange string `json:"discriminatorChange"`
	Ratchet             bool   `json:"ratchet"`

	// Encoding of the static rules, Why it was chosen, and the rules that were Dropped.
	Encoding string `json:"encoding"`
	Why      string `json:"why"`
	Dropped  string `json:"dropped"`
	Rules    []Rule `json:"rules"`
	// RequestMicroseconds is the time that the rules add to every request that writes the object,
	// for each union object in it. It is an estimate of the order of magnitude.
	RequestMicroseconds int64 `json:"requestMicroseconds"`
	// Many is set if the union object is in a list or a map, so that there may be many.
	Many bool `json:"many"`
	// AllOf is the schema added to the allOf of the union object, if it replaces static rules; else
	// nil.
	AllOf map[string]any `json:"allOf"`

	// States are all states, by the discriminator's value.
	States []States `json:"states"`
	// Changes are the changes between legal states; empty for AtLeastOne.
	Changes []Changes `json:"changes"`
	// OnUpdate describes in sentences the constraints on updates.
	OnUpdate []string `json:"onUpdate"`
	// HandWritten are the hand-written constraints on the state of the union, on the union object.
	HandWritten []HandWritten `json:"handWritten"`
	// Errors are the situations that users may run into, with the errors that they read.
	Errors []Situation `json:"errors"`
	// WithoutExample are the members that no situation sets, because no valid value was found for
	// them.
	WithoutExample []string `json:"withoutExample"`

	examples int // the maximal number of members with examples in Errors
}

// declare sets the keys of the declaration.
func (u *Union) declare(d *union.Union) {
	u.Cardinality, u.UnmappedValues = d.Cardinality.String(), "Allow"
	if d.ForbidUnmapped {
		u.UnmappedValues = "Forbid"
	}
	u.Deduce, u.DiscriminatorChange, u.Ratchet = d.Deduce, d.Change.String(), d.Ratchet
}

// Member is a member of a union.
type Member struct {
	Name string `json:"name"`
	// Values of the discriminator that select the member.
	Values []string `json:"values"`
	// OptionalFor are the values that allow the member to stay unset.
	OptionalFor []string `json:"optionalFor"`
	// EmptyIsUnset is set if an empty value counts as unset.
	EmptyIsUnset bool `json:"emptyIsUnset"`
}

// Rule is one validation rule.
type Rule struct {
	// Kind is static, transition or guard.
	Kind string `json:"kind"`
	// Schema is the path of the schema that the rule is on, Object the path in objects.
	Schema            string `json:"schema"`
	Object            string `json:"object"`
	Rule              string `json:"rule"`
	Message           string `json:"message"`
	MessageExpression string `json:"messageExpression"`
	Reason            string `json:"reason"`
	FieldPath         string `json:"fieldPath"`
	OptionalOldSelf   bool   `json:"optionalOldSelf"`
	// Present is set if the CRD already has a hand-written rule with this text. Message, reason and
	// field are then those of that rule.
	Present bool `json:"present"`
	// Cost is CostOnce times Executions, and Limit the budget of the API server.
	CostOnce   uint64 `json:"costOnce"`
	Executions uint64 `json:"executions"`
	Cost       uint64 `json:"cost"`
	Limit      uint64 `json:"limit"`
	// PercentOfLimit is Cost as a percentage of Limit.
	PercentOfLimit float64 `json:"percentOfLimit"`
	// MessageCost is the cost of the message expression, which has a limit of its own.
	MessageCost uint64 `json:"messageCost"`
	// Bytes is the number of bytes that the rule adds to the manifest.
	Bytes int `json:"bytes"`
}

// States are the states with one of several values of the discriminator, or all
// states of a union without one.
type States struct {
	// Values of the discriminator, "" for unset; AnyOther adds all unknown values. Both are empty
	// without a discriminator.
	Values   []string `json:"values"`
	AnyOther bool     `json:"anyOther"`
	// Accepted describes the members that may be set: "http", "http or none", "any one".
	Accepted string `json:"accepted"`
	// Rejected describes the remaining states.
	Rejected []Rejection `json:"rejected"`
}

// Rejection describes rejected states ("with tcp or udp"), and the reason.
type Rejection struct {
	When string `json:"when"`
	Why  string `json:"why"`
}

// Selection is the selection of a legal state: a value of the discriminator, or a member if there
// is no discriminator; "" is unset. AnyOther stands for all unknown values.
type Selection struct {
	Value    string `json:"value"`
	AnyOther bool   `json:"anyOther"`
}

// Changes lists the other selections that a selection may become.
type Changes struct {
	From Selection   `json:"from"`
	To   []Selection `json:"to"`
}

// HandWritten is a hand-written constraint on a union object.
type HandWritten struct {
	// Name is its key in the schema: "oneOf", "x-kubernetes-validations[1]".
	Name string `json:"name"`
	// Superfluous is set if this constraint and all other superfluous ones together mean the same
	// as the union: handWrittenRules: Replace removes them.
	Superfluous bool `json:"superfluous"`
}

// Situation is an object or update that violates the union, or a hand-written constraint on its
// object, with the errors for it.
type Situation struct {
	// Condition that is violated, as pkg/union names it, or "removed". "refused" stands for a
	// situation that the union allows.
	Condition string `json:"condition"`
	// Member at fault; empty if there is no single one.
	Member string `json:"member"`
	// Situation in words.
	Situation string `json:"situation"`
	// Old is null for a creation, New is null if the union object is removed.
	Old *Sample `json:"old"`
	New *Sample `json:"new"`
	// OldObject and NewObject are whole resources in these states. If possible, everything else in
	// the CRD accepts them. OldObject is null for a creation.
	OldObject map[string]any `json:"oldObject"`
	NewObject map[string]any `json:"newObject"`
	// Errors are lines as kubectl prints them.
	Errors []string `json:"errors"`
	// ByHand has for each line the hand-written constraint that causes it. It is empty if the
	// union's rules, or the rest of the schema, cause the line by themselves.
	ByHand []string `json:"byHand"`
}

// Sample is a sample state: the discriminator's value and the members set.
type Sample struct {
	Value string `json:"value"`
	// Empty is set if an unset discriminator is "" instead of absent.
	Empty   bool     `json:"empty"`
	Members []string `json:"members"`
	// EmptyMembers are present but empty, and count as unset.
	EmptyMembers []string `json:"emptyMembers"`
}

// percent returns part as a percentage of limit.
func percent(part, limit uint64) float64 { return 100 * float64(part) / float64(limit) }

func (r *Rule) costs(c cost.Cost) {
	r.CostOnce, r.Executions, r.Cost, r.MessageCost = c.Once, c.Executions, c.Rule(), c.MessageExpression
	r.Limit = cost.RuleLimit
	r.PercentOfLimit = percent(r.Cost, r.Limit)
}

// Data returns explanations for programs, to be written as a JSON list. Every key is always
// present.
func Data(crds []Explanation) any {
	if crds == nil {
		return []Explanation{}
	}
	return crds
}
