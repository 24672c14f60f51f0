package yamltext

import (
	"fmt"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/diag"
)

// OldObjects has the objects that other objects may replace. The zero value is empty. All calls of Add
// must come first. The other methods are safe for concurrent use.
type OldObjects struct {
	objects []*Object
	byName  map[oldName][]*Object // one object per namespace
	used    atomic.Bool
}

// oldName is the part of an object's identity that objects in several namespaces may share.
type oldName struct {
	schema.GroupKind
	name string
}

func nameOf(o *Object) oldName { return oldName{o.GroupKind(), o.Name} }

// Add adds objects. It reports an object whose kind, namespace and name were added before.
func (s *OldObjects) Add(objects []*Object) diag.List {
	if s.byName == nil {
		s.byName = map[oldName][]*Object{}
	}
	var l diag.List
	for _, o := range objects {
		same := s.byName[nameOf(o)]
		if i := slices.IndexFunc(same, o.Is); i >= 0 {
			l = append(l, diag.New(codes.BadOldObject, o.Pos(nil), "%s occurs twice among the old objects", o).Hinted("delete one of them").
				With(diag.Related{Pos: same[i].Pos(nil), Message: "the other one"}))
			continue
		}
		s.byName[nameOf(o)] = append(same, o)
		s.objects = append(s.objects, o)
	}
	return l
}

// Find returns the object that o replaces, or nil. Kind, namespace and name must match. A manifest
// without a namespace matches any namespace if the name is unique.
func (s *OldObjects) Find(o *Object) (*Object, diag.List) {
	if s == nil {
		return nil, nil
	}
	l := s.byName[nameOf(o)]
	i := slices.IndexFunc(l, o.Is)
	if i < 0 && o.Namespace == "" && len(l) == 1 {
		i = 0
	}
	if i >= 0 {
		s.used.Store(true)
		return l[i], nil
	}
	if o.Namespace != "" || len(l) == 0 {
		return nil, nil
	}
	s.used.Store(true)
	d := diag.New(codes.BadOldObject, o.Pos(ObjectPath{"metadata"}), "%s may replace %d old objects", o, len(l)).Hinted("write its namespace")
	for _, p := range l {
		d.Related = append(d.Related, diag.Related{Pos: p.Pos(nil), Message: p.String()})
	}
	return nil, diag.List{d}
}

// Unused reports the old objects if none of them was replaced. A partial match is no problem,
// because users often pass a dump of all live objects.
func (s *OldObjects) Unused() diag.List {
	if s.used.Load() || len(s.objects) == 0 {
		return nil
	}
	o := s.objects[0]
	message := fmt.Sprintf("no object replaces %s", o)
	if n := len(s.objects); n > 1 {
		message += fmt.Sprintf(", or one of the %d other old objects", n-1)
	}
	return diag.List{{Code: codes.BadOldObject, Pos: o.Pos(nil), Message: message, Hint: "objects replace those of the same kind, namespace and name"}}
}
