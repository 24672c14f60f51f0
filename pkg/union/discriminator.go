package union

import (
	"regexp"
	"slices"
	"unicode/utf8"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// DefaultCardinality is that of a union on schema whose declaration names none:
// ExactlyOne when the schema requires the discriminator, unless its enum says that
// "" will do; otherwise, and without a discriminator (""), AtMostOne.
func DefaultCardinality(discriminator string, schema *apiextensionsv1.JSONSchemaProps) Cardinality {
	path, property := Property(schema, discriminator)
	if property != nil && Requires(schema, path) && !slices.Contains(EnumStrings(property), "") {
		return ExactlyOne
	}
	return AtMostOne
}

// Property finds the property of an object that a declaration names: the one of that
// name or else, by its path, one in an object below: platform.type. It is nil when there
// is none.
func Property(schema *apiextensionsv1.JSONSchemaProps, name string) (schemapath.Path, *apiextensionsv1.JSONSchemaProps) {
	if p, ok := schema.Properties[name]; ok {
		return schemapath.Of(name), &p
	}
	path, err := schemapath.Parse(name)
	if err != nil || len(path) < 2 || path.HasElements() {
		return nil, nil
	}
	return path, path.In(schema)
}

// Requires reports whether a schema requires what properties lead to, and all on the way
// is always there.
func Requires(schema *apiextensionsv1.JSONSchemaProps, path schemapath.Path) bool {
	name, _ := path[0].Property()
	if len(path) == 1 {
		return slices.Contains(schema.Required, name)
	}
	return AlwaysThere(schema, path[:1]) && Requires(path[0].In(schema), path[1:])
}

// AlwaysThere reports whether every object of a schema has what properties lead to: all on the
// way is required or has a default, and is not null.
func AlwaysThere(schema *apiextensionsv1.JSONSchemaProps, path schemapath.Path) bool {
	for _, step := range path {
		name, _ := step.Property()
		p := step.In(schema)
		if p.Nullable || p.Default == nil && !slices.Contains(schema.Required, name) {
			return false
		}
		schema = p
	}
	return true
}

// Defaulted reports whether the server sets a property that is left out: it has a
// default, and null does not stay.
func Defaulted(property *apiextensionsv1.JSONSchemaProps) bool {
	return property.Default != nil && !property.Nullable
}

// excludes reports a value that the pattern or a length of the discriminator
// excludes. The server counts code points.
func (r *resolver) excludes(prop *apiextensionsv1.JSONSchemaProps, v word, whose string) {
	says := func(key, format string, limit any) {
		r.errorf(v.Pos, diag.ExcludedValue, "write another value, or change the "+key,
			"value %q %s "+format+" the %s of %q, %v", v.Text, whose, key, r.u.Discriminator, limit)
	}
	n := int64(utf8.RuneCountInString(v.Text))
	pattern, err := regexp.Compile(prop.Pattern) // of one that is wrong the server tells
	switch {
	case prop.MinLength != nil && n < *prop.MinLength:
		says("minLength", "is shorter than", *prop.MinLength)
	case prop.MaxLength != nil && n > *prop.MaxLength:
		says("maxLength", "is longer than", *prop.MaxLength)
	case err == nil && !pattern.MatchString(v.Text):
		says("pattern", "does not match", prop.Pattern)
	}
}

// changes reports whether allowedChanges may name a value of the discriminator. It
// may name any while nothing lists them, unless that looks like a misspelling of a
// member's value; the union knows it then.
func (r *resolver) changes(v word) bool {
	u := r.u
	if len(u.Values) == 0 || slices.Contains(u.Values, v.Text) {
		return true // without values there was an error
	}
	_, prop := Property(r.schema, u.Discriminator)
	if len(prop.Enum) > 0 || u.ForbidUnmapped || spelling.Closest(v.Text, u.MemberValues()) != "" {
		return false
	}
	r.excludes(prop, v, "in allowedChanges")
	u.Values = append(u.Values, v.Text)
	return true
}
