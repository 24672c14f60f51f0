package resource

import (
	"fmt"
	"slices"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/pkg/diag"
)

// Old are objects that may be replaced. The zero value has none. Adding comes first; the
// rest may be called from several goroutines.
type Old struct {
	objects []*Object
	byName  map[oldName][]*Object // each namespace once
	used    atomic.Bool
}

// oldName is what objects of several namespaces may share.
type oldName struct {
	schema.GroupKind
	name string
}

func nameOf(o *Object) oldName { return oldName{o.GroupKind(), o.Name} }

// Add adds objects. One that is there already, by kind, namespace and name, is reported.
func (s *Old) Add(objects []*Object) diag.List {
	if s.byName == nil {
		s.byName = map[oldName][]*Object{}
	}
	var l diag.List
	for _, o := range objects {
		same := s.byName[nameOf(o)]
		if i := slices.IndexFunc(same, o.Is); i >= 0 {
			l = append(l, diag.Diagnostic{Code: diag.BadOldObject, Pos: o.Pos(nil), Message: fmt.Sprintf("%s is there twice among the old objects", o),
				Hint: "delete one of them", Related: []diag.Related{{Pos: same[i].Pos(nil), Message: "the other one"}}})
			continue
		}
		s.byName[nameOf(o)] = append(same, o)
		s.objects = append(s.objects, o)
	}
	return l
}

// Of returns the object that another replaces, or nil: the one of its kind, namespace and
// name. A manifest without a namespace may be for any; there the name has to be unique.
func (s *Old) Of(o *Object) (*Object, diag.List) {
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
	d := diag.Diagnostic{Code: diag.BadOldObject, Pos: o.Pos(Path{"metadata"}), Message: fmt.Sprintf("%s may replace %d old objects", o, len(l)), Hint: "write its namespace"}
	for _, p := range l {
		d.Related = append(d.Related, diag.Related{Pos: p.Pos(nil), Message: p.String()})
	}
	return nil, diag.List{d}
}

// Unused reports the old objects if none of them was replaced. That some are not is no
// wonder: live objects are often all there are.
func (s *Old) Unused() diag.List {
	if s.used.Load() || len(s.objects) == 0 {
		return nil
	}
	o := s.objects[0]
	message := fmt.Sprintf("no object replaces %s", o)
	if n := len(s.objects); n > 1 {
		message += fmt.Sprintf(", or one of the %d other old objects", n-1)
	}
	return diag.List{{Code: diag.BadOldObject, Pos: o.Pos(nil), Message: message, Hint: "objects replace those of the same kind, namespace and name"}}
}
