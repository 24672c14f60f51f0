package compile

import (
	"slices"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Declared is a CRD as it stands, and the unions declared for it.
type Declared struct {
	// Name of the CRD.
	Name string
	// CRD is the manifest as the API server reads it, all its rules included.
	CRD *apiextensionsv1.CustomResourceDefinition
	// Objects are the schemas with unions. Key is -1 where the declaration does
	// not stand in the schema.
	Objects []Object
}

// Recorded is a declaration that stands outside the schema it is for.
type Recorded struct {
	// Version is the name of the CRD's version, Steps lead to the schema.
	Version string
	Steps   []string
	// Value is that of x-kubernetes-unions, and Pos what diagnostics point at.
	Value *yaml.Node
	Pos   diag.Pos
}

// Unions reads the unions that are declared in a CRD, and those recorded for it,
// without compiling them. A declaration in the schema beats a recorded one.
// With errors in the list the result is nil; a CRD without unions gives one
// without objects. Records of schemas that are not there are left out.
func Unions(m Manifest, recorded []Recorded) (*Declared, diag.List) {
	c := &compiler{manifest: m}
	c.version()
	c.locate()
	for _, r := range recorded {
		if l, ok := c.located.find(m.Node, r); ok {
			c.located.objects = append(c.located.objects, l)
		}
	}
	if len(c.located.objects) == 0 && !c.diags.HasErrors() {
		return &Declared{}, c.diags
	}
	if c.decode(); c.crd != nil {
		c.resolve()
	}
	if c.diags.HasErrors() {
		return nil, c.diags
	}
	// Nothing is emitted here.
	c.diags = slices.DeleteFunc(c.diags, func(d diag.Diagnostic) bool { return d.Code == diag.ClearLeftOut })
	c.invalidBefore()
	d := &Declared{Name: c.crd.Name, CRD: c.crd}
	for _, o := range c.objects {
		d.Objects = append(d.Objects, o.Object)
	}
	return d, c.diags
}

// find returns the location of a recorded declaration; ok is false when its
// schema is not there, or declares unions itself.
func (l *locator) find(crd *yaml.Node, r Recorded) (found location, ok bool) {
	child := func(n *yaml.Node, key string) *yaml.Node {
		if n == nil {
			return nil
		}
		_, v, _, _ := yamltext.Lookup(n, key)
		return yamltext.Resolve(v)
	}
	versions := child(child(crd, "spec"), "versions")
	if versions == nil || versions.Kind != yaml.SequenceNode {
		return location{}, false
	}
	for i, v := range versions.Content {
		v = yamltext.Resolve(v)
		if name := child(v, "name"); name == nil || name.Value != r.Version || l.has(i, r.Steps) {
			continue
		}
		n := child(child(v, "schema"), "openAPIV3Schema")
		found = location{key: -1, value: r.Value, at: &r.Pos}
		for s := 0; n != nil; s++ {
			found.frames = append(found.frames, frame{n, s})
			if s == len(r.Steps) {
				found.Place = Place{Version: i, Name: r.Version, Steps: r.Steps, Node: n}
				return found, true
			}
			n = child(n, r.Steps[s])
			if r.Steps[s] == "properties" && s+1 < len(r.Steps) {
				s++
				n = child(n, r.Steps[s])
			}
		}
	}
	return location{}, false
}
