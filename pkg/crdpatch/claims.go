package crdpatch

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// An annotation is a claim, since anyone may have written it. A rule that it lists is ours if
// compiling the recorded unions with the recorded options writes it again. To compile again, it
// is also enough that the rule says what a rule of these unions says (message, reason,
// fieldPath), and that pkg/verify proves that the unions which remain imply it: the result
// enforces them.

// claimed is a schema of a record as it is now.
type claimed struct {
	schemaRecord
	place schemapath.Place
	node  *yaml.Node // the schema
	value map[string]any
	lists []*claimedList
	// fresh says that the recorded declaration does not count any more, so that
	// nothing is lost with rules of it that are gone.
	fresh bool
	// superseded says that the unions declared from now on may be others than those
	// recorded.
	superseded bool
}

// claimedList is a list of such a schema.
type claimedList struct {
	recordedList
	at      *yaml.Node // the list, its key, or the schema: whichever is there
	head    *yaml.Node // the key, if the list is there
	node    *yaml.Node // and the list, if it can be edited
	index   int        // of the key
	present []any
	ours    []int    // indices of the items claimed, in ascending order
	missing []string // sums of those that are not there
}

// item is the position of an item, or of what is there instead.
func (l *claimedList) item(i int) *yaml.Node {
	if l.node == nil || i >= len(l.node.Content) {
		return l.at
	}
	return l.node.Content[i]
}

// items are those claimed, by list.
func (c *claimed) items() map[string][]any {
	m := map[string][]any{}
	for _, l := range c.lists {
		for _, i := range l.ours {
			m[l.key] = append(m[l.key], l.present[i])
		}
	}
	return m
}

// claims looks up what the record names. Schemas that are gone are reported.
func (r *reverter) claims() []*claimed {
	var l []*claimed
	for _, s := range r.record.Schemas {
		version, node := r.schema(s.Version, s.Path)
		if node == nil {
			r.gone(s)
			continue
		}
		c := &claimed{schemaRecord: s, place: schemapath.Place{Version: version, Name: s.Version, Path: s.Path}, node: node, value: schemaIn(r.value, version, s.Path)}
		if c.value == nil {
			r.errorf(r.annotations.Content[r.ours], diag.BadAnnotation, "quote the keys that lead to it", "the annotation %s names the schema %s, which kubectl does not find", Annotation, c.place)
			continue
		}
		if _, _, _, declared := yamltext.Lookup(node, union.Key); declared {
			c.fresh = !s.Kept
		} else {
			c.Kept = false // a server dropped it: it is restored
		}
		for _, recorded := range s.lists() {
			c.lists = append(c.lists, c.look(recorded))
		}
		l = append(l, c)
	}
	return l
}

// look finds the items of a recorded list.
func (c *claimed) look(recorded recordedList) *claimedList {
	l := &claimedList{recordedList: recorded, at: c.node}
	l.present, _ = c.value[recorded.key].([]any)
	for _, e := range yamltext.Entries(c.node) {
		if e.Key.Value != recorded.key {
			continue
		}
		l.at, l.head, l.index = e.Key, e.Key, e.Index
		if e.Index >= 0 && e.Value.Kind == yaml.SequenceNode && len(e.Value.Content) == len(l.present) {
			l.node = e.Value
		}
	}
	var sums []string
	if l.node != nil {
		for _, v := range l.present {
			sums = append(sums, sumOf(v))
		}
	}
	for _, sum := range recorded.sums {
		if i := slices.Index(sums, sum); i >= 0 {
			l.ours = append(l.ours, i)
		} else {
			l.missing = append(l.missing, sum)
		}
	}
	slices.Sort(l.ours)
	l.ours = slices.Compact(l.ours)
	return l
}

