package normalize

import (
	"encoding/json"
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
	"github.com/unioncel/unioncel/pkg/union"
)

// Result is a normalized file.
type Result struct {
	// Text is the file: but for what was cleared, kept or set its bytes are those that
	// it had. With errors among the diagnostics it is nil.
	Text []byte
	// Known is how many of its objects are of a kind that has unions.
	Known int
	// Diagnostics say what was changed, and what was left alone, which is an error.
	Diagnostics diag.List
}

// File normalizes the objects in a file, which is read as kubectl does. Each replaces the
// object that old says; without one, or with old nil, it is created.
// Objects of kinds that are not in the set stay as they are.
func File(set *kinds.Set, name string, src []byte, old *resource.Old, opts Options, limits limit.Limits) Result {
	f, l := resource.Parse(name, src, limits)
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
		var before map[string]any
		was, l := old.Of(o)
		r.Diagnostics = append(r.Diagnostics, l...)
		switch {
		case l.HasErrors():
			continue
		case was != nil && was.Version != o.Version:
			r.report(diag.Diagnostic{Code: diag.NotNormalized, Pos: o.Pos(nil), Hint: "convert one of them, such as by the API server: kubectl get with the version in the name of the resource",
				Message: fmt.Sprintf("%s is of version %s, and the old object of %s", o, o.Version, was.Version)})
			continue
		case was != nil:
			before = was.Value
		}
		changes, problems := Plan(k, before, o.Value, opts)
		for _, p := range problems {
			d := p.Diagnostic(o)
			if opts.Merged {
				d.Hint = "in the patch, clear the member that is not meant: " + clearing(o, p)
			}
			r.report(d)
		}
		more, err := editsOf(o, changes)
		edits = append(edits, more...)
		for _, c := range changes {
			r.report(diag.Diagnostic{Code: diag.Normalized, Severity: diag.Warning, Pos: where(o, c), Path: c.At.String(), Message: c.String()})
		}
		if err != nil {
			r.report(*err)
		}
		Apply(value, changes)
	}
	if r.Diagnostics.HasErrors() {
		r.Diagnostics = Undone(r.Diagnostics)
		return r
	}
	out, err := yamledit.Apply(src, edits)
	if err == nil && len(edits) > 0 {
		written, l := resource.Parse(name, out, limits)
		err = resource.Same(written, l, want)
	}
	if err != nil {
		r.Diagnostics = Undone(r.Diagnostics)
		r.report(diag.Diagnostic{Code: diag.Unproved, Pos: diag.Pos{File: name}, Message: fmt.Sprintf("the result is not what was intended: %v", err)})
		return r
	}
	r.Text = out
	return r
}

// Undone returns diagnostics without the changes that they report, for a result that is not
// written.
func Undone(l diag.List) diag.List {
	return slices.DeleteFunc(l, func(d diag.Diagnostic) bool { return d.Code == diag.Normalized })
}

// Diagnostic reports the problem at its position in the object.
func (p Problem) Diagnostic(o *resource.Object) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.NotNormalized, Pos: o.Pos(p.At), Path: p.At.String(), Message: p.String()}
	if p.Moved != nil {
		d.Severity, d.Hint = diag.Warning, "set the members that are to go to null, or leave them out"
		return d
	}
	d.Hint = p.hint()
	return d
}

// hint says how to satisfy the first condition that the object violates.
func (p Problem) hint() string {
	v, u := p.Violations[0], p.Union
	name := ""
	if v.Member >= 0 {
		name = u.Members[v.Member].Name
	}
	switch v.Condition {
	case union.Forbidden:
		return fmt.Sprintf("clear %s, or change %s", name, u.Discriminator)
	case union.Required:
		return fmt.Sprintf("set %s, or change %s", name, u.Discriminator)
	case union.Selected:
		return "set " + u.Discriminator
	case union.Unmapped:
		return fmt.Sprintf("set %s to a value that selects a member", u.Discriminator)
	case union.TooMany:
		if u.Discriminator != "" {
			return fmt.Sprintf("set only one member, or %s to the one that is to stay", u.Discriminator)
		}
		return "set only one member"
	case union.TooFew:
		return "set one of " + strings.Join(u.MemberNames(), ", ")
	case union.NotCleared:
		return "clear the members that were set before"
	}
	return "undo the change"
}

// clearing is what a patch says to clear one of the members that a problem has.
func clearing(o *resource.Object, p Problem) string {
	item := ""
	for _, key := range p.Keys {
		if n, _ := o.At(p.At.To(key)); n != nil {
			item += key + ": " + yamledit.Scalar(n) + ", "
		}
	}
	var l []string
	for i, is := range p.new.Present {
		if is {
			null := "null"
			for _, step := range slices.Backward(p.Union.Path(p.Union.Members[i].Name).Properties()) {
				if null != "null" {
					null = "{" + null + "}"
				}
				null = step + ": " + null
			}
			if item != "" {
				null = "{" + item + null + "}"
			}
			l = append(l, null)
		}
	}
	return strings.Join(l, " or ")
}

