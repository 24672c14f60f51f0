package compiled

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/crdtext"
	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// A rule in the annotation is ours if the recorded unions compile to it with the recorded options,
// or if the recorded rules of a schema are proved to enforce exactly its recorded unions. When
// compiling, a rule is also ours if the resulting unions are proved to imply it, since the result
// enforces them.

// Claim is a schema of a record with its present content.
type Claim struct {
	recorded
	// Head is the key of the list of rules if the list exists, List the list if it can be edited,
	// and HeadIndex the index of the key. Ours are the indices of the claimed rules, in ascending order.
	Head, List *yaml.Node
	HeadIndex  int
	Ours       []int
	// Restored is true if the declaration is restored in the schema.
	Restored bool

	value   map[string]any // the schema, edited
	at      *yaml.Node     // the key of the list, or else the schema
	present []any          // the rules in the list
	missing []string       // sums of missing rules
	// fresh is true if the recorded declaration is overridden: missing rules are no error then.
	fresh bool
	// superseded is true if the resulting declaration may differ from the recorded one, and
	// asRecorded if it is the same.
	superseded, asRecorded bool
	// claimed are the present claimed rules. exact caches the result of enforces.
	claimed []any
	exact   *bool
}

// All reports whether all rules of the list are claimed, and Whole whether the list is removed with
// them.
func (c *Claim) All() bool   { return len(c.Ours) > 0 && len(c.Ours) == len(c.present) }
func (c *Claim) Whole() bool { return c.All() && !c.Empty }

// item returns the node of a rule, or the nearest existing node.
func (c *Claim) item(i int) *yaml.Node {
	if c.List == nil || i >= len(c.List.Content) {
		return c.at
	}
	return c.List.Content[i]
}

// Items returns the claimed rules.
func (c *Claim) Items() []any {
	var l []any
	for _, i := range c.Ours {
		l = append(l, c.present[i])
	}
	return l
}

// take removes the claimed rules from the value of the schema.
func (c *Claim) take() {
	if c.Whole() {
		delete(c.value, Validations)
	} else if c.List != nil {
		c.value[Validations] = Omit(c.present, c.Ours)
	}
}

// claim looks up the schemas of the record, and reports schemas that are gone.
func (r *reverter) claim() {
	for _, s := range r.schemas {
		if s.Node == nil {
			r.gone(s.Schema)
			continue
		}
		c := &Claim{recorded: s, value: crdtext.SchemaIn(r.Value, s.Place)}
		if c.value == nil {
			r.report(diag.Diagnostic{Code: codes.BadAnnotation, Pos: r.keyPos(), Hint: "quote the keys that lead to it",
				Message: fmt.Sprintf("the annotation %s names the schema %s, which kubectl does not find", Annotation, c.Place)})
			continue
		}
		if _, _, _, declared := yamltext.Lookup(s.Node, union.Key); declared {
			c.fresh = true
		}
		if len(s.Rules) > 0 {
			c.look()
		}
		r.Claims = append(r.Claims, c)
	}
}

// look finds the recorded rules.
func (c *Claim) look() {
	c.at = c.Node
	c.present, _ = c.value[Validations].([]any)
	if e := yamltext.Find(c.Node, Validations); e.Key != nil {
		c.at, c.Head, c.HeadIndex = e.Key, e.Key, e.Index
		if e.Index >= 0 && e.Value.Kind == yaml.SequenceNode && len(e.Value.Content) == len(c.present) {
			c.List = e.Value
		}
	}
	var sums []string
	if c.List != nil {
		for _, v := range c.present {
			sums = append(sums, Sum(v))
		}
	}
	for _, sum := range c.Rules {
		if i := slices.Index(sums, sum); i >= 0 {
			c.Ours = append(c.Ours, i)
		} else {
			c.missing = append(c.missing, sum)
		}
	}
	slices.Sort(c.Ours)
	c.Ours = slices.Compact(c.Ours)
}