// confirm checks the claims. What is missing is reported; and so is what cannot be
// confirmed, unless it is to be forgotten: then it is no longer claimed. It returns what the
// recorded unions write.
func (r *reverter) confirm(all []*claimed) *regenerated {
	ours, missing := false, false
	for _, c := range all {
		ours = ours || len(c.Described) > 0
		for _, l := range c.lists {
			ours, missing = ours || len(l.ours) > 0, missing || len(l.missing) > 0
		}
	}
	if !ours && !missing {
		return &regenerated{}
	}
	w := r.regenerate(all, r.annotatedCRD.options())
	if w.overLimit {
		return w // and not proved either
	}
	for _, c := range all {
		unconfirmed := map[*claimedList][]int{}
		for _, l := range c.lists {
			for _, i := range l.ours {
				if !w.has(c, l.key, l.present[i]) {
					unconfirmed[l] = append(unconfirmed[l], i)
				}
			}
		}
		if len(unconfirmed) > 0 && !r.decompiling {
			r.imply(c, unconfirmed, r.sayings(all, c))
		}
		for _, l := range c.lists {
			for _, i := range unconfirmed[l] {
				if !r.opts.Forget {
					r.unconfirmed(c, l, i, w.why)
				}
			}
			l.ours = slices.DeleteFunc(l.ours, func(i int) bool { return slices.Contains(unconfirmed[l], i) })
		}
	}
	if !missing {
		return w
	}
	w.present()
	overwritten := r.overwritten(all, w)
	for _, c := range all {
		c.fresh = c.fresh || overwritten
		for _, l := range c.lists {
			if len(l.missing) > 0 && !c.fresh {
				r.changed(c, l, w)
			}
		}
	}
	return w
}

func (r *reverter) unconfirmed(c *claimed, l *claimedList, i int, why string) {
	what := "rule " + shortened(ruleOf(l.present[i]))
	if l.key == allOfKey {
		what = "schema in allOf"
	}
	union := "its union neither writes nor implies"
	switch {
	case r.decompiling:
		union = "its union does not write"
	case c.superseded:
		union = "its union does not write, and no union that stays declared implies"
	}
	message := fmt.Sprintf("the annotation %s claims the %s, which %s", Annotation, what, union)
	if why != "" {
		message += ": with this schema it does not compile: " + why
	}
	hint := "--forget drops the claim and keeps the rule as a hand-written one; or undo the edits made since"
	if r.decompiling {
		hint = "compile the file first, which writes the rules of its union again; " + hint
	}
	if r.base.proofs > r.limits.OrDefault().Proofs {
		hint += "; too many rules for all to be tried: " + limit.Hint("proofs")
	}
	r.report(diag.Diagnostic{Code: diag.UnconfirmedRule, Pos: r.pos(l.item(i)), Path: c.place.String(), Schema: c.place.Structural(), Message: message, Hint: hint})
}

// shortened quotes a text, and cuts it off when it is long.
func shortened(s string) string {
	const most = 120
	if runes := []rune(s); len(runes) > most {
		s = string(runes[:most]) + "…"
	}
	return strconv.Quote(s)
}

func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(data)
}

// remaining are the declarations of a schema in the result: what is there or is
// given overrides the record, and decompiling a file leaves no others.
func (r *reverter) remaining(c *claimed) []union.External {
	given, all := r.declaredFor(r.manifest)
	l := slices.DeleteFunc(given, func(e union.External) bool { return !e.Covers(c.Version, c.Path) })
	kept := !all(c.Version) && !r.decompiling // the record applies
	if kept && len(c.Extend) > 0 {
		l = append(l, c.extension(r.keyPos()))
	}
	_, v, _, declared := yamltext.Lookup(c.node, union.Key)
	switch {
	case declared:
		c.superseded = true
		l = append(l, union.External{Version: c.schemaRecord.Version, Path: c.schemaRecord.Path, Value: yamltext.Resolve(v), File: r.opened.name})
	case !c.External || kept:
		l = append(l, c.declaration(r.keyPos()))
	default:
		c.superseded = true
	}
	return l
}

// sayings returns what users read when a rule that compiling writes for a schema fails, in
// every encoding.
func (r *reverter) sayings(all []*claimed, c *claimed) []string {
	if r.encoded == nil {
		for _, e := range []compile.Encoding{compile.Auto, compile.Fine, compile.Compact, compile.Terse} {
			opts := r.annotatedCRD.options()
			opts.Encoding = e
			r.encoded = append(r.encoded, r.regenerate(all, opts))
		}
	}
	var l []string
	for _, w := range r.encoded {
		for _, v := range w.items[itemsKey(c.place.Version, c.place.Path, validationsKey)] {
			l = append(l, sayingOf(v))
		}
	}
	return l
}

// sayingOf returns a rule without its condition.
func sayingOf(rule any) string {
	r, _ := rule.(map[string]any)
	return jsonOf([]any{r["message"], r["messageExpression"], r["reason"], r["fieldPath"]})
}

