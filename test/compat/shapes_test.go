//go:build compat

package compat

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/unioncel/unioncel/internal/testing/unioncases"
	"github.com/unioncel/unioncel/pkg/compile"
)

// askGroups asks about the unions of internal/testing/unioncases.
func askGroups(v *version, send func(*question)) {
	groupsOnce.Do(func() { groups = allGroups(v.T) })
	for _, g := range groups {
		if q := g.question(v); q != nil {
			send(q)
		}
	}
}

var (
	groupsOnce sync.Once
	groups     []*group
)

func allGroups(t *testing.T) []*group {
	var l []*group
	turn := 0
	for _, s := range slices.Concat(unioncases.Shapes(), unioncases.Escaped()) {
		turn++
		l = append(l, shapeGroups(t, s, turn, encodings)...)
	}
	for _, s := range unioncases.Further() {
		turn++
		l = append(l, shapeGroups(t, s, turn, encodings[turn%2:turn%2+2])...)
	}
	l = append(l, storedGroups()...)
	return l
}

// encodings are the encodings of rules.
var encodings = []compile.Encoding{compile.Auto, compile.Fine, compile.Compact}

// shapeGroups returns the cases of a shape in the given encodings. Evaluating all unions in all
// encodings and places on all pairs of states takes too long, so there are two kinds of groups.
// Groups of the first kind have unions without conditions on changes: all of them, or every second
// or third, in every encoding. They try every state on create, unchanged, and updated from another
// state. Groups of the second kind have unions with such conditions, and alternate between unions,
// encodings and places. As a property they try all pairs of states; with four members and in other
// places they try a sample.
func shapeGroups(t *testing.T, s unioncases.Shape, turn int, encodings []compile.Encoding) []*group {
	var still, moving []string
	for _, d := range s.Declarations() {
		if strings.Contains(d, "discriminatorChange: Allow") && !strings.Contains(d, "ratchet") || strings.Contains(d, "AtLeastOne") && !strings.Contains(d, "ratchet") {
			still = append(still, d)
		} else {
			moving = append(moving, d)
		}
	}
	var l []*group
	add := func(name string, encoding compile.Encoding, p place, schema string, declarations []string, pairs pairing) {
		if len(declarations) == 0 {
			return
		}
		g := &group{name: s.String() + ": " + name, encoding: encoding, place: p, schema: schema, declarations: declarations}
		g.fill(s, pairs)
		l = append(l, g)
	}

	for i, encoding := range encodings {
		add("states", encoding, property, s.Schema(), every(still, 1+s.Members/2, turn+i), few)
		// Every union is also in another place.
		p := []place{listMap, plainList, mapValue, inStatus}[(turn+i)%4]
		add("states", encoding, p, s.Schema(), every(still, 4, turn+i), few)
	}
	add("states", encodings[turn%len(encodings)], root, s.Schema(), every(still, len(still), turn*7), few)

	most := []int{0, 4, 3, 1, 1}[s.Members] // unions in each encoding
	for i, encoding := range encodings {
		step := max(1, len(moving)/most)
		add("changes", encoding, property, s.Schema(), every(moving, step, turn*5+i*step/4), all)
	}
	for i, p := range []place{listMap, mapValue, inStatus, root} {
		if s.Members < 3 && (turn+i)%2 == 0 {
			continue // there are many such shapes
		}
		encoding := encodings[(turn+i)%len(encodings)]
		n := 2
		if p.root || s.Members > 2 {
			n = 1
		}
		step := (len(moving) + n - 1) / n
		add("changes", encoding, p, s.Schema(), every(moving, step, turn*11+i*3), some)
	}
	// A union in a list has no old object, and must not have conditions on it.
	quiet := slices.DeleteFunc(slices.Clone(moving), func(d string) bool {
		return strings.Contains(d, "Changes") || strings.Contains(d, "Forbid") && strings.Contains(d, "discriminatorChange") || strings.Contains(d, "ratchet")
	})
	add("changes", encodings[turn%len(encodings)], plainList, s.Schema(), every(quiet, 6, turn), few)

	return l
}

