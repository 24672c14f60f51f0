package verify

import (
	"fmt"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// comparing is a prover whose checks are constraints to compare. All of them
// count, those too that have nothing to do with the union: they would be gone.
type comparing struct {
	*prover
	owner  []int // of each check, the constraint that it belongs to
	doubts []string
	// others set the properties beside the union's, if a constraint counts them.
	others []change
}

// collect makes checks of all constraints. It returns what cannot be evaluated,
// and marks the constraints that cannot.
func (q *comparing) collect(given []Constraint, unclear []bool) []string {
	var broken []string
	n, level := q.chain.object(), len(q.nodes)-1
	add := func(t *test, owner int) {
		if t.broken != nil {
			broken = append(broken, fmt.Sprintf("%s at %s: %v", (&check{test: t}).name(), t.at, t.broken))
			unclear[owner] = true
			return
		}
		k, _ := classify(q.chain, level, t, q.u)
		k.links = false
		k.id = len(q.checks)
		q.checks = append(q.checks, k)
		q.owner = append(q.owner, owner)
	}
	l := ownersOfRules(given, n)
	for i, t := range n.tests() {
		add(t, l[i])
	}
	inAllOf := having(given, allOfKey)
	for _, t := range constraints(n) {
		if t.text == allOfKey {
			add(t, inAllOf[0])
			inAllOf = inAllOf[1:]
			continue
		}
		key, _, _ := strings.Cut(t.text, ":")
		add(t, having(given, key)[0])
	}
	q.static = !q.u.Ratchet && !slices.ContainsFunc(q.checks, func(k *check) bool { return k.usesOld })
	return broken
}

// having are the indices of the constraints with a key.
func having(constraints []Constraint, key string) []int {
	var l []int
	for i, c := range constraints {
		if c.Key == key {
			l = append(l, i)
		}
	}
	return l
}

// ownersOfRules are the constraints that the rules of n belong to: rules of its
// own, then those in allOf.
func ownersOfRules(constraints []Constraint, n *node) []int {
	l := having(constraints, ruleKey)
	for i, owner := range having(constraints, allOfKey) {
		for range rulesIn(&n.schema.AllOf[i]) {
			l = append(l, owner)
		}
	}
	return l
}

// rulesIn counts the rules in a schema and in its allOf.
func rulesIn(s *apiextensionsv1.JSONSchemaProps) int {
	n := len(s.XValidations)
	for i := range s.AllOf {
		n += rulesIn(&s.AllOf[i])
	}
	return n
}

// run tries everything and returns the differences.
func (q *comparing) run(g *generator) *findings {
	f := &findings{prover: q.prover, complete: true}
	q.enumerate(f)
	q.create(f)
	if !q.static && (q.correlates() || q.u.Ratchet) {
		q.update(f)
	}
	q.rewrite(f)
	sampled := !f.complete
	f.complete = true
	ways := q.completions(g)
	q.settle(f, ways)
	q.disturb(g, f, ways)
	told := q.combine(f)
	for _, k := range q.checks {
		if what := k.impure(); what != "" {
			q.doubts = append(q.doubts, fmt.Sprintf("%s at %s %s", k.name(), k.at, what))
		}
	}
	if sampled && (told || len(f.found)+len(q.doubts) > 0 || !q.static || !q.covered()) {
		f.complete = false
	}
	return f
}

// settle decides the pairs that constraints reject which look at more than the
// union. Where the union allows one, that is a difference. Where it does not, they
// may accept it with other values of what they look at.
func (q *comparing) settle(f *findings, ways []*completion) {
	slices.SortFunc(f.open, func(a, b pair) int { return q.size(a.old, a.new).compare(q.size(b.old, b.new)) })
	w := q.worker()
	left, last := maxCompleting, 0
	for _, o := range f.open {
		if q.allows(o) {
			f.refused(w.rejecting(o.scope, o.old, o.new, nil), o, nil)
			continue
		}
		for i := range ways {
			if left--; left < 0 || q.ctx.Err() != nil {
				f.complete = false
				return
			}
			// What helped before is likely to help again.
			k := (last + i) % len(ways)
			if len(w.rejecting(o.scope, o.old, o.new, ways[k])) == 0 {
				f.compareWith(w, o.scope, o.old, o.new, true, ways[k])
				last = k
				break
			}
		}
	}
}

// allows reports whether the union allows a creation or an update.
func (p *prover) allows(o pair) bool {
	if !o.old.exists() {
		return len(p.u.Judge(nil, p.state(o.new))) == 0
	}
	was := p.state(o.old)
	return len(p.u.Judge(&was, p.state(o.new))) == 0
}

// refused notes checks that reject a pair which the union allows.
func (f *findings) refused(by []*check, o pair, with *completion) {
	for _, k := range by {
		n := finding{size: f.size(o.old, o.new), old: o.old, new: o.new, check: k, with: with}
		if with != nil {
			n.size[2] = len(with.changes)
		}
		f.add(kind{check: k.id}, n)
	}
}

// disturb looks for objects that the union allows and a constraint rejects because
// of something beside the union.
func (q *comparing) disturb(g *generator, f *findings, ways []*completion) {
	left := maxCompleting
	for _, k := range q.checks {
		if k.opaque || len(k.also)+len(k.beside) == 0 {
			continue
		}
		for _, o := range q.legal(k) {
			if _, found := f.found[kind{check: k.id}]; found {
				break
			}
			for _, way := range ways {
				if left--; left < 0 || q.ctx.Err() != nil {
					f.complete = false
					return
				}
				if q.depends(g, k, o, way) {
					f.refused([]*check{k}, o, way)
					break
				}
			}
		}
	}
}

// legal are pairs that the union allows.
func (q *comparing) legal(k *check) []pair {
	if k.usesOld {
		return q.prover.legal(k, q.bases())
	}
	var l []pair
	for _, c := range q.cells {
		if c.legal {
			l = append(l, pair{nothing, c.point, everything})
		}
	}
	return l
}

// completions are other values of what the constraints read beside the union and,
// for those that count properties, every number of the others that the object may
// have.
func (q *comparing) completions(g *generator) []*completion {
	var reading []*check
	for _, k := range q.checks {
		switch {
		case k.counts == 0:
			reading = append(reading, k)
		case q.others == nil: // the same for all that count
			q.others = q.crowd(g, k)
		}
	}
	var l []*completion
	for i := range q.others {
		l = append(l, &completion{q.others[:i+1]})
	}
	return append(l, g.completions(q.prover, reading...)...)
}

// crowd sets all properties that a constraint counts beside the union's.
func (q *comparing) crowd(g *generator, k *check) []change {
	var l []change
	for _, name := range k.more(q.u) {
		v := variable{k.level, []string{name}, false, -1}
		values := g.fillings(q.chain, v, nil)
		if len(values) == 0 || values[0] == any(absent{}) {
			q.doubts = append(q.doubts, fmt.Sprintf("%s at %s counts %s, for which no valid value was found", k.name(), k.at, name))
			continue
		}
		l = append(l, change{v, values[0]})
	}
	return l
}

// impure says what a constraint looks at beside the state of the union, as far as
// not all that may be was tried, or nothing.
func (k *check) impure() string {
	s := k.node.schema
	open := s.AdditionalProperties != nil || s.XPreserveUnknownFields != nil || s.XEmbeddedResource
	switch {
	case k.counts != 0 && open:
		return "counts properties that the schema does not name"
	case k.counts != 0:
		return ""
	case k.same:
		return "compares whole objects"
	case k.mixed != "":
		return "reads " + k.mixed + ", of which only some values were tried"
	}
	return ""
}
