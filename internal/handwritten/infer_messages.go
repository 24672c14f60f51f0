package handwritten

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// ruleAt returns a constraint of the union object at a path if it is a rule. For other constraints, it
// returns the zero rule.
func ruleAt(root *apiextensionsv1.JSONSchemaProps, path schemapath.Path, c verify.Constraint) apiextensionsv1.ValidationRule {
	if c.Key != sample.RuleKey {
		return apiextensionsv1.ValidationRule{}
	}
	return path[:len(path)-c.Above].Schema(root).XValidations[c.Index]
}

// message returns the fixed message of a rule, or "".
func (o *candidateObject) message(k *condition) string {
	r := ruleAt(o.root, o.Path, k.Constraint)
	if text := strings.TrimSpace(r.Message); r.MessageExpression == "" && union.Printable(text) {
		return text
	}
	return ""
}

// errorKind is a kind of error: about a property, or "" for the whole union.
type errorKind struct {
	property string
	required bool
}

// withMessages returns the union with the messages of the rules that it replaces, where for a kind of
// error, rules with the same message reject every object that has the error.
func (c *candidate) withMessages(found Found) *union.Union {
	var texts []string
	// Rules with the text reject the object, and at least one of them is false: an error of the evaluation
	// has another text.
	prints, says := map[string]logic.Lit{}, map[string]logic.Lit{}
	for _, k := range c.within {
		text := c.message(k)
		if text == "" || !slices.Contains(found.Replaces, k.Constraint) {
			continue
		}
		if _, known := prints[text]; !known {
			texts, prints[text], says[text] = append(texts, text), logic.False, logic.False
		}
		prints[text], says[text] = c.space.Or(prints[text], k.holds.Not()), c.space.Or(says[text], k.rejects)
	}
	u := c.resolve(found.Union)
	if len(texts) == 0 || u == nil {
		return found.Union
	}
	var kinds []errorKind
	for _, c := range u.Conditions() {
		if k := kindOf(u, c.Violation); !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	errors, printed := map[errorKind]logic.Lit{}, map[errorKind][]string{}
	violations, broken := verify.Broken(c.space, u, c.at(0))
	for i, v := range violations {
		errors[kindOf(u, v)] = c.space.Or(errors[kindOf(u, v)], broken[i])
	}
	for _, k := range kinds {
		for _, text := range texts {
			if c.possible(errors[k], says[text]) && !c.possible(errors[k], prints[text].Not()) {
				printed[k] = append(printed[k], text)
			}
		}
	}
	out := *found.Union
	out.Message, out.Messages = declaredTexts(kinds, printed)
	return &out
}

// kindOf returns the kind of the error of a violation.
func kindOf(u *union.Union, v union.Violation) errorKind {
	k := errorKind{required: slices.Contains([]union.Condition{union.Required, union.Selected, union.TooFew}, v.Condition)}
	switch {
	case u.Grouped(): // messages needs a discriminator
	case v.Member >= 0:
		k.property = u.Members[v.Member].Name
	case v.Condition == union.Selected || v.Condition == union.Unmapped:
		k.property = u.Discriminator
	}
	return k
}

// declaredTexts returns the messages as they are declared: one for all errors, or one for each property,
// with both directions only where they differ. An error that is possible, and that no rule prints,
// keeps its generated message.
func declaredTexts(kinds []errorKind, texts map[errorKind][]string) (all union.Texts, each map[string]union.Texts) {
	first := func(k errorKind) string { return append(texts[k], "")[0] }
	common := slices.Clone(texts[kinds[0]])
	for _, k := range kinds {
		common = slices.DeleteFunc(common, func(text string) bool { return !slices.Contains(texts[k], text) })
	}
	if len(common) > 0 {
		return union.Texts{Required: common[0], Forbidden: common[0]}, nil
	}
	for _, k := range kinds {
		other := errorKind{k.property, !k.required}
		if !slices.Contains(kinds, other) {
			other = k
		}
		t := union.Texts{Required: first(other), Forbidden: first(k)}
		if k.required {
			t = union.Texts{Required: first(k), Forbidden: first(other)}
		}
		switch {
		case t == union.Texts{}:
		case k.property == "":
			all = t
		default:
			if each == nil {
				each = map[string]union.Texts{}
			}
			each[k.property] = t
		}
	}
	return all, each
}
