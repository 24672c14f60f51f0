package sample

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Test is one condition of the API server on a value: a CEL rule, or a constraint of the schema
// such as oneOf. It is evaluated separately.
type Test struct {
	*formula.Rule
	Text string // the rule, or the constraint as in a schema
	At   string // the path of the schema
	// Key is the keyword of the schema with the test: RuleKey, AllOfKey (also for rules in allOf),
	// anyOf, oneOf, not, minProperties or maxProperties. It is empty for a test that the schema
	// does not have itself. Index is the index of the rule, or of the item in allOf.
	Key   string
	Index int
	// Validation is the rule, or nil for a constraint. Keywords is the schema of a constraint.
	Validation *apiextensionsv1.ValidationRule
	Keywords   *apiextensionsv1.JSONSchemaProps
	// Broken is the reason why the test can never be evaluated.
	Broken error

	// ask evaluates the test on a value and its old value, which may be nil. An error means that
	// the evaluation fails; detail explains a false result.
	ask func(ctx context.Context, value, old any) (ok bool, detail string, err error)
}

// The keys of tests that have an index.
const (
	RuleKey  = "x-kubernetes-validations"
	AllOfKey = "allOf"
)

// Answer is the result of a test.
type Answer uint8

// The results of a test.
const (
	Holds Answer = iota + 1
	Fails
	// Errs means that the rule fails to evaluate; the API server rejects the value.
	Errs
)

// Evaluate runs the test on a value and its old value, which is nil on creation. It explains
// results other than Holds. Absent values are not tested, as in the API server.
func (t *Test) Evaluate(ctx context.Context, value, old any) (Answer, string) {
	if value == nil || t.Broken != nil || t.ask == nil {
		return Holds, ""
	}
	ok, detail, err := t.ask(ctx, value, old)
	switch {
	case err != nil:
		return Errs, err.Error()
	case !ok:
		return Fails, detail
	}
	return Holds, ""
}

// CostHint returns a hint if the detail of [Errs] is that an evaluation exceeds the cost limit, and
// otherwise "".
func CostHint(detail string) string {
	if !strings.HasSuffix(detail, "cost limit exceeded") {
		return ""
	}
	return "lower the maxItems, maxProperties or maxLength of the values that it reads, or nest fewer macros"
}

// Evaluable reports whether the test can be evaluated.
func (t *Test) Evaluable() bool { return t.ask != nil }

// Name returns the test in the form for messages.
func (t *Test) Name() string {
	if t.Validation == nil {
		return t.Text
	}
	return fmt.Sprintf("rule %q", t.Text)
}

// Equal reports whether two tests have the same text and kind, so that their conditions are the
// same.
func (t *Test) Equal(u *Test) bool {
	return t.Text == u.Text && (t.Validation == nil) == (u.Validation == nil) && (t.Validation == nil || formula.SameRule(*t.Validation, *u.Validation))
}

// Optional reports whether oldSelf is an optional value in the rule.
func (t *Test) Optional() bool {
	return t.Validation != nil && formula.HasOptionalOldSelf(*t.Validation)
}

// Changing reports whether the test depends on the old value, or may depend on it.
func (t *Test) Changing() bool { return t.ReadsOld || t.Optional() }

// Rules returns the tests for the rules on a schema, including rules in allOf. They are compiled
// together, which is cheaper than one at a time.
func (n *Schema) Rules() []*Test {
	if n.compiled {
		return n.rules
	}
	n.compiled = true
	var sound []*Test
	var rules apiextensionsv1.ValidationRules
	var paths [][]string
	add := func(key string, index int, r *apiextensionsv1.ValidationRule) {
		t := &Test{Text: r.Rule, At: n.Path, Key: key, Index: index, Validation: r, Rule: &formula.Rule{}}
		n.rules = append(n.rules, t)
		read, err := formula.Parse(r.Rule)
		if t.Broken = err; err == nil {
			t.Rule = read
			sound, rules, paths = append(sound, t), append(rules, *r), append(paths, read.Paths...)
		}
	}
	for i := range n.Props.XValidations {
		add(RuleKey, i, &n.Props.XValidations[i])
	}
	for _, m := range n.more {
		for i := range m.XValidations {
			if m.index < 0 {
				add("", 0, &m.XValidations[i])
			} else {
				add(AllOfKey, m.index, &m.XValidations[i])
			}
		}
	}
	if len(sound) == 0 {
		return n.rules
	}
	s, err := server.Structural(formula.Pruned(n.Props, paths))
	if err != nil {
		for _, t := range sound {
			t.Broken = fmt.Errorf("the schema of the rule is not structural: %w", err)
		}
		return n.rules
	}
	programs, errs := formula.Compile(s, n.isResource(), rules)
	for i, t := range sound {
		t.Broken = errs[i]
		t.Costly = errs[i] == nil && programs[i].Costly
		t.ask = func(ctx context.Context, value, old any) (bool, string, error) {
			ok, err := programs[i].Run(ctx, value, old, t.ReadsOld)
			return ok, "", err
		}
	}
	return n.rules
}

