package change

import (
	"cmp"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/pkg/diag"
)

// Summary counts the verdicts on the objects of a kind by state and by reason. [NewSummary] creates
// a Summary.
type Summary struct {
	Group   string          `json:"group"`
	Kind    string          `json:"kind"`
	Objects int             `json:"objects"`
	States  map[Outcome]int `json:"states"`
	Reasons []*Reason       `json:"reasons"`
	// Losing is the number of objects that the next write makes lose fields; Lost are examples.
	Losing int       `json:"losing"`
	Lost   []Example `json:"lost"`
	// Versions are the versions in which objects were validated.
	Versions map[string]bool `json:"-"`
	most     int
}

// Reason is a constraint that objects violate.
type Reason struct {
	Constraint Constraint `json:"constraint"`
	// Message is the server's error for the first object.
	Message string          `json:"message"`
	Objects int             `json:"objects"`
	States  map[Outcome]int `json:"states"`
	// Repairable counts the objects for which a patch is known that solves this problem.
	Repairable int       `json:"repairable"`
	Examples   []Example `json:"examples"`
}

// Example is an object that violates a constraint.
type Example struct {
	diag.Pos
	Prediction
}

// NewSummary returns an empty summary. most is the maximum number of objects that it keeps for each
// reason and state; if it is 0, the summary keeps all objects.
func NewSummary(kind schema.GroupKind, most int) *Summary {
	return &Summary{Group: kind.Group, Kind: kind.Kind, States: noObjects(), Reasons: []*Reason{}, Lost: []Example{}, Versions: map[string]bool{}, most: most}
}

func noObjects() map[Outcome]int {
	return map[Outcome]int{Legal: 0, Ratcheted: 0, Restricted: 0, Blocked: 0}
}

// Name returns the kind with its group.
func (s *Summary) Name() string { return schema.GroupKind{Group: s.Group, Kind: s.Kind}.String() }

// Add counts the object at a position in a file.
func (s *Summary) Add(v Prediction, at diag.Pos) {
	s.Objects++
	s.States[v.State]++
	for _, in := range v.Versions {
		s.Versions[in.Version] = true
	}
	if fields, _ := v.Losses(); fields != "" {
		if s.Losing++; s.most == 0 || s.Losing <= s.most {
			s.Lost = append(s.Lost, Example{at, v})
		}
	}
	said := map[*Reason]bool{}
	for _, p := range v.Problems() {
		i := slices.IndexFunc(s.Reasons, func(r *Reason) bool { return r.is(p.Constraint) })
		if i < 0 {
			i = len(s.Reasons)
			s.Reasons = append(s.Reasons, &Reason{Constraint: p.Constraint, Message: p.String(), States: noObjects()})
		}
		r := s.Reasons[i]
		if said[r] {
			continue
		}
		said[r] = true
		r.Objects++
		r.States[v.State]++
		if r.repair(v) != nil {
			r.Repairable++
		}
		if s.most == 0 || r.States[v.State] <= s.most {
			r.Examples = append(r.Examples, Example{at, v})
		}
	}
}

// repair returns the patch for an object, or nil if it leaves the violation of the constraint.
func (r *Reason) repair(v Prediction) *Repair {
	if v.Repair == nil || slices.ContainsFunc(v.Repair.Left, func(p Problem) bool { return r.is(p.Constraint) }) {
		return nil
	}
	return v.Repair
}

// is reports whether a problem violates the constraint.
func (r *Reason) is(c Constraint) bool {
	return c.Keyword == r.Constraint.Keyword && c.Rule == r.Constraint.Rule && c.Path.Equal(r.Constraint.Path)
}

// Sort sorts the constraints: those with the worst consequences come first, then those that most
// objects violate. It sorts the examples of each, the worst states first.
func (s *Summary) Sort() {
	slices.SortFunc(s.Reasons, func(a, b *Reason) int {
		return cmp.Or(cmp.Compare(b.Worst(), a.Worst()), cmp.Compare(b.Objects, a.Objects), cmp.Compare(a.Constraint.String(), b.Constraint.String()), cmp.Compare(a.Constraint.Rule, b.Constraint.Rule))
	})
	for _, r := range s.Reasons {
		slices.SortStableFunc(r.Examples, func(a, b Example) int { return cmp.Compare(b.State, a.State) })
	}
}

// Worst returns the worst state of an object.
func (s *Summary) Worst() Outcome { return worst(s.States) }

// Worst returns the worst state of an object that violates the constraint.
func (r *Reason) Worst() Outcome { return worst(r.States) }

func worst(states map[Outcome]int) Outcome {
	state := Blocked
	for state > Legal && states[state] == 0 {
		state--
	}
	return state
}

// String returns the problem in the form that the server prints.
func (p Problem) String() string {
	if p.Field == "" {
		return p.Message
	}
	return p.Field + ": " + p.Message
}

// RefusedWrites returns the writes that some version rejects, in order. It omits Within, because
// the server is expected to validate a changed value.
func (v Prediction) RefusedWrites() []Write {
	var l []Write
	for _, w := range outside {
		if slices.ContainsFunc(v.Versions, func(in InVersion) bool { return len(in.Refused[w]) > 0 }) {
			l = append(l, w)
		}
	}
	return l
}

// Losses lists the fields that an object loses, and the versions unless these are all versions.
func (v Prediction) Losses() (fields string, everywhere bool) {
	var l []string
	same := true
	for _, in := range v.Versions {
		same = same && slices.Equal(in.Lost, v.Versions[0].Lost)
		if len(in.Lost) > 0 {
			l = append(l, strings.Join(in.Lost, ", ")+" through "+in.Version)
		}
	}
	if same {
		return strings.Join(v.Versions[0].Lost, ", "), true
	}
	return strings.Join(l, "; "), len(l) == len(v.Versions)
}
