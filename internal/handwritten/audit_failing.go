package handwritten

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/report"
)

// unfit is the hint for rules that fail on values of the right type, such as duration(self) on a text.
const unfit = "reject such values before the rule uses them: in the schema (pattern, format, minItems), or with a condition in front"

// failing finds rules that fail to evaluate: on an update that changes nothing the rule reads, or
// else on an object that all other rules accept.
func (o *object) failing(a *audited) []Finding {
	if a.constant {
		return nil
	}
	if !a.Test.Changing() {
		l := a.Fails.Not()
		for _, v := range a.impossible {
			l = o.Space.Or(l, v)
		}
		others := ""
		e, response := o.rejected(a, sample.Errs, l.Not())
		var with []*audited
		if e == nil {
			if with = o.failsWith(a, l.Not()); len(with) == 0 {
				o.mayFail(a, o.create(), a.Place.Present(), l.Not())
				return nil
			}
			unrejected := append(o.Unrejected(a.Check), l.Not())
			defer o.omit(with)()
			if e, response = o.rejected(a, sample.Errs, unrejected...); e == nil {
				a.open = verify.NotShown
				return nil
			}
			others = ", and so do others,"
		}
		_, detail := o.Ask(a.Check, e.New, nil)
		f := o.finding(codes.FailsToEvaluate, a.rule, e, response,
			"this rule fails to evaluate%s on an object that everything else accepts: %s", others, detail).fixed(o.guard(a, e, false))
		for _, other := range with {
			o.leavesOut(&f, other.rule)
		}
		return []Finding{f}
	}
	if e, response := o.update(a, true); e != nil {
		_, detail := o.Ask(a.Check, e.New, e.Old)
		return []Finding{o.finding(codes.BlocksUpdates, a.rule, e, response,
			"this rule fails to evaluate on every update of an object that the API server accepts, also of its labels: %s", detail).fixed(o.guard(a, e, true))}
	}
	if e, response := o.update(a, false); e != nil {
		_, detail := o.Ask(a.Check, e.New, e.Old)
		return []Finding{o.finding(codes.FailsToEvaluate, a.rule, e, response,
			"this rule fails to evaluate on an update that everything else accepts: %s", detail).fixed(o.guard(a, e, false))}
	}
	o.mayFail(a, o.Space.Old.Present(), a.Place.Present(), a.Place.Counterpart().Present(), a.Fails)
	return nil
}

// failsWith returns the rules that fail to evaluate on an object on which a rule does, and which no other
// rule rejects.
func (o *object) failsWith(a *audited, l ...logic.Lit) (with []*audited) {
	fails := logic.False
	for _, other := range o.audited {
		if other != a {
			fails = o.Space.Or(fails, other.Fails)
		}
	}
	errs := func(a *audited, e *prove.Example) bool {
		said, _ := o.Ask(a.Check, e.New, nil)
		return said == sample.Errs
	}
	e, _ := o.find(func(e *prove.Example) (string, bool) {
		with = slices.DeleteFunc(slices.Clone(o.audited), func(other *audited) bool { return other == a || !errs(other, e) })
		return "", errs(a, e) && len(with) > 0
	}, append(append(l, o.Unrejected(a.Check)...), o.create(), a.Place.Present(), fails)...)
	if e == nil {
		return nil
	}
	return with
}

// mayFail notes that a rule may fail to evaluate on an object that satisfies formulas, if it may.
func (o *object) mayFail(a *audited, l ...logic.Lit) {
	if o.MayFail(a.Check, l...) {
		a.open = verify.NotShown
	}
}

// update returns an update of an accepted object on which the rule fails to evaluate, and which the
// API server would accept without the rule. With unrelated, the update changes only labels.
func (o *object) update(a *audited, unrelated bool) (*prove.Example, string) {
	l := append(o.others(a.Check), o.Space.Old.Present(), a.Place.Present(), a.Place.Counterpart().Present(), a.Fails)
	if unrelated {
		l = append(l, o.Changed().Not())
	}
	return o.find(func(e *prove.Example) (response string, ok bool) {
		if e.Old == nil {
			return "", false
		}
		if unrelated {
			e.New = runtime.DeepCopyJSON(e.Old)
			metadata, _ := e.New["metadata"].(map[string]any)
			metadata["labels"] = map[string]any{"example": "changed"}
		}
		ctx := o.Source.Context()
		if said, _ := o.Ask(a.Check, e.New, e.Old); said != sample.Errs {
			return "", false
		}
		if !accepts(ctx, o.judge, nil, e.Old) {
			return "", false
		}
		if response, ok = answer(ctx, o.judge, e.New, e.Old); !ok || response == "" {
			return "", false
		}
		return response, accepts(ctx, o.lacking(a.rule), e.Old, e.New)
	}, l...)
}

