package crdpatch

import (
	"encoding/json"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/rules"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// regenerated holds the rules that the recorded unions compile to.
type regenerated struct {
	// items are the rules by schema and by their JSON, bySum by schema and checksum.
	items map[string]map[string]bool
	bySum map[string]map[string]map[string]any
	// whole, unless nil, is the compilation of the unmodified CRD without the claimed items.
	whole *cachedCompilation
	// again are the compilations, and writing those whose unions have all possible rules.
	again, writing []*cachedCompilation
	// why is the error if the unions do not compile together.
	why string
	// overLimit is true if the declarations exceed a limit, which has been reported.
	overLimit bool
}

func newRegenerated() *regenerated {
	return &regenerated{items: map[string]map[string]bool{}, bySum: map[string]map[string]map[string]any{}}
}

// has reports whether the unions write a rule in a schema, compared as data.
func (w *regenerated) has(c *claim, rule any) bool {
	return w.items[c.Place.Structural()][jsonOf(rule)]
}

// rule returns a rule by its sum, or nil.
func (w *regenerated) rule(c *claim, sum string) map[string]any {
	return w.bySum[c.Place.Structural()][sum]
}

func (w *regenerated) add(p schemapath.Place, l ...rules.Rule) {
	k := p.Structural()
	if w.items[k] == nil {
		w.items[k], w.bySum[k] = map[string]bool{}, map[string]map[string]any{}
	}
	for _, v := range dataOf(ruleNodes(l...)) {
		if text := jsonOf(v); !w.items[k][text] {
			w.items[k][text] = true
			w.bySum[k][sumOf(v)], _ = v.(map[string]any)
		}
	}
}

// present adds the rules that are not written because a rule with the same text exists.
func (w *regenerated) present() {
	for _, again := range w.again {
		plan, _ := again.Plan()
		if plan == nil {
			continue
		}
		for _, u := range plan.Unions {
			for _, r := range u.Rules {
				if r.Present {
					w.add(r.Place, r.Rule)
				}
			}
		}
	}
}

// possible adds all rules that the unions may get, in other encodings or schemas.
func (w *regenerated) possible() {
	for _, again := range w.writing {
		for _, a := range again.Possible() {
			w.add(a.Place, a.Rules...)
		}
	}
	w.writing = nil
}

// regenerate compiles the recorded unions on the CRD without the claimed items.
func (r *reverter) regenerate(opts compile.Options) *regenerated {
	w := newRegenerated()
	var declaring []*claim
	crd, copied := r.value, false
	edit := func(c *claim) map[string]any {
		if !copied {
			crd, copied = runtime.DeepCopyJSON(r.value), true
		}
		return schemaIn(crd, c.Place)
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
	again, why := r.compileAgain(w, crd, declaring, opts)
	w.writing = append(w.writing, again)
	added := false
	for _, c := range declaring {
		for _, name := range missingProperties(c) {
			if why != "" { // else the CRD is a variant without the member
				addProperty(edit(c), name)
				added = true
			}
		}
	}
	if added {
		var with *cachedCompilation
		with, why = r.compileAgain(w, crd, declaring, opts)
		w.writing = append(w.writing, with)
	}
	if w.why = why; why != "" && len(declaring) > 1 {
		for _, c := range declaring { // an error in one schema must not affect other schemas
			_, _ = r.compileAgain(w, crd, []*claim{c}, opts)
		}
	}
	if !copied && !compile.Declares(r.manifest.node) {
		w.whole = again
	}
	return w
}

// missingProperties returns the properties that a recorded union names and the schema no longer has. No
// API server accepts a rule that reads a missing property, so removing such rules loses nothing.
func missingProperties(c *claim) []string {
	properties, ok := c.value["properties"].(map[string]any)
	if !ok {
		return nil
	}
	return slices.DeleteFunc(slices.Concat(namesOf(*c.unions)...), func(name string) bool {
		if _, there := properties[name]; there || name == "" {
			return true
		}
		at := any(map[string]any{"properties": properties})
		for _, step := range stepsOf(name) {
			object, _ := at.(map[string]any)
			inner, _ := object["properties"].(map[string]any)
			at = inner[step]
		}
		return at != nil
	})
}

// stepsOf returns the properties on the path that a name in a declaration denotes.
func stepsOf(name string) []string {
	if path, err := schemapath.Parse(name); err == nil && !path.HasElements() {
		return path.Properties()
	}
	return []string{name}
}

// addProperty adds a string property and, if its name is a path, the objects on the path.
func addProperty(schema map[string]any, name string) {
	properties, _ := schema["properties"].(map[string]any)
	steps := stepsOf(name)
	for _, holder := range steps[:len(steps)-1] {
		object, _ := properties[holder].(map[string]any)
		inner, ok := object["properties"].(map[string]any)
		if !ok {
			inner = map[string]any{}
			properties[holder] = map[string]any{"type": "object", "properties": inner}
		}
		properties = inner
	}
	if last := steps[len(steps)-1]; properties[last] == nil {
		properties[last] = map[string]any{"type": "string"}
	}
}

// compileAgain adds the items that the declarations of some schemas compile to. It returns the
// compilation, and the message of an error.
func (r *reverter) compileAgain(w *regenerated, crd map[string]any, declaring []*claim, opts compile.Options) (*cachedCompilation, string) {
	var recorded []union.External
	for _, c := range declaring {
		if recorded = append(recorded, *c.unions); c.extension != nil {
			recorded = append(recorded, *c.extension)
		}
	}
	again := &cachedCompilation{compile.New(r.manifestOf(crd, recorded), opts), recorded, opts}
	w.again = append(w.again, again)
	result, diags := again.Result()
	if result == nil {
		for _, d := range slices.Clone(diags).Sort() {
			if d.Code == codes.OverLimit {
				w.overLimit = true
				r.report(d)
			}
			if d.Severity == diag.Error {
				return again, d.Message
			}
		}
		return again, ""
	}
	for _, a := range result.Additions {
		w.add(a.Place, a.Rules...)
	}
	return again, ""
}

// manifestOf returns the manifest of a CRD with other declarations instead of its own.
func (r *reverter) manifestOf(crd map[string]any, declarations []union.External) compile.Manifest {
	data, _ := json.Marshal(crd) // cannot fail: crd was read as JSON
	return compile.Manifest{File: r.name, Node: r.pruned(), JSON: data, External: declarations, Limits: r.limits, Undeclared: true}
}
