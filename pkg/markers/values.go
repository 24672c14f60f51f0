package markers

import (
	"go/constant"
	"go/types"
	"maps"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/union"
)

// values are the known values of a discriminator.
type values struct {
	discriminator string
	typ           string            // the name of its type, if it has a named type
	constants     map[string]string // name to value
	known         []string          // empty: any value
}

// values returns the values in the enum of a field, or else the constants of its type.
func (s *structure) values(f *field) *values {
	v := &values{discriminator: f.name, constants: map[string]string{}}
	typ := types.Unalias(f.typ)
	if p, ok := typ.(*types.Pointer); ok {
		typ = types.Unalias(p.Elem())
	}
	if named, ok := typ.(*types.Named); ok && named.Obj().Pkg() != nil {
		v.typ = named.Obj().Name()
		scope := named.Obj().Pkg().Scope()
		for _, name := range scope.Names() {
			c, ok := scope.Lookup(name).(*types.Const)
			switch {
			case !ok || !types.Identical(c.Type(), named):
			case c.Val().Kind() == constant.String:
				v.constants[name] = constant.StringVal(c.Val())
			case c.Val().Kind() == constant.Int:
				v.constants[name] = c.Val().ExactString()
			}
		}
	}
	at := s.schema().Properties[f.json]
	return v.ofCRD(union.EnumStrings(&at))
}

// ofCRD returns the values for a schema with this enum, which takes precedence over constants.
func (v values) ofCRD(enum []string) *values {
	if len(enum) == 0 || len(enum) == 1 && enum[0] == "" {
		enum = slices.Compact(slices.Sorted(maps.Values(v.constants)))
	}
	v.known = slices.DeleteFunc(slices.Clone(enum), func(s string) bool { return s == "" })
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
