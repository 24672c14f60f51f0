package schemadiff

import (
	"context"
	"fmt"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Side is one of the two versions of a CRD in a [Pair].
type Side struct {
	// CRD must not be changed.
	CRD     *apiextensionsv1.CustomResourceDefinition
	Version int
	// Refusal returns the API server's error for the creation of an object or, if old is not nil,
	// for the update from old to object. Objects have the version of the first side. Refusal must
	// not change them.
	Refusal func(ctx context.Context, old, object map[string]any) Refusal
	// Plain is Refusal for a creation without the rules that have optionalOldSelf.
	Plain func(ctx context.Context, object map[string]any) Refusal
}

// Refusal is an error of the API server. The zero value means that there is no error.
type Refusal struct {
	Errors []string
	// NoRules means that other errors kept the API server from evaluating rules.
	NoRules bool
}

func (r Refusal) String() string {
	const most = 3
	if more := len(r.Errors) - most; more > 0 {
		return fmt.Sprintf("%s; and %d more", strings.Join(r.Errors[:most], "; "), more)
	}
	return strings.Join(r.Errors, "; ")
}

// Clause is a requirement of one schema on a value.
type Clause struct {
	// At leads to the schema with the clause.
	At schemapath.Path
	// Rule is a rule of the schema, or of its allOf. It is nil for other clauses.
	Rule *apiextensionsv1.ValidationRule
	// Keywords are keywords other than rules. Formulas represent presence, and equality with
	// constants.
	Keywords *apiextensionsv1.JSONSchemaProps
	// Property, unless empty, is the property whose schema has the rule or the keywords. Formulas
	// do not represent these keywords: only the API server evaluates them. If Rule and Keywords are
	// nil, only Side.Refusal decides.
	Property string
	// Try lists values of the property that an example may need.
	Try []any
}

// Shift is one difference between two schemas.
type Shift struct {
	// Clauses are the clauses that only one schema has, by prove.Old and prove.New.
	Clauses [2][]Clause
	// Reshaped are the values that the schemas decode differently.
	Reshaped []Reshaping
	// Hints are clauses that only add values to try.
	Hints []Clause
}

// Witness is the creation of an object or, if Old is not nil, the update from Old to Object.
type Witness struct {
	Old, Object map[string]any
	// Exempt means that a rule with optionalOldSelf accepts the update, but would reject the
	// creation of Old. No update of objects that can be created differs.
	Exempt bool
}

// Effect is the result for a Shift.
type Effect struct {
	// Rejections are the objects that a side rejects although the other side accepts them, by prove.Old
	// and prove.New.
	Rejections [2]Rejection
	// Exhausted means that the question used all its steps.
	Exhausted bool
}

// Doubtful reports whether a rejection is in doubt.
func (e Effect) Doubtful() bool { return e.Rejections[0].Doubt+e.Rejections[1].Doubt != "" }

// Rejection describes the objects that one side rejects because of a clause of a shift, although the
// other side accepts them.
type Rejection struct {
	// Witness is a small example. If it is nil, there is none, unless Doubt states why this could not be
	// decided.
	Witness *Witness
	Doubt   string
	// Anyway is set if the rules of the shift reject objects, but all of these objects have other errors
	// that keep the API server from evaluating the rules. It has the errors of such an object.
	Anyway string
	// Fails means that a rule of the shift may fail to evaluate on such an object.
	Fails bool
}

// Exists reports whether there are such objects.
func (r Rejection) Exists() bool { return r.Witness != nil || r.Anyway != "" }

// Pair compares two schemas. It must not be used concurrently.
type Pair struct {
	sides        [2]Side // by prove.Old and prove.New
	roots        [2]*sample.Schema
	structural   [2]*structuralschema.Structural
	tight, loose *sample.Schema // accept the values of both and of either
}

// NewPair returns a pair of two versions of CRDs. It does not change the CRDs. An error means that
// there is no such version, or that the API server cannot use its schema.
func NewPair(old, new Side) (*Pair, error) {
	p := &Pair{sides: [2]Side{prove.Old: old, prove.New: new}}
	for side, s := range p.sides {
		root, err := sample.RootOf(s.CRD, s.Version)
		if err != nil {
			return nil, err
		}
		if p.structural[side], err = server.Structural(prove.WithTypeMeta(root)); err != nil {
			return nil, fmt.Errorf("%s: %w", root.Path, err)
		}
		p.roots[side] = root
	}
	merged := func(tight bool) *sample.Schema {
		return sample.New(merging{tight}.merge(p.roots[prove.Old].Props, p.roots[prove.New].Props), p.roots[prove.Old].Path, true)
	}
	p.tight, p.loose = merged(true), merged(false)
	return p, nil
}

// Decide decides for each shift whether there is an object that the old side accepts and a new
// clause of the shift rejects, and the reverse. The clauses belong to the schema at path or its
// ancestors, below the last list or map on the path. All schemas on the path decide whether a side
// accepts.
//
// A side accepts only objects without properties that it would prune. Every example has been
// validated by both sides. The absence of an example is proved: formulas represent the rules, and
// the clauses that they support, and leave all other conditions open. Ratcheting is ignored. Shifts
// that exhaust the steps of the question (see [logic.Question]) are in doubt.
//
// An error means that there is no such schema, or that ctx was cancelled.
func (p *Pair) Decide(ctx context.Context, path schemapath.Path, shifts []Shift) ([]Effect, error) {
	effects, err := p.decide(ctx, path, shifts)
	if !logic.IsExhausted(err) {
		return effects, err
	}
	for len(effects) < len(shifts) {
		effects = append(effects, Effect{[2]Rejection{{Doubt: err.Error()}, {Doubt: err.Error()}}, true})
	}
	return effects, nil
}

// decide is Decide, but returns an error if the steps are exhausted.
func (p *Pair) decide(ctx context.Context, path schemapath.Path, shifts []Shift) ([]Effect, error) {
	b, err := p.comparison(ctx, path, shifts)
	if err != nil {
		return nil, err
	}
	posed := make([][2][]suspect, len(shifts))
	for i, s := range shifts {
		for _, h := range s.Hints {
			b.tried(len(h.At), h.Property, h.Try)
		}
		for side, clauses := range s.Clauses {
			for _, c := range clauses {
				l, err := b.pose(side, c)
				if err != nil {
					return nil, err
				}
				posed[i][side] = append(posed[i][side], suspects(logic.True, l...)...)
			}
			for _, r := range s.Reshaped {
				l, err := b.seen(side, r)
				if err != nil {
					return nil, err
				}
				posed[i][side] = append(posed[i][side], l...)
			}
		}
	}
	b.Space.Close()
	for _, y := range b.sides {
		y.view.Cover()
	}
	for i, s := range shifts {
		for _, r := range s.Reshaped {
			moved := b.moved(r.At)
			for side := range posed[i] {
				posed[i][side] = append(posed[i][side], suspects(moved, b.differing(side)...)...)
			}
		}
	}
	own, _ := b.Source.Required(b.Object(), nil) // omits properties without a valid value
	if d := b.Object().Defaults(); d != nil {
		d(own)
	}
	if err := b.Finish(own); err != nil {
		return nil, err
	}
	var effects []Effect
	for i := range shifts {
		if ctx.Err() != nil {
			return effects, context.Cause(ctx)
		}
		var e Effect
		for side, l := range posed[i] {
			r, err := b.rejection(side, l)
			if err != nil {
				return nil, err
			}
			r.Fails = (r.Exists() || r.Doubt != "") && b.fails(side, l)
			e.Rejections[side] = r
		}
		e.Exhausted = logic.IsExhausted(b.Source.Err())
		effects = append(effects, e)
	}
	return effects, nil
}
