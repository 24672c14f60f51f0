package verify

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/unioncel/unioncel/pkg/union"
)

// check is a test on a schema of the chain, and what of the union it reads.
type check struct {
	*test
	id    int
	level int // index of the schema in the chain; len(chain) is the discriminator
	node  *node
	steps []string // from there to the union object, as far as they are properties
	// reads is what the verdict depends on, of the new and the old object.
	reads [2]projection
	// links says that of the union it reads only whether its object is there.
	links bool
	// mixed says what else it reads, empty when its verdict is about the union
	// and nothing else.
	mixed string
	// opaque says that it reads objects as a whole, the union's among them.
	opaque bool
	// same says that besides it compares the whole union object with the old
	// one, so that it is sure of itself as long as the two differ.
	same bool
	// also are the other things it reads.
	also []variable
	// beside are properties that a constraint counts together with the union's.
	beside []variable
	// beyond says how it reads the discriminator when it does more than tell known
	// values from others, so that trying those says little about the rest.
	beyond string
}

// projection is the part of a point that is read.
type projection struct {
	whole, value bool
	set          set
}

func (r projection) of(p point, alts []alternate) point {
	if r.whole || !p.exists() {
		return p
	}
	if p.alt > 0 {
		if a := alts[p.alt-1].property; a == 0 && !r.value || a > 0 && !r.set.has(a-1) {
			p.alt = 0
		}
	}
	if !r.value {
		p.value = 0
	}
	p.set = p.set.and(r.set)
	return p
}

// variable is something other than the union that a check reads.
type variable struct {
	level int
	path  []string
	old   bool
	// member is the member of the union that it lies in, or -1.
	member int
}

func (v variable) equal(w variable) bool { return v.level == w.level && slices.Equal(v.path, w.path) }

// classify finds out what a test on the schema at level reads of u. ok is false
// when that is nothing.
func classify(c *chain, level int, t *test, u *union.Union) (k *check, ok bool) {
	k = &check{test: t, level: level, links: true}
	if level < len(c.nodes) {
		k.node = c.nodes[level]
	} else {
		k.node = c.object().property(u.Discriminator)
	}
	for _, s := range c.steps[min(level, len(c.steps)):] {
		if s.kind != property {
			break
		}
		k.steps = append(k.steps, s.name)
	}
	linked := false
	for _, r := range t.reads {
		switch k.place(c, r, u) {
		case touches:
			k.links = false
		case linksTo:
			linked = true
		}
	}
	return k, !k.links || linked
}

// relation is how something read relates to a union.
type relation int

const (
	elsewhere relation = iota
	linksTo            // only to whether the union object is there
	touches
)

func (k *check) place(c *chain, r read, u *union.Union) relation {
	side := &k.reads[0]
	if r.old {
		side = &k.reads[1]
	}
	if k.level == len(c.nodes) {
		k.discriminate(side, r, u)
		return touches
	}
	steps := c.steps[k.level:]
	if k.counts != 0 && len(steps) > 0 {
		return linksTo
	}
	for i, s := range steps {
		switch {
		case i == len(r.path) && r.kind == presence && i > 0:
			return linksTo
		case i == len(r.path) || s.kind != property:
			return k.wholly(side, r, u, strings.Join(r.path, "."))
		case r.path[i] != s.name:
			k.add(r, -1)
			if i > 0 {
				return linksTo // it cannot be read when the link is not there
			}
			return elsewhere
		}
	}
	rest := r.path[len(steps):]
	if len(rest) == 0 {
		if r.kind == presence && len(steps) > 0 {
			return linksTo
		}
		return k.wholly(side, r, u, strings.Join(r.path, "."))
	}
	if rest[0] == u.Discriminator {
		k.discriminate(side, r, u)
		return touches
	}
	i := slices.Index(u.MemberNames(), rest[0])
	if i < 0 {
		k.add(r, -1)
		return elsewhere
	}
	side.set[i/64] |= 1 << (i % 64)
	if !tellsPresence(u.Members[i], rest[1:], r.kind) {
		k.add(r, i)
	}
	return touches
}

