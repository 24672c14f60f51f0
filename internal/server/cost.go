package server

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"regexp"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	apiservercel "k8s.io/apiserver/pkg/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/unioncel/unioncel/pkg/schemapath"
)

// The API server's budgets
// (k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation).
const (
	// RuleLimit is the budget of one rule including all its executions.
	RuleLimit uint64 = validation.StaticEstimatedCostLimit
	// MessageLimit is the budget of one message expression.
	MessageLimit uint64 = validation.StaticEstimatedCostLimit
	// VersionLimit is the budget of all rules of one version together.
	VersionLimit uint64 = validation.StaticEstimatedCRDCostLimit
	// RequestLimit is the budget of all evaluations for one request, at run time.
	RequestLimit uint64 = celconfig.RuntimeCELCostBudget
)

// LargestObject is the size in bytes of the objects that proofs take into account: kubectl apply cannot
// annotate larger ones with their last configuration.
const LargestObject = 256 << 10

// BoundType limits the lists, maps and strings of the type of a schema to those that fit into a value of
// some bytes. It also gives keys and objects a size, which the API server does not.
func BoundType(t *apiservercel.DeclType, s *structuralschema.Structural, bytes int64) {
	if t == nil {
		return // the server does not show it to rules
	}
	items := s.Items
	if s.AdditionalProperties != nil {
		items = s.AdditionalProperties.Structural
	}
	each := int64(1)
	if t.ElemType != nil {
		each = t.ElemType.MinSerializedSize + 1
		if items.Nullable {
			each = min(each, int64(len("null,")))
		}
		BoundType(t.ElemType, items, bytes)
	}
	if most := bytes / each; t.MaxElements > most { // types without elements are shared
		t.MaxElements = most
	}
	if t.KeyType != nil {
		key := *t.KeyType                                 // shared
		key.MaxElements = bytes/max(t.MaxElements, 1) + 1 // the keys of a map share the value
		t.KeyType = &key
	}
	if t.IsObject() {
		t.MaxElements = int64(len(t.Fields)) + 1 // comparisons of objects cost something
	}
	for name, f := range t.Fields {
		name, _ = apiservercel.Unescape(name)
		property := s.Properties[name] // none for the metadata of a resource
		BoundType(f.Type, &property, bytes)
	}
}

// Cost is the estimated cost of one rule. Costs saturate at math.MaxUint64, which also means
// unbounded.
type Cost struct {
	// Once is the cost of evaluating the rule once.
	Once uint64
	// Executions is the number of times that one object can make the server evaluate the rule.
	Executions uint64
	// MessageExpression is the cost of the messageExpression, which is counted once.
	MessageExpression uint64
}

// Rule returns the cost to which RuleLimit applies.
func (c Cost) Rule() uint64 {
	high, low := bits.Mul64(c.Once, c.Executions)
	if high > 0 {
		return math.MaxUint64
	}
	return low
}

// Total returns the cost to which VersionLimit applies.
func (c Cost) Total() uint64 { return AddCosts(c.Rule(), c.MessageExpression) }

// Fits reports whether the rule and its messageExpression are within their budgets.
func (c Cost) Fits() bool { return c.Rule() <= RuleLimit && c.MessageExpression <= MessageLimit }

// AddCosts returns the sum of two costs.
func AddCosts(a, b uint64) uint64 {
	sum, carry := bits.Add64(a, b, 0)
	if carry > 0 {
		return math.MaxUint64
	}
	return sum
}

// SumCosts returns the sum of the totals.
func SumCosts(l []Cost) uint64 {
	var sum uint64
	for _, c := range l {
		sum = AddCosts(sum, c.Total())
	}
	return sum
}

// CostsFit reports whether every cost fits.
func CostsFit(l []Cost) bool {
	for _, c := range l {
		if !c.Fits() {
			return false
		}
	}
	return true
}

// Estimator estimates the costs of rules in one CRD.
type Estimator struct {
	crd *apiextensions.CustomResourceDefinition
	env *environment.EnvSet
	// bounded estimates costs for objects of the size Largest. shared takes into account that the
	// values of a schema share the object, which takes several estimates.
	bounded, shared bool
}

// NewEstimator returns an estimator for a CRD in the API server's internal version. The estimator does not
// change the CRD. env is the CEL environment for compiling rules; nil is the environment of the
// linked libraries.
func NewEstimator(crd *apiextensions.CustomResourceDefinition, env *environment.EnvSet) Estimator {
	if env == nil {
		env = environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion())
	}
	return Estimator{crd: crd, env: env}
}

