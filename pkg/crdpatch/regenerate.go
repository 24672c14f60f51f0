package crdpatch

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// regenerated is what compiling the recorded unions writes.
type regenerated struct {
	items map[string][]any // by schema and list
	// unions are those of schemas.
	unions map[string][]*union.Union
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

// rule returns a rule by its sum, or nil.
func (w *regenerated) rule(c *claimed, key, sum string) map[string]any {
	for _, v := range w.items[itemsKey(c.place.Version, c.place.Path, key)] {
		if sumOf(v) == sum {
			rule, _ := v.(map[string]any)
			return rule
		}
	}
	return nil
}

func (w *regenerated) add(p schemapath.Place, a addition) {
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

// regenerate compiles the recorded unions on the CRD without what is claimed.
func (r *reverter) regenerate(all []*claimed, opts Options) *regenerated {
	w := &regenerated{items: map[string][]any{}, unions: map[string][]*union.Union{}}
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
	if w.why = r.compileAgain(w, crd, declaring, opts.compiler()); w.why != "" && len(declaring) > 1 {
		for _, c := range declaring { // what one of them cannot says nothing about the others
			r.compileAgain(w, crd, []*claimed{c}, opts.compiler())
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
	for _, names := range namesOf(c.declaration(r.keyPos())) {
		for _, name := range names {
			if _, ok := properties[name]; !ok && name != "" {
				addProperty(properties, name)
			}
		}
	}
}

// addProperty adds a string of a name or, where that is a path, in the objects that it
// leads through.
func addProperty(properties map[string]any, name string) {
	steps := []string{name}
	if path, err := schemapath.Parse(name); err == nil && !path.HasElements() {
		steps = path.Properties()
	}
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

// compileAgain adds what compiling the declarations of some schemas writes, or returns
// what is wrong.
func (r *reverter) compileAgain(w *regenerated, crd map[string]any, declaring []*claimed, opts compile.Options) string {
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
	for _, o := range result.Objects {
		w.unions[itemsKey(o.Version, o.Path, "")] = o.Unions
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
