package server

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Set has the kinds of CRDs, each once. After the last change it is safe for concurrent use.
type Set struct {
	kinds map[schema.GroupKind]known
}

// known is a kind with the position of its CRD. Kind is nil if the CRD cannot be used: an error has
// been reported.
type known struct {
	*Kind
	pos diag.Pos
}

// Add adds the kind of a CRD, which is nil if it cannot be used. It returns a diagnostic if the set has a
// different CRD for the kind; objects of the kind are then not validated.
func (s *Set) Add(kind schema.GroupKind, crd *apiextensionsv1.CustomResourceDefinition, pos diag.Pos) *diag.Diagnostic {
	if s.kinds == nil {
		s.kinds = map[schema.GroupKind]known{}
	}
	is := known{pos: pos}
	if crd != nil {
		is.Kind = NewKind(crd)
	}
	other, ok := s.kinds[kind]
	switch {
	case !ok:
		s.kinds[kind] = is
	case other.Kind != nil && is.Kind != nil && !reflect.DeepEqual(other.crd.Spec, is.crd.Spec):
		s.kinds[kind] = known{pos: other.pos}
		return new(diag.New(codes.TwoCRDs, pos, "there is another CRD for %s, which is not the same", kind).Hinted("give one of them only").
			With(diag.Related{Pos: other.pos, Message: "the other one"}))
	}
	return nil
}

// Names returns the kinds as text for messages, sorted.
func (s *Set) Names() []string {
	var l []string
	for k := range s.kinds {
		l = append(l, k.Kind+" of "+k.Group)
	}
	slices.Sort(l)
	return l
}

// Verdict is the result of validating an object.
type Verdict int

// The verdicts. Unknown: no CRD defines the kind of the object. Unjudged: the object could not be
// validated, for a reason that has been reported. Accepted and Refused: the API server accepts or
// rejects it.
const (
	Unknown Verdict = iota
	Unjudged
	Accepted
	Refused
)

// Object validates an object, as an update if before is not nil. Diagnostics have the positions of
// the fields that the API server's errors name.
func (s *Set) Object(ctx context.Context, o, before *yamltext.Object) (Verdict, diag.List) {
	k, ok := s.kinds[o.GroupKind()]
	if !ok {
		return s.unknown(o)
	}
	if k.Kind == nil {
		return Unjudged, nil
	}
	crd := []diag.Related{{Pos: k.pos, Message: "the CRD"}}
	if !slices.Contains(k.Served(), o.Version) {
		return Unjudged, diag.List{{Code: codes.NoCRD, Pos: o.Pos(yamltext.ObjectPath{"apiVersion"}), Message: fmt.Sprintf("no matches for kind %q in version %q", o.Kind, o.GroupVersion()),
			Hint: "the CRD serves " + strings.Join(k.Served(), ", "), Related: crd}}
	}
	if err := k.Check(o.Version); err != nil {
		return Unjudged, diag.List{{Code: codes.NoCRD, Pos: o.Pos(nil), Message: fmt.Sprintf("the API server could not serve version %s of the CRD: %v", o.Version, err), Related: crd}}
	}
	var old map[string]any
	if before != nil {
		old = before.Value
	}
	answer, err := k.Answer(ctx, o.Value, old)
	if err != nil {
		d := diag.New(codes.BadOldObject, o.Pos(nil), "%v", err)
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
		l = append(l, diag.New(codes.ServerWarning, o.Pos(o.Find(at)), "%s", said))
	}
	if answer.Refused == nil {
		return Accepted, l
	}
	return Refused, append(l, refusal(o, answer)...)
}

// refusal returns the diagnostics for a rejected object.
func refusal(o *yamltext.Object, answer Answer) diag.List {
	var l diag.List
	for _, path := range answer.Unknown {
		at := o.Find(path)
		l = append(l, diag.New(codes.Refused, o.Pos(at), `strict decoding error: unknown field "%s"`, path))
	}
	if len(l) > 0 {
		return l
	}
	for _, c := range answer.Causes() {
		d := diag.New(codes.Refused, o.Pos(o.Find(c.Field)), "%s", c.Message)
		if c.Field != "" {
			d.Message = c.Field + ": " + c.Message
		} else if answer.at != "" {
			d.Pos = o.Pos(o.Find(answer.at))
		}
		l = append(l, d)
	}
	return l
}

// unknown handles an object whose kind no CRD defines. If a CRD has the same group, the kind is
// misspelled or a CRD is missing.
func (s *Set) unknown(o *yamltext.Object) (Verdict, diag.List) {
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
	d := diag.New(codes.NoCRD, o.Pos(yamltext.ObjectPath{"kind"}), "no matches for kind %q in version %q", o.Kind, o.GroupVersion()).
		Hinted("give its CRD; of this group there are those of " + strings.Join(kinds, ", "))
	if similar := english.Closest(o.Kind, kinds); similar != "" {
		d.Hint = fmt.Sprintf("write %q", similar)
	}
	return Unjudged, diag.List{d}
}
