package infer

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/english"
	"github.com/unioncel/unioncel/pkg/union"
)

// suggested returns a union that nothing enforces, but that the CRD seems to intend.
func suggested(form Form, u *union.Union, why string) Found {
	return Found{Form: form, Union: u, Suggestion: true, Why: why}
}

// suggestions guesses unions of the properties that belong to none yet. It marks their properties
// as taken.
func (o *candidateObject) suggestions(taken map[string]bool) []Found {
	var l []Found
	add := func(s Found) {
		if slices.ContainsFunc(s.Union.Names(), func(name string) bool { return taken[name] }) {
			return
		}
		if s.Union = o.resolve(s.Union); s.Union == nil {
			return
		}
		for _, name := range s.Union.Names() {
			taken[name] = true
		}
		l = append(l, s)
	}
	claims := o.claims(taken)
	for _, name := range sortedKeys(o.schema.Properties) {
		if s, ok := o.valueMatch(name, claims, taken); ok {
			add(s)
		}
	}
	for _, s := range o.prose(taken) {
		add(s)
	}
	return l
}

// valueMatch suggests a string as the discriminator if at least two of its values are names of
// object properties next to it, if a description says that a property may be set with some values
// only, or if descriptions and names give members to at least two values.
func (o *candidateObject) valueMatch(discriminator string, claims []claim, taken map[string]bool) (Found, bool) {
	p := o.schema.Properties[discriminator]
	claims = slices.DeleteFunc(slices.Clone(claims), func(c claim) bool {
		return c.discriminator != discriminator || taken[c.property]
	})
	if !isString(p) || taken[discriminator] || len(p.Enum) == 0 && len(claims) == 0 {
		return Found{}, false
	}
	values := enumOf(p)
	of, exact := o.namesakes(discriminator, values, taken)
	members := map[string]*union.Member{}
	for v, name := range of {
		members[name] = &union.Member{Name: name, Values: []string{v}}
	}
	var used []claim
	exclusive := false
	for _, c := range claims {
		if !c.exclusive {
			continue
		}
		m := &union.Member{Name: c.property, Values: c.values}
		if !c.required {
			m.Optional = c.values
		}
		members[c.property] = m
		used, exclusive = append(used, c), true
	}
	// A property that a value requires may also be set with other values. It is a member if nothing
	// else is a member of the value.
	selected := map[string]int{}
	for _, m := range members {
		for _, v := range m.Values {
			selected[v]++
		}
	}
	bare := map[string]int{}
	for _, c := range claims {
		for _, v := range c.values {
			if !c.exclusive {
				bare[v]++
			}
		}
	}
	for _, c := range claims {
		if c.exclusive || members[c.property] != nil || slices.ContainsFunc(c.values, func(v string) bool { return selected[v] > 0 || bare[v] > 1 }) {
			continue
		}
		members[c.property] = &union.Member{Name: c.property, Values: c.values}
		used = append(used, c)
	}
	if exact < 2 && !exclusive && len(members) < 2 {
		return Found{}, false
	}
	u := &union.Union{Discriminator: discriminator, Change: union.Allow}
	for _, name := range sortedKeys(members) {
		u.Members = append(u.Members, *members[name])
	}
	position := func(m union.Member) int { return slices.Index(values, m.Values[0]) }
	slices.SortStableFunc(u.Members, func(a, b union.Member) int { return position(a) - position(b) })
	form := Prose
	var why []string
	switch {
	case exact == 1:
		why = append(why, fmt.Sprintf("1 value of %q is the name of an object next to it", discriminator))
	case exact > 1:
		why = append(why, fmt.Sprintf("%d values of %q are names of objects next to it", exact, discriminator))
		form = EnumMatch
	}
	for i, c := range used {
		if i == maxClaims {
			why = append(why, "and "+english.Plural(len(used)-i, "more description"))
			break
		}
		why = append(why, c.String())
	}
	return suggested(form, u, strings.Join(why, "; ")), true
}

// maxClaims is the maximum number of descriptions that a suggestion quotes.
const maxClaims = 3

// namesakes returns the object properties that have the names of values, by value, and the number of
// exact matches.
func (o *candidateObject) namesakes(discriminator string, values []string, taken map[string]bool) (of map[string]string, exact int) {
	names := map[string]string{}
	for _, name := range sortedKeys(o.schema.Properties) {
		if p := o.schema.Properties[name]; p.Type == "object" && !taken[name] && name != discriminator {
			names[plainName(name)] = name
		}
	}
	of = map[string]string{}
	take := func(match func(value, name string) bool) {
		for _, v := range values {
			for _, plain := range sortedKeys(names) {
				if name := names[plain]; of[v] == "" && match(plainName(v), plain) && o.eligible(name) {
					of[v] = name
					delete(names, plain)
				}
			}
		}
	}
	take(func(value, name string) bool { return value == name })
	if exact = len(of); exact > 1 {
		// After two exact matches, LoadBalancerService matches loadBalancer, too.
		take(func(value, name string) bool { return len(name) > 3 && strings.HasPrefix(value, name) })
	}
	return of, exact
}

// plainName returns a name in lower case, without punctuation.
func plainName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		}
		return -1
	}, strings.ToLower(name))
}

func isString(s apiextensionsv1.JSONSchemaProps) bool { return s.Type == "string" && !s.XIntOrString }
