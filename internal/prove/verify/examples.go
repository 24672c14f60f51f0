package verify

import (
	"context"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove"
	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Examples finds resources that illustrate a union, whether or not a rule enforces it yet. The
// resources are as small as possible, with values that the schemas accept. As far as possible,
// other rules accept them, too. This excludes constraints of the union object that depend only on
// the state of the union, because examples may illustrate them. The old object of an update passes
// creation. A method returns nil if it found no example. Errors are errors of the context.
type Examples struct {
	*unionProblem
	unchecked func() (*Examples, error)
	fails     []logic.Lit    // the negated checks, of which few should hold
	sizes     [2][]logic.Lit // by side: an example is larger if more of these hold
}

// MapKey is the key of the union object in examples if it is a value of a map.
const MapKey = formula.EntryKey

// NewExamples reads the schemas of a CRD on the path to a union object. path and errors are the
// same as for [Object]. unions are all unions declared on the object. The CRD must not contain the
// rules of the union, because they would reject the examples.
func NewExamples(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path, u *union.Union, unions []*union.Union) (*Examples, error) {
	c, err := sample.ChainTo(crd, version, path)
	if err != nil {
		return nil, err
	}
	p, _, err := concerning(sample.NewSource(ctx, crd, version), c, u, unions)
	if err != nil {
		return nil, err
	}
	x := &Examples{unionProblem: p}
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
				selected = append(selected, st.isOneOf(m.Values))
			}
			// A value that selects a member makes a better example than a memberless value.
			memberless := p.Space.Or(selected...).Not()
			size = append(size, d.Present(), st.unset.Not(), memberless, memberless)
		}
		x.sizes[side] = size
	}
	x.unchecked = func() (*Examples, error) {
		unchecked, err := NewExamples(ctx, lenient(crd, version, path.Append(u.Path(u.Discriminator)...)), version, path, u, unions)
		if err == nil {
			unchecked.fails = nil // the API server skips rules after an error of the discriminator's schema
		}
		return unchecked, err
	}
	return x, nil
}

// Unchecked finds examples whose discriminator may violate its own schema: any value, or none
// although it is required. The error is the same as for [NewExamples].
func (x *Examples) Unchecked() (*Examples, error) { return x.unchecked() }

// Unset returns the members without a known valid value. Examples do not set them.
func (x *Examples) Unset() []string {
	l := []string{}
	for i, err := range x.failures {
		if err != nil {
			l = append(l, x.u.Members[i].Name)
		}
	}
	return l
}

// Violating returns the creation of an object in a state that violates the condition v, and as few
// other conditions as possible.
func (x *Examples) Violating(v union.Violation) (*Example, error) {
	breaks := x.new.violations()
	return x.created(breaks, broke(breaks, v.Condition, v.Member))
}

// Changing returns an update between two states that violates a condition, and as few others as
// possible. If unset is set, the new object selects nothing; otherwise it selects something.
func (x *Examples) Changing(condition union.Condition, unset bool) (*Example, error) {
	s := x.Space
	_, breaks := x.legal()
	l := append(x.update(), x.new.exists, broke(breaks, condition, -1))
	var kept []logic.Lit
	if condition == union.NotCleared { // a member stays set
		for i := range x.u.Members {
			kept = append(kept, s.And(x.old.present[i], x.new.present[i]))
		}
		l = append(l, s.Or(kept...))
	}
	nothing := x.new.unset
	if x.u.Discriminator == "" {
		nothing = s.Or(x.new.present...).Not()
	} else {
		l = append(l, x.old.unset.Not()) // a set discriminator makes a better example than a deduced value
	}
	return x.stored(breaks, kept, append(l, nothing.If(unset))...)
}

// Removing returns an update that the union forbids: it removes the value at a path leading to the
// union object, but not the parent of this value.
func (x *Examples) Removing(path schemapath.Path) (*Example, error) {
	level := len(path)
	if level <= x.Anchor() {
		return nil, nil
	}
	return x.stored(nil, nil, append(x.update(), x.removable().Not(), x.Places[level-1].Present(), x.Places[level].Present().Not())...)
}

// Refused returns an object or update that the union allows and a constraint of its schema rejects.
// An update is returned only if there is no creation.
func (x *Examples) Refused(by Constraint) (*Example, error) {
	legal, _ := x.legal()
	holds, changing := logic.True, false
	for _, c := range x.Checks {
		if own, ok := x.constraint(c); ok && own == by {
			holds, changing = x.Space.And(holds, c.Holds), changing || c.Changing
		}
	}
	e, err := x.created(nil, legal, holds.Not())
	if e != nil || err != nil || !changing {
		return e, err
	}
	return x.stored(nil, nil, append(x.update(), x.new.exists, legal, holds.Not())...)
}

// constraint returns the constraint of a check, if the check belongs to the union object's schema.
func (x *Examples) constraint(c *prove.Check) (k Constraint, ok bool) {
	return Constraint{Key: c.Key, Index: c.Index}, c.Key != "" && c.Schema == x.Object()
}

