package patch

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/unioncel/unioncel/internal/resource"
	"github.com/unioncel/unioncel/internal/yamledit"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/kinds"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// Result is a file of patches that have become explicit.
type Result struct {
	// Text is the file: but for what was added its bytes are those that it had. With
	// errors among the diagnostics it is nil.
	Text []byte
	// Known is how many of its patches are of a kind that has unions.
	Known       int
	Diagnostics diag.List
}

// Explicit makes the patches in a file clear the siblings of the members that they set,
// by setting them to null, as JSON merge patches and strategic merge patches do. A patch
// has apiVersion and kind; others stay as they are. So do lists that are replaced as a
// whole: all lists of custom resources, and with whole all lists. The patches that a
// kustomization contains as text are edited there. Where base has the object that is patched,
// siblings that it has not set need no null; base may be nil.
func Explicit(set *kinds.Set, name string, src []byte, base *resource.Old, whole bool, limits limit.Limits) Result {
	f, l := resource.ParsePatches(name, src, limits)
	r := Result{Diagnostics: l}
	if f == nil {
		return r
	}
	var edits []yamltext.Edit
	var want []any
	for _, o := range f.Objects {
		value := runtime.DeepCopyJSON(o.Value)
		want = append(want, value)
		k, ok := set.Of(o.GroupVersionKind)
		if !ok {
			continue
		}
		r.Known++
		patched, l := base.Of(o)
		r.Diagnostics = append(r.Diagnostics, l...)
		var before any
		if patched != nil && patched.Version == o.Version {
			before = patched.Value
		}
		// Inner objects first: where two end at the same position, the inner one does before.
		objects := slices.SortedStableFunc(slices.Values(k.Objects), func(a, b kinds.Object) int { return len(b.Path) - len(a.Path) })
		for _, object := range objects {
			x := explicit{o: o, value: value, object: object, lists: !whole && BuiltIn(o.GroupVersionKind), based: before != nil, r: &r}
			x.walk(object.Path, 0, nil, o.Value, before)
			edits = append(edits, x.edits()...)
		}
	}
	if r.Diagnostics.HasErrors() {
		return r
	}
	out, err := yamledit.Apply(src, edits)
	if err == nil && len(edits) > 0 {
		written, l := resource.ParsePatches(name, out, limits)
		err = resource.Same(written, l, want)
	}
	if err != nil {
		r.Diagnostics = append(r.Diagnostics, diag.Diagnostic{Code: diag.Unproved, Pos: diag.Pos{File: name}, Message: fmt.Sprintf("the result is not what was intended: %v", err)})
		return r
	}
	r.Text = out
	return r
}

// explicit makes the unions at one place of a patch explicit.
type explicit struct {
	o      *resource.Object
	value  map[string]any // the explicit patch
	object kinds.Object
	lists  bool // lists with keys are merged
	based  bool // the patched object is known
	puts   []puts
	r      *Result
}

// puts are the entries that a mapping gets.
type puts struct {
	in      *yaml.Node
	depth   int
	entries []yamledit.Entry
}

// walk goes along what is left of a path to the union objects in a value of the patch. base
// is what it is merged into, nil when that is not there.
func (x *explicit) walk(path schemapath.Path, list int, at resource.Path, v, base any) {
	if len(path) == 0 {
		if object, ok := v.(map[string]any); ok {
			below, _ := base.(map[string]any)
			x.unions(at, object, below)
		}
		return
	}
	step, rest := path[0], path[1:]
	switch v := v.(type) {
	case map[string]any:
		below, _ := base.(map[string]any)
		if name, ok := step.Property(); ok {
			x.walk(rest, list, at.To(name), v[name], below[name])
			return
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if !strings.HasPrefix(key, "$") {
				x.walk(rest, list, at.To(key), v[key], below[key])
			}
		}
	case []any:
		if !x.lists || list >= len(x.object.Keys) || x.object.Keys[list] == nil {
			return // it is replaced as a whole
		}
		below, _ := base.([]any)
		for i := range v {
			var item any
			if same := slices.IndexFunc(below, func(b any) bool { return kinds.SameItem(x.object.Keys[list], v[i], b) }); same >= 0 {
				item = below[same]
			}
			x.walk(rest, list+1, at.To(i), v[i], item)
		}
	}
}

