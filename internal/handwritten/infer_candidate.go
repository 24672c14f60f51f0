package handwritten

import (
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// maxMembers is the maximum number of members. No hand-written union has more.
const maxMembers = 256

// candidate is a union that conditions may describe.
type candidate struct {
	*candidateObject
	union *union.Union
	// tentative candidates are reported only if they are proved. fallback candidates count only if
	// no other candidate has their properties.
	tentative, fallback bool
	// others are variants, in order of likelihood.
	others []*union.Union
	// within are the conditions that read only properties of the union.
	within []*condition
	// resolved is the union resolved against the schema. replaced are the conditions that every
	// object allowed by the union satisfies.
	resolved *union.Union
	replaced []*condition
}

// mayDeclare resolves the union. It reports whether the union may be declared and replaces conditions.
func (c *candidate) mayDeclare() bool {
	c.resolved = c.resolve(c.union)
	for i := 0; c.resolved == nil && i < len(c.others); i++ {
		c.resolved = c.resolve(c.others[i])
	}
	if c.resolved == nil {
		return false
	}
	c.replaced = c.implied(c.resolved)
	if len(c.replaced) == 0 {
		// The conditions may describe the union although it implies none of them.
		c.replaced = c.within
	}
	return len(c.replaced) > 0
}

// resolve checks the declaration of u, together with unions found, like the compiler. It returns the
// resolved union, or nil if the unions may not be declared.
func (o *candidateObject) resolve(u *union.Union, others ...Found) *union.Union {
	value := yamltext.ListNode(u.Node())
	for _, f := range others {
		value.Content = append(value.Content, f.Union.Node())
	}
	declarations, diags := union.Parse("", "", value, &diag.Pos{Line: 1, Col: 1})
	if diags.HasErrors() {
		return nil
	}
	unions, diags := verify.Resolve(declarations, o.schema, o.resource)
	if diags.HasErrors() {
		return nil
	}
	return unions[0]
}

// admits reports whether m may be a member of a union.
func (o *candidateObject) admits(m union.Member) bool {
	return o.resolve(&union.Union{Members: []union.Member{m}}) != nil
}

// implied returns the conditions that accept every object that u allows.
func (c *candidate) implied(u *union.Union) []*condition {
	_, broken := verify.Broken(c.space, u, c.at(0))
	legal := c.space.Or(broken...).Not()
	var l []*condition
	for _, k := range c.within {
		if !c.possible(legal, k.holds.Not()) {
			l = append(l, k)
		}
	}
	return l
}

// declared returns u in the form to declare: it omits a cardinality that is the default.
func (o *candidateObject) declared(u *union.Union) *union.Union {
	if u.Discriminator == "" {
		return u
	}
	d := *u
	d.Cardinality = 0
	if r := o.resolve(&d); r != nil && r.Cardinality == u.Cardinality {
		return &d
	}
	return u
}
