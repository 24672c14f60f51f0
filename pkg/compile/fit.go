package compile

import (
	"errors"
	"fmt"
	"math"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// cost is what the API server's estimator says of one rule, in its own units.
type cost struct {
	// Rule is the cost of evaluating the rule once, times the cardinality.
	Rule uint64
	// MessageExpression is the cost of its message expression, counted once.
	MessageExpression uint64
	// Cardinality is how often the rule may have to be evaluated per object.
	Cardinality uint64
}

func (c cost) total() uint64 { return saturate(c.Rule, c.MessageExpression) }

func saturate(a, b uint64) uint64 {
	if a > math.MaxUint64-b {
		return math.MaxUint64
	}
	return a + b
}

func (c cost) fits() bool {
	return c.Rule <= validation.StaticEstimatedCostLimit && c.MessageExpression <= validation.StaticEstimatedCostLimit
}

// estimator asks the API server's own code what rules cost, and whether they
// compile, at places of a CRD.
type estimator struct {
	crd  *apiextensions.CustomResourceDefinition
	kube kubeVersion
}

// estimate compiles rules where they would stand. An error says why one of them
// does not compile.
func (e estimator) estimate(p Place, l []rules.Rule) ([]cost, error) {
	target, contextOf, err := e.context(p)
	if err != nil {
		return nil, err
	}
	target.XValidations = nil
	for _, r := range l {
		v := validationRule(r)
		var in apiextensions.ValidationRule
		if err := apiextensionsv1.Convert_v1_ValidationRule_To_apiextensions_ValidationRule(&v, &in, nil); err != nil {
			return nil, err
		}
		target.XValidations = append(target.XValidations, in)
	}
	return e.costs(contextOf(target))
}

// context returns a copy of the schema at p and how to make its cost context
// once its rules are in place.
func (e estimator) context(p Place) (*apiextensions.JSONSchemaProps, func(*apiextensions.JSONSchemaProps) *validation.CELSchemaContext, error) {
	v, err := apiextensions.GetSchemaForVersion(e.crd, e.crd.Spec.Versions[p.Version].Name)
	if err != nil || v == nil {
		return nil, nil, fmt.Errorf("version %s has no schema: %w", p.Name, err)
	}
	// Rules of ancestors would make the context convert all of their schemas.
	bare := func(s apiextensions.JSONSchemaProps) *apiextensions.JSONSchemaProps {
		s.XValidations = nil
		return &s
	}
	s, contextOf := bare(*v.OpenAPIV3Schema), validation.RootCELContext
	for i := 0; i < len(p.Steps); i++ {
		parent := contextOf(s)
		switch p.Steps[i] {
		case "properties":
			i++
			name := p.Steps[i]
			s = bare(s.Properties[name])
			contextOf = func(s *apiextensions.JSONSchemaProps) *validation.CELSchemaContext {
				return parent.ChildPropertyContext(s, name)
			}
		case "items":
			s, contextOf = bare(*s.Items.Schema), parent.ChildItemsContext
		case "additionalProperties":
			s, contextOf = bare(*s.AdditionalProperties.Schema), parent.ChildAdditionalPropertiesContext
		}
	}
	return s, contextOf, nil
}

func (e estimator) costs(context *validation.CELSchemaContext) ([]cost, error) {
	info, err := context.TypeInfo()
	if err != nil {
		return nil, err
	}
	if info == nil {
		return nil, errors.New("CEL cannot see this schema")
	}
	results, err := cel.Compile(info.Schema, info.DeclType, celconfig.PerCallLimit, e.kube.envSet(), cel.NewExpressionsEnvLoader())
	if err != nil {
		return nil, err
	}
	var l []cost
	for i, r := range results {
		if r.Error != nil {
			return nil, fmt.Errorf("rule %s: %w", info.Schema.XValidations[i].Rule, r.Error)
		}
		if r.MessageExpressionError != nil {
			return nil, fmt.Errorf("messageExpression %s: %w", info.Schema.XValidations[i].MessageExpression, r.MessageExpressionError)
		}
		c := cost{MessageExpression: r.MessageExpressionMaxCost, Cardinality: r.MaxCardinality}
		if context.MaxCardinality != nil {
			c.Cardinality = *context.MaxCardinality
		}
		c.Rule = math.MaxUint64
		if r.MaxCost == 0 || c.Cardinality <= math.MaxUint64/r.MaxCost {
			c.Rule = r.MaxCost * c.Cardinality
		}
		l = append(l, c)
	}
	return l, nil
}

// compileAll compiles every emitted rule by itself; validation skips rules in
// CRDs with other problems.
func (c *compiler) compileAll(crd *apiextensions.CustomResourceDefinition) {
	e := estimator{crd, c.kube}
	for _, a := range c.additions() {
		if _, err := e.estimate(a.Place, a.Rules); err != nil {
			code := diag.InvalidResult
			if c.kube.env != nil {
				code = diag.KubeVersion
			}
			c.report(diag.Diagnostic{Code: code, Pos: c.nearest(a.Place.String() + ".x-kubernetes-validations"), Path: a.Place.String(),
				Message: fmt.Sprintf("a rule does not compile for Kubernetes %s: %s", c.kube, shorten(err.Error())),
				Hint:    "the API server limits the length and depth of rules: declare fewer members or changes"})
		}
	}
}

// fit chooses cheaper encodings where rules are over their budgets, and reports
// those for which there is none. original is the CRD without our rules.
func (c *compiler) fit(original *apiextensions.CustomResourceDefinition) {
	e := estimator{original, c.kube}
	totals := make([]uint64, len(c.crd.Spec.Versions))
	for _, o := range c.objects {
		for i, u := range o.Unions {
			totals[o.Version] = saturate(totals[o.Version], c.fitUnion(e, o, i, u))
		}
	}
	c.fitTotals(e, totals)
}

// fitUnion makes every rule of one union fit its budget if it can, and returns
// what they cost together.
func (c *compiler) fitUnion(e estimator, o *object, i int, u *union.Union) uint64 {
	costs, ok := c.costsOf(e, o, i)
	if !ok {
		return 0
	}
	static := len(rules.Static(u, o.encoding[i]))
	if !allFit(costs[:static]) && o.encoding[i] == rules.Fine && c.opts.Encoding == Auto {
		o.encoding[i] = rules.Compact
		compact, ok := c.costsOf(e, o, i)
		if !ok {
			return 0
		}
		if n := len(rules.Static(u, rules.Compact)); allFit(compact[:n]) {
			costs, static = compact, n
		} else {
			o.encoding[i] = rules.Fine
		}
	}
	if u.Change == union.Clear && len(costs) > static && !allFit(costs[static:]) {
		o.noClear[i] = true
		costs = costs[:static]
		c.clearLeftOut(o, i)
	}
	written := o.rules(i)
	for _, g := range c.guards(o, u) {
		guards, err := e.estimate(g.Place, g.Rules)
		if err != nil {
			c.report(diag.Diagnostic{Code: diag.InvalidResult, Pos: o.Declarations[i].Pos, Path: g.Place.String(), Message: shorten(err.Error())})
			return 0
		}
		written, costs = append(written, g.Rules...), append(costs, guards...)
	}
	var total uint64
	for j, is := range costs {
		total = saturate(total, is.total())
		if is.fits() {
			continue
		}
		message := fmt.Sprintf("rule %q costs %s (%s, evaluated up to %s times); the API server's limit is %s",
			written[j].Rule, number(is.Rule), number(is.Rule/max(is.Cardinality, 1)), number(is.Cardinality), number(validation.StaticEstimatedCostLimit))
		if is.Rule <= validation.StaticEstimatedCostLimit {
			message = fmt.Sprintf("messageExpression of rule %q costs %s; the API server's limit is %s",
				written[j].Rule, number(is.MessageExpression), number(validation.StaticEstimatedCostLimit))
		}
		c.report(diag.Diagnostic{Code: diag.RuleOverBudget, Pos: o.Declarations[i].Pos, Path: o.Place.String(), Message: message,
			Hint: "bound every list and map above the union (maxItems, maxProperties), require a property of the object, or bound the discriminator (enum, maxLength)"})
	}
	return total
}

func (c *compiler) costsOf(e estimator, o *object, i int) ([]cost, bool) {
	written := o.rules(i)
	for j := range written {
		written[j] = written[j].Trim(c.kube.features)
	}
	costs, err := e.estimate(o.Place, written)
	if err != nil {
		c.report(diag.Diagnostic{Code: diag.InvalidResult, Pos: o.Declarations[i].Pos, Path: o.Place.String(), Message: shorten(err.Error())})
	}
	return costs, err == nil
}

// fitTotals brings the sum of each version below its budget: in order of the
// text and only as long as it is needed, it leaves Clear rules out, which the
// static rules imply, and then encodes unions compactly.
func (c *compiler) fitTotals(e estimator, totals []uint64) {
	for v := range totals {
		before, err := e.writtenCost(v)
		if err != nil || before > validation.StaticEstimatedCRDCostLimit {
			continue // over budget as it is: a warning
		}
		sum := saturate(before, totals[v])
		for _, try := range []func(o *object, i int) bool{c.dropClear, c.encodeCompactly} {
			for _, o := range c.objects {
				for i := range o.Unions {
					if sum <= validation.StaticEstimatedCRDCostLimit || o.Version != v {
						continue
					}
					encoding, noClear := o.encoding[i], o.noClear[i]
					was, ok := c.costsOf(e, o, i)
					if !ok {
						return
					}
					if !try(o, i) {
						continue
					}
					is, ok := c.costsOf(e, o, i)
					if !ok {
						return
					}
					if !allFit(is) || sumOf(is) >= sumOf(was) {
						o.encoding[i], o.noClear[i] = encoding, noClear
						continue
					}
					sum -= sumOf(was) - sumOf(is)
					if !noClear && o.noClear[i] {
						c.clearLeftOut(o, i)
					}
				}
			}
		}
		// A rule over its own budget is the reason then, and reported.
		if sum > validation.StaticEstimatedCRDCostLimit && !c.diags.HasErrors() {
			c.report(diag.Diagnostic{Code: diag.VersionOverBudget, Pos: c.pos(c.manifest.Node), Path: fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", v),
				Message: fmt.Sprintf("the rules of version %s cost %s together (%s of it for rules that were there before); the API server's limit is %s",
					c.crd.Spec.Versions[v].Name, number(sum), number(before), number(validation.StaticEstimatedCRDCostLimit)),
				Hint: "bound the lists and maps above the unions (maxItems, maxProperties)"})
		}
	}
}

// dropClear leaves the Clear rule of a union out, if it has one.
func (c *compiler) dropClear(o *object, i int) bool {
	if o.Unions[i].Change != union.Clear || o.uncorrelated != "" || o.noClear[i] {
		return false
	}
	o.noClear[i] = true
	return true
}

// encodeCompactly changes the encoding of a union, if it may.
func (c *compiler) encodeCompactly(o *object, i int) bool {
	if c.opts.Encoding != Auto || o.encoding[i] == rules.Compact {
		return false
	}
	o.encoding[i] = rules.Compact
	return true
}

func (c *compiler) clearLeftOut(o *object, i int) {
	c.report(diag.Diagnostic{Code: diag.ClearLeftOut, Severity: diag.Info, Pos: o.Declarations[i].Pos, Path: o.Place.String(),
		Message: "no rule for changes is emitted: it would exceed the API server's budget",
		Hint:    "the static rules reject leftovers all the same; an enum or maxLength on the discriminator makes the rule cheap"})
}

// writtenCost is what the rules that stand in a version's schema cost together.
func (e estimator) writtenCost(version int) (uint64, error) {
	v, err := apiextensions.GetSchemaForVersion(e.crd, e.crd.Spec.Versions[version].Name)
	if err != nil || v == nil {
		return 0, err
	}
	return e.below(v.OpenAPIV3Schema, validation.RootCELContext(v.OpenAPIV3Schema))
}

func (e estimator) below(s *apiextensions.JSONSchemaProps, context *validation.CELSchemaContext) (uint64, error) {
	var total uint64
	var failed error
	add := func(child *apiextensions.JSONSchemaProps, context *validation.CELSchemaContext) {
		n, err := e.below(child, context)
		if total = saturate(total, n); err != nil {
			failed = err
		}
	}
	if len(s.XValidations) > 0 {
		costs, err := e.costs(context)
		if err != nil {
			return 0, err
		}
		total = sumOf(costs)
	}
	for name, property := range s.Properties {
		add(&property, context.ChildPropertyContext(&property, name))
	}
	if s.Items != nil && s.Items.Schema != nil {
		add(s.Items.Schema, context.ChildItemsContext(s.Items.Schema))
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		add(s.AdditionalProperties.Schema, context.ChildAdditionalPropertiesContext(s.AdditionalProperties.Schema))
	}
	return total, failed
}

func sumOf(l []cost) uint64 {
	var sum uint64
	for _, c := range l {
		sum = saturate(sum, c.total())
	}
	return sum
}

func allFit(l []cost) bool {
	for _, c := range l {
		if !c.fits() {
			return false
		}
	}
	return true
}

// number prints n with separators.
func number(n uint64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
