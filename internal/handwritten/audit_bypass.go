package handwritten

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/cel"
	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// mayClear matches messages that allow a removal, such as "immutable once set, but may be cleared", or
// "immutable: delete it first to change it". Deleting the whole object is another matter.
var mayClear = english.Pattern(`(?i)\b(?:(?:may|can) be (?:cleared|deleted|removed|unset)\b` +
	`|(?:clear|delete|remove|unset) (?:it|the (?:field|value)) first\b` +
	`|(?:clear|delete|remove|unset)(?: it| the (?:field|value))? and (?:re-?create|re-?add|add|set)(?: it| the (?:field|value))?(?: again| to change it)?(?:[.,;:)]|$))`)

const unguarded = "reject the first of the updates with a rule on the object that lacks the value then"

// bypassed finds a rule that makes a value immutable, at least unless it is empty, and that two updates
// bypass: the first one removes the value, or an object with it, and the second one sets another value.
func (o *object) bypassed(a *audited) []Finding {
	if !a.Test.Changing() || mayClear().MatchString(a.Validation.Message) {
		return nil
	}
	for _, read := range append([][]string{nil}, a.Paths...) {
		if a.Schema.Lookup(schemapath.New(read...)) == nil {
			continue
		}
		value := a.Place.Lookup(read...)
		was := value.Counterpart()
		changed := []logic.Lit{value.Present(), o.Space.Same(was, value).Not(), was.Present(), was.Empty().Not()}
		if o.Space.Close(); !o.Never(append(changed, a.Holds)...) {
			continue
		}
		if l := o.bypass(a, value, read); l != nil {
			return l
		}
	}
	return nil
}

// bypass returns the finding for a rule that makes a value that it reads immutable.
func (o *object) bypass(a *audited, value *formula.Place, read []string) []Finding {
	was, path := value.Counterpart(), a.rule.path.Append(schemapath.New(read...)...)
	unlessEmpty := !o.Never(value.Present(), o.Space.Same(was, value).Not(), was.Present(), a.Holds)
	legal := o.legal()
	removed := func(at *formula.Place) []logic.Lit {
		return append(o.others(), was.Present(), at.Parent.Present(), at.Present().Not())
	}
	var links []*formula.Place // the values that updates may remove, and add again, from the inside out
	for at := value; at != o.Places[o.Anchor()]; at = at.Parent {
		added := append(o.others(), value.Present(), at.Counterpart().Parent.Present(), at.Counterpart().Present().Not())
		if !o.Never(append(removed(at), legal...)...) && !o.Never(append(added, legal...)...) {
			links = append(links, at)
		}
	}
	if len(links) == 0 {
		return nil
	}
	open := a.open
	a.open = "no updates were found that bypass it, though there may be some"
	set := []logic.Lit{value.Present()}
	if unlessEmpty {
		set = append(set, value.Empty().Not())
	}
	first := o.accepted(set...)
	if first == nil {
		return nil
	}
	second := o.changed(a, value, a.Schema.Lookup(schemapath.New(read...)), first.New)
	if second == nil {
		return nil
	}
	var stored []logic.Lit // the old object is the first one
	for _, s := range o.Slots {
		for i, c := range s.Chosen[prove.New] {
			if first.Model(c) {
				stored = append(stored, s.Chosen[prove.Old][i])
			}
		}
	}
	ctx := o.Source.Context()
	for _, at := range links {
		between := &prove.Example{New: runtime.DeepCopyJSON(first.New)}
		if around, ok := at.Parent.Value(between.New).(map[string]any); ok {
			delete(around, at.Name)
		}
		suits := func(e *prove.Example) (string, bool) {
			return "", accepts(ctx, o.judge, first.New, e.New, second)
		}
		if _, ok := suits(between); !ok {
			between, _ = o.find(suits, append(removed(at), stored...)...)
		}
		if between == nil {
			continue
		}
		f := o.finding(codes.Bypassed, a.rule, &prove.Example{Old: first.New, New: second}, "",
			"this rule makes a value immutable only until it is removed: an update can remove %s, and the next one can set another value", path[:len(at.Path())])
		a.open, f.Between = open, between.New
		outer := links[len(links)-1] // its guard closes all links
		on := path[:len(outer.Path())-1]
		g := Fix{Rule: guardOf(outer.Parent, value, unlessEmpty), Path: pathOf(on), effect: ", which rejects the first of the updates"}
		if o.closes(g.Rule, on, outer.Parent, value, unlessEmpty) {
			if frozen := o.frozen(outer.Parent, value, path); len(frozen) > 0 {
				g.effect += fmt.Sprintf("; while %s is set, it also keeps %s from changing", path, english.List(frozen, "and"))
			}
			f.guarded = &further{on, apiextensionsv1.ValidationRule{Rule: g.Rule}}
			return []Finding{f.fixed([]Fix{g}, "")}
		}
		return []Finding{f.hinted(unguarded)}
	}
	return nil
}

