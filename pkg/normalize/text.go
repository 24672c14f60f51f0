package normalize

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
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
				d.Hint = "in the patch, clear what is not meant: " + clearing(o, p)
			}
			r.report(d)
		}
		// Inner objects first: where two end at the same place, the inner one does before.
		for _, c := range slices.Backward(changes) {
			more, err := edit(o, c)
			if err != nil {
				r.report(diag.Diagnostic{Code: diag.NotNormalized, Pos: o.Pos(c.At), Path: c.At.String(), Message: fmt.Sprintf("cannot edit the text (%s): %v", c, err)})
				continue
			}
			edits = append(edits, more...)
			r.report(diag.Diagnostic{Code: diag.Normalized, Severity: diag.Warning, Pos: where(o, c), Path: c.At.String(), Message: c.String()})
		}
		Apply(value, changes)
	}
	if r.Diagnostics.HasErrors() {
		return r
	}
	out, err := yamledit.Apply(src, edits)
	if err == nil && len(edits) > 0 {
		err = same(name, out, want, limits)
	}
	if err != nil {
		r.report(diag.Diagnostic{Code: diag.Unproved, Pos: diag.Pos{File: name}, Message: fmt.Sprintf("the result is not what was intended: %v", err)})
		return r
	}
	r.Text = out
	return r
}

// Diagnostic says what the problem is where it is in the object.
func (p Problem) Diagnostic(o *resource.Object) diag.Diagnostic {
	d := diag.Diagnostic{Code: diag.NotNormalized, Pos: o.Pos(p.At), Path: p.At.String(), Message: p.String(), Hint: "write what is meant: KEP-1027 leaves this to validation"}
	if p.Moved != nil {
		d.Severity, d.Hint = diag.Warning, "write what is meant, as null or by leaving members out"
	}
	return d
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

// same reports, as an error, that a text does not have the wanted objects.
func same(name string, text []byte, want []any, limits limit.Limits) error {
	f, l := resource.Parse(name, text, limits)
	if f == nil {
		return errors.New(l[0].Message)
	}
	if len(f.Objects) != len(want) {
		return fmt.Errorf("it has %d objects, not %d", len(f.Objects), len(want))
	}
	for i, o := range f.Objects {
		if !reflect.DeepEqual(any(o.Value), want[i]) {
			return fmt.Errorf("%s is another", o)
		}
	}
	return nil
}

// edit returns the edits that a change makes in the text of an object.
func edit(o *resource.Object, c Change) ([]yamltext.Edit, error) {
	values := map[string]any{}
	for _, i := range c.Keep {
		name := c.Union.Members[i].Name
		values[name] = c.Kept[name]
	}
	if c.Value != "" {
		values[c.Union.Discriminator] = c.Value
	}
	at, _ := c.At.In(o.Value)
	object, _ := at.(map[string]any)
	puts := c.Union.Parts(object, values)
	clears := map[string][]string{}
	for _, i := range c.Clear {
		path := c.Union.Path(c.Union.Members[i].Name).Properties()
		in := key(c.At.Below(path[:len(path)-1]...))
		clears[in] = append(clears[in], path[len(path)-1])
	}
	var edits []yamltext.Edit
	for _, in := range slices.Backward(append([][]string{nil}, c.Union.Holders()...)) {
		e := entries{at: c.At.Below(in...)}
		e.clear = clears[key(e.at)]
		if i := slices.IndexFunc(puts, func(p union.Part) bool { return slices.Equal(p.In, in) }); i >= 0 {
			e.put = puts[i]
		}
		more, err := e.edit(o)
		if err != nil {
			return nil, err
		}
		edits = append(edits, more...)
	}
	return edits, nil
}

// entries are those of one mapping that a change clears, and puts.
type entries struct {
	at    resource.Path
	clear []string
	put   union.Part
}

// edit returns the edits that the changes of a mapping make in the text of an object.
func (e entries) edit(o *resource.Object) ([]yamltext.Edit, error) {
	if len(e.clear)+len(e.put.Names) == 0 {
		return nil, nil
	}
	n, err := o.Mapping(e.at)
	if err != nil {
		return nil, err
	}
	index := func(key string) int {
		for i := 0; i+1 < len(n.Content); i += 2 {
			if n.Content[i].Value == key && n.Content[i].Tag != "!!merge" {
				return i
			}
		}
		return -1
	}
	var indices []int
	for _, name := range e.clear {
		at := index(name)
		if at < 0 {
			return nil, fmt.Errorf("%s comes from a merge key", name)
		}
		indices = append(indices, at/2)
	}
	slices.Sort(indices)
	var edits []yamltext.Edit
	removing := len(indices)
	var rest []yamledit.Entry
	for _, name := range e.put.Names {
		v := e.put.Values[name]
		value, err := nodeOf(v)
		if err != nil {
			return nil, err
		}
		if at := index(name); at >= 0 { // null, or an empty value that is unset, or the discriminator
			start, end, err := o.Span(o.Document, n.Content[at+1])
			if err != nil {
				return nil, err
			}
			text := yamledit.JSON(value)
			if _, ok := v.(string); ok && !yamledit.IsFlow(n) {
				text = yamledit.Scalar(value)
			}
			edits = append(edits, yamltext.Edit{Start: start, End: end, New: text})
			continue
		}
		rest = append(rest, yamledit.Entry{Key: name, Value: value})
	}
	if len(rest) > 0 && removing > 0 && (yamledit.IsFlow(n) || 2*removing == len(n.Content)) {
		// In the place of what is cleared, so that the two do not meet.
		cut, err := o.Cut(n, indices[0], indices[0])
		if err == nil {
			var e yamltext.Edit
			if e, err = o.ReplaceEntry(n, indices[0], cut, rest); err == nil {
				more, err := o.CutRuns(n, indices[1:])
				return append(append(edits, e), more...), err
			}
		}
		return nil, err
	}
	more, err := o.Remove(n, indices)
	edits = append(edits, more...)
	for _, e := range rest {
		put, err := o.Put(n, e)
		if err != nil {
			return nil, err
		}
		edits = append(edits, put)
	}
	return edits, err
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
