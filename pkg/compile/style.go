package compile

import (
	"fmt"
	"slices"

	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/union"
)

// style determines how the rules of one union are written.
type style struct {
	encoding rules.Encoding
	ratchet  rules.Comparison // in the static rules, of unions that ratchet
	change   rules.Comparison // in the rules on changes
	noClear  bool             // the rules on changes are left out
}

// longUnion is the number of members beyond which a union without a discriminator gets fine
// rules only on request: their length grows quadratically.
const longUnion = 12

// longestFine is the most members for which a union without a discriminator may get fine rules.
const longestFine = 100

var tooManyForFine = fmt.Sprintf("with more than %d members fine rules would be too long", longestFine)

// encodings returns the encodings for u in order of preference: by default the rules that a
// careful author would write, then from the least expensive rules to the fewest.
func (c *compiler) encodings(u *union.Union) []rules.Encoding {
	n := max(len(u.Members), 1) // no members count as one group
	switch {
	case c.opts.Encoding == Fine && !u.Ratchet && (u.Discriminator != "" || n <= longestFine):
		return []rules.Encoding{rules.Fine}
	case u.Discriminator != "" && c.opts.Encoding == Auto && !u.Ratchet:
		l := []rules.Encoding{rules.Paired, rules.Fine}
		for _, groups := range slices.Backward(groupings(n)) {
			if groups < n || n == 1 || u.Deduce { // else a group per member equals paired
				l = append(l, rules.Encoding(groups))
			}
		}
		return l
	case u.Discriminator != "":
		return encodingsOf(groupings(n))
	}
	// Without a discriminator two groups make one rule, and fewer groups give better
	// messages.
	l := encodingsOf(slices.DeleteFunc(groupings(n), func(groups int) bool { return groups == 2 }))
	var preferred []rules.Encoding
	if !u.Ratchet && c.opts.Encoding == Auto {
		preferred = append(preferred, rules.Paired)
		if n <= longUnion {
			preferred = append(preferred, rules.Fine)
		}
	}
	return append(preferred, l...)
}

func encodingsOf(groups []int) []rules.Encoding {
	var l []rules.Encoding
	for _, n := range groups {
		l = append(l, rules.Encoding(n))
	}
	return l
}

// groupings returns the numbers of groups worth trying for n members, ascending from one to n:
// all that differ in the size of the groups, or powers of two for many members, whose rules
// take long to cost.
func groupings(n int) []int {
	var l []int
	if n > 64 {
		for groups := 1; groups < n; groups *= 2 {
			l = append(l, groups)
		}
		return append(l, n)
	}
	for size := n; size >= 1; size-- {
		groups := (n + size - 1) / size
		if len(l) == 0 || groups > l[len(l)-1] {
			l = append(l, groups)
		}
	}
	return l
}

// mostRatchets is the number of rules beyond which splitting a union that ratchets is not
// worth the bytes.
const mostRatchets = 16

// ratchets returns the styles of the static rules of a union that ratchets, the fewest rules
// first.
func (c *compiler) ratchets(u *union.Union) []style {
	var l []style
	for _, encoding := range c.encodings(u) {
		for _, change := range comparisons(u, len(u.Members)+1) {
			if int(encoding)*change.Parts <= mostRatchets {
				l = append(l, style{encoding: encoding, ratchet: change})
			}
		}
	}
	slices.SortStableFunc(l, func(a, b style) int {
		return int(a.encoding)*a.ratchet.Parts - int(b.encoding)*b.ratchet.Parts
	})
	return l
}

// comparisons returns the ways to compare old and new state in at most the given number of
// parts, the fewest parts first.
func comparisons(u *union.Union, most int) []rules.Comparison {
	var l []rules.Comparison
	for _, parts := range groupings(most) {
		l = append(l, rules.Comparison{Parts: parts})
		if u.Discriminator != "" {
			l = append(l, rules.Comparison{Parts: parts, Lookup: true})
		}
	}
	return l
}
