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
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// A rule in the annotation is ours if compiling may write it for the recorded unions, with the
// recorded options, byte for byte: its messages and every other key included.

// claim is a schema of the record as it is now, and the rules in it that the record claims.
type claim struct {
	schemaRecord
	place schemapath.Place
	node  *yaml.Node // nil if the schema is gone
	// unions and extension are the recorded declarations, nil if there are none.
	unions, extension *union.External
	// declared is true if the schema declares unions, which override the recorded ones.
	declared bool

	value   map[string]any // the schema, edited
	present []any          // the rules in its list
	// head is the key of the list of rules if the list exists, list the list if it can be edited,
	// and headIndex the index of the key.
	head, list *yaml.Node
	headIndex  int
	ours       []int    // the indices of the claimed rules, in ascending order
	missing    []string // sums of missing rules
}

// restored reports whether reverting restores the declaration in the schema.
func (c *claim) restored() bool { return c.unions != nil && !c.External && !c.declared }

// all reports whether all rules of the list are claimed, and whole whether the list is removed with
// them.
func (c *claim) all() bool   { return len(c.ours) > 0 && len(c.ours) == len(c.present) }
func (c *claim) whole() bool { return c.all() && !c.Empty }

// item returns the node of a rule, or the nearest existing node.
func (c *claim) item(i int) *yaml.Node {
	switch {
	case c.list != nil && i < len(c.list.Content):
		return c.list.Content[i]
	case c.head != nil:
		return c.head
	}
	return c.node
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

// locate finds the schemas of the record and the rules that it claims, and reports schemas that are gone.
func (r *base) locate() {
	for _, c := range r.schemas {
		if c.node == nil {
			r.gone(c)
			continue
		}
		if c.value = schemaIn(r.value, c.place); c.value == nil {
			r.report(diag.New(codes.BadAnnotation, r.keyPos(),
				"the annotation %s names the schema %s, which kubectl does not find", Annotation, c.place).
				Hinted("quote the keys that lead to it"))
			continue
		}
		if len(c.Rules) > 0 {
			c.look()
		}
		r.claims = append(r.claims, &c)
	}
}

// look finds the recorded rules.
func (c *claim) look() {
	c.present = itemsOf(c.value[validations])
	if e := yamltext.Lookup(c.node, validations); e.Key != nil {
		c.head, c.headIndex = e.Key, e.Index
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

// confirm checks the claims. It reports missing rules, and unconfirmed rules unless these are to be
// forgotten. Unconfirmed rules are no longer claimed.
func (r *base) confirm() {
	ours, missing := false, false
	for _, c := range r.claims {
		ours, missing = ours || len(c.ours) > 0, missing || len(c.missing) > 0
		c.take()
	}
	if !ours && !missing {
		return
	}
	w := r.regenerate()
	if w.overLimit {
		return
	}
	same := true // as the source of the compilation
	for _, c := range r.claims {
		unwritten := func(i int) bool { return !w.has(c.place, c.present[i]) }
		if slices.ContainsFunc(c.ours, unwritten) {
			same = false
			w.possible()
		}
		for _, i := range c.ours {
			if unwritten(i) && !r.forget {
				r.unconfirmed(c, i, w.why)
			}
		}
		c.ours = slices.DeleteFunc(c.ours, unwritten)
		c.take()
	}
	if same && w.whole != nil {
		r.compilations = append(r.compilations, w.whole)
	}
	if !missing {
		return
	}
	w.possible()
	overwritten := r.overwritten(w)
	forgets := r.forget && slices.ContainsFunc(r.claims, func(c *claim) bool {
		unions, extension := r.lost(c)
		return len(unions) > 0 || extension
	})
	for _, c := range r.claims {
		if forgets { // rules that no other union writes were theirs
			c.missing = slices.DeleteFunc(c.missing, func(sum string) bool { return w.rule(c.place, sum) == nil })
		}
		if len(c.missing) > 0 && !c.declared && !overwritten {
			r.changed(c, w)
		}
	}
}

func (r *base) unconfirmed(c *claim, i int, why string) {
	message := fmt.Sprintf("the annotation %s claims the rule %s, but its unions do not write it", Annotation, shortened(ruleOf(c.present[i])))
	if why != "" {
		message += ": with this schema they do not compile: " + why
	}
	const hint = "--forget drops the claim and keeps the rule as a hand-written one; or undo the edits made since"
	r.report(diag.New(codes.UnconfirmedRule, r.pos(c.item(i)), "%s", message).In(c.place).Hinted(hint))
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
func (r *base) overwritten(w *regenerated) bool {
	covers := func(s schemaRecord) bool {
		return slices.ContainsFunc(r.given.declarations, func(e union.External) bool { return !e.Extend && e.Covers(s.Version, s.Path) })
	}
	items := 0
	for _, s := range r.record.Schemas {
		if len(s.Unions) > 0 && !(s.External && covers(s)) {
			return false
		}
	}
	for _, c := range r.claims {
		edited := func(sum string) bool { return c.textOf(w.rule(c.place, sum)) >= 0 }
		if len(c.ours) > 0 || slices.ContainsFunc(c.missing, edited) {
			return false
		}
		items += len(c.missing)
	}
	return items > 0 && len(r.given.declarations) > 0
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
func (r *base) changed(c *claim, w *regenerated) {
	rule := w.rule(c.place, c.missing[0])
	at, problem := c.item(len(c.present)), "is gone, or its text was edited: "+ruleOf(rule)
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
	r.report(diag.New(codes.RuleChanged, r.pos(at), "%s", message).In(c.place).
		Hinted(fmt.Sprintf("restore it; or %s; or delete the annotation %s, which makes all rules yours", again, Annotation)))
}
