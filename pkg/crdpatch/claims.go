package crdpatch

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// A rule in the annotation is ours if compiling may write it for the recorded unions, with the
// recorded options, byte for byte: its messages and every other key included.

// claim is a schema of a record with its present content.
type claim struct {
	recorded
	// head is the key of the list of rules if the list exists, list the list if it can be edited,
	// and headIndex the index of the key. ours are the indices of the claimed rules, in ascending order.
	head, list *yaml.Node
	headIndex  int
	ours       []int
	// restored is true if the declaration is restored in the schema.
	restored bool

	value   map[string]any // the schema, edited
	at      *yaml.Node     // the key of the list, or else the schema
	present []any          // the rules in the list
	missing []string       // sums of missing rules
	// fresh is true if the recorded declaration is overridden: missing rules are no error then.
	fresh bool
}

// all reports whether all rules of the list are claimed, and whole whether the list is removed with
// them.
func (c *claim) all() bool   { return len(c.ours) > 0 && len(c.ours) == len(c.present) }
func (c *claim) whole() bool { return c.all() && !c.Empty }

// item returns the node of a rule, or the nearest existing node.
func (c *claim) item(i int) *yaml.Node {
	if c.list == nil || i >= len(c.list.Content) {
		return c.at
	}
	return c.list.Content[i]
}

// items returns the claimed rules.
func (c *claim) items() []any {
	var l []any
	for _, i := range c.ours {
		l = append(l, c.present[i])
	}
	return l
}

// take removes the claimed rules from the value of the schema.
func (c *claim) take() {
	if c.whole() {
		delete(c.value, validations)
	} else if c.list != nil {
		c.value[validations] = omit(c.present, c.ours)
	}
}

// claim looks up the schemas of the record, and reports schemas that are gone.
func (r *reverter) claim() {
	for _, s := range r.schemas {
		if s.Node == nil {
			r.gone(s.schemaRecord)
			continue
		}
		c := &claim{recorded: s, value: schemaIn(r.value, s.Place)}
		if c.value == nil {
			r.report(diag.New(codes.BadAnnotation, r.keyPos(),
				"the annotation %s names the schema %s, which kubectl does not find", Annotation, c.Place).
				Hinted("quote the keys that lead to it"))
			continue
		}
		if _, _, _, declared := yamltext.Lookup(s.Node, union.Key); declared {
			c.fresh = true
		}
		if len(s.Rules) > 0 {
			c.look()
		}
		r.claims = append(r.claims, c)
	}
}

// look finds the recorded rules.
func (c *claim) look() {
	c.at = c.Node
	c.present, _ = c.value[validations].([]any)
	if e := yamltext.Find(c.Node, validations); e.Key != nil {
		c.at, c.head, c.headIndex = e.Key, e.Key, e.Index
		if e.Index >= 0 && e.Value.Kind == yaml.SequenceNode && len(e.Value.Content) == len(c.present) {
			c.list = e.Value
		}
	}
	var sums []string
	if c.list != nil {
		for _, v := range c.present {
			sums = append(sums, sumOf(v))
		}
	}
	for _, sum := range c.Rules {
		if i := slices.Index(sums, sum); i >= 0 {
			c.ours = append(c.ours, i)
		} else {
			c.missing = append(c.missing, sum)
		}
	}
	slices.Sort(c.ours)
	c.ours = slices.Compact(c.ours)
}