// confirm checks the claims. It reports missing rules, and unconfirmed rules unless Options.Forget
// is set. Unconfirmed rules are no longer claimed.
func (r *reverter) confirm() {
	ours, missing := false, false
	for _, c := range r.Claims {
		ours, missing = ours || len(c.Ours) > 0, missing || len(c.missing) > 0
	}
	if !ours && !missing {
		return
	}
	for _, c := range r.Claims {
		c.claimed = c.Items()
		c.take()
	}
	w := r.regenerate(r.Annotated.Options())
	if w.overLimit {
		return // proofs are skipped as well
	}
	same := true // as the source of the compilation
	for _, c := range r.Claims {
		unconfirmed := slices.DeleteFunc(slices.Clone(c.Ours), func(i int) bool { return w.has(c, c.present[i]) })
		if len(unconfirmed) > 0 {
			same = false
			unconfirmed = r.imply(c, unconfirmed)
		}
		for _, i := range unconfirmed {
			if !r.opts.Forget {
				r.unconfirmed(c, i, w.why)
			}
		}
		c.Ours = slices.DeleteFunc(c.Ours, func(i int) bool { return slices.Contains(unconfirmed, i) })
		c.take()
	}
	if same {
		r.Again = w.whole
	}
	if !missing {
		return
	}
	w.present()
	overwritten := r.overwritten(w)
	for _, c := range r.Claims {
		c.fresh = c.fresh || overwritten
		if len(c.missing) > 0 && !c.fresh {
			r.changed(c, w)
		}
	}
}

func (r *reverter) unconfirmed(c *Claim, i int, why string) {
	union := "its union is not proved to imply it"
	if c.superseded && !r.opts.Decompile {
		union = "no union that stays declared is proved to imply it"
	}
	message := fmt.Sprintf("the annotation %s claims the rule %s, but %s", Annotation, shortened(RuleOf(c.present[i])), union)
	if why != "" {
		message += ": with this schema it does not compile: " + why
	}
	hint := "--forget drops the claim and keeps the rule as a hand-written one; or undo the edits made since"
	if r.opts.Decompile {
		hint = "compile the file first, which writes the rules of its union again; " + hint
	}
	if *r.opts.Proofs > r.Limits.OrDefault().Proofs {
		hint += "; too many rules for all to be tried: " + limit.Hint("proofs")
	}
	r.report(diag.Diagnostic{Code: codes.UnconfirmedRule, Pos: r.Pos(c.item(i)), Path: c.Place.String(), Schema: c.Place.Structural(), Message: message, Hint: hint})
}

// shortened quotes a text, and truncates a long one.
func shortened(s string) string {
	const most = 120
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return strconv.Quote(s)
}

// JSON returns a value as JSON, or "" if it cannot be encoded.
func JSON(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(data)
}

// remaining returns the declarations of a schema in the result. A declaration in the schema, or a
// given declaration, overrides the record. Decompiling keeps no recorded external declarations.
func (r *reverter) remaining(c *Claim) []union.External {
	l := slices.DeleteFunc(slices.Clone(r.opts.Declarations), func(e union.External) bool { return !e.Covers(c.Version, c.Path) })
	kept := !r.opts.All(c.Version) && !r.opts.Decompile // the record applies
	if kept && c.extension != nil {
		l = append(l, *c.extension)
	}
	_, v, _, declared := yamltext.Lookup(c.Node, union.Key)
	switch {
	case declared:
		c.superseded = true
		l = append(l, union.External{Version: c.Version, Path: c.Path, Value: yamltext.Resolve(v), File: r.Name})
	case !c.External || kept:
		l = append(l, *c.unions)
	default:
		c.superseded = true
	}
	return l
}

// asRecorded reports whether a schema's resulting and recorded declarations are equal.
func (r *reverter) asRecorded(c *Claim) bool {
	var recorded, resulting []string
	text := func(e union.External) string { return fmt.Sprint(e.Extend, yamledit.JSON(yamledit.Plain(e.Value))) }
	for _, e := range []*union.External{c.extension, c.unions} {
		if e != nil {
			recorded = append(recorded, text(*e))
		}
	}
	if len(recorded) > 0 {
		for _, e := range r.remaining(c) {
			resulting = append(resulting, text(e))
		}
	}
	return slices.Equal(recorded, resulting)
}

