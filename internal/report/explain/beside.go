package explain

import (
	"slices"
)

// judges validate objects as the API server does, and tell what causes each error.
type judges struct {
	subject *subject
	server  *judge   // of the union and all constraints beside it
	union   *judge   // of the union
	each    []*judge // of each constraint, once it is asked for
	err     error    // the first
}

func (s *subject) judges() (*judges, error) {
	j := &judges{subject: s, each: make([]*judge, len(s.plan.Beside))}
	var err error
	if j.server, err = s.judge(true, s.plan.Beside...); err == nil && len(j.each) > 0 {
		j.union, err = s.judge(true)
	}
	return j, err
}

// reading is the lines of errors, and the hand-written constraint that causes each.
type reading struct{ errors, byHand []string }

// of returns what users read of an object, or of an update.
func (j *judges) of(o sample) reading {
	r := reading{errors: j.server.errors(o)}
	r.byHand = make([]string, len(r.errors))
	if len(j.each) == 0 {
		return r
	}
	own := j.union.errors(o)
	const counted = "allOf" // the API server says how many of all that there are hold
	for i, line := range r.errors {
		if !slices.Contains(own, line) {
			r.byHand[i] = counted
		}
	}
	for k := 0; k < len(j.each) && slices.Contains(r.byHand, counted); k++ {
		for _, line := range j.alone(k, o) {
			if i := slices.Index(r.errors, line); i >= 0 && r.byHand[i] == counted {
				r.byHand[i] = j.subject.plan.Beside[k].Name
			}
		}
	}
	return r
}

// alone returns the errors of nothing but one constraint.
func (j *judges) alone(i int, o sample) []string {
	if j.each[i] == nil && j.err == nil {
		j.each[i], j.err = j.subject.judge(false, j.subject.plan.Beside[i])
	}
	if j.err != nil {
		return nil
	}
	return j.each[i].errors(o)
}