// frozen returns the fields next to a value, or next to the objects with it, that have a single value
// where this one is set, such as the discriminator of a member.
func (o *object) frozen(around, value *formula.Place, path schemapath.Path) (l []string) {
	given := o.others()
	for at := value.Parent; ; at = at.Parent {
		for _, step := range schemapath.Children(at.Schema) {
			name, _ := step.Property()
			s := at.Schema.Properties[name]
			if is := at.Child(name); is != value && s.Type == "string" && slices.ContainsFunc(formula.EnumValues(&s), func(v any) bool {
				other := append(slices.Clip(given), is.Present(), is.Equals(v).Not())
				return o.Never(append(other, value.Present())...) && !o.Never(append(other, value.Present().Not())...)
			}) {
				l = append(l, path[:len(at.Path())].Append(step).String())
			}
		}
		if at == around {
			return l
		}
	}
}

// legal returns the formulas that the tests hold for the old object.
func (o *object) legal() (l []logic.Lit) {
	for _, c := range o.Checks {
		if was := *c; !c.Test.Changing() {
			if was.Place = c.Place.Counterpart(); o.Read(&was) == nil {
				l = append(l, was.Holds)
			}
		}
	}
	return l
}

// changed returns a valid object with another value than an old one, if the rule rejects the change.
func (o *object) changed(a *audited, value *formula.Place, n *sample.Schema, old map[string]any) map[string]any {
	ctx, was := o.Source.Context(), value.Value(old)
	rejects := func(object map[string]any) bool {
		said, _ := o.Ask(a.Check, object, old)
		return said == sample.Fails && accepts(ctx, o.judge, nil, object) && !accepts(ctx, o.judge, old, object)
	}
	for _, v := range append([]any{next(was)}, o.Source.Several(n)...) {
		object := runtime.DeepCopyJSON(old)
		if around, ok := value.Parent.Value(object).(map[string]any); ok {
			around[value.Name] = runtime.DeepCopyJSONValue(v)
		}
		if rejects(object) {
			return object
		}
	}
	l := append(o.others(), o.create(), value.Present())
	switch was.(type) {
	case nil, []any, map[string]any:
	default:
		l = append(l, value.Equals(was).Not())
	}
	if e, _ := o.find(func(e *prove.Example) (string, bool) { return "", rejects(e.New) }, l...); e != nil {
		return e.New
	}
	return nil
}

// next returns a text of the same form with another letter or digit, and other values as they are.
func next(v any) any {
	text, _ := v.(string)
	for i := len(text) - 1; i >= 0; i-- {
		switch c := text[i]; {
		case '0' <= c && c < '9', 'a' <= c && c < 'z', 'A' <= c && c < 'Z':
			return text[:i] + string(c+1) + text[i+1:]
		}
	}
	return v
}

// guardOf returns a rule on an object that rejects the removal of a value in it, perhaps unless it is empty.
func guardOf(around, value *formula.Place, unlessEmpty bool) string {
	names := value.Path()[len(around.Path()):]
	has := func(self string) cel.Expr {
		at := around
		var l []cel.Expr
		for i, name := range names {
			if at = at.Child(name); !at.Always() {
				l = append(l, cel.Has(cel.Var(self).Field(names[:i+1]...)))
			}
		}
		return cel.And(l...)
	}
	was := has("oldSelf")
	if unlessEmpty {
		was = cel.And(was, filled(cel.Var("oldSelf").Field(names...), value.Schema))
	}
	return cel.Or(cel.Not(was), has("self")).String()
}

// filled tests whether a value is not empty, if CEL can tell.
func filled(value cel.Expr, schema *apiextensionsv1.JSONSchemaProps) cel.Expr {
	switch {
	case schema == nil || schema.XIntOrString || schema.Format != "" && schema.Type == "string":
	case schema.Type == "string":
		return value.Ne(cel.String(""))
	case schema.Type == "boolean":
		return value
	case schema.Type == "integer":
		return value.Ne(cel.Int(0))
	case schema.Type == "number":
		return value.Ne(cel.Var("0.0"))
	case schema.Type == "array", schema.AdditionalProperties != nil:
		return cel.Size(value).Gt(cel.Int(0))
	}
	return cel.True
}

// closes reports whether a guard rejects each removal of a value in an object, perhaps unless it is
// empty, as proved.
func (o *object) closes(rule string, on schemapath.Path, around, value *formula.Place, unlessEmpty bool) bool {
	level := min(len(on), len(o.Schemas))
	n := o.Object().Lookup(on[min(len(on), len(o.Path)):])
	if level < len(o.Schemas) {
		n = o.Schemas[level]
	}
	guard := o.read(prove.Check{Level: level, Schema: n, Place: around}, apiextensionsv1.ValidationRule{Rule: rule})
	removed := []logic.Lit{around.Present(), value.Counterpart().Present(), value.Present().Not()}
	if unlessEmpty {
		removed = append(removed, value.Counterpart().Empty().Not())
	}
	return guard != nil && o.Never(append(removed, guard.Holds)...)
}

// confirmGuards keeps the guards of findings only if the API server accepts the CRD with all of them, and
// if they reject the updates.
func (v *version) confirmGuards(ctx context.Context, l []Finding) {
	var guards []further
	for _, f := range l {
		if f.guarded != nil {
			guards = append(guards, *f.guarded)
		}
	}
	if len(guards) == 0 {
		return
	}
	kind := server.NewKind(v.with(guards))
	served := kind.Check(v.name) == nil
	for i, f := range l {
		if f.guarded == nil {
			continue
		}
		if response, _ := answer(ctx, kind, f.Between, f.Example.Old); !served || !strings.Contains(response, f.Fixes[0].Rule) {
			l[i] = f.fixed(nil, unguarded)
		}
	}
}
