package stored

import (
	"cmp"
	"slices"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/pkg/diag"
)

// Summary counts the verdicts on the objects of a kind by state and by reason. [NewSummary] creates
// a Summary.
type Summary struct {
	Kind    schema.GroupKind
	Objects int
	States  [Blocked + 1]int
	// Versions are the versions in which objects were validated.
	Versions map[string]bool
	most     int
	reasons  map[string]*Reason
}

// Reason is a constraint that objects violate.
type Reason struct {
	Constraint Constraint
	// Message is the server's error for the first object.
	Message string
	Objects int
	States  [Blocked + 1]int
	// Repairable counts the objects for which a patch is known.
	Repairable int
	kept       [Blocked + 1][]Example
}

// Example is an object that violates a constraint.
type Example struct {
	Pos diag.Pos
	Prediction
}

// NewSummary returns an empty summary. most is the maximum number of objects that it keeps for each
// reason and state; if it is 0, the summary keeps all objects.
func NewSummary(kind schema.GroupKind, most int) *Summary {
	return &Summary{Kind: kind, Versions: map[string]bool{}, most: most, reasons: map[string]*Reason{}}
}

// Add counts the object at a position in a file.
func (s *Summary) Add(v Prediction, at diag.Pos) {
	state := v.State()
	s.Objects++
	s.States[state]++
	for _, in := range v.Versions {
		s.Versions[in.Version] = true
	}
	said := map[*Reason]bool{}
	for _, p := range v.Problems() {
		key := p.Constraint.String() + "\x00" + p.Constraint.Rule
		r := s.reasons[key]
		if r == nil {
			r = &Reason{Constraint: p.Constraint, Message: p.String()}
			s.reasons[key] = r
		}
		if said[r] {
			continue
		}
		said[r] = true
		r.Objects++
		r.States[state]++
		if v.Repair != nil {
			r.Repairable++
		}
		if s.most == 0 || len(r.kept[state]) < s.most {
			r.kept[state] = append(r.kept[state], Example{at, v})
		}
	}
}

// Worst returns the worst state of an object.
func (s *Summary) Worst() Outcome { return worst(s.States) }

// Worst returns the worst state of an object that violates the constraint.
func (r *Reason) Worst() Outcome { return worst(r.States) }

func worst(states [Blocked + 1]int) Outcome {
	for _, state := range []Outcome{Blocked, Restricted, Ratcheted} {
		if states[state] > 0 {
			return state
		}
	}
	return Legal
}

// Reasons returns the violated constraints. Constraints with the worst consequences come first,
// then those that most objects violate.
func (s *Summary) Reasons() []*Reason {
	var l []*Reason
	for _, r := range s.reasons {
		l = append(l, r)
	}
	slices.SortFunc(l, func(a, b *Reason) int {
		return cmp.Or(cmp.Compare(b.Worst(), a.Worst()), cmp.Compare(b.Objects, a.Objects), cmp.Compare(a.Constraint.String(), b.Constraint.String()), cmp.Compare(a.Constraint.Rule, b.Constraint.Rule))
	})
	return l
}

// Examples returns the kept objects, the worst states first.
func (r *Reason) Examples() []Example {
	return slices.Concat(r.kept[Blocked], r.kept[Restricted], r.kept[Ratcheted], r.kept[Legal])
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
	for _, w := range Writes()[:Within] {
		if slices.ContainsFunc(v.Versions, func(in InVersion) bool { return len(in.Refused[w]) > 0 }) {
			l = append(l, w)
		}
	}
	return l
}
