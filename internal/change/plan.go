package change

import (
	"cmp"
	"slices"
)

// Recommendation is the verdict on the change at this time.
type Recommendation string

// The verdicts.
const (
	// Go: take the next step. If there is no next step, the change is complete.
	Go Recommendation = "go"
	// Wait: wait until something else has happened or is known, and plan again.
	Wait Recommendation = "wait"
	// Stop: waiting does not fix this fault of the change or the cluster.
	Stop Recommendation = "stop"
)

// StepState is the state of a step.
type StepState string

// The states.
const (
	Done     StepState = "done"
	Next     StepState = "next"    // may be taken now
	Waiting  StepState = "wait"    // blocks the following steps until it is done
	Stopped  StepState = "stop"    // stops the change, for the reason given
	Unknown  StepState = "unknown" // blocks the following steps until a fact is known
	Later    StepState = "later"   // comes after other steps
	Advisory StepState = "advice"  // blocks nothing
)

// Step is a step of a plan.
type Step struct {
	ID     string    `json:"id"`
	State  StepState `json:"state"`
	Title  string    `json:"title"`
	Reason string    `json:"reason,omitempty"`
	// Details are lines about single objects, servers or rules.
	Details []string `json:"details,omitempty"`
	// Run are the commands that take the step or find out the missing fact. Manifest is their
	// standard input.
	Run      []string `json:"run,omitempty"`
	Manifest string   `json:"manifest,omitempty"`
}

// Plan has the steps of a change in order.
type Plan struct {
	CRD     string         `json:"crd"`
	Verdict Recommendation `json:"verdict"`
	// Applied is set if the cluster has the CRD after the change.
	Applied  bool      `json:"applied"`
	Steps    []Step    `json:"steps"`
	Versions []Version `json:"versions"`
}

// NewPlan returns the plan for the facts, which must not contradict each other.
func NewPlan(f Facts) Plan {
	n := &f.Names
	n.From, n.To, n.Objects = cmp.Or(n.From, "OLD"), cmp.Or(n.To, "NEW"), cmp.Or(n.Objects, "objects.yaml")
	f.findWarnings()
	p := Plan{CRD: f.To.Name}
	table := before
	switch p.Applied = f.applied(); {
	case f.same() && f.Live == nil:
		p.Applied, table = false, unchanged
	case p.Applied:
		table = after
	case len(f.rejections()) > 0:
		table = refused
	}
	for _, steps := range table {
		for _, s := range steps(&f) {
			if s.State == Next && s.ID != "apply" && !p.Applied {
				s.State = Waiting // the change waits for it
			}
			p.Steps = append(p.Steps, s)
		}
	}
	p.Verdict, p.Versions = verdict(p.Steps), f.versions()
	for i, s := range p.Steps {
		if s.ID == "apply" && s.State == Next && p.Verdict != Go || s.ID == "storedVersions" && p.Steps[i-1].State != Done {
			p.Steps[i].State = Later
		}
	}
	return p
}

func verdict(steps []Step) Recommendation {
	is := func(states ...StepState) bool {
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
