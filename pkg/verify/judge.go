package verify

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
)

// Values are a few values that a schema accepts, the smallest first. There are none when
// none is found.
func Values(ctx context.Context, schema *apiextensionsv1.JSONSchemaProps) []any {
	g := &generator{ctx: ctx}
	return runtime.DeepCopyJSONValue(append([]any{}, g.several(newNode(schema, "", nil, false))...)).([]any)
}

// Judge judges values by a schema, its rules left aside.
func Judge(schema *apiextensionsv1.JSONSchemaProps) (accepts func(v any) bool, err error) {
	v, err := schemaValidator(schema)
	if err != nil {
		return nil, err
	}
	return func(value any) bool { return len(apiservervalidation.ValidateCustomResource(nil, value, v)) == 0 }, nil
}

// JudgeRule validates values, as on creation, by a rule on a schema. Without a rule it accepts
// all values.
func JudgeRule(schema *apiextensionsv1.JSONSchemaProps, rule *apiextensionsv1.ValidationRule) (accepts func(ctx context.Context, v any) bool, err error) {
	if rule == nil {
		return func(context.Context, any) bool { return true }, nil
	}
	only := *schema
	only.XValidations = apiextensionsv1.ValidationRules{*rule}
	t := newNode(&only, "", nil, false).tests()[0]
	return func(ctx context.Context, v any) bool {
		said, _ := t.evaluate(ctx, v, nil)
		return said == holds
	}, t.broken
}
