package verify

import (
	"context"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// rejection returns an error of the API server about an example. It ignores errors outside of the
// union object and the path to it.
func (p *unionProblem) rejection(d Example) error {
	if p.validator == nil && p.invalid == nil {
		p.validator, p.invalid = p.Schemas[0].Validator()
	}
	if p.invalid != nil {
		return p.invalid
	}
	var old any
	if d.Old != nil {
		old = d.Old
	}
	for _, e := range p.validator.Validate(context.WithoutCancel(p.Source.Context()), d.New, old) {
		if p.concerns(e) {
			return errors.New(strings.TrimPrefix(e.Error(), "<nil>: "))
		}
	}
	return nil
}

// concerns reports whether an error is at a path of the union object, its ancestors or its
// properties.
func (p *unionProblem) concerns(e *field.Error) bool {
	at := normalized(strings.TrimPrefix(e.Field, "<nil>"))
	own := normalized(p.PathTo(len(p.Schemas) - 1))
	return at == "" || at == own || strings.HasPrefix(own, at+".") || strings.HasPrefix(at, own+".") || own == ""
}

// normalized gives field paths of the API server's validators a common form.
func normalized(path string) string {
	return strings.Trim(strings.NewReplacer("[", ".", "]", "").Replace(path), ".")
}