// created returns the smallest creation that satisfies the formulas.
func (x *Examples) created(breaks []broken, l ...logic.Lit) (*Example, error) {
	e, err := x.smallest(breaks, nil, append([]logic.Lit{x.Space.Old.Present().Not(), x.new.exists}, l...)...)
	return x.example(e), err
}

// update returns the formulas for an update of an object in a legal state.
func (x *Examples) update() []logic.Lit {
	return []logic.Lit{x.Space.Old.Present(), x.old.exists, x.whenAny(x.old.violations()).Not()}
}

// broke returns the formula that an object breaks a condition.
func broke(breaks []broken, condition union.Condition, member int) logic.Lit {
	i := slices.IndexFunc(breaks, func(b broken) bool { return b.Condition == condition && b.Member == member })
	if i < 0 {
		return logic.False
	}
	return breaks[i].when
}

// smallest returns the smallest example, or nil if none was found. For updates, first lists
// formulas that should hold, in order of preference.
func (x *Examples) smallest(breaks []broken, first []logic.Lit, l ...logic.Lit) (*prove.Example, error) {
	e, err := x.Search(func(update bool) []prove.Wish {
		wishes := []prove.Wish{{Few: conditions(breaks)}, {Few: x.fails}, {Few: x.sizes[prove.New]}}
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

// maxStored bounds the number of old objects that stored tries.
const maxStored = 20

// stored returns the smallest update whose old object passes creation.
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

// same returns the formula that the union has the same state as in a model.
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
	example := x.unionProblem.example(e)
	return &example
}

// Value returns the value of a schema on the path to the union object in an example: the first item
// of a list, or the entry [MapKey] of a map. It is nil if the value is absent.
func (x *Examples) Value(path schemapath.Path, resource map[string]any) any {
	return x.Places[len(path)].Value(resource)
}

// lenient returns a copy of a CRD in which the property at path has no enum, minLength, pattern or
// rules, and is not required.
func lenient(crd *apiextensionsv1.CustomResourceDefinition, version int, path schemapath.Path) *apiextensionsv1.CustomResourceDefinition {
	name, _ := path[len(path)-1].Property()
	root := *crd.Spec.Versions[version].Schema.OpenAPIV3Schema
	path[:len(path)-1].Edit(&root, func(s *apiextensionsv1.JSONSchemaProps) {
		s.Required = slices.DeleteFunc(slices.Clone(s.Required), func(r string) bool { return r == name })
		p := s.Properties[name]
		p.Enum, p.MinLength, p.Pattern, p.XValidations = nil, nil, "", nil
		s.Properties = maps.Clone(s.Properties)
		s.Properties[name] = p
	})
	return withSchema(crd, version, &root)
}

// Legal returns the creation of an object that the union allows and in which the member is set. If
// member < 0, no member is set.
func (x *Examples) Legal(member int) (*Example, error) {
	legal, _ := x.legal()
	return x.created(nil, legal, x.just(x.new, member))
}

// In returns the creation of an object in a state, legal or not.
func (x *Examples) In(s union.State) (*Example, error) {
	var l []logic.Lit
	for i, p := range x.new.present {
		l = append(l, p.If(s.Present[i]))
	}
	switch {
	case x.u.Discriminator == "":
	case s.Value == union.AnotherValue:
		l = append(l, x.new.isOneOf(append(x.new.values(), "")).Not())
	default:
		l = append(l, x.new.isOneOf([]string{s.Value}))
	}
	return x.created(nil, l...)
}

// Omitting returns the creation of an object that the union allows, in which the discriminator, or
// another member of its group, selects an optional member that is not set.
func (x *Examples) Omitting(member int) (*Example, error) {
	legal, _ := x.legal()
	var selected []logic.Lit
	if x.u.Discriminator != "" {
		selected = append(selected, x.new.isOneOf(x.u.Members[member].Optional))
	} else {
		for _, i := range groupOf(x.u, member).Members {
			selected = append(selected, x.new.present[i])
		}
	}
	return x.created(nil, legal, x.Space.Or(selected...), x.new.present[member].Not())
}

// Switching returns an update from one member to another that the union allows.
func (x *Examples) Switching(from, to int) (*Example, error) {
	legal, _ := x.legal()
	return x.stored(nil, nil, append(x.update(), x.new.exists, legal, x.just(x.old, from), x.old.present[to].Not(), x.just(x.new, to), x.new.present[from].Not())...)
}

// Keeping returns an update that the union allows, with a member set in both objects. If member <
// 0, no member is set in either object.
func (x *Examples) Keeping(member int) (*Example, error) {
	legal, _ := x.legal()
	return x.stored(nil, nil, append(x.update(), x.new.exists, legal, x.just(x.old, member), x.just(x.new, member))...)
}

// just returns the formula that a member is set or, if member < 0, that no member is set.
func (x *Examples) just(st symbolic, member int) logic.Lit {
	if member < 0 {
		return x.Space.Or(st.present...).Not()
	}
	return st.present[member]
}