// EstimatorOf is [NewEstimator] for a CRD as it is sent to the API server, in the environment of the linked libraries.
func EstimatorOf(crd *apiextensionsv1.CustomResourceDefinition) (Estimator, error) {
	internal, err := InternalCRD(crd)
	return NewEstimator(internal, nil), err
}

// HalfBudget is the percentage of a budget beyond which little can be added.
const HalfBudget = 50

// PercentOf returns a cost as a percentage of a budget, rounded down.
func PercentOf(n, of uint64) uint64 { return n / (of / 100) }

// Rules returns the costs of the rules l on the schema at a path in a version. It returns an error
// if a rule does not compile.
func (e Estimator) Rules(version int, path schemapath.Path, l []apiextensionsv1.ValidationRule) ([]Cost, error) {
	target, contextOf, err := e.context(version, path)
	if err != nil || len(l) == 0 {
		return nil, err
	}
	target.XValidations = nil
	for _, r := range l {
		var in apiextensions.ValidationRule
		if err := apiextensionsv1.Convert_v1_ValidationRule_To_apiextensions_ValidationRule(&r, &in, nil); err != nil {
			return nil, err
		}
		target.XValidations = append(target.XValidations, in)
	}
	return e.costs(target, contextOf)
}

// Written returns the total cost of the rules that a version's schema has.
func (e Estimator) Written(version int) (uint64, error) {
	s, err := e.schema(version)
	if err != nil {
		return 0, err
	}
	return e.total(s, validation.RootCELContext)
}

// Request is Written for an object of the size [Largest]. [RequestLimit] applies to it.
func (e Estimator) Request(version int) (uint64, error) {
	e.bounded = true
	total, err := e.Written(version)
	if err != nil || total <= RequestLimit {
		return total, err
	}
	e.shared = true
	return e.Written(version)
}

func (e Estimator) schema(version int) (*apiextensions.JSONSchemaProps, error) {
	name := e.crd.Spec.Versions[version].Name
	v, err := apiextensions.GetSchemaForVersion(e.crd, name)
	if err != nil {
		return nil, err
	}
	if v == nil || v.OpenAPIV3Schema == nil {
		return nil, fmt.Errorf("version %s has no schema", name)
	}
	return v.OpenAPIV3Schema, nil
}

// contextOf returns the cost context of a schema, which depends on the schemas that contain it.
type contextOf func(*apiextensions.JSONSchemaProps) *validation.CELSchemaContext

// bare returns a schema without its own rules. With rules, the context would convert all schemas of
// ancestors.
func bare(s *apiextensions.JSONSchemaProps) *apiextensions.JSONSchemaProps {
	copied := *s
	copied.XValidations = nil
	return &copied
}

// context returns a copy of the schema at a path, without rules. It also returns a function for the
// cost context of this schema after adding rules.
func (e Estimator) context(version int, path schemapath.Path) (*apiextensions.JSONSchemaProps, contextOf, error) {
	s, err := e.schema(version)
	if err != nil {
		return nil, nil, err
	}
	of := contextOf(validation.RootCELContext)
	for _, step := range path {
		parent := of(bare(s))
		name, isProperty := step.Property()
		switch {
		case isProperty:
			property, ok := s.Properties[name]
			if !ok {
				return nil, nil, fmt.Errorf("there is no property %s", name)
			}
			s, of = &property, ofProperty(parent, name)
		case step == schemapath.Items && s.Items != nil && s.Items.Schema != nil:
			s, of = s.Items.Schema, parent.ChildItemsContext
		case step == schemapath.Values && s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil:
			s, of = s.AdditionalProperties.Schema, parent.ChildAdditionalPropertiesContext
		default:
			return nil, nil, fmt.Errorf("there is no schema at %v", step.Fields())
		}
	}
	return bare(s), of, nil
}

func ofProperty(parent *validation.CELSchemaContext, name string) contextOf {
	return func(s *apiextensions.JSONSchemaProps) *validation.CELSchemaContext {
		return parent.ChildPropertyContext(s, name)
	}
}

