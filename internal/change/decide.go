package change

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/schemadiff"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// pair has the two versions to compare.
type pair struct {
	ctx   context.Context
	crds  [2]*apiextensionsv1.CustomResourceDefinition // the CRDs, in which these versions are served
	index [2]int
	kinds [2]*server.Kind
	*schemadiff.Pair
}

func newPair(ctx context.Context, old, new *apiextensionsv1.CustomResourceDefinition, oldIndex, newIndex int) (*pair, error) {
	p := &pair{ctx: ctx, index: [2]int{oldSide: oldIndex, newSide: newIndex}}
	var sides [2]schemadiff.Side
	for _, side := range bothSides {
		c := *[2]*apiextensionsv1.CustomResourceDefinition{oldSide: old, newSide: new}[side]
		c.Spec.Versions = slices.Clone(c.Spec.Versions)
		c.Spec.Versions[p.index[side]].Served = true
		p.crds[side], p.kinds[side] = &c, server.NewKind(&c)
		if err := p.kinds[side].Check(p.version(side)); err != nil {
			return nil, fmt.Errorf("version %s: %w", p.version(side), err)
		}
		plain := sync.OnceValue(func() *server.Kind { return server.NewKind(withoutOptional(&c, p.index[side])) })
		sides[side] = schemadiff.Side{CRD: &c, Version: p.index[side],
			Refusal: func(_ context.Context, old, object map[string]any) schemadiff.Refusal {
				return p.refusal(p.kinds[side], side, old, object)
			},
			Plain: func(_ context.Context, object map[string]any) schemadiff.Refusal {
				return p.refusal(plain(), side, nil, object)
			},
		}
	}
	var err error
	p.Pair, err = schemadiff.NewPair(sides[oldSide], sides[newSide])
	return p, err
}

// withoutOptional returns a CRD without the rules of a version that have optionalOldSelf.
func withoutOptional(crd *apiextensionsv1.CustomResourceDefinition, version int) *apiextensionsv1.CustomResourceDefinition {
	plain := crd.DeepCopy()
	root := plain.Spec.Versions[version].Schema.OpenAPIV3Schema
	schemapath.Walk(crd.Spec.Versions[version].Schema.OpenAPIV3Schema, func(at schemapath.Path, s *jsonSchema) bool {
		if slices.ContainsFunc(s.XValidations, formula.HasOptionalOldSelf) {
			at.Edit(root, func(s *jsonSchema) { s.XValidations = slices.DeleteFunc(s.XValidations, formula.HasOptionalOldSelf) })
		}
		return true
	})
	return plain
}

func (p *pair) version(side int) string { return p.crds[side].Spec.Versions[p.index[side]].Name }

func (p *pair) root(side int) *jsonSchema {
	return p.crds[side].Spec.Versions[p.index[side]].Schema.OpenAPIV3Schema
}

// withStatus reports whether the version on a side has the status subresource.
func (p *pair) withStatus(side int) bool {
	return subresources(p.crds[side].Spec.Versions[p.index[side]]).Status != nil
}

// refusal returns the API server's errors for an object or an update under k, the CRD of one side. A
// status subresource is written after the rest of the object.
func (p *pair) refusal(k *server.Kind, side int, old, object map[string]any) schemadiff.Refusal {
	is, before := p.inVersion(side, object), map[string]any(nil)
	if old != nil {
		before = p.inVersion(side, old)
	}
	answer, err := k.Answer(p.ctx, is, before)
	if before == nil {
		before = maps.Clone(is)
		delete(before, "status")
	}
	if _, has := object["status"]; has && p.withStatus(side) && err == nil && answer.Refused == nil {
		answer, err = k.UpdateStatus(p.ctx, is, before) // the first write ignored the status
	}
	if err != nil {
		return schemadiff.Refusal{Errors: []string{err.Error()}, NoRules: true}
	}
	var r schemadiff.Refusal
	for _, c := range answer.Causes() {
		if strings.HasSuffix(c.Message, server.NotEvaluated.Detail) {
			r.NoRules = true // the rule was not evaluated because of another error
			continue
		}
		r.Errors = append(r.Errors, strings.TrimPrefix(c.Field+": ", ": ")+c.Message)
	}
	return r
}