// imply confirms rules that the resulting unions of the schema imply, and returns the others. The
// recorded unions count only if the claimed rules, which an older compiler may have written, are
// proved to enforce exactly these unions: a forged annotation may record a union that implies any
// rule. Rules beyond a limit are not confirmed: proofs are slow, and an annotation may claim any
// number of rules.
func (r *reverter) imply(c *Claim, unconfirmed []int) []int {
	for _, below := range r.Claims {
		if len(below.Unions) == 0 || below.Version != c.Version || len(below.Path) < len(c.Path) || !below.Path[:len(c.Path)].Equal(c.Path) {
			continue
		}
		if !r.opts.Decompile && !r.impliedBy(r.remaining(below), below.Place, c, &unconfirmed) {
			break
		}
		if r.enforces(below) && !r.impliedBy(below.recordedUnions(), below.Place, c, &unconfirmed) {
			break
		}
	}
	return unconfirmed
}

// recordedUnions returns the recorded declarations of the schema.
func (c *Claim) recordedUnions() []union.External {
	if c.extension == nil {
		return []union.External{*c.unions}
	}
	return []union.External{*c.extension, *c.unions}
}

// maxEnforcing bounds the time to prove that claimed rules enforce the recorded unions of a schema.
const maxEnforcing = 5 * time.Second

// enforces reports whether the claimed rules alone enforce exactly the recorded unions of a schema.
func (r *reverter) enforces(c *Claim) bool {
	if c.exact != nil {
		return *c.exact
	}
	c.exact = new(bool)
	declared, _ := compile.New(r.manifest(r.claimedOnly(), c.recordedUnions()), compile.Options{}).Unions()
	if declared == nil || len(declared.Objects) != 1 {
		return false
	}
	o := declared.Objects[0]
	for _, u := range o.Unions {
		*r.opts.Proofs += len(u.Members)
	}
	if *r.opts.Proofs > r.Limits.OrDefault().Proofs {
		return false
	}
	ctx, done := verify.WithDeadline(context.Background(), maxEnforcing)
	defer done()
	proofs, err := verify.Object(ctx, declared.CRD, o.Version, o.Path, o.Unions)
	*c.exact = err == nil && !slices.ContainsFunc(proofs, func(p verify.Proof) bool { return !p.Proved() })
	return *c.exact
}

// claimedOnly returns the CRD without the unclaimed rules and allOf of the schemas on the paths of
// the claims.
func (r *reverter) claimedOnly() map[string]any {
	crd, _ := runtime.DeepCopyJSONValue(r.source()).(map[string]any)
	for _, c := range r.Claims {
		for i := range len(c.Path) + 1 {
			schema := crdtext.SchemaIn(crd, c.Place.Up(i))
			for _, key := range ListKeys {
				delete(schema, key)
			}
		}
	}
	for _, c := range r.Claims {
		if len(c.claimed) > 0 {
			crdtext.SchemaIn(crd, c.Place)[Validations] = c.claimed
		}
	}
	return crd
}

// impliedBy confirms rules of a claim that declarations for its schema, or a schema below, imply.
// It returns false if nothing is left to prove, or the limit of proofs is reached.
func (r *reverter) impliedBy(declarations []union.External, at schemapath.Place, c *Claim, unconfirmed *[]int) bool {
	declared, _ := compile.New(r.manifest(r.source(), declarations), compile.Options{}).Unions()
	if declared == nil || len(declared.Objects) != 1 {
		return true
	}
	for _, u := range declared.Objects[0].Unions {
		if !r.impliedByUnion(u, declared.CRD, at, c, unconfirmed) {
			return false
		}
	}
	return true
}

