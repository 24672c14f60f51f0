package rules_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/cel-go/common/types"
	"go.yaml.in/yaml/v3"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

func schemaOf(t testing.TB, text string) *apiextensionsv1.JSONSchemaProps {
	t.Helper()
	var s apiextensionsv1.JSONSchemaProps
	if err := sigsyaml.UnmarshalStrict([]byte(text), &s); err != nil {
		t.Fatalf("schema: %v\n%s", err, text)
	}
	return &s
}

// unionOf parses and resolves one declaration.
func unionOf(t testing.TB, declaration string, schema *apiextensionsv1.JSONSchemaProps) *union.Union {
	t.Helper()
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(declaration), &doc); err != nil {
		t.Fatalf("declaration: %v\n%s", err, declaration)
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Content: doc.Content}
	declarations, diags := union.Parse("test.yaml", "spec", list, nil)
	if diags.HasErrors() {
		t.Fatalf("%s: %v", declaration, diags)
	}
	unions, diags := union.Resolve(declarations, schema, false)
	if diags.HasErrors() {
		t.Fatalf("%s: %v", declaration, diags)
	}
	return unions[0]
}

// decodeYAML is only for literals: it panics on invalid YAML.
func decodeYAML(text string, into any) {
	if err := sigsyaml.Unmarshal([]byte(text), into); err != nil {
		panic(err)
	}
}

func structural(t testing.TB, schema *apiextensionsv1.JSONSchemaProps) *structuralschema.Structural {
	t.Helper()
	var in apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(schema, &in, nil); err != nil {
		t.Fatal(err)
	}
	s, err := structuralschema.NewStructural(&in)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// compiled compiles rules as the API server does for a new CRD. The test fails on rules that do
// not compile and on an invalid fieldPath.
func compiled(t testing.TB, s *structuralschema.Structural, l []rules.Rule) []schemacel.CompilationResult {
	t.Helper()
	with := *s
	with.XValidations = nil
	for _, r := range l {
		with.XValidations = append(with.XValidations, r.Validation())
	}
	results, err := schemacel.Compile(&with, model.SchemaDeclType(s, false), celconfig.PerCallLimit,
		environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), schemacel.NewExpressionsEnvLoader())
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range results {
		if r.Error != nil {
			t.Fatalf("rule %s\n%v", l[i].Rule, r.Error)
		}
		if r.MessageExpressionError != nil {
			t.Fatalf("messageExpression %s\n%v", l[i].MessageExpression, r.MessageExpressionError)
		}
		if l[i].FieldPath != "" {
			if _, _, err := schemacel.ValidFieldPath(l[i].FieldPath, s); err != nil {
				t.Fatalf("fieldPath %s: %v", l[i].FieldPath, err)
			}
		}
	}
	return results
}

// server evaluates rules with the API server's own validator. Each message contains the number and
// the origin of its rule. They tell errors apart and reveal a messageExpression that fell back to
// message.
type server struct {
	rules     []rules.Rule
	validator *schemacel.Validator
}

func newServer(t testing.TB, s *structuralschema.Structural, l []rules.Rule) *server {
	t.Helper()
	if len(l) == 0 {
		return &server{}
	}
	with := *s
	with.XValidations = nil
	for i, r := range l {
		with.XValidations = append(with.XValidations, markedRule(t, i, r))
	}
	return &server{l, schemacel.NewValidator(&with, false, celconfig.PerCallLimit)}
}

func markedRule(t testing.TB, i int, r rules.Rule) apiextensionsv1.ValidationRule {
	t.Helper()
	v := r.Validation()
	if v.Message == "" || strings.ContainsAny(v.Message, "\n\r") {
		t.Fatalf("rule %s has the message %q", v.Rule, v.Message)
	}
	v.Message = fmt.Sprintf("#%d message#%s", i, v.Message)
	if v.MessageExpression != "" {
		v.MessageExpression = fmt.Sprintf("'#%d expression#' + (%s)", i, v.MessageExpression)
	}
	return v
}

// failure is a failed rule with the error that users see.
type failure struct {
	rule    int
	field   string // relative to the object with the rules
	message string
	text    string // the whole error
}

var marked = regexp.MustCompile(`(?s)^#(\d+) (message|expression)#(.*)$`)

// fails returns the rules that fail for an update or, if old is nil, for a creation. Any other
// problem fails the test: an evaluation error, or a message that falls back, is blank or has
// several lines. No failure is ratcheted.
func (s *server) fails(t testing.TB, old, new map[string]any) []failure {
	t.Helper()
	if s.validator == nil {
		return nil
	}
	var oldObject any
	if old != nil {
		oldObject = old
	}
	errs, _ := s.validator.Validate(context.Background(), nil, nil, new, oldObject, math.MaxInt64)
	var l []failure
	for _, e := range errs {
		m := marked.FindStringSubmatch(e.Detail)
		if m == nil {
			t.Fatalf("%v -> %v: %v", old, new, e)
		}
		i, err := strconv.Atoi(m[1])
		if err != nil {
			t.Fatal(err)
		}
		if r := s.rules[i]; (r.MessageExpression != "") != (m[2] == "expression") {
			t.Fatalf("%v -> %v: the messageExpression fell back: %s", old, new, r.MessageExpression)
		}
		if strings.TrimSpace(m[3]) == "" || strings.ContainsAny(m[3], "\n\r") {
			t.Fatalf("%v -> %v: message %q of %s", old, new, m[3], s.rules[i].Rule)
		}
		f := failure{rule: i, field: strings.TrimPrefix(e.Field, "<nil>"), message: m[3]}
		e.Detail = m[3]
		f.text = e.Error()
		l = append(l, f)
	}
	return l
}

