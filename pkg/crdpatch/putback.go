package crdpatch

import (
	"slices"

	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// replacement is what had given way to an external declaration, to be put back.
type replacement struct {
	document int
	items    []int
	schemaRecord
}

// putBack puts into p.file what had given way to external declarations: the exact
// text, or else, where a tool has reformatted the file, the same data.
func (p *patcher) putBack(l []replacement, expected map[int]intended) ([]byte, []yamltext.Edit, error) {
	for _, r := range l {
		for _, m := range p.crds(p.file.Docs[r.document]) {
			if !slices.Equal(m.items, r.items) {
				continue
			}
			version, _ := findSchema(m.node, r.schemaRecord)
			if err := r.Replaced.into(schemaIn(m.in(expected[r.document].value), version, r.Path)); err != nil {
				return nil, nil, err
			}
		}
	}
	var text []byte
	var edits []yamltext.Edit
	var err error
	for _, way := range []func(replacement) ([]yamltext.Edit, error){p.exactly, p.rewritten(expected)} {
		edits = nil
		for _, r := range l {
			var more []yamltext.Edit
			if more, err = way(r); err != nil {
				break
			}
			edits = append(edits, more...)
		}
		slices.SortStableFunc(edits, func(a, b yamltext.Edit) int { return a.Start - b.Start })
		if err == nil {
			text, err = yamltext.Apply(p.file.Src, edits)
		}
		if err == nil {
			_, err = equals(text, expected)
		}
		if err == nil {
			break
		}
	}
	return text, edits, err
}

// into puts the values back into a schema.
func (r *replacedRecord) into(schema map[string]any) error {
	for _, v := range r.Values {
		var value any
		if err := json.Unmarshal(v.Value, &value); err != nil {
			return err
		}
		if !slices.Contains(listKeys, v.Key) {
			schema[v.Key] = value
			continue
		}
		present, _ := schema[v.Key].([]any)
		schema[v.Key] = slices.Insert(slices.Clone(present), min(v.Index, len(present)), value)
	}
	return nil
}

// exactly is the edits that put the texts back where they stood.
func (p *patcher) exactly(r replacement) ([]yamltext.Edit, error) {
	start, err := p.startOf(r.document, r.items, r.Version, r.Path)
	if err != nil {
		return nil, err
	}
	var l []yamltext.Edit
	for _, c := range r.Replaced.Cuts {
		l = append(l, yamltext.Edit{Start: start + c.At, End: start + c.At, New: c.Source})
	}
	return l, nil
}

// rewritten returns what finds the edits that write the entries of a schema anew.
func (p *patcher) rewritten(expected map[int]intended) func(replacement) ([]yamltext.Edit, error) {
	return func(r replacement) ([]yamltext.Edit, error) {
		var l []yamltext.Edit
		d := p.file.Docs[r.document]
		t := textOf{p.file, d}
		for _, m := range p.crds(d) {
			version, n := findSchema(m.node, r.schemaRecord)
			if !slices.Equal(m.items, r.items) || n == nil {
				continue
			}
			var done []string
			for _, v := range r.Replaced.Values {
				if slices.Contains(done, v.Key) {
					continue
				}
				done = append(done, v.Key)
				e := entry{key: v.Key, value: sorted(schemaIn(m.in(expected[r.document].value), version, r.Path)[v.Key])}
				var edit yamltext.Edit
				i := indexOf(n, v.Key)
				if i < 0 {
					var err error
					if edit, err = t.put(n, e); err != nil {
						return nil, err
					}
				} else {
					cut, err := t.cut(n, i, i)
					if err != nil {
						return nil, err
					}
					if edit, err = t.replaceEntry(n, i, cut, []entry{e}); err != nil {
						return nil, err
					}
				}
				l = append(l, edit)
			}
		}
		return l, nil
	}
}
