package compile

import (
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/kinds"
)

// Declared is a CRD as it is, and the unions declared for it.
type Declared struct {
	// Name of the CRD.
	Name string
	// CRD is the manifest as the API server reads it, all its rules included.
	CRD *apiextensionsv1.CustomResourceDefinition
	// Objects are the schemas with unions.
	Objects []Object
}

// Unions reads the unions that are declared for a CRD, without compiling them, and warns
// of what the API server rejects in it as it is. With errors in the list the result is
// nil; a CRD without unions gives one without objects.
func Unions(m Manifest) (*Declared, diag.List) {
	c := &compiler{manifest: m}
	d := c.declared()
	if d != nil && len(d.Objects) > 0 {
		c.invalidBefore()
	}
	return d, c.diags
}

// Resolved is what Unions returns, read without asking what the API server says of the CRD.
func Resolved(m Manifest) (*Declared, diag.List) {
	c := &compiler{manifest: m}
	d := c.declared()
	return d, c.diags
}

func (c *compiler) declared() *Declared {
	c.version()
	c.locate()
	if len(c.located.objects) == 0 && !c.diags.HasErrors() {
		return &Declared{}
	}
	if c.decode(); c.crd != nil {
		c.resolve()
	}
	if c.diags.HasErrors() {
		return nil
	}
	// Nothing is emitted here.
	c.diags = slices.DeleteFunc(c.diags, func(d diag.Diagnostic) bool { return d.Code == diag.ClearLeftOut })
	d := &Declared{Name: c.crd.Name, CRD: c.crd}
	for _, o := range c.objects {
		d.Objects = append(d.Objects, o.Object)
	}
	return d
}

// Kinds returns the kinds of the CRD that have unions ([kinds.OfCRD]). In messages the unions are from origin.
func (d Declared) Kinds(origin string) []kinds.Kind {
	var l []kinds.Declared
	for _, o := range d.Objects {
		l = append(l, kinds.Declared{Version: o.Name, Path: o.Path, Unions: o.Unions})
	}
	return kinds.OfCRD(d.CRD, l, origin)
}
