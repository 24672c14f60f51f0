package audit

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/sample"
)

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
		e, response := o.rejected(a, sample.Errs, l.Not())
		if e == nil {
			a.open = a.MayFail() && !o.never(append(o.others(a.Check), o.create(), a.Place.Present(), l.Not())...)
			return nil
		}
		_, detail := o.Ask(a.Check, e.New, nil)
		return []Finding{o.finding(codes.FailsToEvaluate, a.rule, e, response,
			"this rule fails to evaluate on an object that everything else accepts: %s", detail).fixed(o.guard(a, e, false))}
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
	a.open = a.MayFail() && !o.never(append(o.others(a.Check), o.Space.Old.Present(), a.Place.Present(), a.Place.Counterpart().Present(), a.Fails)...)
	return nil
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
		if refused, ok := answer(ctx, o.judge, e.Old, nil); !ok || refused != "" {
			return "", false
		}
		if response, ok = answer(ctx, o.judge, e.New, e.Old); !ok || response == "" {
			return "", false
		}
		free, ok := answer(ctx, o.lacking(a.rule), e.New, e.Old)
		return response, ok && free == ""
	}, l...)
}

// guard returns a fix for a rule that fails on an example: the rule with guards, if it accepts and
// rejects the same objects otherwise, or a hint in rest. With blocking, the fixed rule accepts the
// example.
func (o *object) guard(a *audited, e *prove.Example, blocking bool) (fix, rest string) {
	usual, write := "guard each read of a field that may be absent with has()", a.Guarded
	switch _, detail := o.Ask(a.Check, e.New, e.Old); {
	case sample.CostHint(detail) != "":
		return "", sample.CostHint(detail)
	case !strings.HasPrefix(detail, "no such key"):
		return "", "reject such values before the rule uses them: in the schema (pattern, format, minItems), or with a condition in front"
	}
	if blocking {
		usual, write = "guard each read of a field that oldSelf may lack with has(), and accept the update if it does", a.GuardedOld
	}
	fix, said := o.guarded(a, e, write)
	switch {
	case fix == "":
		return "", usual
	case said == sample.Holds:
		return fix, ", which accepts this object"
	case blocking:
		return "", usual
	}
	rest = ", which rejects this object without an error"
	if a.Validation.Message != "" {
		rest = ", which rejects this object with the message of the rule"
	}
	if allowed, all := o.allowed(a, e); allowed {
		switch accepting, said := o.guarded(a, e, a.Accepting); {
		case accepting == "" || said != sample.Holds:
		case all:
			return accepting, ", which accepts this object, as the message does"
		default:
			return accepting, ", which accepts this object, or " + fix + rest
		}
	}
	return fix, rest
}

// guarded returns a rule with guards and its answer to an example. The text is empty unless the rule
// gives the same answer as the audited rule to each object that does not fail in it, and never fails.
func (o *object) guarded(a *audited, e *prove.Example, write func(func(path []string) bool) (string, bool)) (text string, said sample.Answer) {
	text, ok := write(func(path []string) bool { return optional(a.Schema, path) })
	if !ok {
		return "", 0
	}
	fixed := o.replaced(a, text)
	if fixed == nil {
		return "", 0
	}
	there := a.Place.Present()
	if !o.never(there, a.Holds, fixed.Holds.Not()) || !o.never(there, a.Holds.Not(), a.Fails.Not(), fixed.Holds) {
		return "", 0
	}
	if failing, _ := o.find(func(e *prove.Example) (string, bool) {
		said, _ := o.Ask(fixed, e.New, e.Old)
		return "", said == sample.Errs
	}, there, fixed.Fails); failing != nil {
		return "", 0
	}
	said, _ = o.Ask(fixed, e.New, e.Old)
	if said == sample.Errs {
		return "", 0
	}
	return text, said
}

// allowed reports whether the message of a rule states a restriction that an example meets, and
// whether it states nothing else.
func (o *object) allowed(a *audited, e *prove.Example) (ok, all bool) {
	for _, j := range o.statements {
		if j.of != a || j.described {
			continue
		}
		if j.broken(o.Self(0).Value(e.New)) {
			return false, false
		}
		ok, all = true, strings.TrimSuffix(strings.Join(strings.Fields(a.Validation.Message), " "), ".") == j.sentence
	}
	return ok, all
}
