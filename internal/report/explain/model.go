package explain

import (
	"github.com/unioncel/unioncel/internal/cost"
	"github.com/unioncel/unioncel/pkg/union"
)

// CRD is what compiling adds to a CustomResourceDefinition. Costs are in the unit
// of the API server's estimator; 18446744073709551615 stands for unbounded.
type CRD struct {
	Name string `json:"name"`
	// Rules is how many rules are added, Bytes by how much the manifest grows,
	// the annotation included.
	Rules    int       `json:"rules"`
	Bytes    int       `json:"bytes"`
	Versions []Version `json:"versions"`
	Unions   []Union   `json:"unions"`
}

// Version is what all rules of one version cost together.
type Version struct {
	Name string `json:"name"`
	// CostBefore is that of the rules that were there, CostAdded that of the new
	// ones, Cost the sum, and Limit what the API server allows.
	CostBefore uint64 `json:"costBefore"`
	CostAdded  uint64 `json:"costAdded"`
	Cost       uint64 `json:"cost"`
	Limit      uint64 `json:"limit"`
	// PercentOfLimit is Cost as a percentage of Limit.
	PercentOfLimit float64 `json:"percentOfLimit"`
}

// Union is one union: what is declared, how it is compiled and what it means.
type Union struct {
	Name string `json:"name"`
	// File, Line and Col are where the declaration is.
	File string `json:"file"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
	// Version has the union object, Schema is the path of its schema in the CRD,
	// and Object where objects have it: spec.channels[*]; "" is the root.
	Version string `json:"version"`
	Schema  string `json:"schema"`
	Object  string `json:"object"`

	Discriminator string   `json:"discriminator"`
	Cardinality   string   `json:"cardinality"`
	Members       []Member `json:"members"`
	// MemberlessValues are further values that the discriminator is known to take,
	// AnyValue says that it has no enum.
	MemberlessValues []string `json:"memberlessValues"`
	AnyValue         bool     `json:"anyValue"`
	// Default is what the server sets a discriminator to that is left out; empty is
	// nothing.
	Default string `json:"discriminatorDefault"`
	// The keys of the declaration of these names.
	UnmappedValues      string `json:"unmappedValues"`
	Deduce              bool   `json:"deduceInvalidDiscriminator"`
	DiscriminatorChange string `json:"discriminatorChange"`
	Ratchet             bool   `json:"ratchet"`

	// Encoding of the static rules, Why it was chosen, and what was Dropped.
	Encoding string `json:"encoding"`
	Why      string `json:"why"`
	Dropped  string `json:"dropped"`
	Rules    []Rule `json:"rules"`
	// RequestMicroseconds is what the rules take of every request that writes the
	// object, for each union object in it: an estimate of the order of magnitude.
	RequestMicroseconds int64 `json:"requestMicroseconds"`
	// Many says that the union object is in a list or a map, so that there may be many.
	Many bool `json:"many"`
	// AllOf is the schema that is added to the allOf of the union object, where
	// one replaces static rules; else nil.
	AllOf map[string]any `json:"allOf"`

	// States are all states, by the discriminator's value.
	States []States `json:"states"`
	// Changes are those between legal states; empty for AtLeastOne.
	Changes []Changes `json:"changes"`
	// OnUpdate says in sentences what holds when an object is updated.
	OnUpdate []string `json:"onUpdate"`
	// Beside are the hand-written constraints on the state of the union, on the union object.
	Beside []Beside `json:"beside"`
	// Errors are what users will read.
	Errors []Situation `json:"errors"`
	// WithoutExample are the members that are not set in any of the situations, as no valid
	// value was found for them.
	WithoutExample []string `json:"withoutExample"`

	examples int // members of which Errors has examples, at most
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
	// OptionalFor are those of the values for which the member may stay unset.
	OptionalFor []string `json:"optionalFor"`
	// EmptyIsUnset says that an empty value counts as unset.
	EmptyIsUnset bool `json:"emptyIsUnset"`
}

// Rule is one validation rule.
type Rule struct {
	// Kind is static, transition or guard.
	Kind string `json:"kind"`
	// Schema is the path of the schema that the rule is on, Object where objects have that.
	Schema            string `json:"schema"`
	Object            string `json:"object"`
	Rule              string `json:"rule"`
	Message           string `json:"message"`
	MessageExpression string `json:"messageExpression"`
	Reason            string `json:"reason"`
	FieldPath         string `json:"fieldPath"`
	OptionalOldSelf   bool   `json:"optionalOldSelf"`
	// Present says that a hand-written rule of the same text is there already;
	// the message, the reason and the field are then its own.
	Present bool `json:"present"`
	// Cost is CostOnce times Executions, Limit what the API server allows.
	CostOnce   uint64 `json:"costOnce"`
	Executions uint64 `json:"executions"`
	Cost       uint64 `json:"cost"`
	Limit      uint64 `json:"limit"`
	// PercentOfLimit is Cost as a percentage of Limit.
	PercentOfLimit float64 `json:"percentOfLimit"`
	// MessageCost is that of the message expression, which has a limit of its own.
	MessageCost uint64 `json:"messageCost"`
	// Bytes is what the rule adds to the manifest.
	Bytes int `json:"bytes"`
}

// States are the states with one of several values of the discriminator, or all
// states of a union without one.
type States struct {
	// Values of the discriminator, "" for unset; AnyOther adds all that are not
	// known. Both are empty without a discriminator.
	Values   []string `json:"values"`
	AnyOther bool     `json:"anyOther"`
	// Accepted says which members may be set: "http", "http or none", "any one".
	Accepted string `json:"accepted"`
	// Rejected says what is wrong with everything else.
	Rejected []Rejection `json:"rejected"`
}

// Rejection says when states are rejected ("with tcp or udp"), and why.
type Rejection struct {
	When string `json:"when"`
	Why  string `json:"why"`
}

// Selection is what a legal state has selected: a value of the discriminator, or
// a member where there is none; "" is unset. AnyOther stands for all values that
// are not known.
type Selection struct {
	Value    string `json:"value"`
	AnyOther bool   `json:"anyOther"`
}

// Changes says what a selection may become, besides staying as it is.
type Changes struct {
	From Selection   `json:"from"`
	To   []Selection `json:"to"`
}

// Beside is a hand-written constraint on a union object.
type Beside struct {
	// Name is its key in the schema: "oneOf", "x-kubernetes-validations[1]".
	Name string `json:"name"`
	// Superfluous says that, with all others of which it is said, it means what the union
	// says: handWrittenRules: Replace takes it out.
	Superfluous bool `json:"superfluous"`
}

// Situation is something that the union, or a hand-written constraint on its object, forbids, and
// the errors for it.
type Situation struct {
	// Condition that is violated, as pkg/union names it, or "removed"; "refused" is what
	// the union allows.
	Condition string `json:"condition"`
	// Member at fault, empty when it is no single one.
	Member string `json:"member"`
	// Situation in words.
	Situation string `json:"situation"`
	// Old is null for a creation, New is null when the union object is removed.
	Old *State `json:"old"`
	New *State `json:"new"`
	// OldObject and NewObject are whole resources in these states, which everything else in
	// the CRD accepts where that is possible. Old is null for a creation.
	OldObject map[string]any `json:"oldObject"`
	NewObject map[string]any `json:"newObject"`
	// Errors are lines as kubectl prints them.
	Errors []string `json:"errors"`
	// ByHand has for each line the hand-written constraint that causes it; empty
	// is none: the union's rules, and the rest of the schema, say it without any.
	ByHand []string `json:"byHand"`
}

// State is a sample state: the discriminator's value and the members set.
type State struct {
	Value string `json:"value"`
	// Empty says that an unset discriminator is "", and not absent.
	Empty   bool     `json:"empty"`
	Members []string `json:"members"`
	// EmptyMembers are there, but empty, and count as unset.
	EmptyMembers []string `json:"emptyMembers"`
}

// percent returns part as a percentage of limit.
func percent(part, limit uint64) float64 { return 100 * float64(part) / float64(limit) }

func (r *Rule) costs(c cost.Cost) {
	r.CostOnce, r.Executions, r.Cost, r.MessageCost = c.Once, c.Executions, c.Rule(), c.MessageExpression
	r.Limit = cost.RuleLimit
	r.PercentOfLimit = percent(r.Cost, r.Limit)
}

// Data returns explanations for programs, to be written as a JSON list. Every key is there every time.
func Data(crds []CRD) any {
	if crds == nil {
		return []CRD{}
	}
	return crds
}
