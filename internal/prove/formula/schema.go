package formula

import (
	"context"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/regular"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// KeepsUnknown reports whether a schema, which may be nil, has x-kubernetes-preserve-unknown-fields.
func KeepsUnknown(s *apiextensionsv1.JSONSchemaProps) bool {
	return s != nil && s.XPreserveUnknownFields != nil && *s.XPreserveUnknownFields
}

// Open reports whether an object may have properties that its schema does not name.
func Open(s *apiextensionsv1.JSONSchemaProps) bool {
	return s.AdditionalProperties != nil || KeepsUnknown(s)
}

// Keywords validates values against the keywords of a schema. It is the API server's validator.
type Keywords struct {
	validator apiservervalidation.SchemaValidator
	weight    int // steps for a character, or a scalar, list or object
}

// instructionsPerStep is the number of instructions of a pattern that a character takes a step for.
const instructionsPerStep = 64

// Validator returns the validator for the keywords of a schema.
func Validator(s *apiextensionsv1.JSONSchemaProps) (*Keywords, error) {
	in, err := server.Internal(s)
	if err != nil {
		return nil, err
	}
	v, _, err := apiservervalidation.NewSchemaValidator(in)
	if err != nil {
		return nil, err
	}
	k := &Keywords{v, 1}
	schemapath.Walk(s, func(_ schemapath.Path, s *apiextensionsv1.JSONSchemaProps) bool {
		for _, s := range Flattened(s, nil) {
			if s.Pattern != "" {
				k.weight += regular.Size(s.Pattern) / instructionsPerStep
			}
		}
		return true
	})
	return k, nil
}

// Validate returns the errors of a value, and spends steps of ctx.
func (k *Keywords) Validate(ctx context.Context, v any) field.ErrorList {
	logic.Spend(ctx, stepsOfCall+k.weight*Size(v))
	return apiservervalidation.ValidateCustomResource(nil, v, k.validator)
}

// Size returns the number of characters, scalars, lists and objects in a value.
func Size(v any) int {
	n := 1
	switch v := v.(type) {
	case string:
		n += len(v)
	case []any:
		for _, item := range v {
			n += Size(item)
		}
	case map[string]any:
		for _, value := range v {
			n += Size(value)
		}
	}
	return n
}

// mostFlattened bounds the schemas that Flattened returns.
const mostFlattened = 256

// Flattened returns s and the schemas in its allOf, anyOf and oneOf.
func Flattened(s *apiextensionsv1.JSONSchemaProps, l []*apiextensionsv1.JSONSchemaProps) []*apiextensionsv1.JSONSchemaProps {
	l = append(l, s)
	if len(l) > mostFlattened {
		return l
	}
	for _, more := range [][]apiextensionsv1.JSONSchemaProps{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range more {
			l = Flattened(&more[i], l)
		}
	}
	return l
}

// Pruned returns a copy of s that has only the properties on or below one of the paths, and no
// rules. The copy is equivalent for rules that read no other properties. It shares unchanged parts.
func Pruned(s *apiextensionsv1.JSONSchemaProps, paths [][]string) *apiextensionsv1.JSONSchemaProps {
	c := *s
	c.XValidations = nil
	c.AllOf, c.AnyOf, c.OneOf, c.Not = nil, nil, nil, nil
	c.Default, c.Example = nil, nil
	whole := slices.ContainsFunc(paths, func(p []string) bool { return len(p) == 0 })
	if s.Properties != nil {
		c.Properties = map[string]apiextensionsv1.JSONSchemaProps{}
	}
	for name, p := range s.Properties {
		var below [][]string
		for _, path := range paths {
			if len(path) > 0 && path[0] == name {
				below = append(below, path[1:])
			}
		}
		if whole {
			below = [][]string{nil}
		}
		if len(below) > 0 {
			c.Properties[name] = *Pruned(&p, below)
		}
	}
	all := [][]string{nil}
	if s.Items != nil && s.Items.Schema != nil {
		c.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: Pruned(s.Items.Schema, all)}
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil {
		c.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: s.AdditionalProperties.Allows, Schema: Pruned(s.AdditionalProperties.Schema, all)}
	}
	return &c
}
