package sample

import (
	"context"
	"math"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/server"
)

// Validator validates values against all keywords and rules of a schema, without ratcheting.
type Validator struct {
	keywords *formula.Keywords
	rules    *schemacel.Validator
}

// Validator returns the validator for a schema.
func (n *Schema) Validator() (*Validator, error) {
	keywords, err := formula.Validator(n.Props)
	if err != nil {
		return nil, err
	}
	s, err := server.Structural(n.Props)
	if err != nil {
		return nil, err
	}
	return &Validator{keywords, schemacel.NewValidator(s, n.isResource(), celconfig.PerCallLimit)}, nil
}

// Validate returns the errors of a value or, unless old is nil, of the update from old to it.
func (v *Validator) Validate(ctx context.Context, value, old any) field.ErrorList {
	l := v.keywords.Validate(ctx, value)
	more, _ := v.rules.Validate(ctx, nil, nil, value, old, math.MaxInt64)
	return append(l, more...)
}

// Values returns a few values that a schema accepts, the smallest first. The result may be empty.
func Values(ctx context.Context, schema *apiextensionsv1.JSONSchemaProps) []any {
	g := &Source{ctx: ctx}
	return runtime.DeepCopyJSONValue(append([]any{}, g.Several(New(schema, "", false))...)).([]any)
}

// Judge returns a function that validates values against the keywords of a schema, without rules. It
// spends steps of ctx.
func Judge(ctx context.Context, schema *apiextensionsv1.JSONSchemaProps) (accepts func(v any) bool, err error) {
	k, err := formula.Validator(schema)
	if err != nil {
		return nil, err
	}
	return func(value any) bool { return len(k.Validate(ctx, value)) == 0 }, nil
}

// AcceptsDefault reports whether a schema accepts its default, including nested defaults. The API
// server requires this of new CRDs, but it also validates objects against other schemas.
func (n *Schema) AcceptsDefault(ctx context.Context) bool {
	s, err := server.Structural(n.Props)
	v, broken := n.Validator()
	if err != nil || broken != nil {
		return false
	}
	holder := map[string]any{"it": runtime.DeepCopyJSONValue(decoded(n.Props.Default))}
	around := &structuralschema.Structural{Generic: structuralschema.Generic{Type: "object"}, Properties: map[string]structuralschema.Structural{"it": *s}}
	defaulting.Default(holder, around)
	return len(v.Validate(ctx, holder["it"], nil)) == 0 && len(listtype.ValidateListSetsAndMaps(nil, around, holder)) == 0
}

// AcceptsNull reports whether the keywords of a schema accept null. Rules are ignored.
func AcceptsNull(s apiextensionsv1.JSONSchemaProps) bool {
	s.XValidations = nil
	accepts, err := Judge(context.Background(), &s)
	return err == nil && accepts(nil)
}