// decide classifies differences. It decides clauses on the path to the same schema together.
func (p *pair) decide(l []*difference) error {
	groups := map[string][]group{}
	var paths []schemapath.Path
	for _, d := range l {
		if d.doubt != "" {
			continue
		}
		for _, g := range split(d) {
			key := g.path.String()
			if groups[key] == nil {
				paths = append(paths, g.path)
			}
			groups[key] = append(groups[key], g)
		}
	}
	effects := map[*difference][]schemadiff.Effect{}
	for _, key := range slices.Sorted(maps.Keys(groups)) {
		var shifts []schemadiff.Shift
		for _, g := range groups[key] {
			shifts = append(shifts, g.shift)
		}
		at := groups[key][0].path
		found, err := p.Decide(p.ctx, at, shifts)
		for i, g := range groups[key] {
			if err != nil {
				g.d.doubt = err.Error()
				continue
			}
			e := found[i]
			if g.probe {
				for side := range e.Rejections {
					e.Rejections[side].Doubt, e.Rejections[side].Fails = "", false
				}
			}
			if e.Doubtful() && !e.Exhausted {
				e = p.again(at, g.shift, e, paths)
			}
			effects[g.d] = append(effects[g.d], e)
		}
	}
	if err := p.ctx.Err(); err != nil {
		return err
	}
	for _, d := range l {
		p.class(d, effects[d])
	}
	return nil
}

// again decides a shift with more schemas below it taken into account: schemas that it reads, and
// schemas that change.
func (p *pair) again(at schemapath.Path, shift schemadiff.Shift, e schemadiff.Effect, changed []schemapath.Path) schemadiff.Effect {
	var below []schemapath.Path
	add := func(q schemapath.Path) {
		for len(q) > len(at) && !p.isObject(q) {
			q = q[:len(q)-1]
		}
		if len(q) > len(at) && q[:len(at)].Equal(at) && !q[len(at):].HasElements() && !slices.ContainsFunc(below, q.Equal) {
			below = append(below, q)
		}
	}
	for _, k := range slices.Concat(shift.Clauses[oldSide], shift.Clauses[newSide]) {
		if k.Rule == nil {
			continue
		}
		for _, names := range formula.Reads(*k.Rule) {
			add(k.At.Append(schemapath.New(names...)...))
		}
	}
	for _, q := range changed {
		add(q)
	}
	slices.SortFunc(below, schemapath.Compare)
	for _, q := range below[:min(len(below), mostBelow)] {
		found, err := p.Decide(p.ctx, q, []schemadiff.Shift{shift})
		if err != nil {
			continue
		}
		for side, r := range found[0].Rejections {
			if was := &e.Rejections[side]; was.Doubt != "" && r.Doubt == "" {
				*was = r
			}
		}
	}
	return e
}

// mostBelow bounds the number of additional schemas in again.
const mostBelow = 8

// isObject reports whether both sides have an object with properties at a path.
func (p *pair) isObject(at schemapath.Path) bool {
	for side := range p.crds {
		if s := at.Schema(p.root(side)); s == nil || len(s.Properties) == 0 {
			return false
		}
	}
	return true
}

// group has the clauses of a difference that are decided together, on the path to one schema.
type group struct {
	d     *difference
	path  schemapath.Path
	shift schemadiff.Shift
	probe bool // if there is no example, nothing is in doubt
}

