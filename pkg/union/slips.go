package union

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// has reports whether the schema has the property that a declaration names.
func (r *resolver) has(name string) bool {
	_, p := Property(r.schema, name)
	return p != nil
}

// swapped reports swapped keys and values in fields-to-discriminateBy: the values are
// properties, and the keys are not.
func (r *resolver) swapped() bool {
	d := r.d
	if len(d.fields) == 0 || d.has("members") {
		return false
	}
	values := map[string][]string{} // by property
	var properties []string
	for _, f := range d.fields {
		if r.has(f.name.Text) || len(f.values) == 0 {
			return false
		}
		for _, v := range f.values {
			if !r.has(v.Text) {
				return false
			}
			if values[v.Text] == nil {
				properties = append(properties, v.Text)
			}
			values[v.Text] = append(values[v.Text], f.name.Text)
		}
	}
	r.errorf(d.fieldsPos(), codes.UnknownMember, "write "+mapping(properties, values), "the keys of fields-to-discriminateBy are members, and the values those of the discriminator: here they are swapped")
	return true
}

// unvalued reports members without values in a union with a discriminator.
func (r *resolver) unvalued() bool {
	d := r.d
	if !d.has("members") || !d.discriminator().Set {
		return false
	}
	hint := "use fields-to-discriminateBy: {member: Value}"
	if slices.ContainsFunc(d.fields, func(f fieldValues) bool { return f.group != "" }) {
		hint += ", with the same value for the properties of a group"
	}
	values := map[string][]string{}
	var members []string
	var enum []string
	if _, property := Property(r.schema, d.discriminator().Text); property != nil {
		enum = EnumStrings(property)
	}
	for _, f := range d.fields {
		for _, v := range enum {
			if strings.EqualFold(v, f.name.Text) {
				values[f.name.Text] = []string{v}
			}
		}
		members = append(members, f.name.Text)
	}
	if len(members) > 0 && len(values) == len(members) {
		hint = "write " + mapping(members, values)
	}
	r.errorf(d.fieldsPos(), codes.Contradiction, hint, "members has no room for the values of discriminator %q", d.discriminator().Text)
	return true
}

// mapping returns fields-to-discriminateBy as text.
func mapping(members []string, values map[string][]string) string {
	var l []string
	for _, m := range members {
		v := values[m][0]
		if len(values[m]) > 1 {
			v = "[" + strings.Join(values[m], ", ") + "]"
		}
		l = append(l, m+": "+v)
	}
	return "fields-to-discriminateBy: {" + strings.Join(l, ", ") + "}"
}

// misplaced reports a declaration whose properties all belong to a nested object, and none to
// this one.
func (r *resolver) misplaced() bool {
	names := r.d.Properties()
	if len(names) == 0 || slices.ContainsFunc(names, r.has) {
		return false
	}
	at := pathBelow(r.schema, names)
	if at == nil {
		return false
	}
	for i, name := range names {
		names[i] = fmt.Sprintf("%q", name)
	}
	code := codes.UnknownMember
	if len(r.schema.Properties) == 0 {
		code = codes.NotAnObject
	}
	of := at.String()
	if rest, ok := strings.CutPrefix(of, "[*]"); ok {
		of = "its items" + rest
	}
	r.errorf(r.d.Pos, code, "move the declaration there", "%s are properties of %s, not of this object", strings.Join(names, ", "), of)
	return true
}

// pathBelow returns the path of a nested object that has all of the properties, or nil.
func pathBelow(s *apiextensionsv1.JSONSchemaProps, names []string) schemapath.Path {
	steps := schemapath.Children(s)
	for _, step := range steps {
		properties := step.Schema(s).Properties
		if !slices.ContainsFunc(names, func(name string) bool { _, ok := properties[name]; return !ok }) {
			return schemapath.Path{step}
		}
	}
	for _, step := range steps {
		if found := pathBelow(step.Schema(s), names); found != nil {
			return slices.Insert(found, 0, step)
		}
	}
	return nil
}
