package union

import (
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// DefaultCardinality returns the cardinality of a union whose declaration does not set it:
// ExactlyOne if schema requires the discriminator and its enum does not contain "". Otherwise, and
// without a discriminator (""), it is AtMostOne.
func DefaultCardinality(discriminator string, schema *apiextensionsv1.JSONSchemaProps) Cardinality {
	path, property := Property(schema, discriminator)
	if property != nil && Requires(schema, path) && !slices.Contains(EnumStrings(property), "") {
		return ExactlyOne
	}
	return AtMostOne
}

// requiresValue reports whether a schema rejects an object in which the discriminator is absent, ""
// or null.
func requiresValue(schema *apiextensionsv1.JSONSchemaProps, u *Union) bool {
	if DefaultCardinality(u.Discriminator, schema) != ExactlyOne {
		return false
	}
	_, property := Property(schema, u.Discriminator)
	return !property.Nullable && (u.Type != StringValue || len(property.Enum) > 0)
}

// Property returns the property that a declaration names: the property of the object with that name
// or, for a path such as platform.type, a property of a nested object. It returns nil if neither
// exists.
func Property(schema *apiextensionsv1.JSONSchemaProps, name string) (schemapath.Path, *apiextensionsv1.JSONSchemaProps) {
	if p, ok := schema.Properties[name]; ok {
		return schemapath.New(name), &p
	}
	path, err := schemapath.Parse(name)
	if err != nil || len(path) < 2 || path.HasElements() {
		return nil, nil
	}
	return path, path.Schema(schema)
}

// Requires reports whether a schema requires a property, and all objects on its path are always
// present.
func Requires(schema *apiextensionsv1.JSONSchemaProps, path schemapath.Path) bool {
	name, _ := path[0].Property()
	if len(path) == 1 {
		return slices.Contains(schema.Required, name)
	}
	return AlwaysThere(schema, path[:1]) && Requires(path[0].Schema(schema), path[1:])
}

// AlwaysThere reports whether every object of a schema has the property at a path: each property on
// the path is required or has a default, and is not nullable.
func AlwaysThere(schema *apiextensionsv1.JSONSchemaProps, path schemapath.Path) bool {
	for _, step := range path {
		name, _ := step.Property()
		p := step.Schema(schema)
		if p.Nullable || p.Default == nil && !slices.Contains(schema.Required, name) {
			return false
		}
		schema = p
	}
	return true
}

// Defaulted reports whether the API server sets an absent property: it has a default, and is not
// nullable.
func Defaulted(property *apiextensionsv1.JSONSchemaProps) bool {
	return property.Default != nil && !property.Nullable
}

// excludes reports a value that does not match the pattern, or is not in the limits of the
// discriminator. Like the API server, it counts code points.
func (r *resolver) excludes(prop *apiextensionsv1.JSONSchemaProps, v word, whose string) {
	says := func(key, format string, limit any) {
		r.errorf(v.Pos, codes.ExcludedValue, "write another value, or change the "+key,
			"value %q %s "+format+" the %s of %q, %v", v.Text, whose, key, r.u.Discriminator, limit)
	}
	if r.u.Type == IntegerValue {
		n, _ := strconv.ParseInt(v.Text, 10, 64)
		exceeds(n, prop, says)
	}
	if r.u.Type != StringValue {
		return
	}
	n := int64(utf8.RuneCountInString(v.Text))
	pattern, err := regexp.Compile(prop.Pattern) // the API server reports an invalid pattern
	switch {
	case prop.MinLength != nil && n < *prop.MinLength:
		says("minLength", "is shorter than", *prop.MinLength)
	case prop.MaxLength != nil && n > *prop.MaxLength:
		says("maxLength", "is longer than", *prop.MaxLength)
	case err == nil && !pattern.MatchString(v.Text):
		says("pattern", "does not match", prop.Pattern)
	}
}

// exceeds reports an integer that is not in the limits of a schema.
func exceeds(n int64, prop *apiextensionsv1.JSONSchemaProps, says func(key, format string, limit any)) {
	cmp := func(limit *float64) int { return new(big.Float).SetInt64(n).Cmp(big.NewFloat(*limit)) }
	switch {
	case prop.Format == "int32" && n != int64(int32(n)):
		says("format", "is not in the range of", prop.Format)
	case prop.Minimum != nil && cmp(prop.Minimum) < 0:
		says("minimum", "is less than", *prop.Minimum)
	case prop.Minimum != nil && prop.ExclusiveMinimum && cmp(prop.Minimum) == 0:
		says("minimum", "is not greater than", *prop.Minimum)
	case prop.Maximum != nil && cmp(prop.Maximum) > 0:
		says("maximum", "is greater than", *prop.Maximum)
	case prop.Maximum != nil && prop.ExclusiveMaximum && cmp(prop.Maximum) == 0:
		says("maximum", "is not less than", *prop.Maximum)
	case prop.MultipleOf != nil && *prop.MultipleOf >= 1 && *prop.MultipleOf == math.Trunc(*prop.MultipleOf) && n%int64(*prop.MultipleOf) != 0:
		says("multipleOf", "is no multiple of", *prop.MultipleOf)
	}
}

// slip reports whether a value looks like a misspelt member value.
func (r *resolver) slip(v word) bool {
	values := r.u.MemberValues()
	return r.strings() && !slices.Contains(values, v.Text) && english.Closest(v.Text, values) != ""
}

// changes reports whether allowedChanges may name a value of the discriminator. Without an enum it
// may name any value that does not look like a misspelt member value; changes adds it to Values.
func (r *resolver) changes(v word) bool {
	u := r.u
	if len(u.Values) == 0 || slices.Contains(u.Values, v.Text) {
		return true // no values: an error was reported
	}
	_, prop := Property(r.schema, u.Discriminator)
	if len(prop.Enum) > 0 || u.ForbidUnmapped || r.slip(v) {
		return false
	}
	r.excludes(prop, v, "in allowedChanges")
	u.Values = append(u.Values, v.Text)
	return true
}
