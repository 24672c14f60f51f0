package compile

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Declared is an unmodified CRD and the unions declared for it.
type Declared struct {
	// Name of the CRD.
	Name string
	// CRD is the manifest as the API server reads it, including all its rules.
	CRD *apiextensionsv1.CustomResourceDefinition
	// Objects are the schemas with unions.
	Objects []Object
}

// ObjectsOf returns the objects of a version, which is an index in spec.versions.
func (d *Declared) ObjectsOf(version int) []Object {
	if d == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(d.Objects), func(o Object) bool { return o.Version != version })
}

// Unions returns the unions that are declared for the CRD, without compiling them. Errors that the
// API server reports for the unmodified CRD are warnings. With errors in the list the result is
// nil; for a CRD without unions it has no objects.
func (c *Compilation) Unions() (*Declared, diag.List) {
	d, diags := c.Declared()
	if d != nil && len(d.Objects) > 0 {
		c.compiler.diags = nil
		if _, before, err := c.compiler.judge(nil); err == nil {
			c.compiler.reportBefore(before)
		}
		diags = append(diags, c.compiler.diags...)
	}
	return d, diags
}

// Declared is like Unions, without the API server's validation of the CRD.
func (c *Compilation) Declared() (*Declared, diag.List) {
	k := c.compiler
	k.understand()
	switch {
	case k.declared.HasErrors():
		return nil, k.declared
	case len(k.located.objects) == 0:
		return &Declared{}, k.declared
	}
	// No rules are emitted, so none is left out.
	diags := slices.DeleteFunc(slices.Clone(k.declared), func(d diag.Diagnostic) bool { return d.Code == codes.ClearLeftOut })
	d := &Declared{Name: k.crd.Name, CRD: k.crd}
	for _, o := range k.objects {
		d.Objects = append(d.Objects, o.Object)
	}
	return d, diags
}

// Kinds returns the kinds of the CRD that have unions. Messages name origin as their source.
func (d Declared) Kinds(origin string) []union.Kind {
	var l []union.Object
	for _, o := range d.Objects {
		l = append(l, o.Object)
	}
	return Kinds(d.CRD, l, origin)
}

// Kinds returns the kinds of a CRD that have unions, one for each version with unions, in the
// order of the versions. They share the unions.
func Kinds(crd *apiextensionsv1.CustomResourceDefinition, declared []union.Object, origin string) []union.Kind {
	var l []union.Kind
	for i, v := range crd.Spec.Versions {
		k := union.Kind{Origin: origin, Resource: crd.Spec.Names.Plural, GroupVersionKind: schema.GroupVersionKind{Group: crd.Spec.Group, Version: v.Name, Kind: crd.Spec.Names.Kind}}
		if v.Subresources != nil && v.Subresources.Scale != nil {
			k.Scaled = schemapath.New(strings.Split(strings.TrimPrefix(v.Subresources.Scale.SpecReplicasPath, "."), ".")...)
		}
		for _, d := range declared {
			if d.Version != i || len(d.Unions) == 0 {
				continue
			}
			objects := &k.Objects
			if d.Unions[0].OfItems() {
				objects = &k.Lists
			}
			*objects = append(*objects, union.InstancesAt(v.Schema.OpenAPIV3Schema, d.Path, d.Unions))
		}
		if len(k.Objects)+len(k.Lists) > 0 {
			k.Default = server.Defaults(v.Schema.OpenAPIV3Schema)
			l = append(l, k)
		}
	}
	return l
}