func (r *reverter) impliedByUnion(u *union.Union, crd *apiextensionsv1.CustomResourceDefinition, at schemapath.Place, c *Claim, unconfirmed *[]int) bool {
	above := len(at.Path) - len(c.Path)
	var constraints []verify.Constraint
	for _, i := range *unconfirmed {
		constraints = append(constraints, verify.Constraint{Key: Validations, Index: i, Above: above})
	}
	if *r.opts.Proofs += len(constraints) + len(u.Members); len(constraints) == 0 || *r.opts.Proofs > r.Limits.OrDefault().Proofs {
		return false
	}
	implied, err := verify.Implied(context.Background(), crd, at.Version, at.Path, u, constraints)
	if err != nil {
		return true
	}
	*unconfirmed = slices.DeleteFunc(*unconfirmed, func(i int) bool {
		is := slices.Contains(implied, verify.Constraint{Key: Validations, Index: i, Above: above})
		if is {
			r.Reworded = append(r.Reworded, Reworded{c.Place, c.present[i], diag.Diagnostic{Code: codes.RuleChanged, Severity: diag.Warning, Pos: r.Pos(c.item(i)), Path: c.Place.String(), Schema: c.Place.Structural(),
				Message: fmt.Sprintf("replaced, since compiling writes it differently: %s; the union implies it", shortened(RuleOf(c.present[i]))),
				Hint:    "nothing needs to be done: the new rules reject everything that it rejects"}})
		}
		return is
	})
	return true
}

// overwritten reports whether the CRD, except for its annotations, was replaced by its source, for
// example because a client applied the source again. Then no compiled rule is left. All unions must
// be external, and their declarations given.
func (r *reverter) overwritten(w *regenerated) bool {
	given := r.opts.Declarations
	covers := func(s Schema) bool {
		return slices.ContainsFunc(given, func(e union.External) bool { return !e.Extend && e.Covers(s.Version, s.Path) })
	}
	items := 0
	for _, s := range r.Record.Schemas {
		if len(s.Unions) > 0 && !(s.External && covers(s)) {
			return false
		}
	}
	for _, c := range r.Claims {
		edited := func(sum string) bool { return c.textOf(w.rule(c, sum)) >= 0 }
		if len(c.Ours) > 0 || slices.ContainsFunc(c.missing, edited) {
			return false
		}
		items += len(c.missing)
	}
	return items > 0 && len(given) > 0
}

// textOf returns the index of the present rule with the text of a rule, or -1.
func (c *Claim) textOf(rule map[string]any) int {
	if RuleOf(rule) == "" {
		return -1
	}
	return slices.IndexFunc(c.present, func(v any) bool { return RuleOf(v) == RuleOf(rule) })
}

// edited describes the differences between a present rule and the rule that compiling wrote.
func (c *Claim) edited(i int, rule map[string]any) string {
	item, _ := c.present[i].(map[string]any)
	all := maps.Clone(item)
	maps.Copy(all, rule)
	var keys, values []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if JSON(item[key]) == JSON(rule[key]) {
			continue
		}
		value := "none"
		if v, ok := rule[key]; ok {
			value = fmt.Sprintf("%#v", v)
		}
		keys, values = append(keys, key), append(values, value)
	}
	return fmt.Sprintf("has another %s than unioncel wrote: %s", strings.Join(keys, " and "), strings.Join(values, ", "))
}

// changed reports rules that are gone or edited.
func (r *reverter) changed(c *Claim, w *regenerated) {
	rule := w.rule(c, c.missing[0])
	at, problem := c.at, "is gone, or its text was edited: "+RuleOf(rule)
	if i := c.textOf(rule); i >= 0 && c.List != nil {
		at, problem = c.item(i), c.edited(i, rule)
	}
	if rule == nil {
		problem = "is gone, or was edited: its checksum is " + c.missing[0]
	}
	message := "a compiled rule " + problem
	if len(c.missing) > 1 {
		message = fmt.Sprintf("%d compiled rules are gone or were edited; the first %s", len(c.missing), problem)
	}
	again := fmt.Sprintf("declare %s here again, which replaces the compiled rules that are left", union.Key)
	if c.External {
		again = "generate the file again, as with controller-gen, and compile it"
	}
	r.report(diag.Diagnostic{Code: codes.RuleChanged, Pos: r.Pos(at), Path: c.Place.String(), Schema: c.Place.Structural(), Message: message,
		Hint: fmt.Sprintf("restore it; or %s; or delete the annotation %s, which makes all rules yours", again, Annotation)})
}
