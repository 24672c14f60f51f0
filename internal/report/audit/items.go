package audit

import (
	"context"
	"maps"
	"regexp"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/nested"
	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// some matches messages that require something of one item only.
var some = regexp.MustCompile(`(?i)\b(?:at least|some|not all|all of|one of|any)\b`)

// notEachItem finds a negated all() over items with a combination of conditions: it was meant to
// reject the combination in each item, and rejects it only if every item has it.
func (o *object) notEachItem(a *audited) []Finding {
	if a.Test.Changing() || len(a.Place.Path()) < len(o.Self(0).Path()) {
		return nil
	}
	not, ok := a.NotAll()
	if !ok || not.Conjuncts < 2 || some.MatchString(a.Validation.Message) {
		return nil
	}
	items := schemaAt(a.Schema, not.List)
	if items = items.Child(schemapath.Items); items == nil {
		return nil
	}
	fixed := o.replaced(a, not.Each)
	if fixed == nil {
		return nil
	}
	ctx := o.Source.Context()
	path := append(a.Place.Path()[len(o.Self(0).Path()):], not.List...)
	for _, bad := range o.satisfying(ctx, items, not.Broken) {
		alone := o.with(path, bad)
		response, ok := o.rejects(a, sample.Fails, alone)
		if !ok {
			continue
		}
		for _, good := range o.satisfying(ctx, items, "!("+not.Broken+")") {
			both := o.with(path, bad, good)
			refused, ok := creates(ctx, o.judge, both)
			if !ok || refused != "" {
				continue
			}
			if said, _ := o.Ask(fixed, both, nil); said != sample.Fails {
				continue
			}
			if said, _ := o.Ask(fixed, o.with(path, good), nil); said != sample.Holds {
				continue
			}
			return []Finding{o.finding(diag.NotEachItem, a.rule, &prove.Example{New: both}, "",
				"this rule rejects a list only if all its items meet the condition: it rejects the first item alone (%s), and accepts it alongside another", response).
				hinted("write %s, to reject each such item", not.Each)}
		}
	}
	return nil
}

// satisfying returns a few values of a schema that a further rule accepts.
func (o *object) satisfying(ctx context.Context, n *sample.Schema, rule string) []any {
	with := *n.Props
	with.XValidations = append(apiextensionsv1.ValidationRules{{Rule: rule}}, with.XValidations...)
	return sample.Values(ctx, &with)
}

// with returns a resource with a list of items at a path of the object.
func (o *object) with(path []string, items ...any) map[string]any {
	object := map[string]any{}
	if v, err := o.Source.First(o.Object()); err == nil {
		if valid, ok := v.(map[string]any); ok {
			object = maps.Clone(valid)
		}
	}
	nested.Put(object, path, runtime.DeepCopyJSONValue(append([]any{}, items...)))
	s := o.Source.Surround(o.Chain, object)
	var inner any = object
	for level := len(o.Path) - 1; level >= 0; level-- {
		inner = s.Put(level, inner)
	}
	resource, _ := inner.(map[string]any)
	if len(o.Path) == 0 {
		o.Source.Identify(resource)
	}
	return resource
}
