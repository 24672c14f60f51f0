package verify

import (
	"fmt"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/union"
)

// combine makes sure that trying one other way of writing at a time was enough. It
// is when no constraint tells two ways of writing the same state apart, or when
// they do so for one property only. It tries every combination of the ways to write
// what a constraint reads and, if it counts properties, of the number of others. It
// reports whether there is something that they tell apart.
func (q *comparing) combine(f *findings) bool {
	w := q.worker()
	left := maxCompleting
	told := map[int]bool{} // properties, as in alternate, and others
	for _, k := range q.checks {
		if q.ctx.Err() != nil {
			break
		}
		q.combinations(k, func(pt point, changed []int, as *completion) bool {
			if left--; left < 0 {
				f.complete = false
				return false
			}
			if (w.ask(k, nothing, pt, as) == holds) == (w.ask(k, nothing, pt, nil) == holds) {
				return true
			}
			for _, property := range changed {
				told[property] = true
			}
			o := pair{nothing, pt, everything}
			rejecting := w.rejecting(everything, nothing, pt, as)
			switch allowed := q.allows(o); {
			case allowed && len(rejecting) > 0:
				f.refused(rejecting, o, as)
			case !allowed && len(rejecting) == 0:
				f.compareWith(w, everything, nothing, pt, true, as)
			}
			return true
		})
	}
	if len(told) > 1 {
		var names []string
		for property := range len(q.u.Members) + 1 {
			if told[property] {
				names = append(names, q.propertyName(property))
			}
		}
		if told[others] {
			names = append(names, "other properties")
		}
		q.doubts = append(q.doubts, fmt.Sprintf("the constraints tell ways to write %s apart that are the same to the union; not all combinations were tried", enumerated(names)))
	}
	return len(told) > 0
}

// propertyName is that of a property as alternates count them.
func (p *prover) propertyName(property int) string {
	if property == 0 {
		return p.u.Discriminator
	}
	return p.u.Members[property-1].Name
}

// others stands for the properties beside the union's among those of the union.
const others = -1

// way is a way to write a property.
type way struct {
	set   bool
	value int16 // of the discriminator
	// as is how it differs from the usual way to write the same state.
	as []change
}

// waysOf are the ways to write a property that a constraint might tell apart, the
// usual ones first.
func (q *comparing) waysOf(k *check, property int) []way {
	var l []way
	switch {
	case property == others:
		for i := range len(q.others) + 1 {
			l = append(l, way{as: q.others[:i]})
		}
		return l
	case property == 0:
		for _, v := range q.choices() {
			l = append(l, way{value: v})
		}
	case q.members[property-1] != nil:
		l = []way{{}, {set: true}}
	default:
		l = []way{{}}
	}
	for _, a := range q.alts {
		if a.property == property && q.mayTell(k, a) {
			v := variable{len(q.nodes) - 1, []string{q.propertyName(property)}, false, property - 1}
			l = append(l, way{set: !a.unset, as: []change{{v, a.value}}})
		}
	}
	return l
}

// combinations calls try with every state of what a constraint reads, written in
// every combination of other ways that it might tell from the usual one, until try
// returns false.
func (q *comparing) combinations(k *check, try func(pt point, changed []int, as *completion) bool) {
	var properties []int
	var ways [][]way
	differ := false
	for property := others; property <= len(q.u.Members); property++ {
		if !k.looksAt(q.u, property) {
			continue
		}
		l := q.waysOf(k, property)
		if len(l) == 0 {
			return // the discriminator has no value
		}
		differ = differ || len(l[len(l)-1].as) > 0
		properties, ways = append(properties, property), append(ways, l)
	}
	if !differ {
		return
	}
	at := make([]int, len(ways))
	for {
		var pt point
		var changed []int
		as := &completion{}
		for i, property := range properties {
			w := ways[i][at[i]]
			if w.set {
				pt.set = pt.set.flipped(property - 1)
			}
			if property == 0 {
				pt.value = w.value
			}
			if len(w.as) > 0 {
				changed = append(changed, property)
				as.changes = append(as.changes, w.as...)
			}
		}
		if len(changed) > 0 && !try(pt, changed, as) {
			return
		}
		i := 0
		for i < len(at) && at[i]+1 == len(ways[i]) {
			at[i] = 0
			i++
		}
		if i == len(at) {
			return
		}
		at[i]++
	}
}

// looksAt reports whether a constraint reads a property of the union; 0 is the
// discriminator.
func (k *check) looksAt(u *union.Union, property int) bool {
	r := k.reads[0]
	switch property {
	case others:
		return k.counts != 0
	case 0:
		return u.Discriminator != "" && (r.value || r.whole)
	}
	return r.whole || r.set.has(property-1)
}

// mayTell reports whether a constraint that reads a property might tell another way
// of writing it from the usual one. Rules take null for absent. A value of a member
// tells nothing to those that only ask whether the member is there; those that ask
// for more are never proved to be equivalent.
func (q *comparing) mayTell(k *check, a alternate) bool {
	if a.value == nil {
		return k.rule == nil
	}
	return a.property == 0 || q.u.Members[a.property-1].Empty != union.PresentWhenEmpty
}

// beside says what else an example needs: how properties of the union are written,
// where not in the usual way, and which others it has.
func (p *prover) beside(n finding) []string {
	var l []string
	add := func(name string, v any) {
		if text := name + " is " + briefly(v); !slices.Contains(l, text) {
			l = append(l, text)
		}
	}
	for _, pt := range []point{n.old, n.new} {
		if pt.exists() && pt.alt > 0 {
			a := p.alts[pt.alt-1]
			add(p.propertyName(a.property), a.value)
		}
	}
	if n.with != nil {
		for _, ch := range n.with.changes {
			add(strings.Join(ch.path, "."), ch.value)
		}
	}
	return l
}

// briefly is a value in a word or two.
func briefly(v any) string {
	switch v := v.(type) {
	case absent:
		return "not set"
	case nil:
		return "null"
	case string:
		return "'" + v + "'"
	case map[string]any:
		if len(v) == 0 {
			return "{}"
		}
	case []any:
		if len(v) == 0 {
			return "[]"
		}
	default:
		return fmt.Sprint(v)
	}
	return "set"
}
