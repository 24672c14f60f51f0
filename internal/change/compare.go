package change

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/logic"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/internal/prove/schemadiff"
	"github.com/unioncel/unioncel/internal/prove/verify"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Compare reports how the set of accepted objects changes from old to new. Versions are matched by
// name; a version of only one CRD is reported as added or removed. One of the CRDs may be nil: the
// result is then a single change, and the other CRD is not checked. Otherwise Compare returns an
// error if the API server could not use one of the CRDs, or if ctx was cancelled. A change that
// takes more steps than [logic.Question] grants is [Unknown].
func Compare(ctx context.Context, old, new *Input) (Comparison, error) {
	switch {
	case old == nil:
		return Comparison{new.Name, []Change{{Sort: VersionSort, Subject: "CRD", Kind: Added, What: "CRD added", Class: Looser, Pos: new.Pos}}}, nil
	case new == nil:
		return Comparison{old.Name, []Change{{Sort: VersionSort, Subject: "CRD", Kind: Removed, What: "CRD removed: its objects are deleted", Class: Tighter, Pos: old.Pos}}}, nil
	}
	r := Comparison{Name: new.Name}
	compareFields(&r, old, new)
	for i, v := range old.Spec.Versions {
		j := versionIndex(new.CustomResourceDefinition, v.Name)
		if j < 0 {
			c := versionChange(v, Removed, Tighter, "was")
			if c.Version, c.Pos = v.Name, new.Pos; !v.Served {
				c.Note = "unioncel rollout says whether objects may be stored in it."
			}
			r.Changes = append(r.Changes, c)
			continue
		}
		if err := r.compare(ctx, old, new, i, j); err != nil {
			return r, err
		}
	}
	for _, v := range new.Spec.Versions {
		if !has(old.CustomResourceDefinition, v.Name) {
			c := versionChange(v, Added, Looser, "is")
			c.NewVersion, c.Pos = v.Name, new.pos(v.Name, nil, "")
			r.Changes = append(r.Changes, c)
		}
	}
	return r, nil
}

// versionChange returns the change of a version that only one CRD has.
func versionChange(v apiextensionsv1.CustomResourceDefinitionVersion, kind ChangeKind, class Class, is string) Change {
	c := Change{Sort: VersionSort, Subject: "version " + v.Name, Kind: kind, What: "version " + v.Name + " " + string(kind), Class: class}
	if !v.Served {
		c.Class, c.What = Same, c.What+", which "+is+" not served"
	}
	return c
}

// CompareVersions compares the served versions of a CRD in pairs, in the order of the CRD. Bounds and
// errors are the same as for [Compare].
func CompareVersions(ctx context.Context, crd *Input) (Comparison, error) {
	r := Comparison{Name: crd.Name}
	for i, v := range crd.Spec.Versions {
		for j, u := range crd.Spec.Versions {
			if j > i && v.Served && u.Served {
				if err := r.compare(ctx, crd, crd, i, j); err != nil {
					return r, err
				}
			}
		}
	}
	return r, nil
}

// compare compares two versions. After a panic, only their difference is undecided.
func (r *Comparison) compare(ctx context.Context, old, new *Input, i, j int) (err error) {
	a, b := old.Spec.Versions[i], new.Spec.Versions[j]
	defer func() {
		if cause := recover(); cause != nil {
			r.Changes = append(r.Changes, Change{Version: a.Name, NewVersion: b.Name, Sort: VersionSort, Subject: "version " + b.Name, Kind: Changed, What: "version " + b.Name + " changed",
				Class: Undecided, Undecided: fmt.Sprintf("internal error: %v; please report both files", cause), Pos: new.Pos})
		}
	}()
	for _, v := range []apiextensionsv1.CustomResourceDefinitionVersion{a, b} {
		if v.Schema == nil || v.Schema.OpenAPIV3Schema == nil {
			return fmt.Errorf("version %s has no schema", v.Name)
		}
	}
	if reflect.DeepEqual(a.Schema, b.Schema) && reflect.DeepEqual(a.Subresources, b.Subresources) {
		return nil // keys of a union that do not affect its rules make no difference
	}
	p, err := newPair(ctx, old.CustomResourceDefinition, new.CustomResourceDefinition, i, j)
	if err != nil {
		return err
	}
	w := &walker{ctx: logic.Question(ctx), pair: p, folded: map[string]bool{}}
	w.unions(old, new)
	w.walk(nil, p.root(oldSide), p.root(newSide))
	w.status()
	w.scale(subresources(a).Scale, subresources(b).Scale)
	if err := context.Cause(w.ctx); err != nil {
		for _, d := range w.found { // values to try may be missing
			d.doubt = cmp.Or(d.doubt, err.Error())
		}
	}
	if err := p.decide(w.found); err != nil {
		return err
	}
	if w.found, err = p.budget(ctx, w.found); err != nil {
		return err
	}
	slices.SortStableFunc(w.found, func(a, b *difference) int { return schemapath.Compare(a.Path, b.Path) })
	for _, d := range w.found {
		d.Version, d.NewVersion, d.Pos = a.Name, b.Name, new.pos(b.Name, d.Path, d.Keyword)
		if err := p.advise(d, new.KubeVersion); err != nil {
			return err
		}
		r.Changes = append(r.Changes, d.Change)
	}
	return nil
}

