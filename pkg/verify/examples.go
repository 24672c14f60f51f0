package verify

import (
	"context"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Examples finds resources that show what a union is about, whether or not any rule
// enforces it yet. They are the smallest there are, made of values that the schemas accept.
// As far as possible all other rules accept them, but for constraints of the union object
// on nothing but the state of the union, as they are to be shown, too. What is stored before
// an update could be created. Where a method returns nil, there is no example or none was
// found. Its errors are those of the context.
type Examples struct {
	*problem
	unchecked func() (*Examples, error)
	fails     []logic.Lit    // of the checks that should hold
	sizes     [2][]logic.Lit // of the new object and the old one: the more hold, the larger it is
}

// NewExamples reads the schemas of a CRD on the way to a union object; the path is that of
// [Object], and so are the errors. Unions are all those declared on the object. The CRD is
// without the rules of the union, which would forbid the examples.
func NewExamples(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, unions []*union.Union) (*Examples, error) {
	c, err := sample.ChainTo(crd, version, path)
	if err != nil {
		return nil, err
	}
	p, _, err := concerning(sample.NewSource(ctx, crd, version), c, u, unions)
	if err != nil {
		return nil, err
	}
	x := &Examples{problem: p}
	for _, c := range p.Checks {
		if _, own := x.constraint(c); !own || !c.Narrow {
			x.fails = append(x.fails, c.Holds.Not())
		}
	}
	for side, st := range []symbolic{prove.New: p.new, prove.Old: p.old} {
		size := slices.Clone(st.present)
		if d := st.discriminator; d != nil {
			selected := []logic.Lit{st.unset}
			for _, m := range u.Members {
				selected = append(selected, st.isOneOf(p.Space, m.Values))
			}
			// A value without a member is a poorer example than one with it.
			memberless := p.Space.Or(selected...).Not()
			size = append(size, d.Present(), st.unset.Not(), memberless, memberless)
		}
		x.sizes[side] = size
	}
	x.unchecked = func() (*Examples, error) {
		unchecked, err := NewExamples(ctx, lenient(crd, version, path.To(u.Path(u.Discriminator)...)), version, path, u, unions)
		if err == nil {
			unchecked.fails = nil // the server does not ask rules then
		}
		return unchecked, err
	}
	return x, nil
}

// Unchecked finds examples in which the discriminator may be what its own schema rejects:
// absent though it is required, and of any value. The error is that of [NewExamples].
func (x *Examples) Unchecked() (*Examples, error) { return x.unchecked() }

// Unset are the members of which no valid value was found: no example sets them.
func (x *Examples) Unset() []string {
	l := []string{}
	for i, err := range x.failures {
		if err != nil {
			l = append(l, x.u.Members[i].Name)
		}
	}
	return l
}

// Violating is the creation of an object in a state that violates a condition, and as
// little as possible besides it.
func (x *Examples) Violating(v union.Violation) (*Example, error) {
	breaks := x.violations(x.new)
	e, err := x.smallest(breaks, nil, append(x.creation(), broke(breaks, v.Condition, v.Member))...)
	return x.example(e), err
}

// Changing is an update between two states that violates a condition, and as little as
// possible besides it. If unset, it leaves nothing selected, and else something.
func (x *Examples) Changing(condition union.Condition, unset bool) (*Example, error) {
	s := x.Space
	_, breaks := x.legal()
	l := append(x.update(), x.new.exists, broke(breaks, condition, -1))
	var kept []logic.Lit
	if condition == union.NotCleared { // what was there
		for i := range x.u.Members {
			kept = append(kept, s.And(x.old.present[i], x.new.present[i]))
		}
		l = append(l, s.Or(kept...))
	}
	nothing := x.new.unset
	if x.u.Discriminator == "" {
		nothing = s.Or(x.new.present...).Not()
	} else {
		l = append(l, x.old.unset.Not()) // what is deduced is a poorer example
	}
	return x.stored(breaks, kept, append(l, nothing.If(unset))...)
}

// Removing is an update that removes the union object although it may not be, and no more
// than what is at a path that leads to it.
func (x *Examples) Removing(path schemapath.Path) (*Example, error) {
	level := len(path)
	if level <= x.Anchor() {
		return nil, nil
	}
	return x.stored(nil, nil, append(x.update(), x.removable().Not(), x.Places[level-1].Present(), x.Places[level].Present().Not())...)
}

// Refused is the creation of an object, or else an update, that the union allows and a
// constraint of its schema rejects.
func (x *Examples) Refused(by Constraint) (*Example, error) {
	legal, _ := x.legal()
	holds, changing := logic.True, false
	for _, c := range x.Checks {
		if own, ok := x.constraint(c); ok && own == by {
			holds, changing = x.Space.And(holds, c.Holds), changing || c.Changing
		}
	}
	e, err := x.smallest(nil, nil, append(x.creation(), legal, holds.Not())...)
	if e != nil || err != nil || !changing {
		return x.example(e), err
	}
	return x.stored(nil, nil, append(x.update(), x.new.exists, legal, holds.Not())...)
}

// constraint is the one of the union object's schema to which a check belongs; ok is false for others.
func (x *Examples) constraint(c *prove.Check) (k Constraint, ok bool) {
	return Constraint{Key: c.Key, Index: c.Index}, c.Key != "" && c.Schema == x.Object()
}

func (x *Examples) creation() []logic.Lit {
	return []logic.Lit{x.Space.Old.Present().Not(), x.new.exists}
}

// update is that of an object in a legal state.
func (x *Examples) update() []logic.Lit {
	return []logic.Lit{x.Space.Old.Present(), x.old.exists, x.whenAny(x.violations(x.old)).Not()}
}

// broke says that a condition is broken.
func broke(breaks []broken, condition union.Condition, member int) logic.Lit {
	i := slices.IndexFunc(breaks, func(b broken) bool { return b.Condition == condition && b.Member == member })
	if i < 0 {
		return logic.False
	}
	return breaks[i].when
}

// smallest is the smallest example; nil if none was found. First is what an update should
// rather be about than what follows.
func (x *Examples) smallest(breaks []broken, first []logic.Lit, l ...logic.Lit) (*prove.Example, error) {
	e, err := x.Search(func(update bool) []prove.Wish {
		var when []logic.Lit
		for _, b := range breaks {
			when = append(when, b.when)
		}
		wishes := []prove.Wish{{Few: when}, {Few: x.fails}, {Few: x.sizes[prove.New]}}
		if update {
			wishes = append([]prove.Wish{{Few: x.sizes[prove.Old]}, {First: first}}, wishes...)
		}
		return wishes
	}, l...)
	if prove.Undecided(err) {
		err = nil
	}
	return e, err
}

// maxStored bounds the objects that are tried as the stored one.
const maxStored = 20

// stored is the smallest update of an object that could be created.
func (x *Examples) stored(breaks []broken, first []logic.Lit, l ...logic.Lit) (*Example, error) {
	for range maxStored {
		e, err := x.smallest(breaks, first, l...)
		if e == nil || err != nil {
			return nil, err
		}
		refused := slices.ContainsFunc(x.Checks, func(c *prove.Check) bool {
			said, _ := x.Ask(c, e.Old, nil)
			return said != sample.Holds
		})
		if !refused {
			return x.example(e), nil
		}
		l = append(l, x.same(x.old, e.Model).Not())
	}
	return nil, nil
}

// same says that the union is in the state that it has in a model.
func (x *Examples) same(st symbolic, m logic.Model) logic.Lit {
	l := slices.Clone(st.present)
	if d := st.discriminator; d != nil {
		l = append(l, st.unset)
		for _, f := range d.Constants() {
			l = append(l, f.Lit)
		}
	}
	for i := range l {
		l[i] = l[i].If(m(l[i]))
	}
	return x.Space.And(l...)
}

func (x *Examples) example(e *prove.Example) *Example {
	if e == nil {
		return nil
	}
	example := x.problem.example(e)
	return &example
}

// At is the object of a schema on the way to the union object, in an example: of a list
// the first item, of a map the entry [MapKey]. It is nil where there is none.
func (x *Examples) At(path schemapath.Path, resource map[string]any) any {
	return x.Places[len(path)].In(resource)
}

// lenient is a copy of a CRD whose schema lets the property at a path be left out, and
// have any value.
func lenient(crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path) *apiextensionsv1.CustomResourceDefinition {
	name, _ := path[len(path)-1].Property()
	c := *crd
	c.Spec.Versions = slices.Clone(crd.Spec.Versions)
	root := *c.Spec.Versions[version].Schema.OpenAPIV3Schema
	c.Spec.Versions[version].Schema = &apiextensionsv1.CustomResourceValidation{OpenAPIV3Schema: &root}
	path[:len(path)-1].Edit(&root, func(s *apiextensionsv1.JSONSchemaProps) {
		s.Required = slices.DeleteFunc(slices.Clone(s.Required), func(r string) bool { return r == name })
		p := s.Properties[name]
		p.Enum, p.MinLength, p.Pattern, p.XValidations = nil, nil, "", nil
		s.Properties = maps.Clone(s.Properties)
		s.Properties[name] = p
	})
	return &c
}

// Legal is the creation of an object that the union allows and in which a member is set;
// with member < 0 one in which none is.
func (x *Examples) Legal(member int) (*Example, error) {
	legal, _ := x.legal()
	e, err := x.smallest(nil, nil, append(x.creation(), legal, x.just(x.new, member))...)
	return x.example(e), err
}

// Omitting is the creation of an object that the union allows, of a value that selects a
// member which may stay unset and does.
func (x *Examples) Omitting(member int) (*Example, error) {
	legal, _ := x.legal()
	e, err := x.smallest(nil, nil, append(x.creation(), legal, x.new.isOneOf(x.Space, x.u.Members[member].Optional), x.new.present[member].Not())...)
	return x.example(e), err
}

// Switching is an update that the union allows, from one member to another.
func (x *Examples) Switching(from, to int) (*Example, error) {
	legal, _ := x.legal()
	return x.stored(nil, nil, append(x.update(), x.new.exists, legal, x.just(x.old, from), x.old.present[to].Not(), x.just(x.new, to), x.new.present[from].Not())...)
}

// Keeping is an update that the union allows and that leaves a member set; with member < 0
// one that leaves all unset.
func (x *Examples) Keeping(member int) (*Example, error) {
	legal, _ := x.legal()
	return x.stored(nil, nil, append(x.update(), x.new.exists, legal, x.just(x.old, member), x.just(x.new, member))...)
}

// just says that a member is set; with member < 0 that none is.
func (x *Examples) just(st symbolic, member int) logic.Lit {
	if member < 0 {
		return x.Space.Or(st.present...).Not()
	}
	return st.present[member]
}
