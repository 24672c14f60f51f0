package rollout

import (
	"slices"
)

// Verdict is the recommendation for the change now.
type Verdict string

// The verdicts.
const (
	// Go: take the next step; if there is none, the change is complete.
	Go Verdict = "go"
	// Wait: something else has to happen or to become known first; then plan again.
	Wait Verdict = "wait"
	// Stop: the change or the cluster has a fault that waiting does not fix.
	Stop Verdict = "stop"
)

// State is the state of a step.
type State string

// The states.
const (
	Done    State = "done"
	Next    State = "next"    // to be done now
	Waiting State = "wait"    // blocks the following steps until it is done
	Stopped State = "stop"    // stops the change, for the reason given
	Unknown State = "unknown" // blocks the following steps until a fact is known
	Later   State = "later"   // comes after the others
	Advice  State = "advice"  // blocks nothing
)

// Step is a step of a plan.
type Step struct {
	ID     string `json:"id"`
	State  State  `json:"state"`
	Title  string `json:"title"`
	Reason string `json:"reason,omitempty"`
	// Details are lines about single objects, servers or rules.
	Details []string `json:"details,omitempty"`
	// Run are the commands that take the step, or that get the missing fact. Manifest is their
	// standard input.
	Run      []string `json:"run,omitempty"`
	Manifest string   `json:"manifest,omitempty"`
}

// Plan is the steps, in order.
type Plan struct {
	CRD     string  `json:"crd"`
	Verdict Verdict `json:"verdict"`
	// Applied is set if the cluster has the CRD after the change.
	Applied  bool      `json:"applied"`
	Steps    []Step    `json:"steps"`
	Versions []Version `json:"versions"`
}

// New returns a plan. For facts that contradict each other the verdict is [Stop].
func New(f Facts) Plan {
	p := Plan{CRD: f.To.Name}
	if l := f.Contradictions(); len(l) > 0 {
		s := Step{ID: "facts", State: Stopped, Title: "Correct the facts", Reason: "It contradicts itself."}
		for _, c := range l {
			s.Details = append(s.Details, c.Message)
		}
		p.Steps = []Step{s}
		p.Verdict = Stop
		return p
	}
	if sameSpec(f.From, f.To) && f.Live == nil {
		p.Steps, p.Verdict, p.Versions = []Step{{ID: "apply", State: Done, Title: "The CRD does not change"}}, Go, f.versions()
		return p
	}
	p.Applied = f.applied()
	p.Steps = append(p.Steps, f.gates()...)
	if p.Applied {
		if !sameSpec(f.From, f.To) {
			p.Steps = append(p.Steps, f.apply(Done))
		}
		p.Steps = append(p.Steps, f.migrate(storage(f.To))...)
	} else {
		next := Next
		if verdict(p.Steps) != Go {
			next = Later
		}
		p.Steps = append(p.Steps, f.apply(next))
		p.Steps = append(p.Steps, f.migrateLater()...)
		p.Steps = append(p.Steps, f.back())
	}
	p.Verdict = verdict(p.Steps)
	p.Versions = f.versions()
	return p
}

func verdict(steps []Step) Verdict {
	is := func(states ...State) bool {
		return slices.ContainsFunc(steps, func(s Step) bool { return slices.Contains(states, s.State) })
	}
	switch {
	case is(Stopped):
		return Stop
	case is(Waiting, Unknown):
		return Wait
	}
	return Go
}
