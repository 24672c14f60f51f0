package markers

import (
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/union"
)

// values are the known values of a discriminator.
type values struct {
	discriminator string
	typ           string            // the name of its type, if it has a named type
	known         []string          // empty: any value
	constants     map[string]string // name to value
	declared      []string          // the values of the constants
}

// values returns the values in the enum of a field, or else the constants of its type.
func (s *structure) values(f *field) *values {
	v := &values{discriminator: f.name, constants: map[string]string{}}
	at := s.schema().Properties[f.json]
	v.constantsOf(f.typ)
	return v.ofCRD(union.EnumStrings(&at))
}

// constantsOf adds the constants of a named type.
func (v *values) constantsOf(t types.Type) {
	named, ok := types.Unalias(pointee(t)).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return
	}
	v.typ = named.Obj().Name()
	scope := named.Obj().Pkg().Scope()
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && types.Identical(c.Type(), named) && (c.Val().Kind() == constant.String || c.Val().Kind() == constant.Int) {
			value := c.Val().ExactString()
			if c.Val().Kind() == constant.String {
				value = constant.StringVal(c.Val())
			}
			v.constants[name] = value
			if value != "" && !slices.Contains(v.declared, value) {
				v.declared = append(v.declared, value)
			}
		}
	}
	slices.Sort(v.declared)
}

// ofCRD returns the values for a schema with this enum, which takes precedence over constants.
func (v values) ofCRD(enum []string) *values {
	if v.known = slices.DeleteFunc(slices.Clone(enum), func(s string) bool { return s == "" }); len(v.known) == 0 {
		v.known = v.declared
	}
	return &v
}

// valueOf returns the value for a field whose markers set none: its Go name or its JSON name if the
// discriminator can take it; else the only value that differs from either in case only; else the
// value of the only constant named after type and field.
func (v *values) valueOf(field, json string) (string, bool) {
	if len(v.known) == 0 {
		return field, true
	}
	for _, is := range []func(string) bool{
		func(value string) bool { return value == field },
		func(value string) bool { return value == json },
		func(value string) bool { return strings.EqualFold(value, field) },
		func(value string) bool { return strings.EqualFold(value, json) },
		func(value string) bool { return v.hasConstant(value, field) },
	} {
		found := slices.DeleteFunc(slices.Clone(v.known), func(value string) bool { return !is(value) })
		if len(found) == 1 {
			return found[0], true
		}
	}
	return "", false
}

// hasConstant reports whether a constant with the value is named after type and field:
// StrategyTypeRecreate, RecreateStrategyType.
func (v *values) hasConstant(value, field string) bool {
	for name, of := range v.constants {
		if of == value && (strings.EqualFold(name, v.typ+field) || strings.EqualFold(name, field+v.typ)) {
			return true
		}
	}
	return false
}