// unions adds null for the siblings of what a patch sets.
func (x *explicit) unions(at resource.Path, object, base map[string]any) {
	if _, ok := object["$patch"]; ok {
		return // it is deleted, or replaced
	}
	for _, u := range x.object.Unions {
		state := u.StateOf(object)
		var set []int
		for i, is := range state.Present {
			if is {
				set = append(set, i)
			}
		}
		keep, clear := set, false
		switch {
		case u.Cardinality == union.AtLeastOne:
		case u.Discriminator != "" && state.Value != "":
			keep, clear = u.MembersOf(state.Value), true
			if i := slices.IndexFunc(set, func(i int) bool { return !slices.Contains(keep, i) }); i >= 0 {
				x.fail(at, u, set[i], "%s is set while %s is '%s', which clears it", u.Members[set[i]].Name, u.Discriminator, state.Value)
				continue
			}
		case u.Discriminator == "" || u.Deduce:
			clear = len(set) == 1
			if len(set) > 1 {
				x.fail(at, u, set[1], "%s and %s are set together", u.Members[set[0]].Name, u.Members[set[1]].Name)
				continue
			}
		}
		if !clear {
			continue
		}
		missing := map[string]any{}
		for i, m := range u.Members {
			if _, ok := u.Lookup(object, m.Name); !ok && !slices.Contains(keep, i) && (!x.based || u.In(base, m.Name) != nil) && merges(object, u.Path(m.Name).Properties()) {
				missing[m.Name] = nil
			}
		}
		if len(missing) > 0 {
			x.put(at, u, object, missing)
		}
	}
}

// merges reports whether a patch merges all that leads to a property, and neither removes nor
// replaces it.
func merges(object map[string]any, path []string) bool {
	for _, name := range path[:len(path)-1] {
		v, ok := object[name]
		if !ok {
			return true
		}
		inner, _ := v.(map[string]any)
		if _, directive := inner["$patch"]; directive || inner == nil {
			return false
		}
		object = inner
	}
	return true
}

func (x *explicit) fail(at resource.Path, u *union.Union, member int, format string, args ...any) {
	path := u.Path(u.Members[member].Name).Properties()
	x.r.Diagnostics = append(x.r.Diagnostics, diag.Diagnostic{Code: diag.NotNormalized, Pos: x.o.Pos(at.Below(path...)), Path: at.String(),
		Message: fmt.Sprintf(format, args...), Hint: "set one of them in the patch"})
}

// put adds members that are null to the object at a path.
func (x *explicit) put(at resource.Path, u *union.Union, object, missing map[string]any) {
	var members []string
	for _, name := range u.MemberNames() {
		if _, ok := missing[name]; ok {
			members = append(members, name)
		}
	}
	for _, part := range u.Parts(object, missing) {
		n, err := x.o.Mapping(at.Below(part.In...))
		if err != nil {
			x.r.Diagnostics = append(x.r.Diagnostics, diag.Diagnostic{Code: diag.NotNormalized, Pos: x.o.Pos(at), Path: at.String(),
				Message: fmt.Sprintf("cannot edit the text (%s): %v", strings.Join(members, ", "), err)})
			return
		}
		i := slices.IndexFunc(x.puts, func(p puts) bool { return p.in == n })
		if i < 0 {
			i, x.puts = len(x.puts), append(x.puts, puts{in: n, depth: len(part.In)})
		}
		for _, name := range part.Names {
			x.puts[i].entries = append(x.puts[i].entries, yamledit.Entry{Key: name, Plain: true, Value: nulls(part.Values[name])})
		}
	}
	written, _ := at.In(x.value)
	for _, name := range members {
		u.Put(written.(map[string]any), name, nil)
	}
	x.r.Diagnostics = append(x.r.Diagnostics, diag.Diagnostic{Code: diag.Normalized, Severity: diag.Info, Pos: x.o.Pos(at), Path: at.String(),
		Message: strings.Join(members, ", ") + " set to null"})
}

// edits returns the edits for all mappings.
func (x *explicit) edits() (l []yamltext.Edit) {
	slices.SortStableFunc(x.puts, func(a, b puts) int { return b.depth - a.depth })
	for _, p := range x.puts {
		e, err := x.o.Put(p.in, p.entries...)
		if err != nil {
			x.r.Diagnostics = append(x.r.Diagnostics, diag.Diagnostic{Code: diag.NotNormalized, Pos: x.o.Pos(nil), Message: fmt.Sprintf("cannot edit the text: %v", err)})
		}
		l = append(l, e)
	}
	return l
}

// nulls is null, or an object of it, as a tree of nodes.
func nulls(v any) *yaml.Node {
	object, ok := v.(map[string]any)
	if !ok {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Value: "null"}
	}
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: name}, nulls(object[name]))
	}
	return n
}
