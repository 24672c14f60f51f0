package verify

import (
	"fmt"
	"slices"
	"strings"
)

// maxForeign is how many values, beside those of the union, are tried for the
// discriminator.
const maxForeign = 64

// foreign are values that the rules may tell from others: what they compare the
// discriminator with, and for those that look into it what looks like that. The
// problems are rules for which trying these is not enough; an enumeration says
// all there is to try.
func (p *prover) foreign() (values, problems []string) {
	if p.u.Discriminator == "" || len(p.chain.object().property(p.u.Discriminator).schema.Enum) > 0 {
		return nil, nil
	}
	add := func(v string) {
		if v != "" && !slices.Contains(values, v) && !slices.Contains(p.u.Values, v) {
			values = append(values, v)
		}
	}
	for _, c := range p.checks {
		if !c.discriminates() {
			continue
		}
		for _, l := range c.literals {
			if text, ok := l.(string); ok {
				add(text)
			}
		}
	}
	mentioned := len(values)
	var known []any
	if len(p.u.Values) > 0 {
		known = []any{p.u.Values[0]}
	}
	for _, c := range p.checks {
		if c.beyond == "" {
			continue
		}
		problems = append(problems, fmt.Sprintf("%s at %s reads %s; only some values were tried", c.name(), c.at, c.beyond))
		for _, l := range append(slices.Clone(c.literals), known...) {
			if text, ok := l.(string); ok {
				for _, like := range []string{text + "x", "x" + text, strings.ToUpper(text), strings.ToLower(text)} {
					add(like)
				}
			}
		}
		add(strings.Repeat("a", 64))
	}
	if mentioned > maxForeign {
		problems = append(problems, fmt.Sprintf("the rules mention %d strings besides the values of %s; %d were tried", mentioned, p.u.Discriminator, maxForeign))
	}
	return values[:min(len(values), maxForeign)], problems
}

// discriminates reports whether the check reads the discriminator.
func (k *check) discriminates() bool {
	return slices.ContainsFunc(k.reads[:], func(r projection) bool { return r.value || r.whole })
}

// rules is how many checks read more of the union than whether it is there.
func (p *prover) rules() int {
	n := 0
	for _, c := range p.checks {
		if !c.links {
			n++
		}
	}
	return n
}
