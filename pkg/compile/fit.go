package compile

import (
	"cmp"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// estimate returns the costs of rules in the form for the target version.
func (c *compiler) estimate(e server.Estimator, p schemapath.Place, l []rules.Rule) ([]server.Cost, error) {
	v := validationRules(l, c.kube.features)
	if c.known == nil {
		return e.Rules(p.Version, p.Path, v)
	}
	key := fmt.Sprint(p.Structural(), l)
	costs, ok := c.known[key]
	if !ok {
		var err error
		if costs, err = e.Rules(p.Version, p.Path, v); err != nil {
			return nil, err
		}
		c.known[key] = costs
		return costs, nil
	}
	// Only the number of executions may have changed. It is the same for all rules of a schema.
	times, ok := c.times[p.Structural()]
	if !ok {
		now, err := e.Rules(p.Version, p.Path, []apiextensionsv1.ValidationRule{{Rule: "true"}})
		if err != nil {
			return nil, err
		}
		if c.times == nil {
			c.times = map[string]uint64{}
		}
		times = now[0].Executions
		c.times[p.Structural()] = times
	}
	costs = slices.Clone(costs)
	for i := range costs {
		costs[i].Executions = times
	}
	return costs, nil
}

func (c *compiler) estimator(crd *apiextensions.CustomResourceDefinition) server.Estimator {
	return server.NewEstimator(crd, c.kube.env)
}

// compileAll compiles every emitted rule on its own: validation skips the rules of a CRD that
// has other problems.
func (c *compiler) compileAll(crd *apiextensions.CustomResourceDefinition) {
	e := c.estimator(crd)
	for _, a := range c.additions() {
		if _, err := c.estimate(e, a.Place, a.Rules); err != nil {
			c.unwritable(c.nearest(a.Place.Structural()+".x-kubernetes-validations"), a.Place, err)
		}
	}
}

// unwritable reports a rule that the API server cannot compile.
func (c *compiler) unwritable(pos diag.Pos, p schemapath.Place, err error) {
	code := codes.InvalidResult
	if c.kube.env != nil {
		code = codes.KubeVersion
	}
	c.report(diag.New(code, pos, "a rule does not compile for Kubernetes %s: %s", c.kube, shorten(err.Error())).In(p).
		Hinted("the API server limits the length and depth of rules: declare fewer members or changes"))
}

// failure is a union, or a whole version, that exceeds its budget in every style.
type failure struct {
	version int
	object  *unionObject // for a version, the object of the most expensive union
	union   int
	// worst is the greatest cost of a rule in the cheapest style. what is the purpose of that
	// rule, for messages.
	worst server.Cost
	what  string
	// sum is the cost of all rules of a version, before the cost of its existing rules, and
	// mostExpensive the cost of its most expensive union. They are zero for a union.
	sum, before, mostExpensive uint64
}

func (f failure) ofVersion() bool { return f.sum > 0 }

// fitter chooses the most preferred styles that fit the budgets.
type fitter struct {
	*compiler
	e        server.Estimator
	fits     []*fitted
	failures []failure
}

// fitted is the state of one union in a fitter.
type fitted struct {
	o *unionObject
	i int
	// next are the remaining candidates, in order of preference; static, change and guards
	// are the costs of the rules in the chosen style.
	next                   []style
	static, change, guards []server.Cost
}

func (f *fitted) style() *style { return &f.o.styles[f.i] }

func (f *fitted) sum() uint64 {
	return server.AddCosts(server.SumCosts(f.static), server.AddCosts(server.SumCosts(f.change), server.SumCosts(f.guards)))
}

// fit chooses for every union the most preferred style that fits the API server's budgets:
// first the budget of each rule, then the budget of all rules of a version, including
// existing ones. It returns the unions and versions that fit in no style. No other function
// makes this choice.
func (c *compiler) fit() []failure {
	original, err := server.InternalCRD(c.crd)
	if err != nil {
		c.report(diag.New(codes.UndecodableCRD, c.pos(c.manifest.Node), "%v", err))
		return nil
	}
	if c.known == nil {
		c.known = map[string][]server.Cost{}
	}
	f := &fitter{compiler: c, e: c.estimator(original)}
	for _, o := range c.objects {
		for i := range o.Unions {
			f.union(o, i)
		}
	}
	for v := range c.crd.Spec.Versions {
		f.version(v)
	}
	f.tell()
	return f.failures
}

// union makes each rule of one union fit its budget, if possible.
func (f *fitter) union(o *unionObject, i int) {
	u := o.Unions[i]
	fit := &fitted{o: o, i: i, next: f.statics(u)}
	f.fits = append(f.fits, fit)
	fail := func(worst server.Cost, what string) {
		if worst != (server.Cost{}) { // else no style compiles, and compileAll reports it
			f.failures = append(f.failures, failure{version: o.Version, object: o, union: i, worst: worst, what: what})
		}
	}
	if worst, ok := f.coarser(fit, nil); !ok {
		fail(worst, "its states")
	}
	if worst, ok := f.transitions(fit); !ok {
		if u.Change == union.Clear {
			fit.style().noClear, fit.change = true, nil
		} else {
			fail(worst, "its changes")
		}
	}
	for _, g := range f.compiler.guards(o, i) {
		costs, err := f.estimate(f.e, g.Place, g.Rules)
		if err != nil {
			f.unwritable(o.Declarations[i].Pos, g.Place, err)
			continue
		}
		fit.guards = append(fit.guards, costs...)
		if !server.CostsFit(costs) {
			f.failures = append(f.failures, failure{version: o.Version, object: o, union: i, worst: mostExpensive(costs), what: "its removal"})
		}
	}
}

// statics returns the styles of a union's static rules, in order of preference.
func (f *fitter) statics(u *union.Union) []style {
	if u.Ratchet {
		return f.ratchets(u)
	}
	var l []style
	for _, e := range f.encodings(u) {
		l = append(l, style{encoding: e})
	}
	return l
}

// coarser takes the next style whose static rules fit their budgets and, unless below is nil,
// together cost less than below. If no style qualifies, it changes nothing and returns the greatest
// cost of a rule in the cheapest style, or zero if no style compiles.
func (f *fitter) coarser(fit *fitted, below *uint64) (worst server.Cost, ok bool) {
	var least cheapest
	for k, s := range fit.next {
		l := fit.o.static(fit.i, s)
		// The rules of a style are similar: the first shows whether to cost the others,
		// which is slow for hundreds of styles.
		costs, err := f.estimate(f.e, fit.o.Place, l[:min(len(l), 1)])
		if err == nil && below != nil && server.SumCosts(costs) > *below/uint64(max(len(l), 1))*2 {
			continue
		}
		if err == nil && len(l) > 1 && server.CostsFit(costs) {
			costs, err = f.estimate(f.e, fit.o.Place, l)
		}
		if err != nil {
			continue // too long for CEL
		}
		if server.CostsFit(costs) && (below == nil || server.SumCosts(costs) < *below) {
			st := fit.style()
			st.encoding, st.ratchet = s.encoding, s.ratchet
			fit.static, fit.next = costs, fit.next[k+1:]
			return server.Cost{}, true
		}
		least.consider(costs)
	}
	return least.worst, false
}

// transitions takes the first style of the transition rules that fits.
func (f *fitter) transitions(fit *fitted) (worst server.Cost, ok bool) {
	o, s := fit.o, *fit.style()
	if len(o.changes(fit.i, s)) == 0 {
		return server.Cost{}, true
	}
	var least cheapest
	for _, s.change = range comparisons(o.Unions[fit.i], len(o.Unions[fit.i].Members)) {
		l := o.changes(fit.i, s)
		if len(l) < s.change.Parts {
			break // these rules cannot be split further
		}
		costs, err := f.estimate(f.e, o.Place, l)
		if err != nil {
			continue
		}
		if server.CostsFit(costs) {
			fit.style().change, fit.change = s.change, costs
			return server.Cost{}, true
		}
		least.consider(costs)
	}
	return least.worst, false
}

// version reduces the cost of a version until it fits its budget. It first leaves out Clear
// rules, the most expensive first: the static rules imply them. Then it takes coarser
// encodings where they save most.
func (f *fitter) version(v int) {
	fits := slices.DeleteFunc(slices.Clone(f.fits), func(fit *fitted) bool { return fit.o.Version != v })
	before, err := f.e.Written(v)
	if len(fits) == 0 || err != nil || before > server.VersionLimit {
		return // the unmodified CRD is over budget, and validate warns
	}
	sum := func() uint64 {
		total := before
		for _, fit := range fits {
			total = server.AddCosts(total, fit.sum())
		}
		return total
	}
	byChange := slices.Clone(fits)
	slices.SortStableFunc(byChange, func(a, b *fitted) int { return -cmp.Compare(server.SumCosts(a.change), server.SumCosts(b.change)) })
	for _, fit := range byChange {
		if sum() > server.VersionLimit && fit.o.Unions[fit.i].Change == union.Clear && len(fit.change) > 0 {
			fit.style().noClear, fit.change = true, nil
		}
	}
	ahead := map[*fitted]*step{}
	for sum() > server.VersionLimit {
		var best *fitted
		for _, fit := range fits {
			if _, known := ahead[fit]; !known {
				ahead[fit] = f.ahead(fit)
			}
			if s := ahead[fit]; s != nil && (best == nil || s.saves > ahead[best].saves) {
				best = fit
			}
		}
		if best == nil {
			break
		}
		*best.style() = ahead[best].style
		*best = ahead[best].fitted
		delete(ahead, best)
	}
	// A rule over its own budget explains the sum, and is reported already.
	if total := sum(); total > server.VersionLimit && !slices.ContainsFunc(f.failures, func(x failure) bool { return x.version == v }) {
		most := slices.MaxFunc(fits, func(a, b *fitted) int { return cmp.Compare(a.sum(), b.sum()) })
		f.failures = append(f.failures, failure{version: v, object: most.o, union: most.i, sum: total, before: before, mostExpensive: most.sum()})
	}
}

// step is the state of a union in its next cheaper encoding.
type step struct {
	fitted
	style style
	saves uint64
}

// ahead returns the next step of a union, or nil.
func (f *fitter) ahead(fit *fitted) *step {
	was, wasStyle, costs := *fit, *fit.style(), server.SumCosts(fit.static)
	defer func() { *fit, *fit.style() = was, wasStyle }()
	if _, ok := f.coarser(fit, &costs); !ok {
		return nil
	}
	return &step{*fit, *fit.style(), costs - server.SumCosts(fit.static)}
}

// tell adds notes on rules that are left out or coarser to fit the budgets.
func (f *fitter) tell() {
	if len(f.failures) > 0 {
		return
	}
	for _, fit := range f.fits {
		o, u, s := fit.o, fit.o.Unions[fit.i], fit.style()
		pos := o.Declarations[fit.i].Pos
		if s.noClear {
			f.report(diag.New(codes.ClearLeftOut, pos, "the rule for changes is left out: it would exceed the API server's limits").In(o.Place).
				Hinted("the static rules still reject leftover members; discriminatorChange: Allow silences this note"))
		}
		if preferred := f.statics(u)[0].encoding; f.opts.Encoding == Auto && s.encoding != preferred {
			f.report(diag.New(codes.CoarserEncoding, pos,
				"the rules are written %s: %s they would exceed the API server's budget", described(s.encoding, u), described(preferred, u)).In(o.Place).
				Hinted("they mean the same; unioncel explain shows the costs"))
		}
	}
}

// described returns the words for an encoding in messages.
func described(e rules.Encoding, u *union.Union) string {
	switch {
	case e == rules.Fine:
		return "one per member and direction"
	case e == rules.Compact, e == rules.Paired && u.Discriminator == "":
		return "as one"
	case perMember(e, u):
		return "one per member"
	}
	return e.String()
}

// perMember reports whether an encoding has one rule per member.
func perMember(e rules.Encoding, u *union.Union) bool {
	return (e == rules.Paired || e > rules.Compact && int(e) == len(u.Members)) && u.Discriminator != ""
}

// cheapest keeps the greatest cost of a rule in the cheapest of several styles.
type cheapest struct {
	worst server.Cost
	any   bool
}

func (c *cheapest) consider(way []server.Cost) {
	if d := mostExpensive(way); !c.any || d.Rule() < c.worst.Rule() {
		c.any, c.worst = true, d
	}
}

// mostExpensive returns the greatest cost, of a rule or of its messageExpression.
func mostExpensive(l []server.Cost) server.Cost {
	if len(l) == 0 {
		return server.Cost{}
	}
	return slices.MaxFunc(l, func(a, b server.Cost) int {
		return cmp.Compare(max(a.Rule(), a.MessageExpression), max(b.Rule(), b.MessageExpression))
	})
}

// number formats n with thousands separators.
func number(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
