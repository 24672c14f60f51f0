package report

import (
	"context"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// judges validate objects as the API server does, and determine the cause of each error.
type judges struct {
	subject *unionPlan
	server  *server.Kind   // with the union and all constraints alongside it
	union   *server.Kind   // with the union alone
	each    []*server.Kind // with each constraint alone, built on demand
}

func (s *unionPlan) judges() *judges {
	j := &judges{subject: s, server: s.judge(true, s.plan.HandWritten...), each: make([]*server.Kind, len(s.plan.HandWritten))}
	if len(j.each) > 0 {
		j.union = s.judge(true)
	}
	return j
}

// reading has the errors, and the hand-written constraint that causes each error, or "".
type reading struct{ errors, byHand []string }

// read returns the errors for the creation or update of an object.
func (j *judges) read(e *verify.Example) (r reading, err error) {
	if r.errors, err = errorsOf(j.server, e); err != nil {
		return r, err
	}
	r.byHand = make([]string, len(r.errors))
	if len(j.each) == 0 {
		return r, nil
	}
	own, err := errorsOf(j.union, e)
	const counted = "allOf" // the error has the number of schemas that hold
	for i, line := range r.errors {
		if !slices.Contains(own, line) {
			r.byHand[i] = counted
		}
	}
	for k := 0; err == nil && k < len(j.each) && slices.Contains(r.byHand, counted); k++ {
		if j.each[k] == nil {
			j.each[k] = j.subject.judge(false, j.subject.plan.HandWritten[k])
		}
		var alone []string
		alone, err = errorsOf(j.each[k], e)
		for _, line := range alone {
			if i := slices.Index(r.errors, line); i >= 0 && r.byHand[i] == counted {
				r.byHand[i] = j.subject.plan.HandWritten[k].Name
			}
		}
	}
	return r, err
}

// judge returns the API server's code for a resource that consists only of the union object, with some
// constraints alongside the union. If own is set, it has the union's rules.
func (s *unionPlan) judge(own bool, beside ...compile.HandWritten) *server.Kind {
	on := s.schema
	on.XValidations, on.AllOf, on.AnyOf, on.OneOf, on.Not, on.MinProperties, on.MaxProperties = nil, nil, nil, nil, nil, nil, nil
	on.XEmbeddedResource = false // its fields are not of the union
	for _, b := range beside {
		b.Constraint.CopyTo(&on, &s.schema)
	}
	place := s.plan.Place
	if own {
		on.XValidations = append(on.XValidations, s.rulesAt(place)...)
	} else {
		on.XValidations = append(on.XValidations, apiextensionsv1.ValidationRule{Rule: "true"}) // other errors prevent its evaluation
	}
	if n := len(on.AllOf); n > 0 && n < len(s.schema.AllOf) {
		// The API server reports whether no schema of the allOf holds. The omitted schemas hold.
		on.AllOf = append(on.AllOf, apiextensionsv1.JSONSchemaProps{})
	}
	// Hand-written rules come first, as in the result. The union may use them as its own rules.
	at := map[string]int{}
	for i, r := range s.schema.XValidations {
		at[r.Rule] = i - len(s.schema.XValidations)
	}
	slices.SortStableFunc(on.XValidations, func(a, b apiextensionsv1.ValidationRule) int { return at[a.Rule] - at[b.Rule] })
	for level := len(place.Path) - 1; level >= 0; level-- {
		inner, up := on, place.Up(level)
		around := up.Schema(s.plan.CRD)
		on = apiextensionsv1.JSONSchemaProps{Type: around.Type, XListType: around.XListType, XListMapKeys: around.XListMapKeys}
		switch name, ok := place.Path[level].Property(); {
		case ok:
			on.XPreserveUnknownFields = new(true)
			on.Properties = map[string]apiextensionsv1.JSONSchemaProps{name: inner}
		case place.Path[level] == schemapath.Items:
			on.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &inner}
		default:
			on.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &inner}
		}
		if own {
			on.XValidations = s.rulesAt(up) // removal guards
		}
	}
	crd := *s.plan.CRD
	version := crd.Spec.Versions[place.Version]
	version.Served, version.Storage, version.Subresources = true, true, nil
	version.Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &on}
	crd.Spec.Versions, crd.Spec.Conversion = []apiextensionsv1.CustomResourceDefinitionVersion{version}, nil
	return server.NewKind(&crd)
}

// errorsOf returns the API server's errors for an example, in the order and format of kubectl, without
// duplicates.
func errorsOf(k *server.Kind, e *verify.Example) ([]string, error) {
	a, err := k.Answer(context.Background(), e.New, e.Old)
	l := []string{}
	for _, e := range a.Errors {
		if line := plainText(e.Error()); !slices.Contains(l, line) {
			l = append(l, line)
		}
	}
	return l, err
}