// budget appends the change of whether the rules of the version together exceed what the API server
// spends on a request, unless they do not, or cost the same as before.
func (p *pair) budget(ctx context.Context, l []*difference) ([]*difference, error) {
	var estimates [2]uint64
	for _, side := range bothSides {
		if e, err := server.EstimatorOf(p.crds[side]); err == nil {
			estimates[side], _ = e.Request(p.index[side]) // rules that do not compile are reported elsewhere
		}
	}
	if estimates[newSide] == estimates[oldSide] {
		return l, nil
	}
	c := Change{Sort: VersionSort, Subject: "cost of a request", Kind: Changed, Class: Same}
	for _, side := range bothSides {
		f, err := verify.Request(ctx, p.crds[side], p.index[side], p.crds[1-side], p.index[1-side])
		switch {
		case err != nil:
			return nil, err
		case f == nil:
		case f.Kind == verify.Undecided:
			if side == newSide && estimates[newSide] > estimates[oldSide] {
				c.Class, c.What, c.Undecided = Undecided, "rules cost more together", "whether it rejects objects that were accepted: "+f.Text
			}
		case len(p.refusal(p.kinds[1-side], 1-side, nil, f.New).Errors) > 0,
			!slices.ContainsFunc(p.refusal(p.kinds[side], side, nil, f.New).Errors, func(text string) bool { return strings.Contains(text, f.Message) }):
		case side == oldSide:
			c.Class, c.What, c.Accepted = Looser, "rules cost less together", &Counterexample{Object: f.New, Errors: []string{f.Message}}
		case c.Class == Looser:
			c.Class, c.What, c.Refused = Both, "rules cost more and less together", &Counterexample{Object: f.New, Errors: []string{f.Message}}
		default:
			c.Class, c.What, c.Refused = Tighter, f.Text, &Counterexample{Object: f.New, Errors: []string{f.Message}}
		}
	}
	if c.What != "" {
		l = append(l, &difference{Change: c})
	}
	return l, nil
}

// compareFields compares the fields outside the schemas of two CRDs.
func compareFields(r *Comparison, old, new *Input) {
	add := func(version, subject string, class Class, note, format string, args ...any) {
		r.Changes = append(r.Changes, Change{Version: version, NewVersion: version, Sort: VersionSort, Subject: subject, Kind: Changed, What: fmt.Sprintf(format, args...),
			Class: class, Note: note, Pos: new.pos(version, nil, "")})
	}
	a, b := old.Spec, new.Spec
	loosened := map[bool]Class{true: Looser, false: Tighter}
	for _, k := range []struct{ name, old, new string }{
		{"spec.scope", string(a.Scope), string(b.Scope)},
		{"spec.group", a.Group, b.Group},
		{"spec.names.kind", a.Names.Kind, b.Names.Kind},
		{"spec.names.plural", a.Names.Plural, b.Names.Plural},
	} {
		if k.old != k.new {
			add("", k.name, Both, "The API server does not let a CRD that is in use change so. Another CRD is needed, and its objects are other ones.", "%s %s -> %s", k.name, k.old, k.new)
		}
	}
	if a.PreserveUnknownFields != b.PreserveUnknownFields {
		add("", "spec.preserveUnknownFields", loosened[b.PreserveUnknownFields], "", "spec.preserveUnknownFields %t -> %t", a.PreserveUnknownFields, b.PreserveUnknownFields)
	}
	if x, y := Converts(old.CustomResourceDefinition), Converts(new.CustomResourceDefinition); x != y {
		strategy := map[bool]apiextensionsv1.ConversionStrategyType{true: apiextensionsv1.WebhookConverter, false: apiextensionsv1.NoneConverter}
		add("", "spec.conversion", Same, "Objects that are stored in another version are read otherwise from now on.", "conversion %s -> %s", strategy[x], strategy[y])
	}
	for _, v := range b.Versions {
		i := versionIndex(old.CustomResourceDefinition, v.Name)
		if i < 0 {
			continue
		}
		was := a.Versions[i]
		if was.Served != v.Served {
			add(v.Name, "served", loosened[v.Served], "", "served %t -> %t", was.Served, v.Served)
		}
		if was.Storage != v.Storage && v.Storage {
			add(v.Name, "storage", Same, "unioncel rollout plans the migration of the stored objects.", "%s is the storage version", v.Name)
		}
	}
	slices.SortStableFunc(r.Changes, func(a, b Change) int { return strings.Compare(a.Subject, b.Subject) })
}