// evaluator evaluates rules one at a time, at a lower cost than server, which copies the properties
// for each rule and computes the message of every failure. The evaluator reads properties in place.
// Rules that read the same properties are evaluated once for all objects with the same values of
// these properties. The message of an update is computed once for each combination of rule,
// discriminators and numbers of properties.
type evaluator struct {
	rules         []rules.Rule
	programs      []schemacel.CompilationResult
	groups        map[string]*group
	schema        common.Schema
	discriminator string
	read          map[[5]any]bool // computed messages
}

// group holds rules that read the same properties.
type group struct {
	old, new []string
	rules    []int
	outcomes map[string][]string // outcomes of the rules, by their objects as JSON
}

// reads matches reads of properties in rules.
var reads = regexp.MustCompile(`\b(self|oldSelf)\.(\w+)`)

func newEvaluator(t testing.TB, s *structuralschema.Structural, l []rules.Rule, discriminator string) *evaluator {
	t.Helper()
	schema := &model.Structural{Structural: s}
	c := &evaluator{l, compiled(t, s, l), map[string]*group{}, inPlace{schema, schema.Properties()}, discriminator, map[[5]any]bool{}}
	for i, r := range l {
		g := &group{outcomes: map[string][]string{}}
		for _, m := range reads.FindAllStringSubmatch(r.Rule+" "+r.MessageExpression, -1) {
			if m[1] == "self" {
				g.new = append(g.new, m[2])
			} else {
				g.old = append(g.old, m[2])
			}
		}
		slices.Sort(g.old)
		slices.Sort(g.new)
		g.old, g.new = slices.Compact(g.old), slices.Compact(g.new)
		key := fmt.Sprint(g.old, g.new)
		if c.groups[key] == nil {
			c.groups[key] = g
		}
		c.groups[key].rules = append(c.groups[key].rules, i)
	}
	return c
}

// inPlace is a schema that computes its properties only once.
type inPlace struct {
	common.Schema
	properties map[string]common.Schema
}

func (s inPlace) Properties() map[string]common.Schema { return s.properties }

// outcome returns the result of every rule for an update or, if old is nil, for a creation. A
// creation skips rules that read oldSelf, unless it is optional. As in [server.fails], any problem
// other than a failing rule fails the test.
func (c *evaluator) outcome(t testing.TB, old, new map[string]any) outcome {
	t.Helper()
	l := make(outcome, len(c.rules))
	for _, g := range c.groups {
		old, new := only(old, g.old), only(new, g.new)
		key, err := json.Marshal([]any{old, new})
		if err != nil {
			t.Fatal(err)
		}
		known, ok := g.outcomes[string(key)]
		if !ok {
			known = c.evaluate(t, g, old, new)
			g.outcomes[string(key)] = known
		}
		for i, n := range g.rules {
			l[n] = known[i]
		}
	}
	return l
}

// only returns the given properties of an object, or nil if the object is nil.
func only(object map[string]any, names []string) map[string]any {
	if object == nil {
		return nil
	}
	l := map[string]any{}
	for _, name := range names {
		if v, ok := object[name]; ok {
			l[name] = v
		}
	}
	return l
}

func (c *evaluator) evaluate(t testing.TB, g *group, old, new map[string]any) []string {
	t.Helper()
	fixed := map[string]any{schemacel.ScopedVarName: common.UnstructuredToVal(new, c.schema)}
	optional := map[string]any{schemacel.ScopedVarName: fixed[schemacel.ScopedVarName], schemacel.OldScopedVarName: types.OptionalNone}
	if old != nil {
		v := common.UnstructuredToVal(old, c.schema)
		fixed[schemacel.OldScopedVarName], optional[schemacel.OldScopedVarName] = v, types.OptionalOf(v)
	}
	var l []string
	for _, i := range g.rules {
		r, variables := c.rules[i], fixed
		l = append(l, "")
		switch {
		case r.OptionalOldSelf:
			variables = optional
		case old == nil && c.programs[i].UsesOldSelf:
			continue // the API server evaluates the rule only for updates
		}
		holds, _, err := c.programs[i].Program.Eval(variables)
		if err != nil {
			t.Fatalf("%v -> %v: %s: %v", old, new, r.Rule, err)
		}
		if holds == types.True {
			continue
		}
		l[len(l)-1] = "." + c.programs[i].NormalizedRuleFieldPath
		if key := [5]any{i, old[c.discriminator], new[c.discriminator], len(old), len(new)}; r.MessageExpression != "" && (old == nil || !c.read[key]) {
			c.read[key] = true
			// The server never makes oldSelf optional in a messageExpression.
			message, _, err := c.programs[i].MessageExpression.Eval(fixed)
			if err != nil {
				t.Fatalf("%v -> %v: %s: %v", old, new, r.MessageExpression, err)
			}
			if m, ok := message.Value().(string); !ok || strings.TrimSpace(m) == "" || strings.ContainsAny(m, "\n\r") {
				t.Fatalf("%v -> %v: message %q of %s", old, new, m, r.Rule)
			}
		}
	}
	return l
}
