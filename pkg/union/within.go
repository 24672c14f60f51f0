package union

import (
	"maps"
	"slices"
)

// Names returns the discriminator, if there is one, and the members, in declared order. The
// caller owns the result.
func (u *Union) Names() []string {
	if u.Discriminator == "" {
		return u.MemberNames()
	}
	return append([]string{u.Discriminator}, u.MemberNames()...)
}

// Holders returns the properties that lead from the union object to each object in it that
// has a discriminator or members, the outer ones first. The caller owns the result.
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

// Lookup is [Union.In], and whether there is something, if only null.
func (u *Union) Lookup(object map[string]any, name string) (v any, there bool) {
	path := u.Path(name).Properties()
	for _, step := range path[:len(path)-1] {
		object, _ = object[step].(map[string]any)
	}
	v, there = object[path[len(path)-1]]
	return v, there
}

// Remove takes the discriminator or member of a name out of a union object. What held it stays.
func (u *Union) Remove(object map[string]any, name string) {
	path := u.Path(name).Properties()
	for _, step := range path[:len(path)-1] {
		object, _ = object[step].(map[string]any)
	}
	delete(object, path[len(path)-1])
}

// Put sets the discriminator or member of a name in a union object, with the objects that
// hold it where they are not there.
func (u *Union) Put(object map[string]any, name string, v any) {
	path := u.Path(name).Properties()
	for _, step := range path[:len(path)-1] {
		inner, ok := object[step].(map[string]any)
		if !ok {
			inner = map[string]any{}
			object[step] = inner
		}
		object = inner
	}
	object[path[len(path)-1]] = v
}

// Without returns a union object without its discriminator and members. It shares with the
// object what it does not change.
func (u *Union) Without(object map[string]any) map[string]any {
	object = maps.Clone(object)
	for _, holder := range u.Holders() {
		at := object
		for i, step := range holder {
			inner, ok := at[step].(map[string]any)
			if !ok {
				break
			}
			if i == len(holder)-1 {
				at[step] = maps.Clone(inner)
			}
			at = inner
		}
	}
	for _, name := range u.Names() {
		u.Remove(object, name)
	}
	return object
}

// Part is what is put into one of the objects that a union object consists of.
type Part struct {
	// In are the properties that lead to it from the union object.
	In []string
	// Names are the properties that are put, in the order of the declaration; each has one
	// of the values.
	Names  []string
	Values map[string]any
}

// Parts splits what is to be put into a union object, by the names in the union, among the
// objects that are there, inner ones first; what is put into one that is not there, is put with it.
func (u *Union) Parts(object, values map[string]any) []Part {
	var l []Part
	for _, name := range u.Names() {
		v, ok := values[name]
		if !ok {
			continue
		}
		path, at := u.Path(name).Properties(), object
		n := 0
		for ; n < len(path)-1; n++ {
			inner, ok := at[path[n]].(map[string]any)
			if !ok {
				break
			}
			at = inner
		}
		i := slices.IndexFunc(l, func(p Part) bool { return slices.Equal(p.In, path[:n]) })
		if i < 0 {
			i = len(l)
			l = append(l, Part{In: path[:n], Values: map[string]any{}})
		}
		p := &l[i]
		into, rest := p.Values, path[n:]
		if !slices.Contains(p.Names, rest[0]) {
			p.Names = append(p.Names, rest[0])
		}
		for ; len(rest) > 1; rest = rest[1:] {
			inner, ok := into[rest[0]].(map[string]any)
			if !ok {
				inner = map[string]any{}
				into[rest[0]] = inner
			}
			into = inner
		}
		into[rest[0]] = v
	}
	slices.SortStableFunc(l, func(a, b Part) int { return len(b.In) - len(a.In) })
	return l
}