// split groups the clauses of a difference. If a union moved, its clauses are on schemas that do
// not contain each other. No clause may be above a list whose items are examined one at a time.
func split(d *difference) []group {
	var l []group
	in := func(at schemapath.Path) *schemadiff.Shift {
		for i := range l {
			short, long := l[i].path, at
			if len(short) > len(long) {
				short, long = long, short
			}
			if long[:len(short)].Equal(short) && !long[len(short):].HasElements() {
				l[i].path = long
				return &l[i].shift
			}
		}
		l = append(l, group{d: d, path: at})
		return &l[len(l)-1].shift
	}
	for _, side := range bothSides {
		for _, k := range d.shift.Clauses[side] {
			s := in(k.At)
			s.Clauses[side] = append(s.Clauses[side], k)
		}
	}
	for _, r := range d.shift.Reshaped {
		at, _ := schemadiff.SeatOf(r.At)
		s := in(at.Holder)
		s.Reshaped = append(s.Reshaped, r)
	}
	for _, k := range d.shift.Hints {
		s := in(k.At)
		s.Hints = append(s.Hints, k)
	}
	for _, s := range d.probes {
		if k := slices.Concat(s.Clauses[oldSide], s.Clauses[newSide]); len(k) > 0 { // not at the root
			l = append(l, group{d, k[0].At, s, true})
		}
	}
	return l
}

// counterexample converts an example that one side rejects and the other side accepts; nil if there is
// none.
func (p *pair) counterexample(w *schemadiff.Witness, rejecting int) *Counterexample {
	if w == nil {
		return nil
	}
	e := &Counterexample{Object: p.inVersion(1-rejecting, w.Object), Exempt: w.Exempt, Errors: append([]string{}, p.refusal(p.kinds[rejecting], rejecting, w.Old, w.Object).Errors...)}
	if w.Old != nil {
		e.Old = p.inVersion(1-rejecting, w.Old)
	}
	return e
}

// inVersion returns an object in the version of a side.
func (p *pair) inVersion(side int, object map[string]any) map[string]any {
	object = runtime.DeepCopyJSON(object)
	object["apiVersion"] = p.crds[side].Spec.Group + "/" + p.version(side)
	return object
}

// class sets the class of a difference from its effects.
func (p *pair) class(d *difference, effects []schemadiff.Effect) {
	var found [2]schemadiff.Rejection
	for _, e := range effects {
		for side, r := range e.Rejections {
			f := &found[side]
			f.Witness, f.Doubt, f.Anyway, f.Fails = cmp.Or(f.Witness, r.Witness), cmp.Or(f.Doubt, r.Doubt), cmp.Or(f.Anyway, r.Anyway), f.Fails || r.Fails
		}
	}
	found[newSide].Doubt = cmp.Or(found[newSide].Doubt, d.caution)
	refused, accepted := found[newSide], found[oldSide]
	d.fails = refused.Fails || d.doubt != ""
	d.Refused, d.Accepted = p.counterexample(refused.Witness, newSide), p.counterexample(accepted.Witness, oldSide)
	refuses, accepts := refused.Exists(), accepted.Exists()
	switch {
	case d.Refused == nil && refuses:
		d.Note = "The objects that it rejects are also rejected because of another change: " + refused.Anyway
	case d.Accepted == nil && accepts:
		d.Note = "The objects that it accepts were also rejected for another reason: " + accepted.Anyway
	case refuses && d.Refused.Exempt:
		d.Note = "It rejects only updates of stored objects that the old CRD would reject on creation."
	case accepts && d.Accepted.Exempt:
		d.Note = "It accepts more updates only of stored objects that the new CRD would reject on creation."
	}
	var doubts []string
	add := func(question, doubt string, decided bool) {
		if doubt != "" && !decided {
			doubts = append(doubts, question+doubt)
		}
	}
	add("", d.doubt, false)
	if refused.Doubt == accepted.Doubt && !refuses && !accepts {
		add("whether it changes the accepted objects: ", refused.Doubt, false)
	} else {
		add("whether it rejects objects that were accepted: ", refused.Doubt, refuses)
		add("whether more is accepted: ", accepted.Doubt, accepts)
	}
	d.Undecided = strings.Join(doubts, "; ")
	switch {
	case refuses && accepts:
		d.Class = Both
	case refuses:
		d.Class = Tighter
	case d.doubt != "" || refused.Doubt != "":
		d.Class = Undecided
	case accepts || accepted.Doubt != "":
		d.Class = Looser
	default:
		d.Class = Same
	}
}
