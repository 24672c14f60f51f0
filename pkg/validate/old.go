package validate

import (
	"fmt"
	"slices"

	"github.com/unioncel/unioncel/internal/resource"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Old are objects that may be replaced.
type Old struct {
	objects []*resource.Object
	used    map[*resource.Object]bool
}

// Add adds objects. One that is there already, by kind, namespace and name, is reported.
func (s *Old) Add(objects []*resource.Object) diag.List {
	var l diag.List
	for _, o := range objects {
		if i := slices.IndexFunc(s.objects, o.Is); i >= 0 {
			l = append(l, diag.Diagnostic{Code: diag.BadOldObject, Pos: o.Pos(nil), Message: fmt.Sprintf("%s is there twice among the old objects", o),
				Hint: "delete one of them", Related: []diag.Related{{Pos: s.objects[i].Pos(nil), Message: "the other one"}}})
			continue
		}
		s.objects = append(s.objects, o)
	}
	return l
}

// Of returns the object that another replaces, or nil: the one of its kind, namespace and
// name. A manifest without a namespace may be for any; there the name has to be unique.
func (s *Old) Of(o *resource.Object) (*resource.Object, diag.List) {
	if i := slices.IndexFunc(s.objects, o.Is); i >= 0 {
		return s.use(s.objects[i]), nil
	}
	if o.Namespace != "" {
		return nil, nil
	}
	var l []*resource.Object
	for _, p := range s.objects {
		if o.GroupKind() == p.GroupKind() && o.Name == p.Name {
			l = append(l, p)
		}
	}
	switch len(l) {
	case 0:
		return nil, nil
	case 1:
		return s.use(l[0]), nil
	}
	d := diag.Diagnostic{Code: diag.BadOldObject, Pos: o.Pos(resource.Path{"metadata"}), Message: fmt.Sprintf("%s may replace %d old objects", o, len(l)), Hint: "write its namespace"}
	for _, p := range l {
		d.Related = append(d.Related, diag.Related{Pos: p.Pos(nil), Message: p.String()})
		s.use(p)
	}
	return nil, diag.List{d}
}

func (s *Old) use(o *resource.Object) *resource.Object {
	if s.used == nil {
		s.used = map[*resource.Object]bool{}
	}
	s.used[o] = true
	return o
}

// Unused reports the old objects if none of them was replaced. That some are not is no
// wonder: live objects are often all there are.
func (s *Old) Unused() diag.List {
	if len(s.used) > 0 || len(s.objects) == 0 {
		return nil
	}
	o := s.objects[0]
	message := fmt.Sprintf("no object replaces %s", o)
	if n := len(s.objects); n > 1 {
		message += fmt.Sprintf(", or one of the %d other old objects", n-1)
	}
	return diag.List{{Code: diag.BadOldObject, Pos: o.Pos(nil), Message: message, Hint: "objects replace those of the same kind, namespace and name"}}
}
