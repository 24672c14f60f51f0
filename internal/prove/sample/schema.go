package sample

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Schema is a schema of a CRD. Child schemas are created lazily, and only created schemas are
// converted to the types of the API server's validators, because proofs read only a small part of a
// CRD.
type Schema struct {
	Props *apiextensionsv1.JSONSchemaProps // must not be changed
	Path  string                           // the path as the API server prints it in errors
	Root  bool                             // the root of a resource

	parent   *Schema // nil for a schema without one
	step     schemapath.Step
	children map[schemapath.Step]*Schema
	// more are the schemas in allOf that apply to the same value, here or on ancestors.
	more []composed
	// hints are the schemas in anyOf and oneOf, and in allOf on ancestors, that may apply.
	hints []*apiextensionsv1.JSONSchemaProps

	// The results of Source for the schema.
	least          any
	values         []any
	failure, inner error
	tried          bool
	own            *formula.Keywords
	ownError       error

	// The tests, created lazily.
	rules, constraints, above       []*Test
	compiled, constrained, inherits bool
}

// RootOf returns the root schema of the version with an index. An error means that there is no such
// version, or that the version has no schema.
func RootOf(crd *apiextensionsv1.CustomResourceDefinition, version int) (*Schema, error) {
	if version < 0 || version >= len(crd.Spec.Versions) {
		return nil, fmt.Errorf("the CRD has %d versions, there is none at index %d", len(crd.Spec.Versions), version)
	}
	v := crd.Spec.Versions[version]
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil, fmt.Errorf("version %s has no schema", v.Name)
	}
	return New(v.Schema.OpenAPIV3Schema, schemapath.Path{}.Structural(version), true), nil
}

// New returns a schema. The path is for messages.
func New(props *apiextensionsv1.JSONSchemaProps, path string, root bool) *Schema {
	return newSchema(props, path, nil, root)
}

// composed is a schema in allOf that applies to the value, here or on an ancestor.
type composed struct {
	*apiextensionsv1.JSONSchemaProps
	index int // the index of the item in allOf; -1 on ancestors
}

func newSchema(props *apiextensionsv1.JSONSchemaProps, path string, above []*apiextensionsv1.JSONSchemaProps, root bool) *Schema {
	n := &Schema{Props: props, Path: path, Root: root, children: map[schemapath.Step]*Schema{}}
	var add func(s *apiextensionsv1.JSONSchemaProps, index int)
	add = func(s *apiextensionsv1.JSONSchemaProps, index int) {
		n.more = append(n.more, composed{s, index})
		for i := range s.AllOf {
			add(&s.AllOf[i], index)
		}
	}
	for _, s := range above {
		add(s, -1)
	}
	for i := range props.AllOf {
		add(&props.AllOf[i], i)
	}
	return n
}

// Child returns the child schema for a step, or nil.
func (n *Schema) Child(s schemapath.Step) *Schema {
	if c, ok := n.children[s]; ok {
		return c
	}
	var c *Schema
	if props := s.Schema(n.Props); props != nil {
		var above []*apiextensionsv1.JSONSchemaProps
		for _, m := range n.more {
			above = append(above, m.JSONSchemaProps)
		}
		c = newSchema(props, n.Path+s.Structural(), stepInto(s, above), false)
		c.hints = stepInto(s, append(formula.Flattened(n.Props, nil)[1:], n.hints...))
		c.parent, c.step = n, s
	}
	n.children[s] = c
	return c
}

// stepInto returns the schemas that a step leads to.
func stepInto(s schemapath.Step, of []*apiextensionsv1.JSONSchemaProps) (l []*apiextensionsv1.JSONSchemaProps) {
	for _, props := range of {
		if props = s.Schema(props); props != nil {
			l = append(l, props)
		}
	}
	return l
}

// Property returns the schema of a property, or nil.
func (n *Schema) Property(name string) *Schema { return n.Child(schemapath.Property(name)) }

// Unruled returns a copy in which some properties of the schema at a path have no rules. It shares
// the other schemas and their results with the original. The path and the properties must exist.
func (n *Schema) Unruled(path schemapath.Path, names map[string]bool) *Schema {
	for _, s := range schemapath.Children(n.Props) {
		n.Child(s) // created in the original, so that results are shared
	}
	c := *n
	c.children = maps.Clone(n.children)
	if len(path) > 0 {
		c.children[path[0]] = n.Child(path[0]).Unruled(path[1:], names)
		return &c
	}
	for name := range names {
		c.children[schemapath.Property(name)] = n.Property(name).unruled()
	}
	return &c
}

