// Package schemapath represents the paths of schemas in a CustomResourceDefinition, finds the
// schemas in typed schemas and decoded JSON, and reads and writes paths as text.
package schemapath

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Step leads from a schema to a schema directly inside it.
type Step struct {
	kind stepKind
	name string
}

type stepKind int

const (
	property stepKind = iota
	items
	values
	elements
)

// The steps to the elements of a list or a map. Elements means Items or Values, depending on
// the schema: it is for paths that are written without a schema.
var (
	Items    = Step{kind: items}
	Values   = Step{kind: values}
	Elements = Step{kind: elements}
)

// Property returns the step to a property.
func Property(name string) Step { return Step{name: name} }

// Property returns the name of the property that the step leads to; ok is false for other
// steps.
func (s Step) Property() (name string, ok bool) { return s.name, s.kind == property }

// Fields returns the keys of the step in a schema: "properties" and a name, "items", or
// "additionalProperties". For Elements it returns "[*]".
func (s Step) Fields() []string {
	switch s.kind {
	case items:
		return []string{"items"}
	case values:
		return []string{"additionalProperties"}
	case elements:
		return []string{"[*]"}
	}
	return []string{"properties", s.name}
}

// Schema returns the schema that the step leads to, or nil. The schema of a property is a copy; use
// [Path.Edit] to change it.
func (s Step) Schema(schema *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	switch {
	case schema == nil:
	case s.kind == property:
		if p, ok := schema.Properties[s.name]; ok {
			return &p
		}
	case schema.Items != nil && (s.kind == items || s.kind == elements):
		return schema.Items.Schema
	case schema.AdditionalProperties != nil && (s.kind == values || s.kind == elements):
		return schema.AdditionalProperties.Schema
	}
	return nil
}

// Path is the list of steps from the root schema of a version, its openAPIV3Schema, to a
// schema. The empty path is the root. Only the creator of a path may modify it.
type Path []Step

// New returns the path through properties with the given names.
func New(names ...string) Path {
	var p Path
	for _, name := range names {
		p = append(p, Property(name))
	}
	return p
}

// Append returns the path extended by steps. It shares nothing with p.
func (p Path) Append(steps ...Step) Path { return slices.Concat(p, steps) }

// Equal reports whether two paths have the same steps.
func (p Path) Equal(q Path) bool { return slices.Equal(p, q) }

// Matches reports whether q has the steps of p. Elements in p also matches Items and Values.
func (p Path) Matches(q Path) bool {
	return slices.EqualFunc(p, q, func(a, b Step) bool { return a == b || a == Elements && b.kind != property })
}

// HasElements reports whether the path leads through a list or a map, so that one object may
// have many values of the schema.
func (p Path) HasElements() bool {
	return slices.ContainsFunc(p, func(s Step) bool { return s.kind != property })
}

// Properties returns the names of the properties on the path.
func (p Path) Properties() []string {
	var l []string
	for _, s := range p {
		if name, ok := s.Property(); ok {
			l = append(l, name)
		}
	}
	return l
}

// Fields returns the keys from the root schema to the schema.
func (p Path) Fields() []string {
	l := []string{}
	for _, s := range p {
		l = append(l, s.Fields()...)
	}
	return l
}

// FromFields is the inverse of Fields. It returns an error for other keys, such as allOf: the API
// server runs no rules below them.
func FromFields(fields []string) (Path, error) {
	p := Path{}
	for i := 0; i < len(fields); i++ {
		switch fields[i] {
		case "items":
			p = append(p, Items)
		case "additionalProperties":
			p = append(p, Values)
		case "[*]":
			p = append(p, Elements)
		case "properties":
			if i++; i == len(fields) {
				return nil, fmt.Errorf("%q leads to no schema: the name of a property is missing", fields)
			}
			p = append(p, Property(fields[i]))
		default:
			return nil, fmt.Errorf("%q leads to no schema: %q is not properties, items or additionalProperties", fields, fields[i])
		}
	}
	return p, nil
}