// confirm checks the claims. It reports missing rules, and unconfirmed rules unless revertOptions.forget
// is set. Unconfirmed rules are no longer claimed.
func (r *reverter) confirm() {
	ours, missing := false, false
	for _, c := range r.claims {
		ours, missing = ours || len(c.ours) > 0, missing || len(c.missing) > 0
	}
	if !ours && !missing {
		return
	}
	for _, c := range r.claims {
		c.take()
	}
	w := r.regenerate(r.annotated.options())
	if w.overLimit {
		return
	}
	same := true // as the source of the compilation
	for _, c := range r.claims {
		has := func(i int) bool { return w.has(c, c.present[i]) }
		unconfirmed := slices.DeleteFunc(slices.Clone(c.ours), has)
		if len(unconfirmed) > 0 {
			same = false
			w.possible()
			unconfirmed = slices.DeleteFunc(unconfirmed, has)
		}
		for _, i := range unconfirmed {
			if !r.opts.forget {
				r.unconfirmed(c, i, w.why)
			}
		}
		c.ours = slices.DeleteFunc(c.ours, func(i int) bool { return slices.Contains(unconfirmed, i) })
		c.take()
	}
	if same {
		r.again = w.whole
	}
	if !missing {
		return
	}
	w.present()
	overwritten := r.overwritten(w)
	for _, c := range r.claims {
		c.fresh = c.fresh || overwritten
		if len(c.missing) > 0 && !c.fresh {
			r.changed(c, w)
		}
	}
}

func (r *reverter) unconfirmed(c *claim, i int, why string) {
	message := fmt.Sprintf("the annotation %s claims the rule %s, but its unions do not write it", Annotation, shortened(ruleOf(c.present[i])))
	if why != "" {
		message += ": with this schema they do not compile: " + why
	}
	const hint = "--forget drops the claim and keeps the rule as a hand-written one; or undo the edits made since"
	r.report(diag.New(codes.UnconfirmedRule, r.pos(c.item(i)), "%s", message).In(c.Place).Hinted(hint))
}

// shortened quotes a text, and truncates a long one.
func shortened(s string) string {
	const most = 120
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return strconv.Quote(s)
}

// jsonOf returns a value as JSON, or "" if it cannot be encoded.
func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(data)
}

// overwritten reports whether the CRD, except for its annotations, was replaced by its source, for
// example because a client applied the source again. Then no compiled rule is left. All unions must
// be external, and their declarations given.
func (r *reverter) overwritten(w *regenerated) bool {
	given := r.opts.declarations
	covers := func(s schemaRecord) bool {
		return slices.ContainsFunc(given, func(e union.External) bool { return !e.Extend && e.Covers(s.Version, s.Path) })
	}
	items := 0
	for _, s := range r.record.Schemas {
		if len(s.Unions) > 0 && !(s.External && covers(s)) {
			return false
		}
	}
	for _, c := range r.claims {
		edited := func(sum string) bool { return c.textOf(w.rule(c, sum)) >= 0 }
		if len(c.ours) > 0 || slices.ContainsFunc(c.missing, edited) {
			return false
		}
		items += len(c.missing)
	}
	return items > 0 && len(given) > 0
}

// textOf returns the index of the present rule with the text of a rule, or -1.
func (c *claim) textOf(rule map[string]any) int {
	if ruleOf(rule) == "" {
		return -1
	}
	return slices.IndexFunc(c.present, func(v any) bool { return ruleOf(v) == ruleOf(rule) })
}

// edited describes the differences between a present rule and the rule that compiling wrote.
func (c *claim) edited(i int, rule map[string]any) string {
	item, _ := c.present[i].(map[string]any)
	all := maps.Clone(item)
	maps.Copy(all, rule)
	var keys, values []string
	for _, key := range slices.Sorted(maps.Keys(all)) {
		if jsonOf(item[key]) == jsonOf(rule[key]) {
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
func (r *reverter) changed(c *claim, w *regenerated) {
	rule := w.rule(c, c.missing[0])
	at, problem := c.at, "is gone, or its text was edited: "+ruleOf(rule)
	if i := c.textOf(rule); i >= 0 && c.list != nil {
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
	r.report(diag.New(codes.RuleChanged, r.pos(at), "%s", message).In(c.Place).
		Hinted(fmt.Sprintf("restore it; or %s; or delete the annotation %s, which makes all rules yours", again, Annotation)))
}
