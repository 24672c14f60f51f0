package verify

import (
	"slices"
	"strings"
)

// question asks the mixed checks about legal states, with other values of what
// else they read: what a check thinks of the union must not depend on those.
func (p *prover) question(g *generator, f *findings) {
	bases := p.bases()
	left := maxCompleting
	for _, asked := range p.checks {
		if asked.links || asked.opaque || len(asked.also)+len(asked.beside) == 0 || f.doubted(asked) {
			continue
		}
		c := new(*asked)
		c.also = append(slices.Clone(c.also), c.beside...)
		ways := append([]*completion{nil}, g.completions(p, c)...)
		for _, o := range p.legal(c, bases) {
			if left < 0 || p.ctx.Err() != nil {
				break
			}
			if said, _ := c.evaluate(p.ctx, p.at(c.level, o.new, nil), p.at(c.level, p.correlate(c.level, o.old), nil)); said != holds && asked.sure(o.old, o.new, p.removals) {
				continue // a difference
			}
			if slices.ContainsFunc(ways, func(way *completion) bool { left--; return left >= 0 && p.depends(g, c, o, way) }) {
				f.doubts = append(f.doubts, doubt{check: c, example: o, depends: true})
				break
			}
		}
	}
}

// legal are creations and updates that the union allows, written in the usual
// way and, as far as the check reads the members, in the others.
func (p *prover) legal(c *check, bases []point) []pair {
	var l []pair
	if !c.usesOld {
		for _, b := range bases {
			l = append(l, pair{nothing, b, everything})
			for a := range p.alts {
				m := p.alts[a].property - 1
				if p.alts[a].suits(b) && slices.ContainsFunc(c.also, func(v variable) bool { return m >= 0 && v.member == m }) {
					b.alt = int16(a + 1)
					l = append(l, pair{nothing, b, everything})
				}
			}
		}
		return l
	}
	for _, old := range bases {
		for _, next := range bases {
			was := p.state(old)
			if len(p.u.Judge(&was, p.state(next))) == 0 && !p.separate(old, next) {
				l = append(l, pair{old, next, everything})
			}
			if len(l) > maxCompleting {
				return l
			}
		}
	}
	return l
}

// depends reports whether a check rejects a pair in which something else than
// the union is as completed, if that is what the schema admits.
func (p *prover) depends(g *generator, c *check, o pair, with *completion) bool {
	if o.new.alt > 0 && with != nil {
		return false
	}
	old := p.correlate(c.level, o.old)
	was, is := p.at(c.level, old, with), p.at(c.level, o.new, with)
	if said, _ := c.evaluate(p.ctx, is, was); said == holds {
		return false
	}
	if with == nil {
		return true
	}
	for _, ch := range with.changes {
		if !g.admits(p.nodes[ch.level], p.at(ch.level, o.new, with), ch.path) {
			return false
		}
		for _, t := range p.nodes[ch.level].tests() {
			if said, _ := t.evaluate(p.ctx, p.at(ch.level, o.new, with), nil); said != holds && !p.has(t) {
				return false // this is what it is not allowed for
			}
		}
	}
	return true
}

// has reports whether a test is one of the checks.
func (p *prover) has(t *test) bool {
	return slices.ContainsFunc(p.checks, func(c *check) bool { return c.test == t })
}

// admits reports whether the values along a path below one of n are valid.
func (g *generator) admits(n *node, v any, path []string) bool {
	for _, name := range path {
		object, ok := v.(map[string]any)
		if n = n.property(name); n == nil || !ok {
			return false
		}
		if v, ok = object[name]; !ok {
			return true
		}
		if v == nil {
			return n.schema.Nullable
		}
		if _, err := g.accept(n, v); err != nil {
			return false
		}
	}
	return true
}

// others says what the check reads beside the union.
func (k *check) others() string {
	var l []string
	for _, v := range k.also {
		if name := strings.Join(v.path, "."); !slices.Contains(l, name) {
			l = append(l, name)
		}
	}
	return enumerated(l)
}