// MarshalJSON encodes the fields of the path.
func (p Path) MarshalJSON() ([]byte, error) { return json.Marshal(p.Fields()) }

// UnmarshalJSON decodes fields, like FromFields.
func (p *Path) UnmarshalJSON(data []byte) error {
	var fields []string
	if err := json.Unmarshal(data, &fields); err != nil {
		return err
	}
	read, err := FromFields(fields)
	if err == nil {
		*p = read
	}
	return err
}

// Structural returns the path in spec.versions[version], as the API server's errors print it.
func (p Path) Structural(version int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "spec.versions[%d].schema.openAPIV3Schema", version)
	for _, s := range p {
		b.WriteString(s.Structural())
	}
	return b.String()
}

// Structural returns the step as the API server's errors print it.
func (s Step) Structural() string {
	fields := s.Fields()
	if len(fields) > 1 {
		return "." + fields[0] + "[" + fields[1] + "]"
	}
	return "." + fields[0]
}

// Schema returns the schema that the path leads to from a root, or nil. The schema of a property is
// a copy; use Edit to change it.
func (p Path) Schema(root *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	for _, s := range p {
		root = s.Schema(root)
	}
	return root
}

// Edit lets f change the schema that the path leads to from a root. The schema must exist. Edit
// copies that schema and its enclosing schemas below the root, so the root may be a shallow copy of
// another schema.
func (p Path) Edit(root *apiextensionsv1.JSONSchemaProps, f func(*apiextensionsv1.JSONSchemaProps)) {
	if len(p) == 0 {
		f(root)
		return
	}
	was := p[0].Schema(root)
	child := *was
	p[1:].Edit(&child, f)
	if name, ok := p[0].Property(); ok {
		root.Properties = maps.Clone(root.Properties)
		root.Properties[name] = child
	} else if root.Items != nil && root.Items.Schema == was {
		root.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &child, JSONSchemas: root.Items.JSONSchemas}
	} else {
		root.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Schema: &child, Allows: root.AdditionalProperties.Allows}
	}
}

// Value returns the schema that the path leads to from a root, as decoded JSON, or nil.
func (p Path) Value(root map[string]any) map[string]any {
	for _, s := range p {
		for _, field := range s.Fields() {
			root, _ = root[field].(map[string]any)
		}
	}
	return root
}

// Children returns the steps from a schema to the schemas directly inside it: properties,
// sorted by name, then items or values.
func Children(schema *apiextensionsv1.JSONSchemaProps) []Step {
	var l []Step
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		l = append(l, Property(name))
	}
	for _, s := range []Step{Items, Values} {
		if s.Schema(schema) != nil {
			l = append(l, s)
		}
	}
	return l
}

// ChildrenOf is like Children, for a schema in decoded JSON.
func ChildrenOf(schema map[string]any) []Step {
	properties, _ := schema["properties"].(map[string]any)
	var l []Step
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		l = append(l, Property(name))
	}
	l = append(l, Items, Values)
	return slices.DeleteFunc(l, func(s Step) bool { return Path{s}.Value(schema) == nil })
}

// Walk calls f for a root, unless it is nil, and all schemas inside it, in preorder. If f returns
// false, Walk skips the schemas inside that schema. f owns the path.
func Walk(root *apiextensionsv1.JSONSchemaProps, f func(Path, *apiextensionsv1.JSONSchemaProps) bool) {
	walk(nil, root, f)
}

func walk(p Path, s *apiextensionsv1.JSONSchemaProps, f func(Path, *apiextensionsv1.JSONSchemaProps) bool) {
	if s == nil || !f(p, s) {
		return
	}
	for _, step := range Children(s) {
		walk(p.Append(step), step.Schema(s), f)
	}
}

// Compare orders paths by their fields.
func Compare(p, q Path) int { return slices.Compare(p.Fields(), q.Fields()) }
