package crdpatch

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
	"github.com/unioncel/unioncel/pkg/verify"
)

// An annotation is a claim, since anyone may have written it. What it says of rules is
// held against the recorded unions: a rule is ours if compiling these with the recorded
// options would write it again, or else if pkg/verify proves that the unions which remain
// imply it.

// claimed is a schema of a record as it stands.
type claimed struct {
	schemaRecord
	place compile.Place
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

// claims looks up what the record speaks of. Schemas that are gone are reported.
func (r *reverter) claims() []*claimed {
	var l []*claimed
	for _, s := range r.record.Schemas {
		version, node := r.schema(s.Version, s.Path)
		if node == nil {
			r.gone(s)
			continue
		}
		c := &claimed{schemaRecord: s, place: compile.Place{Version: version, Name: s.Version, Path: s.Path, Node: node}, value: schemaIn(r.value, version, s.Path)}
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
	l := &claimedList{recordedList: recorded, at: c.place.Node}
	l.present, _ = c.value[recorded.key].([]any)
	for _, e := range yamltext.Entries(c.place.Node) {
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
// confirmed, unless it is to be forgotten: then it is not claimed any more.
func (r *reverter) confirm(all []*claimed) {
	ours, missing := false, false
	for _, c := range all {
		for _, l := range c.lists {
			ours, missing = ours || len(l.ours) > 0, missing || len(l.missing) > 0
		}
	}
	if !ours && !missing {
		return
	}
	w := r.regenerate(all)
	if w.overLimit {
		return // and not proved either
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
		if len(unconfirmed) > 0 {
			r.imply(c, unconfirmed)
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
		return
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
}

func (r *reverter) unconfirmed(c *claimed, l *claimedList, i int, why string) {
	what := "rule " + shortened(ruleOf(l.present[i]))
	if l.key == allOfKey {
		what = "schema in allOf"
	}
	union := "its union neither writes nor implies"
	if c.superseded {
		union = "its union does not write, and no union that stays declared implies"
	}
	message := fmt.Sprintf("the annotation %s claims the %s, which %s", Annotation, what, union)
	if why != "" {
		message += ": with this schema it does not compile: " + why
	}
	hint := "--forget keeps it as a hand-written rule, and the claim is forgotten; or undo what was edited since"
	if c.superseded && r.decompiling {
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

// regenerated is what compiling the recorded unions writes.
type regenerated struct {
	items map[string][]any // by schema and list
	// again compiles in detail, for the rules that hand-written ones serve for.
	again []func() (*compile.Plan, diag.List)
	// why says what is wrong when nothing can be compiled.
	why string
	// overLimit says that too much is declared, which has been reported.
	overLimit bool
}

func itemsKey(version int, path schemapath.Path, key string) string {
	return fmt.Sprintf("%d %q %s", version, path.Fields(), key)
}

// has reports whether an item is written in a list of a schema, as data.
func (w *regenerated) has(c *claimed, key string, item any) bool {
	text := jsonOf(item)
	return text != "" && slices.ContainsFunc(w.items[itemsKey(c.place.Version, c.place.Path, key)], func(v any) bool { return jsonOf(v) == text })
}

// rule returns the text of a rule by its sum, or "".
func (w *regenerated) rule(c *claimed, key, sum string) string {
	for _, v := range w.items[itemsKey(c.place.Version, c.place.Path, key)] {
		if sumOf(v) == sum {
			return ruleOf(v)
		}
	}
	return ""
}

func (w *regenerated) add(p compile.Place, a addition) {
	k := itemsKey(p.Version, p.Path, a.key)
	w.items[k] = append(w.items[k], a.data()...)
}

// present adds the rules that are not written because others of the same text are
// there.
func (w *regenerated) present() {
	for _, again := range w.again {
		plan, _ := again()
		if plan == nil {
			continue
		}
		for _, u := range plan.Unions {
			for _, r := range u.Rules {
				if r.Present {
					w.add(r.Place, addition{validationsKey, yamltext.ListNode(ruleNode(r.Rule))})
				}
			}
		}
	}
	w.again = nil
}

func jsonOf(v any) string {
	data, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(data)
}

// regenerate compiles the recorded unions with the recorded options on the CRD
// without what is claimed.
func (r *reverter) regenerate(all []*claimed) *regenerated {
	w := &regenerated{items: map[string][]any{}}
	crd := r.undeclared()
	var declaring []*claimed
	for _, c := range all {
		schema := schemaIn(crd, c.place.Version, c.Path)
		for _, l := range c.lists {
			if _, ok := schema[l.key].([]any); !ok {
				delete(schema, l.key) // no server reads it
			}
			if len(l.ours) == 0 {
				continue
			}
			kept := without(l.present, l.ours)
			if schema[l.key] = kept; len(kept) == 0 {
				delete(schema, l.key)
			}
		}
		if len(c.Unions) > 0 {
			declaring = append(declaring, c)
			r.addMembers(c, schema)
		}
	}
	if w.why = r.compileAgain(w, crd, declaring); w.why != "" && len(declaring) > 1 {
		for _, c := range declaring { // what one of them cannot says nothing about the others
			r.compileAgain(w, crd, []*claimed{c})
		}
	}
	return w
}

// undeclared is a copy of the CRD without declarations and annotation.
func (r *reverter) undeclared() map[string]any {
	crd, _ := runtime.DeepCopyJSONValue(r.value).(map[string]any)
	metadata, _ := crd["metadata"].(map[string]any)
	annotations, _ := metadata["annotations"].(map[string]any)
	delete(annotations, Annotation)
	var undeclare func(v any)
	undeclare = func(v any) {
		switch v := v.(type) {
		case map[string]any:
			delete(v, union.Key)
			for _, child := range v {
				undeclare(child)
			}
		case []any:
			for _, child := range v {
				undeclare(child)
			}
		}
	}
	undeclare(crd["spec"])
	return crd
}

// addMembers adds the properties that a recorded union names and the schema has no
// more. No server accepts a rule that reads a property which is not there, so nothing
// is enforced by those that go.
func (r *reverter) addMembers(c *claimed, schema map[string]any) {
	properties, ok := schema["properties"].(map[string]any)
	if !ok {
		return
	}
	for _, names := range propertiesOf(c.declaration(r.keyPos())) {
		for _, name := range names {
			if _, ok := properties[name]; !ok && name != "" {
				properties[name] = map[string]any{"type": "string"}
			}
		}
	}
}

// remaining are the declarations of a schema in the result: what stands there or is
// given beats the record, and when a file is decompiled nothing remains of others.
func (r *reverter) remaining(c *claimed) []union.External {
	given, all := r.opts.External.Of(r.names())
	l := slices.DeleteFunc(given, func(e union.External) bool { return !e.Covers(c.Version, c.Path) })
	kept := !all(c.Version) && !r.decompiling // the record counts
	if kept && len(c.Extend) > 0 {
		l = append(l, c.extension(r.keyPos()))
	}
	_, v, _, declared := yamltext.Lookup(c.place.Node, union.Key)
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

// compileAgain adds what compiling the declarations of some schemas writes, or returns
// what is wrong.
func (r *reverter) compileAgain(w *regenerated, crd map[string]any, declaring []*claimed) string {
	var recorded []union.External
	for _, c := range declaring {
		if recorded = append(recorded, c.declaration(r.keyPos())); len(c.Extend) > 0 {
			recorded = append(recorded, c.extension(r.keyPos()))
		}
	}
	m, err := r.manifestWith(crd, recorded)
	if err != nil {
		return err.Error()
	}
	opts := r.annotatedCRD.options().compiler()
	result, diags := compile.CRD(m, opts)
	if result == nil {
		for _, d := range diags.Sort() {
			if d.Code == diag.OverLimit {
				w.overLimit = true
				r.report(d)
			}
			if d.Severity == diag.Error {
				return d.Message
			}
		}
		return ""
	}
	for _, a := range result.Additions {
		lists, err := additions(a)
		if err != nil {
			return err.Error()
		}
		for _, l := range lists {
			w.add(a.Place, l)
		}
	}
	w.again = append(w.again, func() (*compile.Plan, diag.List) { return compile.Explain(m, opts) })
	return ""
}

// manifestWith is a CRD with declarations.
func (r *reverter) manifestWith(crd map[string]any, declarations []union.External) (compile.Manifest, error) {
	data, err := json.Marshal(crd)
	if err != nil {
		return compile.Manifest{}, err
	}
	m, err := compile.ParseManifest(r.opened.name, data)
	m.Limits, m.External = r.limits, declarations
	return m, err
}

// imply removes from the unconfirmed items those that the unions of the schema are proved
// to imply, as they are declared from now on: whoever writes an annotation may record a
// union that implies any rule, and declare another. A proof takes a while, and any number
// of rules may be claimed: what is beyond the limit is not confirmed.
func (r *reverter) imply(c *claimed, unconfirmed map[*claimedList][]int) {
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
				constraints = append(constraints, verify.Constraint{Key: l.key, Index: i})
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
				return slices.Contains(implied, verify.Constraint{Key: l.key, Index: i})
			})
		}
	}
}

// overwritten reports whether the CRD has been written anew but for its annotations,
// as when somebody who knows nothing of its unions applies it again, and the
// declarations of all of them are given: nothing of what compiling did is there.
func (r *reverter) overwritten(all []*claimed, w *regenerated) bool {
	given, _ := r.opts.External.Of(r.names())
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

// gone reports a record whose schema is not there. When its rules stand elsewhere
// the schema was renamed, and going on would lose the declaration.
func (r *reverter) gone(s schemaRecord) {
	d := diag.Diagnostic{Code: diag.RuleChanged, Severity: diag.Warning, Pos: r.pos(r.annotations), Path: placeOf(s.Path),
		Message: "this schema is gone; its union is forgotten",
		Hint:    "nothing needs to be done if that was intended"}
	if at := r.strays(s); len(at) > 0 {
		d.Severity = diag.Error
		d.Message = "this schema is gone, and its compiled rules are at " + at[0]
		d.Hint = "undo the renaming, run unioncel decompile, rename, and compile again"
	}
	r.report(d)
}

// copies warns of rules that were copied along with a schema.
func (r *reverter) copies() {
	for _, s := range r.record.Schemas {
		if _, node := r.schema(s.Version, s.Path); node == nil {
			continue
		}
		for _, at := range r.strays(s) {
			r.report(diag.Diagnostic{Code: diag.RuleChanged, Severity: diag.Warning, Pos: r.pos(r.annotations), Path: at,
				Message: "the rules here are copies of those compiled for " + placeOf(s.Path) + "; they are treated as hand-written ones",
				Hint:    "to copy the union with its schema, run unioncel decompile before copying"})
		}
	}
}

// strays are the places, not in the record, that have all rules of one that is.
func (r *reverter) strays(s schemaRecord) []string {
	if r.unrecorded == nil {
		r.unrecorded = r.otherRules()
	}
	var l []string
	for _, o := range r.unrecorded {
		if sums := s.sums(); len(sums) > 0 && !slices.ContainsFunc(sums, func(sum string) bool { return !o.sums[sum] }) {
			l = append(l, o.place)
		}
	}
	return l
}

// ruled is a schema with rules.
type ruled struct {
	place string
	sums  map[string]bool // of its rules
}

// otherRules returns the schemas with rules that are not in the record.
func (r *reverter) otherRules() []ruled {
	l := []ruled{}
	var visit func(version string, path schemapath.Path, schema map[string]any)
	visit = func(version string, path schemapath.Path, schema map[string]any) {
		var present []any
		for _, key := range listKeys {
			present = append(present, itemsOf(schema[key])...)
		}
		if len(present) > 0 && !slices.ContainsFunc(r.record.Schemas, func(o schemaRecord) bool { return o.Version == version && o.Path.Equal(path) }) {
			sums := map[string]bool{}
			for _, rule := range present {
				sums[sumOf(rule)] = true
			}
			l = append(l, ruled{placeOf(path), sums})
		}
		for _, step := range schemapath.ChildrenOf(schema) {
			visit(version, path.To(step), schemapath.Path{step}.Value(schema))
		}
	}
	spec, _ := r.value["spec"].(map[string]any)
	for i, v := range itemsOf(spec["versions"]) {
		version, _ := v.(map[string]any)
		name, _ := version["name"].(string)
		if schema := schemaIn(r.value, i, nil); schema != nil {
			visit(name, nil, schema)
		}
	}
	return l
}

// textOf returns the index of the item with the text of a rule, or -1.
func (l *claimedList) textOf(rule string) int {
	if rule == "" {
		return -1
	}
	return slices.IndexFunc(l.present, func(v any) bool { return ruleOf(v) == rule })
}

// changed reports items that are gone or edited.
func (r *reverter) changed(c *claimed, l *claimedList, w *regenerated) {
	at, problem := l.at, "is gone, or its text was edited"
	rule := w.rule(c, l.key, l.missing[0])
	if i := l.textOf(rule); i >= 0 && l.node != nil {
		at, problem = l.item(i), "was edited"
	}
	if rule == "" {
		problem, rule = "is gone, or was edited", "its checksum is "+l.missing[0]
	}
	message := fmt.Sprintf("a compiled rule %s: %s", problem, rule)
	switch {
	case l.key == allOfKey:
		message = "a compiled schema in allOf is gone, or was edited"
	case len(l.missing) > 1:
		message = fmt.Sprintf("%d compiled rules are gone or were edited; the first %s: %s", len(l.missing), problem, rule)
	}
	again := fmt.Sprintf("declare %s here again, which replaces the compiled rules that are left", union.Key)
	if c.External {
		again = "generate the file again, as with controller-gen, and compile it"
	}
	r.report(diag.Diagnostic{Code: diag.RuleChanged, Pos: r.pos(at), Path: c.place.String(), Schema: c.place.Structural(), Message: message,
		Hint: fmt.Sprintf("restore it; or %s; or delete the annotation %s, which makes all rules yours", again, Annotation)})
}
