package product

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/schemapath"
	"github.com/unioncel/unioncel/pkg/union"
)

// ExplicitPatches edits the patches in a file such that they clear the siblings of the members that they
// set. They set siblings to null, as JSON merge patches and strategic merge patches do. A patch has
// apiVersion and kind; other documents stay unchanged. So do lists that are replaced as a whole: all
// lists, except those of kinds for which merges returns true. Patches that a kustomization
// contains as text are edited in place. If base has the patched object, siblings that this object
// does not set need no null. base may be nil.
func ExplicitPatches(set *union.KindSet, name string, src []byte, base *yamltext.OldObjects, merges func(schema.GroupVersionKind) bool, limits yamltext.Limits) NormalizedFile {
	plan := func(k union.Kind, o, patched *yamltext.Object, l diag.List) ([]Change, diag.List) {
		var before map[string]any
		if patched != nil && patched.Version == o.Version {
			before = patched.Value
		}
		x := explicit{o: o, lists: merges != nil && merges(o.GroupVersionKind), based: before != nil, diagnostics: l}
		for _, object := range slices.SortedStableFunc(slices.Values(k.Objects), func(a, b union.Instances) int { return len(b.Path) - len(a.Path) }) {
			visit := func(at yamltext.ObjectPath, v map[string]any, below former) {
				x.unions(at, object.Unions, v, below)
			}
			unionWalk{Instances: object, Items: x.items, Union: visit, Directives: true}.Visit(o.Value, before)
		}
		return x.changes, x.diagnostics
	}
	return files{Set: set, Old: base, Limits: limits, Parse: yamltext.ParsePatches, Plan: plan}.Rewrite(name, src)
}

type explicit struct {
	o           *yamltext.Object
	lists       bool // whether lists with keys are merged
	based       bool // whether the patched object is known
	changes     []Change
	diagnostics diag.List
}

// items returns the base items with which the items of a patch are merged. A list that is replaced
// as a whole has none.
func (x *explicit) items(items []any, base former, keys []string, _ schemapath.Path, _ yamltext.ObjectPath) []former {
	if !x.lists || keys == nil {
		return nil
	}
	return byKeys(items, base, keys)
}

// unions adds null for the siblings of the members that a patch sets.
func (x *explicit) unions(at yamltext.ObjectPath, unions []*union.Union, object map[string]any, below former) {
	base, _ := below.Value.(map[string]any)
	if _, ok := object["$patch"]; ok {
		return // the patch deletes or replaces the object
	}
	cleared := map[string]bool{} // paths of properties that other unions clear
	// put adds null for the members that are not to stay.
	put := func(u *union.Union, keep []int) {
		missing := map[string]any{}
		for i, m := range u.Members {
			v, ok := u.Lookup(object, m.Name)
			if ok && v == nil && !slices.Contains(keep, i) {
				cleared[u.Path(m.Name).String()] = true
			}
			if !ok && !slices.Contains(keep, i) && (!x.based || u.Value(base, m.Name) != nil) && merges(object, u.Path(m.Name).Properties()) {
				missing[m.Name] = nil
				cleared[u.Path(m.Name).String()] = true
			}
		}
		if len(missing) > 0 {
			x.put(at, u, missing)
		}
	}
	for _, u := range unions {
		state := u.StateOf(object)
		set := state.Set()
		keep, clear := set, false
		switch {
		case !u.Exclusive():
		case u.Discriminator != "" && state.Value != "" && decides(u, object):
			keep, clear = u.MembersOf(state.Value), true
			if i := slices.IndexFunc(set, func(i int) bool { return !slices.Contains(keep, i) }); i >= 0 {
				x.fail(at, u, set[i], "%s is set while %s is %s, which clears it", u.Members[set[i]].Name, u.Discriminator, u.Type.Quoted(state.Value))
				continue
			}
		case u.Discriminator == "" || u.Deduce:
			if groups := u.PresentGroups(state); len(groups) == 1 {
				keep, clear = groups[0].Members, true
			} else if len(set) > 1 {
				second := groups[1].Members[slices.IndexFunc(groups[1].Members, func(i int) bool { return state.Present[i] })]
				x.fail(at, u, second, "%s and %s are set together", u.Members[set[0]].Name, u.Members[second].Name)
				continue
			}
		}
		if clear {
			put(u, keep)
		}
	}
	for range unions { // the members of a cleared discriminator may be discriminators, too
		for _, u := range unions {
			if u.Discriminator != "" && cleared[u.Path(u.Discriminator).String()] {
				delete(cleared, u.Path(u.Discriminator).String())
				put(u, u.MembersOf(u.Unset))
			}
		}
	}
}

// decides reports whether a patch has a value for the discriminator: a patch without one keeps the value
// of the object. A null unsets the discriminator.
func decides(u *union.Union, patch map[string]any) bool {
	_, ok := u.Lookup(patch, u.Discriminator)
	return ok
}

// merges reports whether a patch merges every object on the path to a property, instead of removing
// or replacing it.
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

func (x *explicit) fail(at yamltext.ObjectPath, u *union.Union, member int, format string, args ...any) {
	path := u.Path(u.Members[member].Name).Properties()
	x.diagnostics = append(x.diagnostics, diag.New(codes.NotNormalized, x.o.Pos(at.Property(path...)), format, args...).At(at.String()).
		Hinted("set one of them in the patch"))
}

// put adds members that are null to the object at a path.
func (x *explicit) put(at yamltext.ObjectPath, u *union.Union, missing map[string]any) {
	names := slices.DeleteFunc(u.MemberNames(), func(name string) bool { _, ok := missing[name]; return !ok })
	members := strings.Join(names, ", ")
	x.changes = append(x.changes, Change{At: at, Union: u, Put: missing, text: members, plain: true})
	x.diagnostics = append(x.diagnostics, diag.New(codes.Normalized, x.o.Pos(at), "%s set to null", members).At(at.String()).As(diag.Info))
}