// imply removes from the unconfirmed items those that say what our rules say and that the
// unions of the schema are proved to imply, as they are declared from now on: an annotation may
// record a union that implies any rule, next to a declaration of another. A proof takes a while,
// and an annotation may claim any number of rules: those beyond the limit are not confirmed.
func (r *reverter) imply(c *claimed, unconfirmed map[*claimedList][]int, sayings []string) {
	if len(c.Unions) == 0 {
		return
	}
	m, err := r.manifestWith(r.undeclared(), r.remaining(c))
	if err != nil {
		return
	}
	declared, _ := compile.Unions(m)
	if declared == nil || len(declared.Objects) != 1 {
		return
	}
	for _, u := range declared.Objects[0].Unions {
		var constraints []verify.Constraint
		for l, indices := range unconfirmed {
			for _, i := range indices {
				if l.key != validationsKey || slices.Contains(sayings, sayingOf(l.present[i])) {
					constraints = append(constraints, verify.Constraint{Key: l.key, Index: i})
				}
			}
		}
		if len(constraints) == 0 {
			return
		}
		if r.base.proofs += len(constraints) + len(u.Members); r.base.proofs > r.limits.OrDefault().Proofs {
			return
		}
		implied, err := verify.Implied(context.Background(), declared.CRD, c.place.Version, c.place.Path, u, constraints)
		if err != nil {
			continue
		}
		for l, indices := range unconfirmed {
			unconfirmed[l] = slices.DeleteFunc(indices, func(i int) bool {
				is := slices.Contains(implied, verify.Constraint{Key: l.key, Index: i})
				if is {
					r.report(diag.Diagnostic{Code: diag.RuleChanged, Severity: diag.Warning, Pos: r.pos(l.item(i)), Path: c.place.String(), Schema: c.place.Structural(),
						Message: fmt.Sprintf("removed, though compiling writes it otherwise: %s; the union implies it", shortened(ruleOf(l.present[i]))),
						Hint:    "nothing needs to be done: the rules that take its place reject all that it rejects"})
				}
				return is
			})
		}
	}
}

// overwritten reports whether the CRD has been written anew but for its annotations,
// as when somebody without knowledge of its unions applies it again, and the
// declarations of all of them are given: nothing of what compiling did is there.
func (r *reverter) overwritten(all []*claimed, w *regenerated) bool {
	given, _ := r.declaredFor(r.manifest)
	covers := func(s schemaRecord) bool {
		return slices.ContainsFunc(given, func(e union.External) bool { return !e.Extend && e.Covers(s.Version, s.Path) })
	}
	items := 0
	for _, s := range r.record.Schemas {
		if len(s.Unions) > 0 && !(s.External && covers(s)) {
			return false
		}
	}
	for _, c := range all {
		for _, l := range c.lists {
			edited := func(sum string) bool { return l.textOf(w.rule(c, l.key, sum)) >= 0 }
			if len(l.ours) > 0 || slices.ContainsFunc(l.missing, edited) {
				return false
			}
			items += len(l.missing)
		}
	}
	return items > 0 && len(given) > 0
}

// textOf returns the index of the item with the text of a rule, or -1.
func (l *claimedList) textOf(rule map[string]any) int {
	if ruleOf(rule) == "" {
		return -1
	}
	return slices.IndexFunc(l.present, func(v any) bool { return ruleOf(v) == ruleOf(rule) })
}

// edited describes the keys in which an item differs from the rule that compiling wrote.
func (l *claimedList) edited(i int, rule map[string]any) string {
	item, _ := l.present[i].(map[string]any)
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
	return fmt.Sprintf("has another %s than compiling wrote: %s", strings.Join(keys, " and "), strings.Join(values, ", "))
}

// changed reports items that are gone or edited.
func (r *reverter) changed(c *claimed, l *claimedList, w *regenerated) {
	rule := w.rule(c, l.key, l.missing[0])
	at, problem := l.at, "is gone, or its text was edited: "+ruleOf(rule)
	if i := l.textOf(rule); i >= 0 && l.node != nil {
		at, problem = l.item(i), l.edited(i, rule)
	}
	if rule == nil {
		problem = "is gone, or was edited: its checksum is " + l.missing[0]
	}
	message := "a compiled rule " + problem
	switch {
	case l.key == allOfKey:
		message = "a compiled schema in allOf is gone, or was edited"
	case len(l.missing) > 1:
		message = fmt.Sprintf("%d compiled rules are gone or were edited; the first %s", len(l.missing), problem)
	}
	again := fmt.Sprintf("declare %s here again, which replaces the compiled rules that are left", union.Key)
	if c.External {
		again = "generate the file again, as with controller-gen, and compile it"
	}
	r.report(diag.Diagnostic{Code: diag.RuleChanged, Pos: r.pos(at), Path: c.place.String(), Schema: c.place.Structural(), Message: message,
		Hint: fmt.Sprintf("restore it; or %s; or delete the annotation %s, which makes all rules yours", again, Annotation)})
}
