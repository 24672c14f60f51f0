package change

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/unioncel/unioncel/internal/prove/formula"
	"github.com/unioncel/unioncel/internal/prove/sample"
	"github.com/unioncel/unioncel/internal/prove/schemadiff"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/schemapath"
)

type jsonSchema = apiextensionsv1.JSONSchemaProps

// difference is a change before its decision. Each side can reject objects only by its clauses.
type difference struct {
	Change
	shift schemadiff.Shift
	// probes are shifts whose values are tried at other paths. A probe without an example proves
	// nothing, and leaves no doubt.
	probes []schemadiff.Shift
	// doubt is the reason why neither direction can be decided. caution is the reason why the
	// change cannot be proved to be no tightening. Both are mostly empty.
	doubt, caution string
	newRules       []string // the texts of the new rules
	fails          bool     // they may fail to evaluate on objects that were accepted
	of             Of       // the origin of the new constraint
}

// reshapes records that the old and the new schema decode the value at p differently. The prover tries
// the values in try.
func (d *difference) reshapes(p schemapath.Path, try ...any) {
	if _, ok := schemadiff.SeatOf(p); !ok {
		d.doubt = "changes of " + d.Keyword + " of the whole object are not supported"
		return
	}
	d.shift.Reshaped = append(d.shift.Reshaped, schemadiff.Reshaping{At: p, Try: try})
}

// walker collects the differences between two schemas.
type walker struct {
	ctx  context.Context
	pair *pair
	// claimed are the rules of unions, by side. They are compared together with the unions.
	claimed [2][]compile.RulePlan
	// folded are properties and enums that belong to the change of a union.
	folded map[string]bool
	found  []*difference
}

// The sides of a comparison, used as indices, in the order of prove.New and prove.Old.
const (
	newSide = iota
	oldSide
)

// bothSides lists the sides in the order in which they are tried.
var bothSides = [2]int{oldSide, newSide}

// walk compares the schemas at a path that both sides have.
func (w *walker) walk(p schemapath.Path, o, n *jsonSchema) {
	if reflect.DeepEqual(o, n) {
		return
	}
	w.rules(p, o, n)
	if goOn := w.kind(p, o, n); !goOn {
		return
	}
	w.keywords(p, o, n)
	w.properties(p, o, n)
	switch {
	case o.Items != nil && n.Items != nil && o.Items.Schema != nil && n.Items.Schema != nil:
		w.walk(p.Append(schemapath.Items), o.Items.Schema, n.Items.Schema)
	case !reflect.DeepEqual(o.Items, n.Items):
		w.undecided(p, "items", "items are described otherwise")
	}
	w.additional(p, o, n)
}

// add adds a difference at the schema at a path.
func (w *walker) add(p schemapath.Path, sort Sort, subject, keyword string, kind ChangeKind, what string) *difference {
	d := &difference{Change: Change{Path: p, Sort: sort, Subject: subject, Keyword: keyword, Kind: kind, What: what}}
	w.found = append(w.found, d)
	return d
}

// undecided adds a difference in a keyword that Compare does not support.
func (w *walker) undecided(p schemapath.Path, keyword, what string) {
	w.add(p, KeywordSort, keyword, keyword, Changed, what).doubt = "changes of " + keyword + " are not supported"
}

// clause returns a clause for keywords that only the server can evaluate, with values to try. Nil
// keywords stand for behaviour of the server outside of schema validation.
func (w *walker) clause(p schemapath.Path, k *jsonSchema, try ...any) []schemadiff.Clause {
	at, ok := schemadiff.SeatOf(p)
	if !ok {
		return nil
	}
	for _, step := range slices.Backward(at.Tail) {
		switch {
		case k == nil:
		case step == schemapath.Items:
			k = &jsonSchema{Items: &apiextensionsv1.JSONSchemaPropsOrArray{Schema: k}}
		default:
			k = &jsonSchema{AdditionalProperties: &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: k}}
		}
	}
	return []schemadiff.Clause{{At: at.Holder, Property: at.Property, Keywords: k, Try: w.inside(p, try...)}}
}

// inside returns values of the property that contains the schema at a path, which has the given values.
func (w *walker) inside(p schemapath.Path, values ...any) (l []any) {
	at, _ := schemadiff.SeatOf(p)
	if len(at.Tail) == 0 {
		return values
	}
	for _, side := range bothSides {
		if s := p[:len(p)-len(at.Tail)].Schema(w.pair.root(side)); s != nil && len(values) > 0 {
			l = append(l, sample.Containing(w.ctx, s, at.Tail, values...)...)
		}
	}
	return l
}

