package unionset

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Format writes declarations as a UnionSet. It has an item per schema, sorted by CRD or kind, path
// and versions. Versions with equal declarations share an item, and several declarations for one
// schema become one list. Comments in the declarations are kept if they survive a round trip.
// [Parse] returns the same declarations from the result.
//
// Format returns an error if a UnionSet cannot express a declaration: it is malformed, no path
// leads to its schema, or a schema has declarations both for all versions and for some.
func Format(externals []union.External) ([]byte, error) {
	l, err := written(externals)
	if err != nil {
		return nil, err
	}
	for _, comments := range []bool{true, false} {
		// In some positions, the encoder writes comments that do not survive parsing.
		var out []byte
		if out, err = encode(l, comments); err != nil {
			continue
		}
		set, diags := Parse(Kind, out)
		if err = errorOf(diags); err != nil {
			continue
		}
		again, err := written(set.Declarations)
		if err == nil && slices.EqualFunc(l, again, item.equal) {
			return out, nil
		}
	}
	if err == nil {
		err = fmt.Errorf("the declarations cannot be written as a %s", Kind)
	}
	return nil, err
}

// item is the content of an item of schemas.
type item struct {
	target   union.Target // either a name, or a group and a kind
	path     string
	extend   bool         // whether unions are extensions
	versions []string     // sorted; empty means all
	unions   []*yaml.Node // the items of x-kubernetes-unions
	meaning  string       // the same text for equal unions
}

// key returns the key of the unions in the item.
func (i item) key() string {
	if i.extend {
		return extendKey
	}
	return union.Key
}

func (i item) equal(j item) bool {
	return i.target == j.target && i.path == j.path && i.extend == j.extend && slices.Equal(i.versions, j.versions) && i.meaning == j.meaning
}

// written returns the sorted items of a UnionSet with these declarations.
func written(externals []union.External) ([]item, error) {
	var single []item // one per schema and version
	for _, e := range externals {
		i, err := itemOf(e)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Pos(), err)
		}
		at := slices.IndexFunc(single, func(o item) bool {
			return o.target == i.target && o.path == i.path && o.extend == i.extend && slices.Equal(o.versions, i.versions)
		})
		if at < 0 {
			single = append(single, i)
			continue
		}
		single[at].unions = append(single[at].unions, i.unions...)
		single[at].meaning += i.meaning
	}
	sortItems(single)
	var l []item
	for _, i := range single {
		at := slices.IndexFunc(l, func(o item) bool {
			return o.target == i.target && o.path == i.path && o.extend == i.extend && o.meaning == i.meaning && len(o.versions) > 0 && len(i.versions) > 0
		})
		if at < 0 {
			l = append(l, i)
			continue
		}
		l[at].versions = append(l[at].versions, i.versions...)
	}
	sortItems(l)
	return l, nil
}

func sortItems(l []item) {
	slices.SortStableFunc(l, func(a, b item) int {
		return cmp.Or(cmp.Compare(a.target.Name, b.target.Name), cmp.Compare(a.target.Group, b.target.Group), cmp.Compare(a.target.Kind, b.target.Kind), cmp.Compare(a.path, b.path), slices.Compare(a.versions, b.versions), -cmp.Compare(a.key(), b.key()))
	})
}

func itemOf(e union.External) (item, error) {
	i := item{target: e.Target, path: e.Path.String(), extend: e.Extend}
	if e.Name != "" {
		i.target = union.Target{Name: e.Name}
	}
	if slices.Contains(e.Path.Properties(), "") {
		return i, errors.New("a property without a name has no path")
	}
	if e.Version != "" {
		i.versions = []string{e.Version}
	}
	// union.Parse accepts only strings, booleans, lists and mappings.
	_, diags := union.Parse(e.File, "", e.Value, e.At)
	if e.Extend {
		_, diags = union.ParseExtensions(e.File, "", e.Value, e.At)
	}
	if err := errorOf(diags); err != nil {
		return i, err
	}
	for _, u := range yamltext.Resolve(e.Value).Content {
		i.unions = append(i.unions, u)
		i.meaning += yamledit.JSON(yamledit.Plain(u))
	}
	return i, nil
}

// errorOf returns the first error of a list, or nil.
func errorOf(l diag.List) error {
	i := slices.IndexFunc(l, func(d diag.Diagnostic) bool { return d.Severity == diag.Error })
	if i < 0 {
		return nil
	}
	if l[i].Hint == "" {
		return errors.New(l[i].Message)
	}
	return fmt.Errorf("%s (%s)", l[i].Message, l[i].Hint)
}