// unruled returns the schema without its rules.
func (n *Schema) unruled() *Schema {
	props := *n.Props
	props.XValidations = nil
	return &Schema{Props: &props, Path: n.Path, Root: n.Root, parent: n.parent, step: n.step, children: map[schemapath.Step]*Schema{}, more: n.more, hints: n.hints}
}

// Lookup returns the schema at a path of properties, or nil.
func (n *Schema) Lookup(path schemapath.Path) *Schema {
	for _, name := range path.Properties() {
		if n = n.Property(name); n == nil {
			return nil
		}
	}
	return n
}

// Part returns the schema of a property or, for the name of a list item in formulas, of the items.
// It is nil if there is none.
func (n *Schema) Part(name string) *Schema {
	if formula.KeysOf(name) != nil {
		return n.Child(schemapath.Items)
	}
	return n.Property(name)
}

// Value returns a value of the schema with the given parts. If the schema is a list, they are its
// items.
func (n *Schema) Value(parts map[string]any) any {
	if n.Props.Type != "array" {
		return parts
	}
	l := []any{}
	for _, name := range slices.Sorted(maps.Keys(parts)) {
		l = append(l, parts[name])
	}
	return l
}

// MayLack reports whether an object of the schema may omit the last property on a path, or one
// before it.
func (n *Schema) MayLack(path schemapath.Path) bool {
	for _, name := range path.Properties() {
		if absent, _ := n.Removable(name); absent {
			return true
		}
		n = n.Property(name)
	}
	return false
}

// Removable reports whether an object of the schema may omit a part, and whether it may be null.
func (n *Schema) Removable(name string) (absent, null bool) {
	if formula.KeysOf(name) != nil {
		return true, false
	}
	p := n.Props.Properties[name]
	return !slices.Contains(n.Props.Required, name) && p.Default == nil, p.Nullable
}

// Empties returns the values of the schema's type that are empty, zero or false.
func (n *Schema) Empties() []any {
	switch t := n.Props.Type; {
	case n.Props.XIntOrString:
		return []any{"", int64(0)}
	case t == "object":
		return []any{map[string]any{}}
	case t == "array":
		return []any{[]any{}}
	case t == "string":
		return []any{""}
	case t == "integer" || t == "number":
		return []any{int64(0)}
	case t == "boolean":
		return []any{false}
	}
	return nil
}

// isResource reports whether values of the schema have apiVersion, kind and metadata.
func (n *Schema) isResource() bool { return n.Root || n.Props.XEmbeddedResource }

// Chain has the schemas from the root of a resource to an object.
type Chain struct {
	Schemas []*Schema       // one schema more than steps in Path
	Path    schemapath.Path // from the root to the object
	// Correlated is the number of schemas, from the root, whose old and new values the API server
	// correlates.
	Correlated int
	// Keys are the properties that identify the object as an item of its list.
	Keys []string
}

// NewChain follows a path. An error means that there is no schema at the path.
func NewChain(root *Schema, path schemapath.Path) (*Chain, error) {
	c := &Chain{Schemas: []*Schema{root}, Path: path, Correlated: -1}
	at := root
	for _, s := range path {
		isMap := at.Props.XListType != nil && *at.Props.XListType == "map"
		if c.Keys = nil; s == schemapath.Items {
			c.Keys = at.Props.XListMapKeys
			if !isMap && c.Correlated < 0 {
				c.Correlated = len(c.Schemas)
			}
		}
		next := at.Child(s)
		if next == nil {
			return nil, fmt.Errorf("%s has no %s", at.Path, strings.Join(s.Fields(), "."))
		}
		c.Schemas, at = append(c.Schemas, next), next
	}
	if c.Correlated < 0 {
		c.Correlated = len(c.Schemas)
	}
	return c, nil
}

// Object returns the schema at the end of the path.
func (c *Chain) Object() *Schema { return c.Schemas[len(c.Schemas)-1] }

// ChainTo follows a path in a version of a CRD. Errors are the same as for RootOf and NewChain.
func ChainTo(crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path) (*Chain, error) {
	root, err := RootOf(crd, version)
	if err != nil {
		return nil, err
	}
	return NewChain(root, path)
}