// kind compares the types of two schemas. It reports whether their other keywords can be compared.
func (w *walker) kind(p schemapath.Path, o, n *jsonSchema) bool {
	name := func(s *jsonSchema) string {
		if s.XIntOrString {
			return "int-or-string" // whatever its type
		}
		return cmp.Or(s.Type, "any")
	}
	if name(o) == name(n) {
		return true
	}
	d := w.add(p, KeywordSort, "type", "type", Changed, fmt.Sprintf("%s -> %s", name(o), name(n)))
	w.cautious(d, o, n)
	a, b := &jsonSchema{Type: o.Type, XIntOrString: o.XIntOrString}, &jsonSchema{Type: n.Type, XIntOrString: n.XIntOrString}
	d.shift.Clauses = w.demands(p, o, n, a, b)
	return sample.Implies(w.ctx, a, b) || sample.Implies(w.ctx, b, a)
}

// values returns a few values of a schema.
func (w *walker) values(s *jsonSchema) []any { return sample.Values(w.ctx, s) }

// rules compares the rules of two schemas that belong to no union.
func (w *walker) rules(p schemapath.Path, o, n *jsonSchema) {
	var lists [2][]apiextensionsv1.ValidationRule
	for side, s := range [2]*jsonSchema{oldSide: o, newSide: n} {
		other := [2]*jsonSchema{oldSide: n, newSide: o}[side]
		for _, r := range s.XValidations {
			same := func(q apiextensionsv1.ValidationRule) bool { return formula.SameRule(q, r) }
			claimed := slices.ContainsFunc(w.claimed[side], func(c compile.RulePlan) bool { return c.Path.Equal(p) && formula.SameRule(c.Validation(), r) })
			kept := slices.ContainsFunc(other.XValidations, same)
			if !claimed && !kept && !slices.ContainsFunc(lists[side], same) {
				lists[side] = append(lists[side], r)
			}
		}
	}
	for i := 0; i < len(lists[oldSide]); i++ {
		r := lists[oldSide][i]
		j := slices.IndexFunc(lists[newSide], func(q apiextensionsv1.ValidationRule) bool {
			return len(lists[oldSide])+len(lists[newSide]) == 2 || q.Message != "" && q.Message == r.Message || q.FieldPath != "" && q.FieldPath == r.FieldPath
		})
		if j < 0 {
			w.rule(p, o, &r, nil)
			continue
		}
		w.rule(p, o, &r, &lists[newSide][j])
		lists[newSide] = slices.Delete(lists[newSide], j, j+1)
	}
	for _, r := range lists[newSide] {
		w.rule(p, n, nil, &r)
	}
}

// rule adds a difference for a rule that was added, removed or changed.
func (w *walker) rule(p schemapath.Path, at *jsonSchema, o, n *apiextensionsv1.ValidationRule) {
	kind, r := kindOf(o != nil, n != nil), cmp.Or(n, o)
	what := cmp.Or(r.Message, r.Rule)
	if kind == Changed && o.Rule != n.Rule {
		what = o.Rule + " -> " + n.Rule
	}
	d := w.add(p, Rule, "rule", "x-kubernetes-validations", kind, "")
	var whole schemadiff.Shift
	if o != nil {
		d.shift.Clauses[oldSide], whole.Clauses[oldSide] = w.ruleClauses(d, at, o, n)
	}
	if n != nil {
		d.shift.Clauses[newSide], whole.Clauses[newSide] = w.ruleClauses(d, at, n, o)
		d.newRules = []string{n.Rule}
	}
	d.probes = append(d.probes, whole)
	d.What = d.Subject + " " + string(kind) + ": " + what
}

// ruleClauses returns a rule of a difference as clauses of its schema and, if the schema has no properties
// to vary, of the property that contains the value, with whole values to try. A rule that applies to each
// item of a list of objects is a clause of the items.
func (w *walker) ruleClauses(d *difference, at *jsonSchema, r, other *apiextensionsv1.ValidationRule) (clauses, whole []schemadiff.Clause) {
	if formula.ReadsOld(*r) {
		d.Sort, d.Subject = Transition, "transition rule"
	}
	path := d.Path
	if steps, rule := sample.ItemRule(at, r); rule != nil && steps.Schema(at).Type == "object" {
		if other != nil {
			_, other = sample.ItemRule(at, other)
		}
		path, at, r = slices.Concat(path, steps), steps.Schema(at), rule
	}
	values := sample.Between(w.ctx, withRule(at, other), withRule(at, r))
	whole = w.ruleOfProperty(path, *r, values...)
	if at.Type != "object" {
		return whole, nil
	}
	if len(at.Properties) > 0 {
		whole = nil
	}
	for _, v := range values {
		object, _ := v.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(object)) {
			d.shift.Hints = append(d.shift.Hints, schemadiff.Clause{At: path, Property: name, Try: []any{object[name]}})
		}
	}
	rule := *r
	return []schemadiff.Clause{{At: path, Rule: &rule}}, whole
}

// withRule returns a copy of a schema that has a single rule or, if it is nil, none.
func withRule(s *jsonSchema, r *apiextensionsv1.ValidationRule) *jsonSchema {
	c := *s
	if c.XValidations = nil; r != nil {
		c.XValidations = apiextensionsv1.ValidationRules{*r}
	}
	return &c
}

