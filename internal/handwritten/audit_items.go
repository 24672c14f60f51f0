package handwritten

import (
	"context"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// ofList matches messages about the list as a whole, such as "some peer must lack a name".
var ofList = english.Pattern(`(?i)\b(?:every|all|any|some|at least|one of|contains?|includes?|other than|except|without|(?:is|are) required)\b`)

// notEachItem finds a negated all() over items with a combination of conditions: it was meant to
// reject the combination in each item, and rejects it only if every item has it.
func (o *object) notEachItem(a *audited) []Finding {
	if a.Test.Changing() || len(a.Place.Path()) < len(o.Self(0).Path()) {
		return nil
	}
	not, ok := a.NotAll()
	if !ok || not.Conjuncts < 2 || ofList().MatchString(a.Validation.Message) || ofList().MatchString(a.Validation.MessageExpression) {
		return nil
	}
	items := a.Schema.Lookup(schemapath.New(not.List...))
	if items = items.Child(schemapath.Items); items == nil {
		return nil
	}
	fixed := o.replaced(a, not.Each)
	if fixed == nil {
		return nil
	}
	ctx := o.Source.Context()
	base := o.accepted(o.Self(0).Present())
	if base == nil {
		return nil
	}
	path := append(a.Place.Path()[len(o.Self(0).Path()):], not.List...)
	with := func(items ...any) map[string]any {
		resource := runtime.DeepCopyJSON(base.New)
		object, _ := o.Self(0).Value(resource).(map[string]any)
		schemapath.SetValueAt(object, path, runtime.DeepCopyJSONValue(append([]any{}, items...)))
		return resource
	}
	for _, bad := range o.satisfying(ctx, items, not.Broken) {
		alone := with(bad)
		response, ok := o.rejects(a, sample.Fails, alone)
		if !ok {
			continue
		}
		for _, good := range o.satisfying(ctx, items, "!("+not.Broken+")") {
			both := with(bad, good)
			if said, _ := o.Ask(fixed, both, nil); said != sample.Fails || !accepts(ctx, o.judge, nil, both) {
				continue
			}
			v := o.rewritten(not.Each, a.rule)
			if v == nil {
				return nil
			}
			if accepts(ctx, v.judge, nil, both) || !accepts(ctx, v.judge, nil, with(good)) {
				continue
			}
			return []Finding{o.finding(codes.NotEachItem, a.rule, &prove.Example{New: both}, "",
				"this rule rejects a list only if all its items meet the condition: it rejects the first item alone (%s), and accepts it alongside another", response).
				fixed([]Fix{{Rule: not.Each, effect: ", to reject each such item"}}, "")}
		}
	}
	return nil
}

// satisfying returns a few values of a schema that a further rule accepts.
func (o *object) satisfying(ctx context.Context, n *sample.Schema, rule string) []any {
	with := *n.Props
	with.XValidations = append(apiextensionsv1.ValidationRules{{Rule: rule}}, with.XValidations...)
	if l := sample.Values(ctx, &with); len(l) > 0 {
		return l
	}
	read, err := formula.Parse(rule)
	v, broken := sample.New(&with, "", false).Validator()
	if err != nil || broken != nil {
		return nil
	}
	// Equalities may need a literal in each of several properties.
	combined := append(slices.Clone(o.Source.Several(n)), o.Source.Written(n, read.Literals)...)
	return slices.DeleteFunc(combined, func(value any) bool { return len(v.Validate(ctx, value, nil)) > 0 })
}
