package union

import (
	"maps"
	"slices"

	"github.com/unioncel/unioncel/pkg/schemapath"
)

// Names returns the discriminator, if there is one, and the members, in declared order. The
// caller owns the result.
func (u *Union) Names() []string {
	if u.Discriminator == "" {
		return u.MemberNames()
	}
	return append([]string{u.Discriminator}, u.MemberNames()...)
}

// Holders returns the property paths of all nested objects that contain the discriminator or
// members, the outer ones first. The caller owns the result.
func (u *Union) Holders() [][]string {
	if len(u.Paths) == 0 {
		return nil
	}
	var l [][]string
	for _, name := range u.Names() {
		path := u.Path(name).Properties()
		for i := 1; i < len(path); i++ {
			if !slices.ContainsFunc(l, func(p []string) bool { return slices.Equal(p, path[:i]) }) {
				l = append(l, path[:i])
			}
		}
	}
	slices.SortStableFunc(l, func(a, b []string) int { return len(a) - len(b) })
	return l
}

// Lookup is like [Union.Value], but also reports whether the field exists. A null field exists.
func (u *Union) Lookup(object map[string]any, name string) (v any, there bool) {
	return schemapath.ValueAt(object, u.Path(name).Properties())
}

// Remove removes the named discriminator or member from a union object. It keeps nested objects
// that become empty.
func (u *Union) Remove(object map[string]any, name string) {
	schemapath.DropValueAt(object, u.Path(name).Properties())
}

// Put sets the named discriminator or member in a union object, and creates missing nested objects.
func (u *Union) Put(object map[string]any, name string, v any) {
	schemapath.SetValueAt(object, u.Path(name).Properties(), v)
}

// Omit returns a union object without its discriminator and members. It shares the remaining
// values with the object.
func (u *Union) Omit(object map[string]any) map[string]any {
	object = maps.Clone(object)
	for _, name := range u.Names() {
		u.Remove(object, name)
	}
	return object
}