func (r *Result) report(d diag.Diagnostic) { r.Diagnostics = append(r.Diagnostics, d) }

// where is the position of the first member that a change clears, or else of the object.
func where(o *resource.Object, c Change) diag.Pos {
	if len(c.Clear) > 0 {
		return o.Pos(c.at(c.Union.Members[c.Clear[0]].Name))
	}
	return o.Pos(c.At)
}

// editsOf returns the edits that changes make in the text of an object, or why it cannot be
// edited.
func editsOf(o *resource.Object, changes []Change) ([]yamltext.Edit, *diag.Diagnostic) {
	var edited []*mapping
	for _, c := range changes {
		object, _ := c.At.In(o.Value)
		for _, i := range c.Clear {
			path := c.Union.Path(c.Union.Members[i].Name).Properties()
			m := mappingAt(&edited, c, path[:len(path)-1])
			m.clear = append(m.clear, path[len(path)-1])
		}
		values := maps.Clone(c.Kept)
		if c.Value != "" {
			values[c.Union.Discriminator] = c.Value
		}
		for _, p := range c.Union.Parts(object.(map[string]any), values) {
			m := mappingAt(&edited, c, p.In)
			m.puts = append(m.puts, p)
		}
	}
	// Inner mappings first: where two end at the same position, the inner one does before.
	slices.SortStableFunc(edited, func(a, b *mapping) int { return len(b.at) - len(a.at) })
	var edits []yamltext.Edit
	for _, m := range edited {
		more, err := m.edit(o)
		if err != nil {
			return nil, &diag.Diagnostic{Code: diag.NotNormalized, Pos: o.Pos(m.At), Path: m.At.String(), Message: fmt.Sprintf("cannot edit the text (%s): %v", m.Change, err)}
		}
		edits = append(edits, more...)
	}
	return edits, nil
}

// mapping is a mapping that changes clear entries of, and put others into.
type mapping struct {
	Change // the first of them
	at     resource.Path
	clear  []string
	puts   []union.Part
}

// mappingAt returns the mapping that properties lead to from the object of a change, among
// those that are edited.
func mappingAt(edited *[]*mapping, c Change, in []string) *mapping {
	at := c.At.Below(in...)
	if i := slices.IndexFunc(*edited, func(m *mapping) bool { return slices.Equal(m.at, at) }); i >= 0 {
		return (*edited)[i]
	}
	m := &mapping{Change: c, at: at}
	*edited = append(*edited, m)
	return m
}

// edit returns the edits that change the mapping in the text of an object.
func (m *mapping) edit(o *resource.Object) ([]yamltext.Edit, error) {
	n, err := o.Mapping(m.at)
	if err != nil {
		return nil, err
	}
	index := func(key string) int {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key && n.Content[i].Tag != "!!merge" {
				return i / 2
			}
		}
		return -1
	}
	var out []int
	for _, name := range m.clear {
		i := index(name)
		if i < 0 {
			return nil, fmt.Errorf("%s comes from a merge key", name)
		}
		if o.Anchored(n.Content[2*i+1]) {
			return nil, fmt.Errorf("an anchor in %s is used elsewhere: write its value there", name)
		}
		out = append(out, i)
	}
	slices.Sort(out)
	var in []yamledit.Entry
	var edits []yamltext.Edit
	for _, p := range m.puts {
		for _, name := range p.Names {
			value, err := nodeOf(p.Values[name])
			if err != nil {
				return nil, err
			}
			i := index(name)
			if i < 0 {
				in = append(in, yamledit.Entry{Key: name, Value: value})
				continue
			}
			// It is null, or an empty value that is unset, or the discriminator.
			e, err := o.SetValue(n, i, value)
			if err != nil {
				return nil, err
			}
			edits = append(edits, e)
		}
	}
	more, err := o.Replace(n, out, in...)
	return append(edits, more...), err
}

// nodeOf is a value as a tree of nodes.
func nodeOf(v any) (*yaml.Node, error) {
	if s, ok := v.(string); ok {
		return yamledit.StringNode(s), nil
	}
	data, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	if _, ok := v.(map[string]any); ok {
		return yamltext.FromJSON(data)
	}
	if _, ok := v.([]any); ok {
		return yamltext.FromJSON(data)
	}
	return &yaml.Node{Kind: yaml.ScalarNode, Value: string(data)}, nil
}
