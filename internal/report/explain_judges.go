package report

import (
	"slices"
)

// judges validate objects as the API server does, and determine the cause of each error.
type judges struct {
	subject *unionPlan
	server  *judge   // with the union and all constraints alongside it
	union   *judge   // with the union alone
	each    []*judge // with each constraint alone, built on demand
	err     error    // the first error of a judge
}

func (s *unionPlan) judges() (*judges, error) {
	j := &judges{subject: s, each: make([]*judge, len(s.plan.HandWritten))}
	var err error
	if j.server, err = s.judge(true, s.plan.HandWritten...); err == nil && len(j.each) > 0 {
		j.union, err = s.judge(true)
	}
	return j, err
}

// reading has the errors, and the hand-written constraint that causes each error, or "".
type reading struct{ errors, byHand []string }

// read returns the errors for the creation or update of an object.
func (j *judges) read(o trial) reading {
	r := reading{errors: j.server.errors(o)}
	r.byHand = make([]string, len(r.errors))
	if len(j.each) == 0 {
		return r
	}
	own := j.union.errors(o)
	const counted = "allOf" // the error has the number of schemas that hold
	for i, line := range r.errors {
		if !slices.Contains(own, line) {
			r.byHand[i] = counted
		}
	}
	for k := 0; k < len(j.each) && slices.Contains(r.byHand, counted); k++ {
		for _, line := range j.errorsOf(k, o) {
			if i := slices.Index(r.errors, line); i >= 0 && r.byHand[i] == counted {
				r.byHand[i] = j.subject.plan.HandWritten[k].Name
			}
		}
	}
	return r
}

// errorsOf returns the errors of a single constraint.
func (j *judges) errorsOf(i int, o trial) []string {
	if j.each[i] == nil && j.err == nil {
		j.each[i], j.err = j.subject.judge(false, j.subject.plan.HandWritten[i])
	}
	if j.err != nil {
		return nil
	}
	return j.each[i].errors(o)
}