// every returns every n-th item of l. The first one depends on start.
func every(l []string, n, start int) []string {
	var some []string
	for i := range l {
		if n > 0 && (i+start)%n == 0 {
			some = append(some, l[i])
		}
	}
	return some
}

// pairing selects the pairs of states to try.
type pairing int

const (
	few  pairing = iota // every state unchanged, and from another state
	some                // a sample
	all                 // all, but a sample for large unions
)

func (p pairing) has(i, j, states int) bool {
	switch {
	case i == j:
		return true
	case p == few:
		return (i+j)%states == 1
	case p == some, states > 100:
		return (i*7+j*3)%max(4, states/12) == 0
	}
	return true
}

// fill adds objects and asks. It tries one way to write each pair of states, and alternates between
// them.
func (g *group) fill(s unioncases.Shape, pairs pairing) {
	states := s.States()
	type writing struct {
		state, way   int
		note, beside bool
	}
	written := map[writing]int{}
	add := func(w writing) int {
		i, ok := written[w]
		if !ok {
			i = len(g.objects)
			written[w] = i
			o := instance{note: w.note, beside: w.beside}
			if w.state >= 0 {
				o.fields = states[w.state].Objects[w.way]
			}
			g.objects = append(g.objects, o)
		}
		return i
	}
	turn := 0
	next := func(state int) writing {
		turn++
		return writing{state: state, way: turn * 7 % len(states[state].Objects)}
	}
	addAsk := func(old, new int) { g.asks = append(g.asks, ask{Old: old, New: new}) }

	for j := range states {
		if !g.place.status { // creating drops the status
			addAsk(-1, add(next(j)))
		}
		for i := range states {
			if !pairs.has(i, j, len(states)) {
				continue
			}
			old, new := next(i), next(j)
			if i == j {
				// Nothing changes, then something alongside the union object, then something in it.
				addAsk(add(old), add(old))
				beside, note := old, old
				beside.beside, note.note = true, true
				addAsk(add(old), add(note))
				if g.place.name != property.name {
					addAsk(add(old), add(beside))
				}
			}
			new.note, new.beside = turn%3 == 0, turn%5 == 0
			addAsk(add(old), add(new))
		}
		if g.place.name == property.name && j%2 == 0 {
			g.asks = append(g.asks, ask{Old: add(next(j)), New: add(writing{state: (j + 1) % len(states)}), Status: true})
		}
		if !g.place.root && (pairs != few || j%3 == 0) {
			// The union object is removed, and added.
			addAsk(add(next(j)), add(writing{state: -1}))
			addAsk(add(writing{state: -1}), add(next(j)))
		}
	}
	if g.place.status {
		for i := range g.asks {
			g.asks[i].Status = true
		}
	}
}

// storedGroups returns groups with objects that the schema rejects, and that an older schema
// accepted.
func storedGroups() []*group {
	var l []*group
	for i, s := range unioncases.Stored {
		for _, encoding := range encodings {
			g := &group{name: "stored: " + s.Name, encoding: encoding, place: property, schema: s.Schema, declarations: unioncases.StoredDeclarations()}
			for _, o := range unioncases.StoredObjects() {
				g.objects = append(g.objects, instance{fields: o})
			}
			n := len(g.objects)
			for _, o := range unioncases.StoredObjects() {
				g.objects = append(g.objects, instance{fields: o, note: true})
			}
			for j := range n {
				g.asks = append(g.asks, ask{Old: -1, New: j}, ask{Old: j, New: j}, ask{Old: j, New: n + j}, ask{Old: j, New: (j + 1) % n, Status: true})
				for k := range n {
					if (j*3+k)%7 == i%7 {
						g.asks = append(g.asks, ask{Old: j, New: k})
					}
				}
			}
			l = append(l, g)
		}
	}
	return l
}
