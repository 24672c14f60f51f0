package crdpatch

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// regenerated holds the rules that the recorded unions compile to.
type regenerated struct {
	// rules are by schema and checksum.
	rules map[string]map[string][]map[string]any
	// compilations of all unions and, after errors, of each schema alone.
	compilations []*cachedCompilation
	// whole, unless nil, is the compilation of the unmodified CRD without the claimed items.
	whole *cachedCompilation
	// why is the error if the unions do not compile together.
	why string
	// overLimit is true if the declarations exceed a limit, which has been reported.
	overLimit bool
}

// has reports whether the unions write a rule in a schema, compared as data.
func (w *regenerated) has(p schemapath.Place, rule any) bool {
	return slices.ContainsFunc(w.rules[p.Structural()][sumOf(rule)], func(v map[string]any) bool { return jsonOf(v) == jsonOf(rule) })
}

// rule returns a rule by its sum, or nil.
func (w *regenerated) rule(p schemapath.Place, sum string) map[string]any {
	if l := w.rules[p.Structural()][sum]; len(l) > 0 {
		return l[0]
	}
	return nil
}

func (w *regenerated) add(additions []compile.Addition) {
	for _, a := range additions {
		k := a.Structural()
		if w.rules[k] == nil {
			w.rules[k] = map[string][]map[string]any{}
		}
		for _, v := range dataOf(ruleNodes(a.Rules...)) {
			if rule, ok := v.(map[string]any); ok && !w.has(a.Place, v) {
				w.rules[k][sumOf(v)] = append(w.rules[k][sumOf(v)], rule)
			}
		}
	}
}

// possible adds all rules that the unions may get, in other encodings or schemas.
func (w *regenerated) possible() {
	for _, again := range w.compilations {
		w.add(again.Possible(true))
	}
	w.compilations = nil
}

// regenerate compiles the recorded unions on the CRD without the claimed items.
func (r *base) regenerate() *regenerated {
	w := &regenerated{rules: map[string]map[string][]map[string]any{}}
	var declaring []*claim
	crd, copied := r.value, false
	edit := func(c *claim) map[string]any {
		if !copied {
			crd, copied = runtime.DeepCopyJSON(r.value), true
		}
		return schemaIn(crd, c.place)
	}
	for _, c := range r.claims {
		v, ok := c.value[validations]
		if _, isList := v.([]any); ok && !isList && len(c.Rules) > 0 {
			delete(edit(c), validations) // no API server accepts it
		}
		if c.unions != nil {
			declaring = append(declaring, c)
		}
	}
	w.why = r.compileAgain(w, crd, declaring...)
	if !copied && !compile.Declares(r.manifest.node) {
		w.whole = w.compilations[0]
	}
	if w.why == "" {
		return w
	}
	added := false
	for _, c := range declaring {
		for _, name := range slices.Concat(namesOf(*c.unions)...) {
			added = complete(edit(c), name) || added
		}
	}
	if added {
		w.why = r.compileAgain(w, crd, declaring...)
	}
	if w.why != "" && len(declaring) > 1 {
		for _, c := range declaring { // an error in one schema must not affect other schemas
			r.compileAgain(w, crd, c)
		}
	}
	return w
}

// complete adds a property that a recorded union names and its schema no longer has. Its name may be a
// path. No API server accepts a rule that reads a missing property, so removing such rules loses nothing.
func complete(schema map[string]any, name string) (added bool) {
	properties, ok := schema["properties"].(map[string]any)
	if _, there := properties[name]; !ok || there || name == "" {
		return false
	}
	steps := []string{name}
	if path, err := schemapath.Parse(name); err == nil && !path.HasElements() {
		steps = path.Properties()
	}
	last := len(steps) - 1
	for _, step := range steps[:last] {
		object, _ := properties[step].(map[string]any)
		inner, ok := object["properties"].(map[string]any)
		if !ok {
			inner = map[string]any{}
			properties[step] = map[string]any{"type": "object", "properties": inner}
		}
		properties = inner
	}
	if properties[steps[last]] != nil {
		return false
	}
	properties[steps[last]] = map[string]any{"type": "string"}
	return true
}

// compileAgain adds the rules that the declarations of some schemas compile to. It returns the message
// of an error.
func (r *base) compileAgain(w *regenerated, crd map[string]any, declaring ...*claim) string {
	var recorded []union.External
	for _, c := range declaring {
		recorded = append(recorded, r.standing(c)...)
	}
	data, _ := json.Marshal(crd) // cannot fail: crd was read as JSON
	m := compile.Manifest{File: r.name, Node: r.pruned(), JSON: data, External: recorded, Limits: r.limits, Undeclared: true}
	again := &cachedCompilation{Compilation: compile.New(m, r.annotated.options()), external: recorded, opts: r.annotated.options()}
	w.compilations = append(w.compilations, again)
	result, diags := again.Result()
	if result != nil {
		w.add(result.Additions)
		return ""
	}
	for _, d := range slices.Clone(diags).Sort() {
		if d.Code == codes.OverLimit {
			w.overLimit = true
			r.report(d)
		}
		if d.Severity == diag.Error {
			return d.Message
		}
	}
	return ""
}
