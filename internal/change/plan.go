package change

import (
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

// The rows of plans before and after the CRD is applied, in order. A row returns no step if it does
// not apply.
var (
	before = []func(*Facts) []Step{
		(*Facts).servers, (*Facts).objects, (*Facts).storageVersion, (*Facts).clients, (*Facts).warnFirst,
		(*Facts).removed, (*Facts).apply, (*Facts).migrateLater, (*Facts).back,
	}
	after = []func(*Facts) []Step{(*Facts).servers, (*Facts).objects, (*Facts).managedFields, (*Facts).isApplied, (*Facts).migrate}
)

// NewPlan returns the plan for the facts, which must not contradict each other.
func NewPlan(f Facts) Plan {
	p := Plan{CRD: f.To.Name, Versions: []Version{}}
	var rows []func(*Facts) []Step
	switch p.Applied = f.applied(); {
	case sameSpec(f.From, f.To) && f.Live == nil:
		p.Applied, p.Steps = false, []Step{{ID: "apply", State: Done, Title: "The CRD does not change"}}
	case p.Applied:
		rows = after
	default:
		if p.Steps = f.accepted(); verdict(p.Steps) == Go {
			rows = before
		}
	}
	for _, row := range rows {
		p.Steps = append(p.Steps, row(&f)...)
	}
	p.Verdict, p.Versions = verdict(p.Steps), f.versions()
	if i := slices.IndexFunc(p.Steps, func(s Step) bool { return s.ID == "apply" && s.State == Next }); i >= 0 && p.Verdict != Go {
		p.Steps[i].State = Later
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