// OnItem converts a rule that applies to each item of a list on the chain into a rule on the items.
// It returns the level of the items and the converted rule. If this is not possible, it returns its
// arguments.
func (c *Chain) OnItem(level int, t *Test) (int, *Test) {
	if t.Validation == nil || t.Broken != nil {
		return level, t
	}
	steps, rule := ItemRule(c.Schemas[level].Props, t.Validation)
	to := level + len(steps)
	if rule == nil || to >= len(c.Schemas) || !steps.Equal(c.Path[level:to]) {
		return level, t
	}
	only := *c.Schemas[to].Props
	only.XValidations = apiextensionsv1.ValidationRules{*rule}
	of := New(&only, t.At, false).Rules()[0]
	if of.Broken != nil {
		return level, t
	}
	of.Text, of.Key = t.Text, ""
	return to, of
}

// ItemRule converts a rule of a schema that applies to each item of a list into a rule on the items, to
// which the steps lead. It returns nil if this is not possible.
func ItemRule(s *apiextensionsv1.JSONSchemaProps, r *apiextensionsv1.ValidationRule) (steps schemapath.Path, rule *apiextensionsv1.ValidationRule) {
	read, err := formula.Parse(r.Rule)
	if err != nil {
		return nil, nil
	}
	list, text, ok := read.EachItem()
	steps = schemapath.Path{schemapath.Items}
	if list != "" {
		steps = schemapath.New(list).Append(schemapath.Items)
	}
	if of := steps.Schema(s); !ok || of == nil || of.Nullable {
		return nil, nil
	}
	return steps, &apiextensionsv1.ValidationRule{Rule: text, Message: r.Message}
}

// Message returns the API server's error for a value that fails the test, on an update or, if old
// is nil, on a creation. It is empty if the value passes.
func (t *Test) Message(ctx context.Context, n *Schema, value, old any) string {
	said, detail := t.Evaluate(ctx, value, old)
	if said == Holds {
		return ""
	}
	if said == Errs {
		return "the rule fails to evaluate: " + detail
	}
	if t.Validation == nil {
		return detail
	}
	// The messageExpression may read properties that the rule does not read.
	paths := slices.Clone(t.Paths)
	if message, err := formula.Parse(t.Validation.MessageExpression); err == nil {
		paths = append(paths, message.Paths...)
	}
	r := *t.Validation
	r.FieldPath = ""
	s, err := server.Structural(formula.Pruned(n.Props, paths))
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

// Keyword is a keyword that concerns several properties.
type Keyword struct {
	Key string
	// Copy sets the keyword of a schema to its value in another one. It reports whether the latter
	// has the keyword.
	Copy func(to, from *apiextensionsv1.JSONSchemaProps) bool
}

// Keywords are the keywords that concern several properties, in the order of their tests. The items
// of allOf, which have a test each, come before them.
var Keywords = []Keyword{
	{"anyOf", func(to, from *apiextensionsv1.JSONSchemaProps) bool { to.AnyOf = from.AnyOf; return len(to.AnyOf) > 0 }},
	{"oneOf", func(to, from *apiextensionsv1.JSONSchemaProps) bool { to.OneOf = from.OneOf; return len(to.OneOf) > 0 }},
	{"not", func(to, from *apiextensionsv1.JSONSchemaProps) bool { to.Not = from.Not; return to.Not != nil }},
	{"minProperties", func(to, from *apiextensionsv1.JSONSchemaProps) bool {
		to.MinProperties = from.MinProperties
		return to.MinProperties != nil
	}},
	{"maxProperties", func(to, from *apiextensionsv1.JSONSchemaProps) bool {
		to.MaxProperties = from.MaxProperties
		return to.MaxProperties != nil
	}},
}

// Constraints returns the tests for the keywords that concern several properties.
func (n *Schema) Constraints() []*Test {
	if n.constrained {
		return n.constraints
	}
	n.constrained = true
	s := n.Props
	add := func(key string, index int, only apiextensionsv1.JSONSchemaProps) {
		only.Type = s.Type
		text := key
		if bound := cmp.Or(only.MinProperties, only.MaxProperties); bound != nil {
			text = fmt.Sprintf("%s: %d", key, *bound)
		}
		t := NewConstraint(n, text, only)
		t.Key, t.Index = key, index
		n.constraints = append(n.constraints, t)
	}
	for i := range s.AllOf {
		add(AllOfKey, i, apiextensionsv1.JSONSchemaProps{AllOf: s.AllOf[i : i+1]})
	}
	for _, k := range Keywords {
		var only apiextensionsv1.JSONSchemaProps
		if k.Copy(&only, s) {
			add(k.Key, 0, only)
		}
	}
	return n.constraints
}

// NewConstraint returns the test for some keywords on a schema.
func NewConstraint(n *Schema, text string, only apiextensionsv1.JSONSchemaProps) *Test {
	t := &Test{Text: text, At: n.Path, Keywords: &only, Rule: formula.Mentioned(&only)}
	k, err := formula.Validator(&only)
	if err != nil {
		t.Broken = err
		return t
	}
	t.ask = func(ctx context.Context, value, _ any) (bool, string, error) {
		l := k.Validate(ctx, value)
		if len(l) == 0 {
			return true, "", nil
		}
		return false, l[0].Detail, nil
	}
	return t
}