// discriminate notes a read of the discriminator.
func (k *check) discriminate(side *projection, r read, u *union.Union) {
	side.value = true
	if r.kind == content && k.beyond == "" {
		k.beyond = u.Discriminator
		if r.by != "" {
			k.beyond += " by " + r.by
		}
	}
}

// tellsPresence reports whether a read at a member, or below it, says no more
// than whether the member is set.
func tellsPresence(m union.Member, below []string, kind readKind) bool {
	switch {
	case len(below) == 0:
		return kind == presence || kind == emptiness && m.Empty != union.PresentWhenEmpty
	case len(below) == 1:
		return kind == presence && m.Empty == union.EmptyObject && slices.Contains(m.Fields, below[0])
	}
	return false
}

// wholly is a read of the union object, or of what holds it, as a whole.
func (k *check) wholly(side *projection, r read, u *union.Union, what string) relation {
	side.whole = true
	name := "self"
	if what != "" {
		name += "." + what
	}
	switch {
	case k.counts == atMost:
		for _, name := range k.more(u) {
			k.beside = append(k.beside, variable{k.level, []string{name}, false, -1})
		}
	case k.counts == atLeast:
		for _, name := range k.more(u) {
			k.add(read{path: []string{name}}, -1)
		}
		k.opaque = k.opaque || k.node.schema.AdditionalProperties != nil || k.node.schema.XPreserveUnknownFields != nil
	case r.kind == sameness:
		k.same = true
	default:
		k.opaque = true
		if k.rule != nil && u.Discriminator != "" && k.beyond == "" {
			k.beyond = name + " as a whole"
		}
	}
	if k.opaque && k.mixed == "" {
		k.mixed = name + " as a whole"
	}
	return touches
}

// more are the properties beside the union's that an object may have or lack:
// they may be what makes a check that counts hold or fail.
func (k *check) more(u *union.Union) []string {
	s := k.node.schema
	var l []string
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		always := slices.Contains(s.Required, name) || k.node.root && slices.Contains([]string{"apiVersion", "kind", "metadata"}, name)
		if name != u.Discriminator && !slices.Contains(u.MemberNames(), name) && !always {
			l = append(l, name)
		}
	}
	return l
}

// add notes a read of something else, or of what is in a member.
func (k *check) add(r read, member int) {
	if k.mixed == "" {
		k.mixed = "self." + strings.Join(r.path, ".")
	}
	v := variable{k.level, r.path, r.old, member}
	if !slices.ContainsFunc(k.also, func(w variable) bool { return v.equal(w) && v.old == w.old }) {
		k.also = append(k.also, v)
	}
}

// sure reports whether a rejection of new, coming from old, is about the union
// and nothing else: there is nothing that could be chosen otherwise.
func (k *check) sure(old, new point, removals []removal) bool {
	if k.opaque || k.same && !differ(old, new) {
		return false
	}
	for _, v := range k.also {
		pt := new
		if v.old {
			pt = old
		}
		switch {
		case pt == nothing:
		case v.member >= 0 && pt.exists():
			if pt.set.has(v.member) {
				return false
			}
		case pt.exists() || !k.below(v, removals[pt.gone-1].level):
			return false
		}
	}
	return true
}

// differ reports whether the union objects of an update cannot be equal, whatever
// else is in them.
func differ(old, new point) bool {
	return old != nothing && (old.exists() != new.exists() || old.value != new.value || old.set != new.set)
}

// below reports whether a variable lies below the link that the schema at level
// has lost.
func (k *check) below(v variable, level int) bool {
	n := level - k.level + 1
	return n > 0 && n <= len(k.steps) && len(v.path) > n && slices.Equal(v.path[:n], k.steps[:n])
}

// name is how messages call the check.
func (k *check) name() string {
	if k.rule == nil {
		return k.text
	}
	return fmt.Sprintf("rule %q", k.text)
}
