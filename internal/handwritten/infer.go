package handwritten

import (
	"cmp"
	"context"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Found is a union that a CRD enforces by hand. The caller owns it.
type Found struct {
	// Place is the schema of the union object.
	schemapath.Place
	// Union is the union to declare; see its Node method. With a discriminator, Cardinality is zero
	// if the default applies. Change is Allow, or Forbid if Changes is Equivalent. Message and
	// Messages are those of the rules in Replaces.
	Union *union.Union
	// Replaces are the constraints that the union's rules would replace.
	Replaces []verify.Constraint
	// Comparison is the effect of replacing Replaces.
	Comparison verify.Comparison
	// Changes compares discriminatorChange: Forbid with hand-written rules on changes of the
	// discriminator. It is zero without such rules, or if Comparison is not Equivalent. Equivalent
	// means that Forbid rejects no update that is accepted now. Only then does Union forbid
	// changes.
	Changes verify.Comparison
}

// Infer finds the unions of a CRD, in order of versions and schema paths. With paths, it reads only
// the schemas at the paths and below. No two unions replace the same constraint. Unions that share
// properties with others are proved. CRD does not modify its arguments. A union that
// needs more steps than a proof may take is inconclusive. open are the objects whose constraints need
// more: they may have more unions. CRD returns an error if ctx ends.
func Infer(ctx context.Context, crd *apiextensionsv1.CustomResourceDefinition, paths ...schemapath.Path) (l []Found, open []schemapath.Place, err error) {
	f := &finder{ctx: ctx, crd: crd, only: paths}
	for i, v := range crd.Spec.Versions {
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			continue
		}
		f.version = i
		if err := f.walk(v.Schema.OpenAPIV3Schema, true); err != nil {
			return nil, nil, err
		}
	}
	for _, search := range f.later {
		if err := search(); err != nil {
			return nil, nil, err
		}
	}
	for _, o := range f.objects {
		o.confirm()
		l = append(l, o.found...)
		if logic.IsExhausted(context.Cause(o.ctx)) {
			open = append(open, o.Place)
		}
	}
	return l, open, nil
}

// finder walks the schemas of a CRD.
type finder struct {
	ctx     context.Context
	crd     *apiextensionsv1.CustomResourceDefinition
	only    Paths
	version int
	path    schemapath.Path
	levels  []*level           // the schemas on path, from the root
	objects []*candidateObject // with conditions, in order
	// later are the searches for unions of properties in nested objects, which take long.
	later []func() error
}

// place returns the version and path of the current schema.
func (f *finder) place() schemapath.Place {
	return schemapath.Place{Version: f.version, Name: f.crd.Spec.Versions[f.version].Name, Path: slices.Clone(f.path)}
}

func (f *finder) walk(s *apiextensionsv1.JSONSchemaProps, resource bool) error {
	if err := f.ctx.Err(); err != nil {
		return err
	}
	selected, below := f.only.Selects(f.path)
	if !below {
		return nil
	}
	resource = resource || s.XEmbeddedResource
	f.levels = append(f.levels, &level{schema: s})
	defer func() { f.levels = f.levels[:len(f.levels)-1] }()
	if selected && s.Type == "object" && len(s.Properties) > 1 {
		if err := f.read(s, resource); err != nil {
			return err
		}
	}
	if selected {
		if err := f.readList(s); err != nil {
			return err
		}
	}
	for _, step := range schemapath.Children(s) {
		if name, _ := step.Property(); resource && name == "metadata" {
			continue // the server does not evaluate rules there
		}
		f.path = append(f.path, step)
		if err := f.walk(step.Schema(s), false); err != nil {
			return err
		}
		f.path = f.path[:len(f.path)-1]
	}
	return nil
}

// object returns the current schema as an object that may have unions.
func (f *finder) object(s *apiextensionsv1.JSONSchemaProps, resource bool) *candidateObject {
	return &candidateObject{
		ctx: logic.Question(f.ctx), schema: s, resource: resource,
		root: f.crd.Spec.Versions[f.version].Schema.OpenAPIV3Schema, Place: f.place(),
		facts: map[logic.Lit]*formula.Fact{}, slots: map[string]int{}, may: map[int]bool{}, taken: map[string]bool{},
	}
}

