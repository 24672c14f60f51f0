// Package schemapath says where a schema is in a CustomResourceDefinition, and finds it
// there: in typed schemas, in decoded JSON, and as text.
package schemapath

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// Step leads from a schema to one in it.
type Step struct {
	kind kind
	name string
}

type kind int

const (
	property kind = iota
	items
	values
	elements
)

// The steps to what a list or a map has. Elements is either, whichever the schema is: it
// is in paths that are written without looking at the schema.
var (
	Items    = Step{kind: items}
	Values   = Step{kind: values}
	Elements = Step{kind: elements}
)

// Property is the step to a property.
func Property(name string) Step { return Step{name: name} }

// Property returns the name of the property that the step leads to; ok is false for
// other steps.
func (s Step) Property() (name string, ok bool) { return s.name, s.kind == property }

// Fields are the keys that the step leads through in a schema: "properties" and a name,
// "items", or "additionalProperties". Those of Elements are "[*]".
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

// In returns the schema that the step leads to, nil when there is none. What it returns
// is a copy where a map holds it; see [Path.Edit] for changing one.
func (s Step) In(schema *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
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

// Path are the steps from the root schema of a version, its openAPIV3Schema, to a schema.
// The empty path is the root. Paths are not modified, but by who made them.
type Path []Step

// Of is the path through properties with these names.
func Of(names ...string) Path {
	var p Path
	for _, name := range names {
		p = append(p, Property(name))
	}
	return p
}

// To is the path that goes on by these steps. It shares nothing with p.
func (p Path) To(steps ...Step) Path { return slices.Concat(p, steps) }

// Equal reports whether two paths have the same steps.
func (p Path) Equal(q Path) bool { return slices.Equal(p, q) }

// Matches reports whether q has the steps of p, in which Elements matches Items and
// Values, too.
func (p Path) Matches(q Path) bool {
	return slices.EqualFunc(p, q, func(a, b Step) bool { return a == b || a == Elements && b.kind != property })
}

// HasElements reports whether the path leads into a list or a map, so that one object may
// hold many of what the schema describes.
func (p Path) HasElements() bool {
	return slices.ContainsFunc(p, func(s Step) bool { return s.kind != property })
}

// Properties are the names of the properties on the path.
func (p Path) Properties() []string {
	var l []string
	for _, s := range p {
		if name, ok := s.Property(); ok {
			l = append(l, name)
		}
	}
	return l
}

// Fields are the keys that the path leads through in the root schema.
func (p Path) Fields() []string {
	l := []string{}
	for _, s := range p {
		l = append(l, s.Fields()...)
	}
	return l
}

// FromFields reads what Fields returns. It is an error when the keys do not lead to a
// schema in which the API server runs rules.
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

// MarshalJSON writes the fields of the path.
func (p Path) MarshalJSON() ([]byte, error) { return json.Marshal(p.Fields()) }

// UnmarshalJSON reads fields, as FromFields does.
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

// Structural is the path as the API server's errors print it, in the CRD with this number
// of a version.
func (p Path) Structural(version int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "spec.versions[%d].schema.openAPIV3Schema", version)
	for _, s := range p {
		b.WriteString(s.Structural())
	}
	return b.String()
}

// Structural is the step as the API server's errors print it.
func (s Step) Structural() string {
	fields := s.Fields()
	if len(fields) > 1 {
		return "." + fields[0] + "[" + fields[1] + "]"
	}
	return "." + fields[0]
}

// In returns the schema that the path leads to from a root, or nil. What it returns is a
// copy where a map holds it; see Edit for changing one.
func (p Path) In(root *apiextensionsv1.JSONSchemaProps) *apiextensionsv1.JSONSchemaProps {
	for _, s := range p {
		root = s.In(root)
	}
	return root
}

// Edit lets f change the schema that the path leads to from a root, in which it is. Of what
// the root refers to, only that schema and those around it are copied, so that it may be a
// shallow copy of another.
func (p Path) Edit(root *apiextensionsv1.JSONSchemaProps, f func(*apiextensionsv1.JSONSchemaProps)) {
	if len(p) == 0 {
		f(root)
		return
	}
	was := p[0].In(root)
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

// Value returns the schema that the path leads to from a root in decoded JSON, or nil.
func (p Path) Value(root map[string]any) map[string]any {
	for _, s := range p {
		for _, field := range s.Fields() {
			root, _ = root[field].(map[string]any)
		}
	}
	return root
}

// Children are the steps from a schema to those in it, properties in the order of their
// names.
func Children(schema *apiextensionsv1.JSONSchemaProps) []Step {
	var l []Step
	for _, name := range slices.Sorted(maps.Keys(schema.Properties)) {
		l = append(l, Property(name))
	}
	for _, s := range []Step{Items, Values} {
		if s.In(schema) != nil {
			l = append(l, s)
		}
	}
	return l
}

// ChildrenOf are the steps from a schema in decoded JSON, as Children has them.
func ChildrenOf(schema map[string]any) []Step {
	properties, _ := schema["properties"].(map[string]any)
	var l []Step
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		l = append(l, Property(name))
	}
	l = append(l, Items, Values)
	return slices.DeleteFunc(l, func(s Step) bool { return Path{s}.Value(schema) == nil })
}

// Walk calls f for a root and for the schemas in it, each before those in it, and leaves
// out those in one for which it returns false. f owns the path.
func Walk(root *apiextensionsv1.JSONSchemaProps, f func(Path, *apiextensionsv1.JSONSchemaProps) bool) {
	walk(nil, root, f)
}

func walk(p Path, s *apiextensionsv1.JSONSchemaProps, f func(Path, *apiextensionsv1.JSONSchemaProps) bool) {
	if !f(p, s) {
		return
	}
	for _, step := range Children(s) {
		walk(p.To(step), step.In(s), f)
	}
}

// Compare orders paths by their fields.
func Compare(p, q Path) int { return slices.Compare(p.Fields(), q.Fields()) }
