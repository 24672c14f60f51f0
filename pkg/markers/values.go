package markers

import (
	"go/constant"
	"go/types"
	"slices"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/crd"
	crdmarkers "sigs.k8s.io/controller-tools/pkg/crd/markers"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// values are the known values of a discriminator.
type values struct {
	discriminator string
	typ           string            // the name of its type, if it has a named type
	known         []string          // empty: any value
	constants     map[string]string // name to value
	declared      []string          // the values of the constants
}

// values returns the values of +kubebuilder:validation:Enum on the field or on its type, or else
// the constants of the type.
func (s *structure) values(f *field) *values {
	v := &values{discriminator: f.name, constants: map[string]string{}}
	v.known = enumOf(f.info.Markers)
	if basicInfo(pointee(f.typ))&types.IsBoolean != 0 {
		v.known = []string{"true", "false"}
	}
	named, ok := types.Unalias(pointee(f.typ)).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return v
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
	if p := lookup(s.id.Package, loader.NonVendorPath(named.Obj().Pkg().Path())); p != nil && len(v.known) == 0 {
		s.l.parser.NeedPackage(p)
		if info := s.l.parser.Types[crd.TypeIdent{Package: p, Name: v.typ}]; info != nil {
			v.known = enumOf(info.Markers)
		}
	}
	slices.Sort(v.declared)
	if len(v.known) == 0 {
		v.known = v.declared
	}
	return v
}

// ofCRD returns the values for a schema with this enum, which takes precedence over markers.
func (v values) ofCRD(enum []string) *values {
	if v.known = slices.DeleteFunc(slices.Clone(enum), func(s string) bool { return s == "" }); len(v.known) == 0 {
		v.known = v.declared
	}
	return &v
}

// enumOf returns the strings that +kubebuilder:validation:Enum lists.
func enumOf(m markers.MarkerValues) []string {
	enum, ok := m.Get("kubebuilder:validation:Enum").(crdmarkers.Enum)
	if !ok {
		return nil
	}
	var l []string
	for _, value := range enum {
		if s, ok := value.(string); ok && s != "" {
			l = append(l, s)
		}
	}
	return l
}

// valueOf returns the value for a field whose markers set none: its Go name or its JSON name if the
// discriminator can take it; else the only value that differs from either in case only; else the
// value of the only constant named after type and field.
func (v *values) valueOf(field, json string) (string, bool) {
	if len(v.known) == 0 {
		return field, true
	}
	for _, name := range []string{field, json} {
		if slices.Contains(v.known, name) {
			return name, true
		}
	}
	var found []string
	for _, name := range []string{field, json} {
		found = nil
		for _, value := range v.known {
			if strings.EqualFold(value, name) {
				found = append(found, value)
			}
		}
		if len(found) == 1 {
			return found[0], true
		}
	}
	found = nil
	for name, value := range v.constants {
		if v.names(name, field) && slices.Contains(v.known, value) && !slices.Contains(found, value) {
			found = append(found, value)
		}
	}
	if len(found) == 1 {
		return found[0], true
	}
	return "", false
}

// names reports whether a constant is named after type and field: StrategyTypeRecreate,
// RecreateStrategyType.
func (v *values) names(constant, field string) bool {
	return strings.EqualFold(constant, v.typ+field) || strings.EqualFold(constant, field+v.typ)
}

// basicInfo returns the kind of a string, boolean or numeric type, and 0 for other types.
func basicInfo(t types.Type) types.BasicInfo {
	if basic, ok := types.Unalias(t).Underlying().(*types.Basic); ok {
		return basic.Info()
	}
	return 0
}

// typeName returns the name of a type, qualified by its package name.
func typeName(t types.Type) string {
	return types.TypeString(t, func(p *types.Package) string { return p.Name() })
}