// ruleOfProperty returns a rule on the schema at a path as a clause of the property that contains it.
func (w *walker) ruleOfProperty(p schemapath.Path, r apiextensionsv1.ValidationRule, try ...any) []schemadiff.Clause {
	l := w.clause(p, nil, try...)
	if at, _ := schemadiff.SeatOf(p); len(l) > 0 && len(at.Tail) == 0 {
		l[0].Rule = &r
	}
	return l
}

// properties compares the properties of two schemas.
func (w *walker) properties(p schemapath.Path, o, n *jsonSchema) {
	names := slices.AppendSeq(slices.Collect(maps.Keys(o.Properties)), maps.Keys(n.Properties))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		x, was := o.Properties[name]
		y, is := n.Properties[name]
		at := p.Append(schemapath.Property(name))
		switch {
		case was && is:
			w.walk(at, &x, &y)
		case is:
			w.property(at, oldSide, o, &y)
		default:
			w.property(at, newSide, n, &x)
		}
	}
}

// property adds a difference for a property that one side lacks. lacking is the schema of this side.
func (w *walker) property(p schemapath.Path, side int, lacking, s *jsonSchema) {
	if w.folded[p.String()] {
		return
	}
	kind, note := Added, ""
	if side == newSide {
		kind, note = Removed, ": stored values there are dropped"
	}
	name, _ := p[len(p)-1].Property()
	d := w.add(p, Shape, "property", "", kind, "property "+name+" "+string(kind)+note)
	w.lacks(&d.shift, p, side, lacking, s)
}

// lacks adds the effect of a property that one side lacks: there, a client that writes the property gets
// an error or a warning.
func (w *walker) lacks(shift *schemadiff.Shift, p schemapath.Path, side int, lacking, s *jsonSchema) {
	shift.Reshaped = append(shift.Reshaped, schemadiff.Reshaping{At: p})
	shift.Clauses[side] = append(shift.Clauses[side], w.clause(p, nil, w.values(s)...)...)
	if formula.Open(lacking) {
		shift.Clauses[1-side] = append(shift.Clauses[1-side], w.clause(p, nil, w.values(sample.Anything)...)...)
	}
}

// additional compares the schemas of unnamed properties.
func (w *walker) additional(p schemapath.Path, o, n *jsonSchema) {
	a, b := o.AdditionalProperties, n.AdditionalProperties
	if a != nil && b != nil && a.Schema != nil && b.Schema != nil {
		w.walk(p.Append(schemapath.Values), a.Schema, b.Schema)
		return
	}
	if reflect.DeepEqual(a, b) {
		return
	}
	kind := kindOf(a != nil, b != nil)
	d := w.add(p, KeywordSort, "additionalProperties", "additionalProperties", kind, "additionalProperties "+string(kind))
	w.unvalidated(d, o, n, true, true)
}

// cautious records that a value with a different shape may affect rules on the value, in it, or on
// the list or map that contains it.
func (w *walker) cautious(d *difference, o, n *jsonSchema) {
	d.reshapes(d.Path)
	kept := false
	note := func(a, b *jsonSchema) {
		kept = kept || a != nil && b != nil && slices.ContainsFunc(a.XValidations, func(r apiextensionsv1.ValidationRule) bool {
			return slices.ContainsFunc(b.XValidations, func(q apiextensionsv1.ValidationRule) bool { return formula.SameRule(r, q) })
		})
	}
	schemapath.Walk(o, func(p schemapath.Path, s *jsonSchema) bool {
		note(s, p.Schema(n))
		return !kept
	})
	at, _ := schemadiff.SeatOf(d.Path)
	for i := len(at.Holder) + 1; i < len(d.Path); i++ {
		note(d.Path[:i].Schema(w.pair.root(oldSide)), d.Path[:i].Schema(w.pair.root(newSide)))
	}
	if kept {
		d.caution = "the rules on it may say something else of it"
	}
}

// decodes records that the schemas decode the value at a path differently. It adds probes for the lists
// around the value that reject equal items or keys, since items may differ only in the value. Duplicates
// that a change of the list type or the keys finds belong to that change.
func (w *walker) decodes(d *difference, values ...any) {
	d.reshapes(d.Path, w.inside(d.Path, values...)...)
	for i, step := range d.Path {
		if step != schemapath.Items {
			continue
		}
		var lists []any
		for _, side := range bothSides {
			list, other := d.Path[:i].Schema(w.pair.root(side)), d.Path[:i].Schema(w.pair.root(1-side))
			name, _ := d.Path[len(d.Path)-1].Property()
			isKey := len(d.Path) == i+2 && slices.Contains(list.XListMapKeys, name)
			if !isKey && !sample.IsSet(list) || !schemadiff.SameDuplicates(list, other) {
				continue
			}
			more := w.values(d.Path.Schema(w.pair.root(side)))
			lists = append(lists, sample.Containing(w.ctx, list, d.Path[i:], slices.Concat(values, more)...)...)
		}
		if both := w.clause(d.Path[:i], nil, lists...); len(lists) > 0 {
			d.probes = append(d.probes, schemadiff.Shift{Clauses: [2][]schemadiff.Clause{both, both}})
		}
	}
}
