package verify

import (
	"iter"
	"math/bits"
	"slices"

	"github.com/unioncel/unioncel/pkg/union"
)

// maxMembers is how many members a union may have.
const maxMembers = 256

// set is a set of members, by index.
type set [maxMembers / 64]uint64

func (s set) has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

func (s set) flipped(i int) set {
	s[i/64] ^= 1 << (i % 64)
	return s
}

func (s set) and(t set) set {
	for i := range s {
		s[i] &= t[i]
	}
	return s
}

func (s set) or(t set) set {
	for i := range s {
		s[i] |= t[i]
	}
	return s
}

func (s set) count() int {
	n := 0
	for _, word := range s {
		n += bits.OnesCount64(word)
	}
	return n
}

// distance is the number of members that are in one of two sets only.
func (s set) distance(t set) int {
	for i := range s {
		s[i] ^= t[i]
	}
	return s.count()
}

// point is one way to write one state of the union: the usual one, but for at
// most one property. It may also stand for a resource without the union object.
type point struct {
	value int16 // index of the discriminator's value; 0 is unset
	set   set   // of the members that are set
	alt   int16 // 1 + index of the property written otherwise; 0 for none
	gone  int16 // 1 + index of the removal; 0 when the union object is there
}

// nothing is the old side of a creation.
var nothing = point{gone: -1}

// exists reports whether the union object is there.
func (p point) exists() bool { return p.gone == 0 }

// alternate is another way to write a property than the usual one.
type alternate struct {
	property int // 0 for the discriminator, 1 + index for members
	unset    bool
	value    any
}

// suits reports whether a state can be written with the alternate.
func (a alternate) suits(p point) bool {
	if a.property == 0 {
		return p.value == 0
	}
	return p.set.has(a.property-1) != a.unset
}

// state is that of a point in terms of the model.
func (p *prover) state(pt point) union.State {
	s := union.State{Value: p.values[pt.value], Present: make([]bool, len(p.u.Members))}
	for i := range s.Present {
		s.Present[i] = pt.set.has(i)
	}
	return s
}

// subsets are all sets of the given members, small ones first.
func subsets(members []int) []set {
	l := make([]set, 0, 1<<len(members))
	for b := range 1 << len(members) {
		var s set
		for i, m := range members {
			if b&(1<<i) != 0 {
				s = s.flipped(m)
			}
		}
		l = append(l, s)
	}
	slices.SortStableFunc(l, func(a, b set) int { return a.count() - b.count() })
	return l
}

// around is s and all sets that differ from it in up to distance of the given
// members, near ones first.
func around(s set, members []int, distance int) iter.Seq[set] {
	return func(yield func(set) bool) {
		var flip func(s set, from, left int) bool
		flip = func(s set, from, left int) bool {
			if left == 0 {
				return yield(s)
			}
			for i := from; i < len(members); i++ {
				if !flip(s.flipped(members[i]), i+1, left-1) {
					return false
				}
			}
			return true
		}
		for d := 0; d <= distance; d++ {
			if !flip(s, 0, d) {
				return
			}
		}
	}
}
