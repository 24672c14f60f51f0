package validate

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/internal/spelling"
	"github.com/unioncel/unioncel/internal/yaml/resource"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Set are the kinds of CRDs, each of which is there once. Once it is complete, it may be
// used by several goroutines at a time.
type Set struct {
	kinds map[schema.GroupKind]known
}

// known is a kind and where its CRD is. The kind is nil when it cannot be used, which has
// been said.
type known struct {
	*Kind
	pos diag.Pos
}

// Add adds the kind of a CRD. The diagnostic says that there is another CRD for it; then
// its objects are not judged.
func (s *Set) Add(crd *apiextensionsv1.CustomResourceDefinition, pos diag.Pos) *diag.Diagnostic {
	k := New(crd)
	other, ok := s.kinds[k.GroupKind()]
	switch {
	case !ok:
		s.put(k.GroupKind(), known{k, pos})
		return nil
	case other.Kind == nil:
		return nil
	case reflect.DeepEqual(other.crd.Spec, k.crd.Spec):
		return nil
	}
	s.put(k.GroupKind(), known{pos: other.pos})
	return &diag.Diagnostic{Code: diag.TwoCRDs, Pos: pos, Message: fmt.Sprintf("there is another CRD for %s, which is not the same", k.GroupKind()),
		Hint: "give one of them only", Related: []diag.Related{{Pos: other.pos, Message: "the other one"}}}
}

// Broken notes that there is a CRD for a kind that cannot be used: its objects are not
// judged.
func (s *Set) Broken(k schema.GroupKind, pos diag.Pos) {
	if _, ok := s.kinds[k]; !ok {
		s.put(k, known{pos: pos})
	}
}

func (s *Set) put(k schema.GroupKind, is known) {
	if s.kinds == nil {
		s.kinds = map[schema.GroupKind]known{}
	}
	s.kinds[k] = is
}

// Names returns the kinds in words, sorted.
func (s *Set) Names() []string {
	var l []string
	for k := range s.kinds {
		l = append(l, k.Kind+" of "+k.Group)
	}
	slices.Sort(l)
	return l
}

// Verdict is what became of an object.
type Verdict int

// The verdicts: the object is of a kind that no CRD defines; it could not be judged, which
// has been said; the API server accepts it; it refuses it.
const (
	Unknown Verdict = iota
	Unjudged
	Accepted
	Refused
)

// Object judges an object, as an update when before is not nil. Diagnostics are at the
// places in its file that the API server's errors are about.
func (s *Set) Object(ctx context.Context, o, before *resource.Object) (Verdict, diag.List) {
	k, ok := s.kinds[o.GroupKind()]
	if !ok {
		return s.unknown(o)
	}
	if k.Kind == nil {
		return Unjudged, nil
	}
	crd := []diag.Related{{Pos: k.pos, Message: "the CRD"}}
	if !slices.Contains(k.Served(), o.Version) {
		return Unjudged, diag.List{{Code: diag.NoCRD, Pos: o.Pos(resource.Path{"apiVersion"}), Message: fmt.Sprintf("no matches for kind %q in version %q", o.Kind, o.GroupVersion()),
			Hint: "the CRD serves " + strings.Join(k.Served(), ", "), Related: crd}}
	}
	if err := k.Check(o.Version); err != nil {
		return Unjudged, diag.List{{Code: diag.NoCRD, Pos: o.Pos(nil), Message: fmt.Sprintf("the API server could not serve version %s of the CRD: %v", o.Version, err), Related: crd}}
	}
	var answer Answer
	var err error
	if before == nil {
		answer, err = k.Create(ctx, o.Value)
	} else {
		answer, err = k.Update(ctx, o.Value, before.Value)
	}
	if err != nil {
		d := diag.Diagnostic{Code: diag.BadOldObject, Pos: o.Pos(nil), Message: err.Error()}
		if before != nil {
			d.Pos = before.Pos(nil)
			d.Related = []diag.Related{{Pos: o.Pos(nil), Message: "the object that replaces it"}}
		}
		if conversion := (*ConversionError)(nil); errors.As(err, &conversion) {
			d.Hint = "have the API server convert it: kubectl get with the version in the name of the resource"
		}
		return Unjudged, diag.List{d}
	}
	var l diag.List
	for _, said := range answer.Warnings {
		at, _, _ := strings.Cut(said, ":")
		l = append(l, diag.Diagnostic{Code: diag.ServerWarning, Severity: diag.Warning, Pos: o.Pos(o.Find(at)), Message: said})
	}
	if answer.Refused == nil {
		return Accepted, l
	}
	return Refused, append(l, refusal(o, answer)...)
}

// refusal are the diagnostics for a refused object.
func refusal(o *resource.Object, answer Answer) diag.List {
	var l diag.List
	for _, path := range answer.Unknown {
		at := o.Find(path)
		l = append(l, diag.Diagnostic{Code: diag.Refused, Pos: o.Pos(at), Message: fmt.Sprintf(`strict decoding error: unknown field "%s"`, path)})
	}
	if len(l) > 0 {
		return l
	}
	for _, c := range answer.Causes() {
		d := diag.Diagnostic{Code: diag.Refused, Pos: o.Pos(o.Find(c.Field)), Message: c.Message}
		if c.Field != "" {
			d.Message = c.Field + ": " + c.Message
		} else if answer.at != "" {
			d.Pos = o.Pos(o.Find(answer.at))
		}
		l = append(l, d)
	}
	return l
}

// unknown is about an object whose kind no CRD defines. A CRD of the same group says that
// it is misspelt, or that a CRD is missing.
func (s *Set) unknown(o *resource.Object) (Verdict, diag.List) {
	var kinds []string
	for k := range s.kinds {
		if k.Group == o.Group {
			kinds = append(kinds, k.Kind)
		}
	}
	if len(kinds) == 0 {
		return Unknown, nil
	}
	slices.Sort(kinds)
	d := diag.Diagnostic{Code: diag.NoCRD, Pos: o.Pos(resource.Path{"kind"}), Message: fmt.Sprintf("no matches for kind %q in version %q", o.Kind, o.GroupVersion()),
		Hint: "give its CRD; of this group there are those of " + strings.Join(kinds, ", ")}
	if similar := spelling.Closest(o.Kind, kinds); similar != "" {
		d.Hint = fmt.Sprintf("write %q", similar)
	}
	return Unjudged, diag.List{d}
}
