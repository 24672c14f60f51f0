package infer

import (
	"slices"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// maxMembers is how many members a union may have; nobody writes more by hand.
const maxMembers = 256

// candidate is a union that conditions seem to describe.
type candidate struct {
	*object
	union *union.Union
	// tentative says that it is too unlikely to be worth mentioning unless it is proved,
	// fallback that nothing else may be found.
	tentative, fallback bool
	// others are nearly the same, in order of likelihood.
	others []*union.Union
	// within are the conditions that read nothing but its properties.
	within []*condition
	// resolved is the union with what the schema says about it, replaced those of
	// the conditions that every object it allows fulfils.
	resolved *union.Union
	replaced []*condition
}

// rank orders candidates: fallbacks come last.
func (c *candidate) rank() int {
	if c.fallback {
		return 1
	}
	return 0
}

// settle resolves the union, and reports whether it may be declared and replaces
// anything.
func (c *candidate) settle() bool {
	c.resolved = c.resolve(c.union)
	for i := 0; c.resolved == nil && i < len(c.others); i++ {
		c.resolved = c.resolve(c.others[i])
	}
	if c.resolved == nil {
		return false
	}
	c.replaced = c.implied(c.resolved)
	if len(c.replaced) == 0 {
		// What it does not imply it may still be meant for.
		c.replaced = c.within
	}
	return len(c.replaced) > 0
}

// resolve checks the declaration of u as the compiler does, and returns it as it
// should be written; nil when it may not be declared.
func (o *object) resolve(u *union.Union) *union.Union {
	value := yamltext.ListNode(u.Node())
	declarations, diags := union.Parse("", "", value, &diag.Pos{Line: 1, Col: 1})
	if diags.HasErrors() {
		return nil
	}
	unions, diags := union.Resolve(declarations, o.schema, o.resource)
	if diags.HasErrors() {
		return nil
	}
	return unions[0]
}

// eligible reports whether a union may have the property as a member.
func (o *object) eligible(name string) bool {
	return o.resolve(&union.Union{Members: []union.Member{{Name: name}}}) != nil
}

// implied returns the conditions that hold for every object that u allows.
func (c *candidate) implied(u *union.Union) []*condition {
	objects := c.legal(u)
	var l []*condition
	for _, k := range c.within {
		if !slices.ContainsFunc(objects, func(object []value) bool { return !k.accepts(object) }) {
			l = append(l, k)
		}
	}
	return l
}

// legal returns objects that u allows: those with up to one member set, and when
// several may be, those with up to two, and with all.
func (c *candidate) legal(u *union.Union) [][]value {
	var l [][]value
	conditions := u.Conditions()
	try := func(v value, members ...int) {
		s := union.State{Value: v.text, Present: make([]bool, len(u.Members))}
		for _, m := range members {
			s.Present[m] = true
		}
		if len(conditions.Broken(s, s)) > 0 {
			return
		}
		object := make([]value, len(c.names))
		if u.Discriminator != "" {
			object[c.slots[u.Discriminator]] = v
		}
		for _, m := range members {
			object[c.slots[u.Members[m].Name]] = full
		}
		l = append(l, object)
	}
	var every []int
	for i := range u.Members {
		every = append(every, i)
	}
	if u.Discriminator != "" {
		for _, v := range c.values(c.slots[u.Discriminator], c.within) {
			try(v)
			if selected := u.MembersOf(v.text); len(selected) > 0 {
				try(v, selected...)
				if len(selected) > 1 {
					try(v, slices.DeleteFunc(slices.Clone(selected), func(i int) bool { return slices.Contains(u.Members[i].Optional, v.text) })...)
				}
			} else if v.text == "" && u.Deduce {
				for _, i := range every {
					try(v, i)
				}
			}
		}
		return l
	}
	try(absent)
	for i := range every {
		try(absent, i)
		for j := range i {
			if u.Cardinality == union.AtLeastOne {
				try(absent, j, i)
			}
		}
	}
	try(absent, every...)
	return l
}

// declared is u as it should be written: without the cardinality that its
// discriminator has by default.
func (o *object) declared(u *union.Union) *union.Union {
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

// properties are all those that the union names.
func properties(u *union.Union) []string {
	l := u.MemberNames()
	if u.Discriminator != "" {
		l = append(l, u.Discriminator)
	}
	return l
}

// form is the one that most of the conditions have.
func form(l []*condition) Form {
	n := map[Form]int{}
	best := l[0].form
	for _, c := range l {
		if n[c.form]++; n[c.form] > n[best] {
			best = c.form
		}
	}
	return best
}