// read finds the unions of one schema.
func (f *finder) read(s *apiextensionsv1.JSONSchemaProps, resource bool) error {
	o := f.object(s, resource)
	all, above := o.conditions(f.levels[len(f.path)].all()), f.readAncestors(o)
	if len(all)+len(above) == 0 {
		return nil
	}
	o.all = slices.Concat(all, above)
	f.objects = append(f.objects, o)
	o.space.Close()
	own := slices.DeleteFunc(slices.Clone(all), o.nested)
	if err := f.candidates(o, o.candidates(own)); err != nil {
		return err
	}
	if len(above) > 0 {
		l := slices.DeleteFunc(o.candidates(append(own, above...)), func(c *candidate) bool {
			return !slices.ContainsFunc(c.replaced, func(k *condition) bool { return k.Above > 0 })
		})
		if err := f.candidates(o, l); err != nil {
			return err
		}
	}
	if err := f.relations(o, own); err != nil {
		return err
	}
	if len(own) == len(all) {
		return nil
	}
	f.later = append(f.later, func() error {
		f.version, f.path = o.Version, o.Path
		if err := f.candidates(o, o.inside(all)); err != nil {
			return err
		}
		return f.relations(o, slices.DeleteFunc(all, func(c *condition) bool { return !o.nested(c) }))
	})
	return nil
}

// candidates accepts the candidates whose properties are in no union yet. It also accepts others if
// they are proved, and replace constraints that no union replaces yet.
func (f *finder) candidates(o *candidateObject, l []*candidate) error {
	var sharing []*candidate
	accept := func(c *candidate, proved bool) error {
		found, err := f.compare(c)
		if err != nil || proved && (found.Comparison.Verdict != verify.Equivalent || slices.ContainsFunc(found.Replaces, o.claimed)) {
			return err
		}
		found.Union = c.withMessages(found)
		for _, name := range found.Union.Names() {
			o.taken[name] = true
		}
		o.found = append(o.found, found)
		return nil
	}
	for _, c := range l {
		if slices.ContainsFunc(c.union.Names(), func(name string) bool { return o.taken[name] }) {
			sharing = append(sharing, c)
		} else if err := accept(c, c.tentative); err != nil {
			return err
		}
	}
	for _, c := range sharing {
		if slices.ContainsFunc(c.replaced, func(k *condition) bool { return o.claimed(k.Constraint) }) || o.resolve(c.resolved, o.found...) == nil {
			continue
		}
		if err := accept(c, true); err != nil {
			return err
		}
	}
	return nil
}

// candidates returns the unions that the conditions describe and that may be declared. Unions that
// replace the most conditions come first, and fallbacks last.
func (o *candidateObject) candidates(conditions []*condition) []*candidate {
	if len(conditions) == 0 {
		return nil
	}
	for slot := range o.names {
		o.may[slot] = o.admits(o.member(slot))
	}
	l := append(o.discriminated(conditions), o.plain(conditions)...)
	l = slices.DeleteFunc(l, func(c *candidate) bool { return !c.mayDeclare() })
	last := func(c *candidate) int {
		if c.fallback {
			return 1
		}
		return 0
	}
	slices.SortStableFunc(l, func(a, b *candidate) int {
		return cmp.Or(last(a)-last(b), cmp.Compare(len(b.replaced), len(a.replaced)))
	})
	return l
}

// inside returns the candidates with a discriminator or members in nested objects. Only proved ones
// are reported. Without a discriminator, a rule about two objects is rarely meant as a union.
func (o *candidateObject) inside(conditions []*condition) []*candidate {
	l := slices.DeleteFunc(o.candidates(conditions), func(c *candidate) bool {
		return c.union.Discriminator == "" || !slices.ContainsFunc(c.resolved.Names(), func(name string) bool { return len(c.resolved.Path(name)) > 1 })
	})
	for _, c := range l {
		c.tentative = true
	}
	return l
}