func subresources(v apiextensionsv1.CustomResourceDefinitionVersion) apiextensionsv1.CustomResourceSubresources {
	return *cmp.Or(v.Subresources, &apiextensionsv1.CustomResourceSubresources{})
}

// status compares the status subresource. It affects only checks on the whole object, which may see
// the status together with the rest or not.
func (w *walker) status() {
	was, is := w.pair.withStatus(oldSide), w.pair.withStatus(newSide)
	if was == is {
		return
	}
	kind, note := kindOf(was, is), "Writes of the object leave its status as it is from now on; clients write that through /status."
	if was {
		note = "Writes of the object change its status as well from now on; /status is gone."
	}
	d := w.add(nil, VersionSort, "subresource status", "", kind, "subresource status "+string(kind))
	d.Note = note
	for _, side := range bothSides {
		if s, has := w.pair.root(side).Properties["status"]; has && looksAtStatus(w.pair.root(side)) {
			d.shift.Clauses[side] = w.clause(schemapath.New("status"), nil, w.values(&s)...)
		}
	}
}

// looksAtStatus reports whether checks on the whole object depend on its status.
func looksAtStatus(root *jsonSchema) bool {
	return slices.Contains(root.Required, "status") || len(root.AllOf)+len(root.AnyOf)+len(root.OneOf) > 0 || root.Not != nil || root.MinProperties != nil || root.MaxProperties != nil ||
		slices.ContainsFunc(root.XValidations, func(r apiextensionsv1.ValidationRule) bool {
			return slices.ContainsFunc(formula.Reads(r), func(path []string) bool { return len(path) == 0 || path[0] == "status" })
		})
}

// scale compares the scale subresource, which requires replicas that fit into an int32 and a
// selector that is a string.
func (w *walker) scale(o, n *apiextensionsv1.CustomResourceSubresourceScale) {
	if reflect.DeepEqual(o, n) {
		return
	}
	d := w.add(nil, VersionSort, "subresource scale", "", kindOf(o != nil, n != nil), "")
	d.What = "subresource scale " + string(d.Kind)
	d.shift.Clauses = [2][]schemadiff.Clause{oldSide: w.scaled(o, newSide), newSide: w.scaled(n, oldSide)}
}

// scaled returns the clauses of a scale subresource that the other side's schema does not imply.
func (w *walker) scaled(scale *apiextensionsv1.CustomResourceSubresourceScale, other int) []schemadiff.Clause {
	if scale == nil {
		return nil
	}
	replicas := &jsonSchema{Type: "integer", Minimum: new(0.0), Maximum: new(float64(math.MaxInt32))}
	demands := map[string]*jsonSchema{scale.SpecReplicasPath: replicas, scale.StatusReplicasPath: replicas}
	if scale.LabelSelectorPath != nil {
		demands[*scale.LabelSelectorPath] = &jsonSchema{Type: "string"}
	}
	var l []schemadiff.Clause
	for _, path := range slices.Sorted(maps.Keys(demands)) {
		p := schemapath.New(strings.Split(strings.TrimPrefix(path, "."), ".")...)
		s := p.Schema(w.pair.root(other))
		if s == nil {
			continue // the subresource does not read a field
		}
		switch demand := demands[path]; {
		case s.Nullable:
			l = append(l, w.clause(p, nil, append(sample.Between(w.ctx, s, demand), nil)...)...)
		case !sample.Implies(w.ctx, s, demand):
			l = append(l, w.clause(p, demand, sample.Between(w.ctx, s, demand)...)...)
		}
	}
	return l
}
