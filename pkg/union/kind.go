package union

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Kind is a kind in one version of its API. It is plain data, owned by its creator.
type Kind struct {
	schema.GroupVersionKind
	// Resource is the plural name in API paths, in lower case.
	Resource string
	// Objects are the union objects in an object of the kind.
	Objects []Instances
	// Lists are the lists whose items are members of unions. These unions are not normalized:
	// clients switch by adding one item and deleting another.
	Lists []Instances
	// Scaled is the path that the scale subresource writes; empty without one.
	Scaled schemapath.Path
	// Default sets defaults in an object of the kind, and removes nulls, as the API server does before
	// it validates an object; nil for a kind without defaults.
	Default func(object map[string]any)
	// Origin names the source of the unions in messages, such as a file.
	Origin string
}

// Split returns one copy of the kind for each of its objects and lists, with only that object or
// list.
func (k Kind) Split() []Kind {
	var l []Kind
	for _, o := range k.Objects {
		alone := k
		alone.Objects, alone.Lists = []Instances{o}, nil
		l = append(l, alone)
	}
	for _, o := range k.Lists {
		alone := k
		alone.Objects, alone.Lists = nil, []Instances{o}
		l = append(l, alone)
	}
	return l
}

// Instances describe the path of one or more unions in the objects of a kind.
type Instances struct {
	// Path leads to the union objects: there are several if it leads through a list or map.
	Path schemapath.Path
	// Keys has the keys of the items of each list on the path; nil if a list has none.
	Keys [][]string
	// Set is true if one of the lists is a set. Its items have no identity other than
	// their value: a changed item is a different item.
	Set bool
	// Removable are the properties on the path that may be absent or null, each with the
	// rest of the path, the outermost first. It excludes properties before a list or map,
	// whose elements can be removed anyway.
	Removable [][]string
	// bounds has the greatest number of elements of each list and map on the path; nil if
	// the schema sets no bound.
	bounds []*int64
	// Nullable is true if a property on the path, or a discriminator, may be null.
	Nullable bool
	Unions   []*Union
}

// Bounded reports whether the path leads through lists and maps whose bounds allow no more than n
// union objects.
func (o Instances) Bounded(n int) bool {
	product := int64(1)
	for _, b := range o.bounds {
		if b == nil || *b > 0 && product > int64(n) / *b {
			return false
		}
		product *= *b
	}
	return o.bounds != nil
}

// ItemKeys returns the keys that identify the union objects, or nil unless these are items of a
// list with keys. The result is read-only.
func (o Instances) ItemKeys() []string {
	if len(o.Path) == 0 || o.Path[len(o.Path)-1] != schemapath.Items {
		return nil
	}
	return o.Keys[len(o.Keys)-1]
}

// InstancesAt describes the path of unions in a schema.
func InstancesAt(root *apiextensionsv1.JSONSchemaProps, path schemapath.Path, unions []*Union) Instances {
	o := Instances{Path: path, Unions: unions}
	s := root
	for i, step := range path {
		if _, ok := step.Property(); !ok {
			o.Removable = nil
		} else if !AlwaysThere(s, path[i:i+1]) {
			o.Removable = append(o.Removable, path[i:].Properties())
		}
		if step == schemapath.Items {
			var keys []string
			switch {
			case s.XListType == nil:
			case *s.XListType == "map":
				keys = slices.Clone(s.XListMapKeys)
			case *s.XListType == "set":
				o.Set = true
			}
			o.Keys = append(o.Keys, keys)
			o.bounds = append(o.bounds, s.MaxItems)
		}
		if step == schemapath.Values {
			o.bounds = append(o.bounds, s.MaxProperties)
		}
		s = step.Schema(s)
		o.Nullable = o.Nullable || s.Nullable
	}
	for _, u := range unions {
		at := u.Path(u.Discriminator)
		for i := range at {
			p := at[:i+1].Schema(s)
			if p == nil {
				break // there is no discriminator
			}
			o.Nullable = o.Nullable || p.Nullable
		}
	}
	return o
}

// KindSet is a set of kinds.
type KindSet struct {
	kinds map[schema.GroupVersionKind]Kind
}

// Add adds kinds. It returns an error if the set already has one of them.
func (s *KindSet) Add(kinds ...Kind) error {
	for _, k := range kinds {
		if other, ok := s.kinds[k.GroupVersionKind]; ok {
			return fmt.Errorf("both %s and %s have %s of %s", other.Origin, k.Origin, k.Kind, k.GroupVersion())
		}
		if s.kinds == nil {
			s.kinds = map[schema.GroupVersionKind]Kind{}
		}
		s.kinds[k.GroupVersionKind] = k
	}
	return nil
}

// Lookup returns a kind with unions of properties; ok is false if the set does not have it.
func (s *KindSet) Lookup(gvk schema.GroupVersionKind) (k Kind, ok bool) {
	k, ok = s.kinds[gvk]
	return k, ok && len(k.Objects) > 0
}

// ByKind returns the versions of each kind, sorted. The caller owns the result.
func (s *KindSet) ByKind() [][]Kind {
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

// Names returns the kinds with unions of properties, as text for messages, sorted. The caller owns
// the result.
func (s *KindSet) Names() []string {
	var l []string
	for gvk, k := range s.kinds {
		if len(k.Objects) > 0 {
			l = append(l, gvk.Kind+" of "+gvk.GroupVersion().String())
		}
	}
	slices.Sort(l)
	return l
}
