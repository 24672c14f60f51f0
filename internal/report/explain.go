package report

import (
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Explain explains a plan, which it does not change. The caller owns the result. It returns an
// error if a schema of the plan cannot be read.
func Explain(in crdpatch.Explanation) (Explanation, error) {
	crd := Explanation{Name: in.Name, Bytes: in.Growth, Versions: []ExplainedVersion{}, Unions: []ExplainedUnion{}}
	for i, p := range in.Unions {
		var bytes []int
		if i < len(in.Bytes) {
			bytes = in.Bytes[i]
		}
		u, err := explainUnion(p, in.Plan, bytes)
		if err != nil {
			return Explanation{}, fmt.Errorf("%s: %w", p.Pos, err)
		}
		for _, r := range u.Rules {
			if !r.Present {
				crd.Rules++
			}
		}
		crd.Unions = append(crd.Unions, u)
	}
	for _, v := range in.Versions {
		sum := server.AddCosts(v.Before, v.Added)
		crd.Versions = append(crd.Versions, ExplainedVersion{
			Name: v.Name, CostBefore: v.Before, CostAdded: v.Added, Cost: sum,
			Limit: server.VersionLimit, PercentOfLimit: percent(sum, server.VersionLimit),
		})
	}
	return crd, nil
}

// unionPlan is a union that is being explained.
type unionPlan struct {
	*union.Union
	conditions union.Clauses // on its states
	plan       compile.UnionPlan
	// shown is the maximum number of members in situations.
	shown int
	// rules are the rules of the plan. Hand-written rules have their own messages.
	rules  []rules.Rule
	beside []*union.Union // all unions of the object
	// schema is the schema of the union object.
	schema apiextensionsv1.JSONSchemaProps
	// written is the schema of the discriminator. required is set if objects must have the
	// discriminator: it is required, and the server sets no default.
	written  apiextensionsv1.JSONSchemaProps
	required bool
	// enum has the discriminator values that the schema allows; nil allows all values.
	enum []string
}

// explainUnion explains a union of a plan. bytes are the bytes that each of its rules adds.
func explainUnion(p compile.UnionPlan, of compile.Plan, bytes []int) (ExplainedUnion, error) {
	s := &unionPlan{Union: p.Union, conditions: p.Union.Conditions(), plan: p, shown: of.Tried()}
	for _, other := range of.Unions {
		if other.Is(p.Place) {
			s.beside = append(s.beside, other.Union)
		}
	}
	if err := s.read(); err != nil {
		return ExplainedUnion{}, err
	}
	situations, unset, err := s.situations()
	if err != nil {
		return ExplainedUnion{}, err
	}
	u := ExplainedUnion{
		Name: p.Union.Name, Pos: p.Pos,
		Version: p.Place.Name, Schema: p.Place.Structural(), Object: p.Place.Path.String(),
		Discriminator: s.Discriminator, Members: []ExplainedMember{},
		MemberlessValues: s.memberless(), AnyValue: s.anyValue(),
		Default:  s.fallback(),
		Encoding: p.Encoding, Why: p.Why, Dropped: p.Dropped, Rules: []ExplainedRule{},
		HandWritten: append([]compile.HandWritten{}, p.HandWritten...), Errors: situations, WithoutExample: unset, beside: len(s.beside) - 1, examples: s.shown,
	}
	u.diagram, u.changes = s.mermaid()
	u.declare(s.Union)
	for _, m := range s.Members {
		u.Members = append(u.Members, ExplainedMember{
			Name: m.Name, Values: append([]string{}, m.Values...), OptionalFor: append([]string{}, m.Optional...),
			Requires: append([]string{}, m.Requires...), Forbids: append([]string{}, m.Forbids...),
			EmptyIsUnset: m.Empty != union.PresentWhenEmpty,
		})
	}
	for i, r := range s.rules {
		rule := ExplainedRule{
			Kind: string(p.Rules[i].Kind), Schema: p.Rules[i].Place.Structural(), Object: p.Rules[i].Place.Path.String(), Present: p.Rules[i].Present,
			Rule: r.Rule, Message: r.Message, MessageExpression: r.MessageExpression,
			Reason: string(r.Reason), FieldPath: r.FieldPath, OptionalOldSelf: r.OptionalOldSelf,
		}
		rule.costs(p.Rules[i].Cost)
		if i < len(bytes) {
			rule.Bytes = bytes[i]
		}
		u.Rules = append(u.Rules, rule)
	}
	return u, nil
}

// read reads the schemas that the plan does not have: the schema of the discriminator, and
// hand-written rules that the union uses.
func (s *unionPlan) read() error {
	schema, err := s.schemaAt(s.plan.Place)
	if err != nil {
		return err
	}
	s.schema = schema
	path := s.Path(s.Discriminator)
	if p := path.Schema(&schema); p != nil {
		s.written, s.required = *p, union.Requires(&schema, path)
	}
	for i := range path {
		p := path[:i+1].Schema(&schema)
		s.required = s.required && !union.Defaulted(p)
	}
	s.enum = union.EnumStrings(&s.written)
	for _, p := range s.plan.Rules {
		r := p.Rule
		if p.Present {
			at, err := s.schemaAt(p.Place)
			if err != nil {
				return err
			}
			r = writtenRule(at.XValidations, r)
		}
		s.rules = append(s.rules, r)
	}
	return nil
}

// schemaAt returns the schema at a place; callers must not change it.
func (s *unionPlan) schemaAt(p schemapath.Place) (apiextensionsv1.JSONSchemaProps, error) {
	if schema := p.Schema(s.plan.CRD); schema != nil {
		return *schema, nil
	}
	return apiextensionsv1.JSONSchemaProps{}, fmt.Errorf("the CRD has no schema at %s", p)
}

// writtenRule returns r with the message of the rule in l with the same text.
func writtenRule(l []apiextensionsv1.ValidationRule, r rules.Rule) rules.Rule {
	i := slices.IndexFunc(l, func(v apiextensionsv1.ValidationRule) bool { return v.Rule == r.Rule })
	if i < 0 {
		return r
	}
	r.Message, r.MessageExpression, r.FieldPath, r.Reason = l[i].Message, l[i].MessageExpression, l[i].FieldPath, ""
	if l[i].Reason != nil {
		r.Reason = rules.Reason(*l[i].Reason)
	}
	return r
}

// objectPath returns the path, in an example, of the value that the schema at a path describes.
func objectPath(p schemapath.Path) *field.Path {
	var path *field.Path
	for _, step := range p {
		switch name, ok := step.Property(); {
		case ok:
			path = path.Child(name)
		case step == schemapath.Items:
			path = path.Index(0)
		default:
			path = path.Key(verify.MapKey)
		}
	}
	return path
}