// confirm makes equivalent unions inconclusive if a condition that no union replaces rejects objects
// because of the same properties. Verify would not prove such a union.
func (o *candidateObject) confirm() {
	allowed := logic.True
	var unions []*union.Union // nil unless equivalent
	for _, found := range o.found {
		var u *union.Union
		if found.Comparison.Verdict == verify.Equivalent {
			u = o.resolve(found.Union)
			_, broken := verify.Broken(o.space, u, o.at(0))
			allowed = o.space.And(allowed, o.space.Or(broken...).Not())
		}
		unions = append(unions, u)
	}
	for _, k := range o.all {
		if o.claimed(k.Constraint) || !o.possible(allowed, k.holds.Not()) {
			continue
		}
		for i, u := range unions {
			if u != nil && !slices.ContainsFunc(k.slots, func(slot int) bool { return !slices.Contains(u.Names(), o.names[slot]) }) {
				o.found[i].Comparison = verify.Comparison{Verdict: verify.Inconclusive, Inconclusive: []string{
					"the union alone is equivalent, but another constraint restricts its fields: " + cmp.Or(ruleAt(o.root, o.Path, k.Constraint).Rule, k.String())}}
			}
		}
	}
}

// compare proves a candidate. If its constraints mean something else, it tries the variants, and
// otherwise returns the likeliest union. It prefers shorter declarations that are equivalent, too.
func (f *finder) compare(c *candidate) (Found, error) {
	found, u, err := f.nearest(c)
	if err != nil || found.Comparison.Verdict != verify.Equivalent {
		return found, err
	}
	simple := *u
	simple.Members = slices.Clone(u.Members)
	for i := range simple.Members {
		simple.Members[i].Empty = union.PresentWhenEmpty
	}
	for _, shorter := range append(slices.Clip(c.others), &simple) {
		resolved := c.resolve(shorter)
		if resolved == nil || len(c.declared(resolved).Node().Content) >= len(found.Union.Node().Content) {
			continue
		}
		next, err := f.proof(resolved, found.Replaces)
		if err != nil {
			return found, err
		}
		if next.Verdict == verify.Equivalent {
			found.Union, found.Comparison, u = c.declared(resolved), next, resolved
		}
	}
	if found.Changes, err = f.freeze(u); found.Changes.Verdict == verify.Equivalent {
		frozen := *found.Union
		if frozen.Change = union.Forbid; c.resolve(&frozen) != nil {
			found.Union = &frozen
		}
	}
	return found, err
}

// nearest returns the candidate or its first variant that is equivalent, or else the likeliest one.
// It also returns the resolved union.
func (f *finder) nearest(c *candidate) (Found, *union.Union, error) {
	first, err := f.attempt(c, c.resolved, c.replaced)
	if err != nil || first.Comparison.Verdict == verify.Equivalent {
		return first, c.resolved, err
	}
	for _, u := range c.others {
		if u = c.resolve(u); u == nil {
			continue
		}
		replaced := c.implied(u)
		if len(replaced) == 0 {
			continue
		}
		found, err := f.attempt(c, u, replaced)
		if err != nil || found.Comparison.Verdict == verify.Equivalent {
			return found, u, err
		}
	}
	if len(c.replaced) < len(c.within) {
		// The union may imply the conditions together even if it does not imply each of them.
		first, err = f.attempt(c, c.resolved, c.within)
	}
	return first, c.resolved, err
}

func (f *finder) attempt(c *candidate, u *union.Union, replaced []*condition) (Found, error) {
	found := Found{Place: f.place(), Union: c.declared(u)}
	for _, k := range replaced {
		found.Replaces = append(found.Replaces, k.Constraint)
	}
	var err error
	found.Comparison, err = f.proof(u, found.Replaces)
	return found, err
}

// proof compares a union with the constraints that it would replace. If the comparison fails, it is
// inconclusive, so that other unions are still reported.
func (f *finder) proof(u *union.Union, constraints []verify.Constraint) (verify.Comparison, error) {
	c, err := verify.Compare(f.ctx, f.crd, f.version, f.path, u, constraints)
	if err != nil || f.ctx.Err() != nil {
		return f.undecided(err)
	}
	return c, nil
}

// undecided returns an inconclusive comparison because of an error, unless ctx ended.
func (f *finder) undecided(err error) (verify.Comparison, error) {
	if ctxErr := f.ctx.Err(); ctxErr != nil {
		return verify.Comparison{}, ctxErr
	}
	return verify.Comparison{Verdict: verify.Inconclusive, Inconclusive: []string{err.Error()}}, nil
}
