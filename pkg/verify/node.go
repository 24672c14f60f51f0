package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/pkg/schemapath"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// node is a schema of a CRD. Nodes below it are made when asked for, and only
// those are ever converted to what the server's validators want: CRDs are large,
// and a union reads little of them.
type node struct {
	schema   *apiextensionsv1.JSONSchemaProps
	path     string
	root     bool // the root of a resource
	children map[string]*node
	// more is what allOf, here or further up, says of the same value.
	more []*apiextensionsv1.JSONSchemaProps
	// hints is what anyOf, oneOf and allOf further up say of it: it may hold.
	hints []*apiextensionsv1.JSONSchemaProps

	// What the generator found out.
	least          any
	values         []any
	failure, inner error
	tried          bool
	own            []*ownCheck
	checked        bool

	// The rules, once they are compiled, and the keywords, once they are read.
	ruleTests, keywords   []*test
	compiled, constrained bool
}

// step leads from a schema to one below it.
type step struct {
	kind stepKind
	name string // of a property
}

type stepKind int

const (
	property stepKind = iota + 1
	item
	value
)

// newRoot is the root schema of a version.
func newRoot(crd *apiextensionsv1.CustomResourceDefinition, version int) (*node, error) {
	if version < 0 || version >= len(crd.Spec.Versions) {
		return nil, fmt.Errorf("the CRD has %d versions, there is none at index %d", len(crd.Spec.Versions), version)
	}
	v := crd.Spec.Versions[version]
	if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
		return nil, fmt.Errorf("version %s has no schema", v.Name)
	}
	return newNode(v.Schema.OpenAPIV3Schema, fmt.Sprintf("spec.versions[%d].schema.openAPIV3Schema", version), nil, true), nil
}

func newNode(s *apiextensionsv1.JSONSchemaProps, path string, more []*apiextensionsv1.JSONSchemaProps, root bool) *node {
	n := &node{schema: s, path: path, root: root, children: map[string]*node{}}
	var add func(s *apiextensionsv1.JSONSchemaProps)
	add = func(s *apiextensionsv1.JSONSchemaProps) {
		for i := range s.AllOf {
			n.more = append(n.more, &s.AllOf[i])
			add(&s.AllOf[i])
		}
	}
	for _, s := range more {
		n.more = append(n.more, s)
		add(s)
	}
	add(s)
	return n
}

// below returns the schema one step below another and how it is written, or nil.
func (s step) below(of *apiextensionsv1.JSONSchemaProps) (*apiextensionsv1.JSONSchemaProps, string) {
	switch {
	case s.kind == property:
		if p, ok := of.Properties[s.name]; ok {
			return &p, ".properties[" + s.name + "]"
		}
	case s.kind == item && of.Items != nil:
		return of.Items.Schema, ".items"
	case s.kind == value && of.AdditionalProperties != nil:
		return of.AdditionalProperties.Schema, ".additionalProperties"
	}
	return nil, ""
}

// child returns the schema one step below, or nil.
func (n *node) child(s step) *node {
	key := fmt.Sprint(s.kind, s.name)
	if c, ok := n.children[key]; ok {
		return c
	}
	var c *node
	if schema, path := s.below(n.schema); schema != nil {
		var more []*apiextensionsv1.JSONSchemaProps
		for _, m := range n.more {
			if m, _ := s.below(m); m != nil {
				more = append(more, m)
			}
		}
		c = newNode(schema, n.path+path, more, false)
		for _, f := range append(flattened(n.schema, nil)[1:], n.hints...) {
			if f, _ := s.below(f); f != nil {
				c.hints = append(c.hints, f)
			}
		}
	}
	n.children[key] = c
	return c
}

func (n *node) property(name string) *node { return n.child(step{property, name}) }

// at returns the schema that properties lead to, or nil.
func (n *node) at(path schemapath.Path) *node {
	for _, name := range path.Properties() {
		if n = n.property(name); n == nil {
			return nil
		}
	}
	return n
}

// isResource reports whether values of the schema have apiVersion, kind and
// metadata.
func (n *node) isResource() bool { return n.root || n.schema.XEmbeddedResource }

// chain is the schemas from the root to a union object, and the steps between.
type chain struct {
	nodes []*node
	steps []step
	// correlated is how many of the nodes, from the root, the server can match
	// with their old selves.
	correlated int
	// keys are the properties that identify the union object as an item of its
	// list.
	keys []string
}

// newChain follows a path.
func newChain(root *node, path schemapath.Path) (*chain, error) {
	c := &chain{nodes: []*node{root}, correlated: -1}
	at := root
	for _, p := range path {
		s := step{kind: value}
		if name, ok := p.Property(); ok {
			s = step{property, name}
		} else if p == schemapath.Items {
			s.kind = item
			if isMap := at.schema.XListType != nil && *at.schema.XListType == "map"; !isMap && c.correlated < 0 {
				c.correlated = len(c.nodes)
			}
		}
		next := at.child(s)
		if next == nil {
			return nil, fmt.Errorf("%s has no %s", at.path, strings.Join(p.Fields(), "."))
		}
		c.keys = nil
		if s.kind == item {
			c.keys = at.schema.XListMapKeys
		}
		c.nodes, c.steps, at = append(c.nodes, next), append(c.steps, s), next
	}
	if c.correlated < 0 {
		c.correlated = len(c.nodes)
	}
	return c, nil
}

// object is the union object's schema.
func (c *chain) object() *node { return c.nodes[len(c.nodes)-1] }

// part returns the schema of a property or, by the name that formulas have for it, of an
// item of a list; nil if there is none.
func (n *node) part(name string) *node {
	if formula.KeysOf(name) != nil {
		return n.child(step{kind: item})
	}
	return n.property(name)
}

// value is what is made of the parts of a value of the schema: a list of those that are
// items.
func (n *node) value(parts map[string]any) any {
	if n.schema.Type != "array" {
		return parts
	}
	l := []any{}
	for _, name := range sortedKeys(parts) {
		l = append(l, parts[name])
	}
	return l
}

// mayLack reports whether an object of the schema may be without what a path leads to,
// with what holds it or not.
func (n *node) mayLack(path schemapath.Path) bool {
	for _, name := range path.Properties() {
		if absent, _ := n.removable(name); absent {
			return true
		}
		n = n.property(name)
	}
	return false
}

// removable reports whether property name may be left out of, or be null in,
// an object of the schema.
func (n *node) removable(name string) (absent, null bool) {
	if formula.KeysOf(name) != nil {
		return true, false
	}
	p := n.schema.Properties[name]
	return !slices.Contains(n.schema.Required, name) && p.Default == nil, p.Nullable
}
