package verify

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/unioncel/unioncel/internal/prove/formula"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	apiservervalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
)

// whole is the server's validation of whole resources, with everything the
// schema has. It has the last word on what is said to be accepted.
type whole struct {
	root   *node
	ready  bool
	err    error
	schema apiservervalidation.SchemaValidator
	rules  *schemacel.Validator
}

func (v *whole) prepare() error {
	if v.ready {
		return v.err
	}
	v.ready = true
	in, err := formula.Internal(v.root.schema)
	if err == nil {
		v.schema, err = internalValidator(in)
	}
	if err == nil {
		s, structuralErr := formula.Structural(v.root.schema)
		if err = structuralErr; err == nil {
			v.rules = schemacel.NewValidator(s, true, celconfig.PerCallLimit)
		}
	}
	v.err = err
	return err
}

// rejects returns what the server has against an example on the way to the union
// object or in it. What it has against the surroundings does not matter.
func (v *whole) rejects(p *problem, d Difference) error {
	if err := v.prepare(); err != nil {
		return err
	}
	l := apiservervalidation.ValidateCustomResource(nil, d.New, v.schema)
	var old any
	if d.Old != nil {
		old = d.Old
	}
	more, _ := v.rules.Validate(context.WithoutCancel(p.ctx), nil, nil, d.New, old, math.MaxInt64)
	for _, e := range append(l, more...) {
		if p.concerns(e) {
			return errors.New(strings.TrimPrefix(e.Error(), "<nil>: "))
		}
	}
	return nil
}

// concerns reports whether an error stands at the union object, above or in it.
func (p *problem) concerns(e *field.Error) bool {
	at := normalized(strings.TrimPrefix(e.Field, "<nil>"))
	own := normalized(p.path(len(p.nodes) - 1))
	return at == "" || at == own || strings.HasPrefix(own, at+".") || strings.HasPrefix(at, own+".") || own == ""
}

// normalized makes the paths of the server's validators comparable.
func normalized(path string) string {
	return strings.Trim(strings.NewReplacer("[", ".", "]", "").Replace(path), ".")
}

// path leads from the root of the resource to the value of a schema of the chain.
func (p *problem) path(level int) string {
	var b strings.Builder
	for _, s := range p.steps[:level] {
		switch s.kind {
		case property:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			b.WriteString(s.name)
		case item:
			b.WriteString("[0]")
		case value:
			fmt.Fprintf(&b, "[%s]", MapKey)
		}
	}
	return b.String()
}
