// Package kinds says which unions the objects of a kind have, wherever they are declared:
// in a CustomResourceDefinition or in another place.
package kinds

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Kind is a kind in one version of its API. It is plain data, owned by who made it.
type Kind struct {
	schema.GroupVersionKind
	// Resource is its name in paths of the API, a plural in lower case.
	Resource string
	// Objects are the places of unions in an object of the kind.
	Objects []Object
	// Origin is what the unions are from, for messages: a file.
	Origin string
}

// Object is the place of one or more unions.
type Object struct {
	// Path leads to the union object, or objects: it may go through lists and maps.
	Path schemapath.Path
	// Keys has, for each list on the path, the keys that tell its items apart; nil when
	// there are none.
	Keys [][]string
	// Nullable says that something on the path, or a discriminator, may be null.
	Nullable bool
	Unions   []*union.Union
}

// OfCRD returns the kinds of a CRD that have unions, one for each such version. They
// share its unions.
func OfCRD(d compile.Declared, origin string) []Kind {
	var l []Kind
	for i, v := range d.CRD.Spec.Versions {
		k := Kind{Origin: origin, Resource: d.CRD.Spec.Names.Plural, GroupVersionKind: schema.GroupVersionKind{Group: d.CRD.Spec.Group, Version: v.Name, Kind: d.CRD.Spec.Names.Kind}}
		for _, o := range d.Objects {
			if o.Version == i {
				root := v.Schema.OpenAPIV3Schema
				k.Objects = append(k.Objects, Object{Path: o.Path, Keys: keys(root, o.Path), Nullable: nullable(root, o), Unions: o.Unions})
			}
		}
		if len(k.Objects) > 0 {
			l = append(l, k)
		}
	}
	return l
}

// keys returns the keys of the lists on a path.
func keys(root *apiextensionsv1.JSONSchemaProps, path schemapath.Path) [][]string {
	var l [][]string
	for i, step := range path {
		if step != schemapath.Items {
			continue
		}
		list := path[:i].In(root)
		if list.XListType != nil && *list.XListType == "map" {
			l = append(l, slices.Clone(list.XListMapKeys))
		} else {
			l = append(l, nil)
		}
	}
	return l
}

// nullable reports whether something on the path to a union object, or a discriminator in
// it, may be null.
func nullable(root *apiextensionsv1.JSONSchemaProps, o compile.Object) bool {
	for i := range o.Path {
		if o.Path[:i+1].In(root).Nullable {
			return true
		}
	}
	object := o.Path.In(root)
	return slices.ContainsFunc(o.Unions, func(u *union.Union) bool { return object.Properties[u.Discriminator].Nullable })
}

// Set are kinds, each of which is there once.
type Set struct {
	kinds map[schema.GroupVersionKind]Kind
}

// Add adds kinds. It is an error when the set has one of them from another origin.
func (s *Set) Add(kinds ...Kind) error {
	for _, k := range kinds {
		if other, ok := s.kinds[k.GroupVersionKind]; ok {
			return fmt.Errorf("both %s and %s have %s", other.Origin, k.Origin, k.GroupVersionKind)
		}
		if s.kinds == nil {
			s.kinds = map[schema.GroupVersionKind]Kind{}
		}
		s.kinds[k.GroupVersionKind] = k
	}
	return nil
}

// Of returns a kind; ok is false when the set does not have it.
func (s *Set) Of(gvk schema.GroupVersionKind) (k Kind, ok bool) {
	k, ok = s.kinds[gvk]
	return k, ok
}

// ByKind returns the versions of each kind, sorted. The caller owns the result.
func (s *Set) ByKind() [][]Kind {
	all := slices.SortedFunc(maps.Values(s.kinds), func(a, b Kind) int { return cmp.Compare(a.String(), b.String()) })
	var l [][]Kind
	for _, k := range all {
		i := slices.IndexFunc(l, func(o []Kind) bool { return o[0].GroupKind() == k.GroupKind() })
		if i < 0 {
			l, i = append(l, nil), len(l)
		}
		l[i] = append(l[i], k)
	}
	return l
}

// Names returns the kinds in words, sorted. The caller owns the result.
func (s *Set) Names() []string {
	var l []string
	for gvk := range s.kinds {
		l = append(l, gvk.Kind+" of "+gvk.GroupVersion().String())
	}
	slices.Sort(l)
	return l
}
