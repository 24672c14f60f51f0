package compile

import (
	"cmp"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Plan describes the rules of the unions of a CRD, and their costs.
type Plan struct {
	// Name of the CRD.
	Name     string
	Unions   []UnionPlan
	Versions []VersionPlan
	// Result is the result of the compilation (Compilation.Result).
	Result *Result
}

// Bounds of the number of members per union for which examples are made. Further members differ
// only in name, and an example takes longer the more members there are.
const (
	mostTried  = 50
	totalTried = 1000 // examples times members of all unions
	leastTried = 2
)

// Tried returns the number of members per union for which examples are made.
func (p Plan) Tried() int {
	members := 0
	for _, u := range p.Unions {
		members += len(u.Union.Members)
	}
	return min(mostTried, max(leastTried, totalTried/max(members, 1)))
}

// Tests returns the number of steps to test the unions: for each union, the square of the
// number of members of all unions of its object.
func (p Plan) Tests() int {
	members := map[string]int{}
	for _, u := range p.Unions {
		members[u.Place.Structural()] += len(u.Union.Members)
	}
	steps := 0
	for _, u := range p.Unions {
		n := members[u.Place.Structural()]
		steps += n * n
	}
	return steps
}

// UnionPlan describes the rules of one union.
type UnionPlan struct {
	// Place is the union object, Pos the position of the declaration.
	schemapath.Place
	Pos   diag.Pos
	Union *union.Union
	// CRD is the CRD without the static rules that an earlier compilation may have left. It
	// is read-only.
	CRD *apiextensionsv1.CustomResourceDefinition
	// Encoding names the encoding of the static rules: "paired", "fine", "compact", "compact in
	// 3 groups". Why explains the choice in one sentence.
	Encoding, Why string
	// Dropped explains in a sentence which rules were left out and why; usually empty.
	Dropped string
	// Rules are the rules on the union object, followed by the removal guards.
	Rules []RulePlan
	// HandWritten are the hand-written constraints on the union's state or changes.
	HandWritten []HandWritten
}

// RulePlan is a rule and its cost.
type RulePlan struct {
	rules.Rule
	// Place is the schema that the rule is on.
	schemapath.Place
	Kind RuleKind
	Cost server.Cost
	// Present is true if a hand-written rule with the same text exists.
	Present bool
}

// RuleKind is the purpose of a rule.
type RuleKind string

// The kinds of rules.
const (
	Static     RuleKind = "static"     // restricts states
	Transition RuleKind = "transition" // restricts changes of the state
	Guard      RuleKind = "guard"      // prevents removing the union object
)

// VersionPlan is the cost of all rules of one version, which counts against
// server.VersionLimit.
type VersionPlan struct {
	Name string
	// Before is the cost of the existing rules, Added the cost of the new ones.
	Before, Added uint64
}

// Plan returns the rules of the CRD and their costs. With errors in the list it is nil; without
// declarations it has no unions. The list excludes the notes about the result.
func (c *Compilation) Plan() (*Plan, diag.List) {
	if !c.compile() {
		return nil, c.said
	}
	if c.plan == nil {
		plan := &Plan{}
		if c.compiler.crd != nil {
			var err error
			if plan, err = c.compiler.plan(); err != nil {
				if l := c.compiler.faults(codes.NotCompiling, nil); len(l) > 0 {
					return nil, append(c.said, l...)
				}
				return nil, append(c.said, diag.New(codes.InvalidResult, c.compiler.pos(c.compiler.manifest.Node),
					"the rules cannot be costed: %v", err))
			}
		}
		plan.Result, _ = c.Result() // its notes are about the result
		c.plan = plan
	}
	return c.plan, c.said
}

func (c *compiler) plan() (*Plan, error) {
	original, err := server.InternalCRD(c.crd)
	if err != nil {
		return nil, err
	}
	p, e := &Plan{Name: c.crd.Name}, c.estimator(original)
	for v, version := range c.crd.Spec.Versions {
		before, err := e.Written(v)
		if err != nil {
			return nil, err
		}
		p.Versions = append(p.Versions, VersionPlan{Name: version.Name, Before: before})
	}
	var groups []planned
	for _, o := range c.objects {
		crd, _ := c.foreign(o)
		for i, u := range o.Unions {
			up := UnionPlan{Place: o.Place, Pos: o.Declarations[i].Pos, Union: u, CRD: crd,
				Encoding: c.encodingName(u, o.styles[i]), Why: c.why(e, o, i), HandWritten: o.handWritten[i]}
			if o.styles[i].noClear {
				up.Dropped = "rules for changes: they would exceed the API server's limits, and the static rules reject members that a change leaves set"
			} else if u.Change == union.Clear && o.uncorrelated != "" {
				up.Dropped = "rules for changes: the items of the list " + o.uncorrelated + " cannot be correlated with their old versions"
			}
			at := len(p.Unions)
			groups = append(groups, planned{at, Static, o.Place, o.static(i, o.styles[i])}, planned{at, Transition, o.Place, o.changes(i, o.styles[i])})
			for _, g := range c.guards(o, i) {
				groups = append(groups, planned{at, Guard, g.Place, g.Rules})
			}
			p.Unions = append(p.Unions, up)
		}
	}
	costs, err := c.costs(e, groups)
	if err != nil {
		return nil, err
	}
	for i, g := range groups {
		up := &p.Unions[g.union]
		for k, r := range g.rules {
			present := hasRule(g.place.Schema(c.crd).XValidations, r)
			up.Rules = append(up.Rules, RulePlan{Rule: r.Trim(c.kube.features), Place: g.place, Kind: g.kind, Cost: costs[i][k], Present: present})
			if !present {
				added := &p.Versions[g.place.Version].Added
				*added = server.AddCosts(*added, costs[i][k].Total())
			}
		}
	}
	return p, nil
}

// planned are the rules of one kind on one schema, for one union of the plan.
type planned struct {
	union int
	kind  RuleKind
	place schemapath.Place
	rules []rules.Rule
}

// costs returns the costs of the rules of each group. Rules of one schema are costed together,
// since each call of the estimator reads the whole schema.
func (c *compiler) costs(e server.Estimator, groups []planned) ([][]server.Cost, error) {
	var places []schemapath.Place
	at := map[string][]int{}
	for i, g := range groups {
		key := g.place.Structural()
		if at[key] == nil {
			places = append(places, g.place)
		}
		at[key] = append(at[key], i)
	}
	costs := make([][]server.Cost, len(groups))
	for _, p := range places {
		here := at[p.Structural()]
		var all []rules.Rule
		for _, i := range here {
			all = append(all, groups[i].rules...)
		}
		l, err := c.estimate(e, p, all)
		if err != nil {
			return nil, err
		}
		for _, i := range here {
			n := len(groups[i].rules)
			costs[i], l = l[:n], l[n:]
		}
	}
	return costs, nil
}

// encodingName returns the name of an encoding for UnionPlan.
func (c *compiler) encodingName(u *union.Union, s style) string {
	switch {
	case perMember(s.encoding, u):
		return rules.Paired.String()
	case s.encoding > rules.Compact:
		return "compact " + s.encoding.String()
	}
	return s.encoding.String()
}

// why explains the choice of a union's encoding.
func (c *compiler) why(e server.Estimator, o *unionObject, i int) string {
	u, s := o.Unions[i], o.styles[i]
	preferred := c.encodings(u)[0]
	switch {
	case u.Ratchet && s.encoding == rules.Compact && s.ratchet.Parts <= 1:
		return "a union that ratchets takes as few rules as possible"
	case u.Ratchet:
		return "a union that ratchets takes as few rules as the API server's budget allows"
	case s.encoding != preferred:
		return c.tooExpensive(e, o, i, preferred)
	case c.opts.Encoding == Fine && preferred != rules.Fine:
		return tooManyForFine
	case c.opts.Encoding != Auto:
		return "requested by " + cmp.Or(c.opts.Origins.Encoding, "an option")
	}
	return "like rules written by hand, which fit the API server's budget"
}

// tooExpensive explains why the preferred encoding does not fit.
func (c *compiler) tooExpensive(e server.Estimator, o *unionObject, i int, preferred rules.Encoding) string {
	what := described(preferred, o.Unions[i])
	costs, err := c.estimate(e, o.Place, o.static(i, style{encoding: preferred}))
	switch {
	case err != nil:
		return what + " the rules would be too long for CEL"
	case !server.CostsFit(costs):
		return fmt.Sprintf("%s the most expensive rule would cost %s of the %s that the API server allows", what, number(mostExpensive(costs).Rule()), number(server.RuleLimit))
	}
	return fmt.Sprintf("%s the rules would cost %s, too much of the %s that all of the version share", what, number(server.SumCosts(costs)), number(server.VersionLimit))
}
