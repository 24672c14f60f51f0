package verify

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// test is one thing the server checks a value for: a CEL rule, or a constraint
// of the schema such as oneOf. Each is evaluated by itself.
type test struct {
	*formula.Rule
	// text is the rule, or the constraint as it would be written.
	text string
	at   string // schema path
	rule *apiextensionsv1.ValidationRule
	// only is the schema that a constraint consists of.
	only *apiextensionsv1.JSONSchemaProps
	// ask evaluates the test on a value and the old one, or nil. An error says
	// that there is no answer; detail explains a false one.
	ask func(ctx context.Context, value, old any) (ok bool, detail string, err error)
	// broken is why the test cannot be evaluated at all.
	broken error
}

// answer is what a test says.
type answer uint8

const (
	holds answer = iota + 1
	fails
	// errs is a rule that fails to evaluate; the server rejects the value.
	errs
)

// evaluate asks the test about a value and its old self, nil for a creation. The
// server has nothing to say about values that are not there.
func (t *test) evaluate(ctx context.Context, value, old any) (answer, string) {
	if value == nil || t.broken != nil || t.ask == nil {
		return holds, ""
	}
	ok, detail, err := t.ask(ctx, value, old)
	switch {
	case err != nil:
		return errs, err.Error()
	case !ok:
		return fails, detail
	}
	return holds, ""
}

// optional reports whether oldSelf is an optional value to the rule.
func (t *test) optional() bool {
	return t.rule != nil && t.rule.OptionalOldSelf != nil && *t.rule.OptionalOldSelf
}

// tests are those of the rules on n. They are compiled together, which is cheaper
// than one by one.
func (n *node) tests() []*test {
	if n.compiled {
		return n.ruleTests
	}
	n.compiled = true
	var sound []*test
	var rules apiextensionsv1.ValidationRules
	var paths [][]string
	for _, r := range n.rules() {
		t := &test{text: r.Rule, at: n.path, rule: &r, Rule: &formula.Rule{}}
		n.ruleTests = append(n.ruleTests, t)
		read, err := formula.Parse(r.Rule)
		if t.broken = err; err == nil {
			t.Rule = read
			sound, rules, paths = append(sound, t), append(rules, r), append(paths, read.Paths...)
		}
	}
	if len(sound) == 0 {
		return n.ruleTests
	}
	s, err := formula.Structural(formula.Pruned(n.schema, paths))
	if err != nil {
		for _, t := range sound {
			t.broken = fmt.Errorf("the schema of the rule is not structural: %w", err)
		}
		return n.ruleTests
	}
	programs, errs := formula.Compile(s, n.isResource(), rules)
	for i, t := range sound {
		t.broken = errs[i]
		t.ask = func(ctx context.Context, value, old any) (bool, string, error) {
			ok, err := programs[i].Run(ctx, value, old, t.ReadsOld)
			return ok, "", err
		}
	}
	return n.ruleTests
}

// onItem returns a rule on a level of the chain as a rule on the items of a list further down, and
// the level of these, if it says the same of each of them; else the rule itself.
func (c *chain) onItem(level int, t *test) (int, *test) {
	if t.broken != nil {
		return level, t
	}
	list, rule, ok := t.EachItem()
	steps := []step{{kind: item}}
	if list != "" {
		steps = []step{{property, list}, {kind: item}}
	}
	to := level + len(steps)
	if !ok || to >= len(c.nodes) || !slices.Equal(steps, c.steps[level:to]) || c.nodes[to].schema.Nullable {
		return level, t
	}
	only := *c.nodes[to].schema
	only.XValidations = apiextensionsv1.ValidationRules{{Rule: rule, Message: t.rule.Message}}
	of := newNode(&only, t.at, nil, false).tests()[0]
	if of.broken != nil {
		return level, t
	}
	of.text = t.text
	return to, of
}

// message is what the server says when the rule rejects an update, or with old
// nil a creation.
func (t *test) message(ctx context.Context, n *node, value, old any) string {
	said, detail := t.evaluate(ctx, value, old)
	if said == holds {
		return ""
	}
	if said == errs {
		return "the rule fails to evaluate instead of answering: " + detail
	}
	if t.rule == nil {
		return detail
	}
	// The message expression may read what the rule does not.
	paths := slices.Clone(t.Paths)
	if message, err := formula.Parse(t.rule.MessageExpression); err == nil {
		paths = append(paths, message.Paths...)
	}
	r := *t.rule
	r.FieldPath = ""
	s, err := formula.Structural(formula.Pruned(n.schema, paths))
	if err != nil {
		return ""
	}
	s.XValidations = apiextensionsv1.ValidationRules{r}
	l, _ := schemacel.NewValidator(s, n.isResource(), celconfig.PerCallLimit).Validate(ctx, nil, nil, value, old, math.MaxInt64)
	if len(l) == 0 {
		return ""
	}
	return l[0].Detail
}

// rules are those on the schema of n, in allOf too.
func (n *node) rules() []apiextensionsv1.ValidationRule {
	l := slices.Clone(n.schema.XValidations)
	for _, m := range n.more {
		l = append(l, m.XValidations...)
	}
	return l
}

// constraints are the tests of the schema keywords that look at more than one
// property.
func (n *node) constraints() []*test {
	if n.constrained {
		return n.keywords
	}
	n.constrained = true
	s := n.schema
	add := func(text string, only apiextensionsv1.JSONSchemaProps) {
		only.Type = s.Type
		n.keywords = append(n.keywords, newConstraint(n, text, only))
	}
	for i := range s.AllOf {
		add("allOf", apiextensionsv1.JSONSchemaProps{AllOf: s.AllOf[i : i+1]})
	}
	if len(s.AnyOf) > 0 {
		add("anyOf", apiextensionsv1.JSONSchemaProps{AnyOf: s.AnyOf})
	}
	if len(s.OneOf) > 0 {
		add("oneOf", apiextensionsv1.JSONSchemaProps{OneOf: s.OneOf})
	}
	if s.Not != nil {
		add("not", apiextensionsv1.JSONSchemaProps{Not: s.Not})
	}
	if s.MinProperties != nil {
		add(fmt.Sprintf("minProperties: %d", *s.MinProperties), apiextensionsv1.JSONSchemaProps{MinProperties: s.MinProperties})
	}
	if s.MaxProperties != nil {
		add(fmt.Sprintf("maxProperties: %d", *s.MaxProperties), apiextensionsv1.JSONSchemaProps{MaxProperties: s.MaxProperties})
	}
	return n.keywords
}

func newConstraint(n *node, text string, only apiextensionsv1.JSONSchemaProps) *test {
	t := &test{text: text, at: n.path, only: &only, Rule: formula.Mentioned(&only)}
	validator, err := schemaValidator(&only)
	if err != nil {
		t.broken = err
		return t
	}
	t.ask = func(_ context.Context, value, _ any) (bool, string, error) {
		l := apiservervalidation.ValidateCustomResource(nil, value, validator)
		if len(l) == 0 {
			return true, "", nil
		}
		return false, l[0].Detail, nil
	}
	return t
}

func schemaValidator(s *apiextensionsv1.JSONSchemaProps) (apiservervalidation.SchemaValidator, error) {
	in, err := formula.Internal(s)
	if err != nil {
		return nil, err
	}
	return internalValidator(in)
}

func internalValidator(in *apiextensions.JSONSchemaProps) (apiservervalidation.SchemaValidator, error) {
	v, _, err := apiservervalidation.NewSchemaValidator(in)
	return v, err
}