// guard returns rules to write for a rule that fails on an example, or a hint: the rule with guards, if
// it accepts and rejects the same objects otherwise. There are two if neither the operators of the rule
// nor its message tell whether it should accept absent values. With blocking, the fixed rule accepts
// the example.
func (o *object) guard(a *audited, e *prove.Example, blocking bool) (fixes []Fix, hint string) {
	hint = "guard each read of a field that may be absent with has()"
	switch _, detail := o.Ask(a.Check, e.New, e.Old); {
	case sample.CostHint(detail) != "":
		return nil, sample.CostHint(detail)
	case !strings.HasPrefix(detail, "no such key"):
		return nil, unfit
	}
	absent := func(path []string) bool { return formula.MayLack(a.Schema.Props, a.Schema.Root, path) }
	if blocking {
		hint = "guard each read of a field that oldSelf may lack with has(), and accept the update if it does"
		if text, ok := a.GuardedOld(absent); ok {
			if g := o.guarded(a, e, text); g != nil && g.accepts(e) {
				return []Fix{{Rule: text, effect: ", which accepts this object"}}, ""
			}
		}
		return nil, hint
	}
	var l []*guarded
	for _, accepting := range []bool{true, false} {
		text, ok := a.Guarded(absent, accepting)
		if !ok || len(l) > 0 && l[0].text == text {
			continue
		}
		if g := o.guarded(a, e, text); g != nil {
			l = append(l, g)
		}
	}
	l = slices.DeleteFunc(l, func(g *guarded) bool { return o.contradicts(a, g) || o.excludesValue(a, g) })
	if len(l) == 0 {
		return nil, hint
	}
	if len(l) == 2 && o.Never(o.create(), a.Place.Present(), o.Space.Equal(l[0].Holds, l[1].Holds).Not()) {
		slices.SortStableFunc(l, func(g, h *guarded) int { return cmp.Compare(len(g.text), len(h.text)) })
		l = l[:1]
	}
	object := "this object"
	if len(l) == 2 && l[0].accepts(e) == l[1].accepts(e) {
		apart, _ := o.find(func(e *prove.Example) (string, bool) { return "", l[0].accepts(e) && !l[1].accepts(e) },
			append(o.others(a.Check), o.create(), a.Place.Present(), a.Fails, l[0].Holds, l[1].Holds.Not())...)
		if apart == nil {
			return nil, hint
		}
		e, object = apart, report.InlineObject(apart.New)
	}
	for _, g := range l {
		rest := ", which accepts " + object
		if !g.accepts(e) {
			rest = ", which rejects " + object + " without an error"
			if a.Validation.Message != "" {
				rest = ", which rejects " + object + " with the message of the rule"
			}
		}
		fixes = append(fixes, Fix{Rule: g.text, effect: rest})
	}
	return fixes, ""
}

// guarded is an audited rule with guards.
type guarded struct {
	*prove.Check
	text    string
	accepts func(e *prove.Example) bool // according to the API server
}

// guarded returns a rule with guards. It is nil unless the rule gives the same answer as the audited
// rule to each object that does not fail in it, and never fails.
func (o *object) guarded(a *audited, e *prove.Example, text string) *guarded {
	fixed := o.replaced(a, text)
	if fixed == nil {
		return nil
	}
	there := a.Place.Present()
	if !o.Never(there, a.Holds, fixed.Holds.Not()) || !o.Never(there, a.Holds.Not(), a.Fails.Not(), fixed.Holds) {
		return nil
	}
	if failing, _ := o.find(func(e *prove.Example) (string, bool) {
		said, _ := o.Ask(fixed, e.New, e.Old)
		return "", said == sample.Errs
	}, there, fixed.Fails); failing != nil {
		return nil
	}
	if said, _ := o.Ask(fixed, e.New, e.Old); said == sample.Errs {
		return nil
	}
	v := o.rewritten(text, a.rule)
	if v == nil {
		return nil
	}
	return &guarded{fixed, text, func(e *prove.Example) bool { return accepts(o.Source.Context(), v.judge, e.Old, e.New) }}
}

// excludesValue reports whether a rule with guards rejects every object with a value of an enum, although the
// rule fails to evaluate on such objects, and no other rule rejects them.
func (o *object) excludesValue(a *audited, g *guarded) bool {
	there := append(o.others(a.Check), o.create(), a.Place.Present())
	for _, name := range slices.Sorted(maps.Keys(a.Schema.Props.Properties)) {
		p := a.Schema.Props.Properties[name]
		for _, v := range formula.EnumValues(&p) {
			is := append(slices.Clone(there), a.Place.Lookup(name).Equals(v))
			if o.Never(append(is, g.Holds)...) && !o.Never(append(is, a.Fails)...) {
				return true
			}
		}
	}
	return false
}

// contradicts reports whether a rule with guards rejects an object that the message of the rule allows,
// or accepts one that it rules out.
func (o *object) contradicts(a *audited, g *guarded) bool {
	for _, j := range o.statements {
		if j.of != a || j.described {
			continue
		}
		for _, allowed := range []bool{false, true} {
			if allowed && !j.all {
				continue
			}
			l := append(o.others(a.Check), o.create(), a.Place.Present(), a.Fails, g.Holds.If(!allowed))
			stated := j.breaks
			if allowed {
				stated = j.meets
			}
			if e, _ := o.find(func(e *prove.Example) (string, bool) {
				return "", g.accepts(e) != allowed
			}, append(l, stated)...); e != nil {
				return true
			}
		}
	}
	return false
}