// costs returns the costs of the rules of a schema.
func (e Estimator) costs(s *apiextensions.JSONSchemaProps, of contextOf) ([]Cost, error) {
	context := of(relevant(s, mentioned(s.XValidations)))
	info, err := context.TypeInfo()
	if err != nil {
		return nil, err
	}
	if info == nil {
		return nil, errors.New("CEL cannot see this schema")
	}
	if e.bounded {
		BoundType(info.DeclType, info.Schema, LargestObject)
	}
	compile := func() ([]cel.CompilationResult, error) {
		return cel.Compile(info.Schema, info.DeclType, celconfig.PerCallLimit, e.env, cel.NewExpressionsEnvLoader())
	}
	results, err := compile()
	if err != nil {
		return nil, err
	}
	var l []Cost
	for i, r := range results {
		if r.Error != nil {
			return nil, &ruleError{"rule", info.Schema.XValidations[i].Rule, r.Error}
		}
		if r.MessageExpressionError != nil {
			return nil, &ruleError{"messageExpression", info.Schema.XValidations[i].MessageExpression, r.MessageExpressionError}
		}
		c := Cost{Once: r.MaxCost, MessageExpression: r.MessageExpressionMaxCost, Executions: r.MaxCardinality}
		if context.MaxCardinality != nil {
			c.Executions = *context.MaxCardinality
		}
		if e.bounded {
			c.Executions = min(c.Executions, LargestObject/uint64(info.DeclType.MinSerializedSize+1))
			c.MessageExpression = 0 // the rules accept the object
			if r.MaxCost > RuleLimit {
				c.Once = 0 // the API server rejects the rule; estimates of library functions can be boundless
			}
		}
		l = append(l, c)
	}
	if !e.shared || l[0].Executions < 4 {
		return l, nil
	}
	// There are at most 2m values of a size between 1/2m and 1/m of the object. Larger values cost the
	// most, smaller ones are the most.
	n := l[0].Executions // the same for all rules of a schema
	most := make([]uint64, len(l))
	for m := uint64(1); m < n; {
		for i, r := range results {
			most[i] = max(most[i], Cost{Once: r.MaxCost, Executions: 2 * m}.Rule())
		}
		m *= 2
		BoundType(info.DeclType, info.Schema, int64(LargestObject/min(m, n)))
		if results, err = compile(); err != nil {
			return nil, err
		}
	}
	for i, r := range results { // of the smallest values
		l[i].Once = min(l[i].Rule(), AddCosts(most[i], Cost{Once: r.MaxCost, Executions: n}.Rule()))
		l[i].Executions = 1
	}
	return l, nil
}

func (e Estimator) total(s *apiextensions.JSONSchemaProps, of contextOf) (uint64, error) {
	var total uint64
	var errs []error
	add := func(child *apiextensions.JSONSchemaProps, of contextOf) {
		n, err := e.total(child, of)
		total, errs = AddCosts(total, n), append(errs, err)
	}
	if len(s.XValidations) > 0 {
		costs, err := e.costs(s, of)
		if err != nil {
			return 0, err
		}
		total = SumCosts(costs)
	}
	context := of(bare(s))
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) { // in order, so that errors are deterministic
		property := s.Properties[name]
		add(&property, ofProperty(context, name))
	}
	if s.Items != nil && s.Items.Schema != nil {
		add(s.Items.Schema, context.ChildItemsContext)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		add(s.AdditionalProperties.Schema, context.ChildAdditionalPropertiesContext)
	}
	return total, errors.Join(errs...)
}

// relevant returns a schema without the properties that cannot affect the cost of rules. Rules read
// only the properties whose names they mention, and only required properties affect the minimum
// size of an object. This saves time: converting a schema to CEL's types takes most of the time of
// an estimate.
func relevant(s *apiextensions.JSONSchemaProps, names map[string]bool) *apiextensions.JSONSchemaProps {
	out := *s
	if s.Properties != nil {
		out.Properties = map[string]apiextensions.JSONSchemaProps{}
	}
	for name, property := range s.Properties {
		escaped, _ := apiservercel.Escape(name)
		switch {
		case name == "apiVersion", name == "kind", name == "metadata": // of a resource, which the API server may complete
			out.Properties[name] = property
		case names[escaped], slices.Contains(s.Required, name):
			out.Properties[name] = *relevant(&property, names)
		}
	}
	if s.Items != nil && s.Items.Schema != nil {
		out.Items = &apiextensions.JSONSchemaPropsOrArray{Schema: relevant(s.Items.Schema, names)}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		out.AdditionalProperties = &apiextensions.JSONSchemaPropsOrBool{Allows: s.AdditionalProperties.Allows, Schema: relevant(s.AdditionalProperties.Schema, names)}
	}
	return &out
}

// identifier matches names in CEL, and words in CEL strings.
var identifier = regexp.MustCompile(`\w+`)

// mentioned returns the names that occur in rules.
func mentioned(l apiextensions.ValidationRules) map[string]bool {
	names := map[string]bool{}
	for _, r := range l {
		for _, text := range []string{r.Rule, r.MessageExpression} {
			for _, name := range identifier.FindAllString(text, -1) {
				names[name] = true
			}
		}
	}
	return names
}
