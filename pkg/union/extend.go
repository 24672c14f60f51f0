package union

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// ofKey is the key of an extension that names its union.
const ofKey = "union"

// Extension holds keys for a union that is declared elsewhere. They replace the same keys of
// the declaration.
type Extension struct {
	// Pos is the start of the item.
	Pos diag.Pos

	path string
	of   word // the union's name, its discriminator or a member; unset for the only union
	keys Declaration
}

// ParseExtensions parses a list of extensions. Each item has keys of a declaration, and the name of
// its union. ParseExtensions reports all problems, and leaves out the items that have any. For path
// and at see [Parse].
func ParseExtensions(file, path string, value *yaml.Node, at *diag.Pos) ([]*Extension, diag.List) {
	r := newReader(file, path, at)
	list := r.Value(value, "{union: backend, ratchet: true}")
	if list.Node.Kind != yaml.SequenceNode || len(list.Node.Content) == 0 {
		list.Errorf("write it like [{union: backend, ratchet: true}]", "want a list of extensions, not %s", yamltext.Describe(list.Node))
		return nil, r.Diags
	}
	known := declarationKeys
	known.Keys = append(slices.Clone(known.Keys), yamltext.ConfigKey{Name: ofKey, Example: "backend"})
	var l []*Extension
	for i, item := range list.Items() {
		before := len(r.Diags)
		x := &Extension{Pos: r.Pos(list.Node.Content[i]), path: path}
		for _, e := range item.Entries() {
			switch e, ok := e.Known(known); {
			case !ok:
			case e.Name == ofKey:
				x.of = e.Value.Word()
			default:
				x.keys.add(e)
			}
		}
		if len(x.keys.keyed) == 0 && len(r.Diags) == before {
			item.Errorf("write it like {union: backend, ratchet: true}", "the extension has no key of a declaration")
		}
		if len(r.Diags) == before {
			l = append(l, x)
		}
	}
	return l, r.Diags
}

// Extend applies extensions to the declarations of one union object. It reports extensions that do
// not match exactly one declaration.
func Extend(declarations []*Declaration, extensions []*Extension) diag.List {
	var l diag.List
	for _, e := range extensions {
		var found []*Declaration
		var names []string
		best := 0
		for _, d := range declarations {
			match := d.match(e.of.Text)
			switch {
			case !e.of.Set || match > 0 && match == best:
				found = append(found, d)
			case match > best:
				found, best = []*Declaration{d}, match
			}
			names = append(names, d.call())
		}
		report := func(hint, format string, args ...any) {
			l = append(l, diag.New(codes.NoSuchUnion, cmp.Or(e.of.Pos, e.Pos), format, args...).At(e.path).Hinted(hint))
		}
		switch {
		case len(found) == 1:
			e.apply(found[0])
		case len(found) > 1:
			report("say which: union: "+strings.Join(names, ", or union: "), "this extension could be of %d unions", len(found))
		default:
			report(nearest(e.of.Text, names), "no union of this schema has the name, discriminator or member %q", e.of.Text)
		}
	}
	return l
}

// call returns a name that identifies d among the unions of its object, or "".
func (d *Declaration) call() string { return cmp.Or(d.union.Name, append(d.Names(), "")[0]) }

// Names returns the names of the discriminator and the members, as declared. The name of an item
// consists of the values of its keys.
func (d *Declaration) Names() []string {
	l := d.Properties()
	for _, f := range d.fields {
		if f.item == nil {
			continue
		}
		var keys []ItemKey
		for _, s := range f.item {
			keys = append(keys, ItemKey{s.Name, s.Value.Node.Value})
		}
		l = append(l, itemName(keys))
	}
	return l
}

// match returns 3 if name is the name of the union, 2 if it is its discriminator, 1 if it is a member,
// and 0 otherwise.
func (d *Declaration) match(name string) int {
	switch {
	case name == d.union.Name:
		return 3
	case name == d.union.Discriminator:
		return 2
	case slices.Contains(d.Names(), name):
		return 1
	}
	return 0
}

// apply replaces keys of the declaration, and their rivals, with the keys of the extension.
func (e *Extension) apply(d *Declaration) {
	kept := slices.DeleteFunc(d.keyed, func(old keyed) bool {
		return slices.ContainsFunc(e.keys.keyed, func(k keyed) bool { return old.Name == k.Name || old.Name == keyNamed(k.Name).rival })
	})
	*d = Declaration{Pos: d.Pos, Path: d.Path}
	for _, k := range slices.Concat(kept, e.keys.keyed) {
		d.add(k.ConfigEntry)
	}
}
