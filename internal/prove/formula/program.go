package formula

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/interpreter"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/common"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/server"
)

// Program is one rule as the API server compiles it. The API server's Validator runs the same
// program on the same conversion of the object. It copies all properties to find one, which would
// take most of the time here.
type Program struct {
	program  cel.Program
	schema   common.Schema
	optional bool // oldSelf is optional
	// Costly is that of [Rule].
	Costly bool
}

// Compile compiles the rules on s as the API server does for a stored CRD. It returns a program or
// an error for each rule. If root is set, s is the schema of a resource.
func Compile(s *structuralschema.Structural, root bool, rules apiextensionsv1.ValidationRules) ([]*Program, []error) {
	programs, errs := make([]*Program, len(rules)), make([]error, len(rules))
	with := *s
	with.XValidations = nil
	for _, r := range rules {
		with.XValidations = append(with.XValidations, apiextensionsv1.ValidationRule{Rule: r.Rule, OptionalOldSelf: r.OptionalOldSelf})
	}
	decl := model.SchemaDeclType(s, root)
	server.BoundType(decl, s, server.LargestObject)
	results, err := schemacel.Compile(&with, decl, celconfig.PerCallLimit,
		environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), schemacel.StoredExpressionsEnvLoader())
	if root {
		s = model.WithTypeAndObjectMeta(s)
	}
	schema := newView(&model.Structural{Structural: s})
	for i, r := range rules {
		switch {
		case err != nil:
			errs[i] = err
		case results[i].Error != nil:
			errs[i] = fmt.Errorf("the rule does not compile: %s", firstLine(strings.TrimPrefix(results[i].Error.Detail, "compilation failed: ")))
		case results[i].Program == nil:
			errs[i] = errors.New("the rule is empty")
		default:
			costly := results[i].MaxCost > celconfig.PerCallLimit && results[i].MaxCost <= server.RuleLimit
			programs[i] = &Program{results[i].Program, schema, HasOptionalOldSelf(r), costly}
		}
	}
	return programs, errs
}

// firstLine removes the source excerpt that CEL adds to an error.
func firstLine(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	return s
}

// Steps of the work on a rule, measured: see [logic.Question].
const (
	stepsOfProgram = 10_000 // to compile it
	stepsOfCall    = 100    // to evaluate it, beside its cost
)

// Run evaluates the rule, and spends steps of ctx. An error means that the evaluation failed. If
// there is no old object, transition rules hold, unless oldSelf is optional.
func (p *Program) Run(ctx context.Context, value, old any, usesOld bool) (bool, error) {
	if usesOld && old == nil && !p.optional {
		return true, nil // transition rules apply to updates
	}
	a := activation{self: common.UnstructuredToVal(value, p.schema)}
	switch {
	case old != nil && p.optional:
		a.oldSelf = types.OptionalOf(common.UnstructuredToVal(old, p.schema))
	case old != nil:
		a.oldSelf = common.UnstructuredToVal(old, p.schema)
	case p.optional:
		a.oldSelf = types.OptionalNone
	}
	result, details, err := p.program.ContextEval(ctx, a)
	steps := stepsOfCall
	if details != nil {
		if spent := details.ActualCost(); spent != nil {
			steps += int(*spent)
		}
	}
	logic.Spend(ctx, steps)
	return result == types.True, err
}

// activation has the variables of a rule.
type activation struct{ self, oldSelf any }

func (a activation) ResolveName(name string) (any, bool) {
	switch name {
	case schemacel.ScopedVarName:
		return a.self, true
	case schemacel.OldScopedVarName:
		return a.oldSelf, a.oldSelf != nil
	}
	return nil, false
}

func (a activation) Parent() interpreter.Activation { return nil }

// view is a schema that caches its child schemas.
type view struct {
	common.Schema
	properties func() map[string]common.Schema
	items      func() common.Schema
	additional func() common.SchemaOrBool
}

func newView(s common.Schema) common.Schema {
	if s == nil {
		return nil
	}
	return &view{
		Schema: s,
		properties: sync.OnceValue(func() map[string]common.Schema {
			l := s.Properties()
			for name, p := range l {
				l[name] = newView(p)
			}
			return l
		}),
		items: sync.OnceValue(func() common.Schema { return newView(s.Items()) }),
		additional: sync.OnceValue(func() common.SchemaOrBool {
			a := s.AdditionalProperties()
			if a == nil {
				return nil
			}
			return allowed{a, newView(a.Schema())}
		}),
	}
}

func (v *view) Properties() map[string]common.Schema      { return v.properties() }
func (v *view) Items() common.Schema                      { return v.items() }
func (v *view) AdditionalProperties() common.SchemaOrBool { return v.additional() }

// allowed is the value of additionalProperties.
type allowed struct {
	common.SchemaOrBool
	schema common.Schema
}

func (a allowed) Schema() common.Schema { return a.schema }
