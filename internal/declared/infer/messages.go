package infer

import (
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/union"
)

// message returns the fixed message of a rule, or "".
func (f *finder) message(c *candidate, k *condition) string {
	if k.Key != ruleKey {
		return ""
	}
	schema := c.schema
	if k.Above > 0 {
		schema = f.levels[len(f.path)-k.Above].schema
	}
	r := schema.XValidations[k.Index]
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

// withMessages returns the union with the messages of the rules that it replaces, where all rules
// print the same message for a kind of error.
func (f *finder) withMessages(c *candidate, found Found) *union.Union {
	var replaced []*condition
	messages := map[*condition]string{}
	size, none := 0, true
	for _, k := range c.within {
		if slices.Contains(found.Replaces, k.Constraint) {
			replaced = append(replaced, k)
			messages[k] = f.message(c, k)
			size, none = size+k.size, none && messages[k] == ""
		}
	}
	u := c.resolve(found.Union)
	if none || u == nil {
		return found.Union
	}
	var kinds []errorKind
	texts := map[errorKind][]string{} // the messages that every error of the kind has
	states := c.wrong(u)
	if !c.spend(len(states) * size) {
		return found.Union
	}
	for _, s := range states {
		var printed []string
		accepted := true
		for _, k := range replaced {
			if k.accepts(s.object) {
				continue
			}
			if accepted = false; messages[k] != "" {
				printed = append(printed, messages[k])
			}
		}
		switch old, known := texts[s.kind]; {
		case accepted: // nothing was printed
		case known:
			texts[s.kind] = slices.DeleteFunc(old, func(text string) bool { return !slices.Contains(printed, text) })
		default:
			kinds = append(kinds, s.kind)
			texts[s.kind] = printed
		}
	}
	if len(kinds) == 0 {
		return found.Union
	}
	out := *found.Union
	out.Message, out.Messages = declaredTexts(kinds, texts, possibleErrors(u))
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

// possibleErrors returns the kinds of errors that the rules of the union print.
func possibleErrors(u *union.Union) map[errorKind]bool {
	possible := map[errorKind]bool{}
	for _, c := range u.Conditions() {
		possible[kindOf(u, c.Violation)] = true
	}
	return possible
}

// declaredTexts returns the messages as they are declared: one for all errors, or one for each property,
// with both directions only where they differ. An error that is possible, and that no rule prints,
// keeps its generated message.
func declaredTexts(kinds []errorKind, texts map[errorKind][]string, possible map[errorKind]bool) (all union.Texts, each map[string]union.Texts) {
	first := func(k errorKind) string { return append(texts[k], "")[0] }
	common := slices.Clone(texts[kinds[0]])
	for k := range possible {
		common = slices.DeleteFunc(common, func(text string) bool { return !slices.Contains(texts[k], text) })
	}
	if len(common) > 0 {
		return union.Texts{Required: common[0], Forbidden: common[0]}, nil
	}
	for _, k := range kinds {
		other := errorKind{k.property, !k.required}
		if !possible[other] {
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

// wrongState is an object with a single error.
type wrongState struct {
	kind   errorKind
	object []value
}

// wrong returns objects with a single error of the union: the states of its values with the members
// that they select, and those that differ in one member; without a discriminator, objects with no
// member or two.
func (c *candidate) wrong(u *union.Union) []wrongState {
	var l []wrongState
	conditions := u.Conditions()
	try := func(v value, members ...int) {
		s, object := c.state(u, v, members)
		if broken := conditions.Broken(s, s); len(broken) == 1 {
			l = append(l, wrongState{kindOf(u, broken[0]), object})
		}
	}
	if u.Relates() {
		wrongRelations(u, func(members ...int) { try(absent, members...) })
		return l
	}
	if u.Grouped() {
		groups := u.Groups()
		for i, g := range groups {
			for _, h := range groups[:i] {
				try(absent, slices.Concat(g.Members, h.Members)...)
			}
			for _, m := range g.Members {
				try(absent, m) // an incomplete group, unless it is all of it
			}
		}
	}
	if u.Discriminator == "" {
		try(absent)
		for i := range u.Members {
			for j := range i {
				try(absent, j, i)
			}
		}
		return l
	}
	values := c.values(c.slots[u.Discriminator], c.within)
	if len(values)*len(u.Members) > maxStates {
		return nil
	}
	for _, v := range values {
		selected := u.MembersOf(v.meaning(u))
		try(v, selected...)
		for i := range u.Members {
			if at := slices.Index(selected, i); at >= 0 {
				try(v, slices.Delete(slices.Clone(selected), at, at+1)...)
			} else {
				try(v, append(slices.Clone(selected), i)...)
			}
		}
	}
	return l
}
