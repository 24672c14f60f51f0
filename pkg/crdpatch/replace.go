package crdpatch

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// replace takes out of base the hand-written rules that give way to those of
// unions which say so. p.file is base, then and afterwards.
func (p *patcher) replace(base undone) (undone, bool) {
	var edits []yamltext.Edit
	var all []taken
	var err error
	expected := map[int]intended{}
	for i, d := range p.file.Docs {
		var value any
		for _, m := range p.crds(d) {
			external := p.externals(i, m)
			if !replaces(m.node) && !slices.ContainsFunc(external, func(e union.External) bool { return replaces(e.Value) }) {
				continue
			}
			manifest, ok := p.input(d, m, external, &value)
			if !ok {
				continue // reported when it is compiled
			}
			removals, diags := compile.Replaced(manifest, compile.Options{KubeVersion: p.opts.KubeVersion, Encoding: p.opts.Encoding})
			for _, d := range diags {
				p.report(d)
			}
			for _, r := range removals {
				w := &writer{patcher: p, text: textOf{p.file, d}, aliased: yamltext.Aliased(d.Root)}
				schema := schemaIn(m.in(value), r.Version, r.Steps)
				t := taken{document: i, items: m.items, Removal: r}
				t.values, err = valuesOf(r, schema)
				if err == nil {
					t.cuts, err = w.take(r, schema)
				}
				if err != nil {
					p.report(diag.Diagnostic{Code: diag.Unproved, Pos: p.pos(r.Node), Path: r.Place.String(),
						Message: fmt.Sprintf("cannot take the hand-written rules out: %v", err),
						Hint:    "delete them yourself, or write the schema in plain block style"})
				}
				if r.External {
					all = append(all, t)
				}
				for _, c := range t.cuts {
					edits = append(edits, c.Edit)
				}
				expected[i] = intended{value, false}
			}
		}
	}
	if p.diags.HasErrors() {
		return undone{}, false
	}
	if len(edits) == 0 {
		return base, true
	}
	text, err := yamltext.Apply(base.text, edits)
	if err == nil {
		_, err = equals(text, expected)
	}
	if err != nil {
		p.unproved(err)
		return undone{}, false
	}
	before, position := p.file, base.position
	if p.back = nil; !p.parse(text) {
		return undone{}, false
	}
	after := p.file
	base.text = text
	for _, t := range all {
		if err := p.note(t, before.Src, edits); err != nil {
			p.unproved(err)
			return undone{}, false
		}
	}
	base.position = func(line, col int) (int, int, bool) {
		at, _ := unapplied(edits, after.Offset(line, col), false)
		return position(before.Position(at))
	}
	return base, true
}

// taken is what a removal takes out of a file.
type taken struct {
	document int
	items    []int
	compile.Removal
	cuts   []cut
	values []valueRecord
}

// valuesOf returns what a removal takes out of a schema, in the order of the list.
func valuesOf(r compile.Removal, schema map[string]any) ([]valueRecord, error) {
	var l []valueRecord
	for _, c := range r.Constraints {
		v := schema[c.Key]
		if items, ok := v.([]any); ok && slices.Contains(listKeys, c.Key) {
			if c.Index >= len(items) {
				return nil, fmt.Errorf("kubectl finds no %s", c)
			}
			v = items[c.Index]
		}
		data, err := json.Marshal(v)
		if err != nil {
			return nil, err
		}
		l = append(l, valueRecord{c.Key, c.Index, data})
	}
	return l, nil
}

// note keeps what was taken, for the annotation. p.file is without it; src and the
// edits are what it was taken from.
func (p *patcher) note(t taken, src []byte, edits []yamltext.Edit) error {
	start, err := p.startOf(t.document, t.items, t.Name, t.Steps)
	if err != nil {
		return err
	}
	r := &replacedRecord{Values: t.values}
	for _, c := range t.cuts {
		at := applied(edits, c.Start)
		r.Cuts = append(r.Cuts, cutRecord{at - start, string(src[c.Start:c.End]), c.key, c.index, p.between(at)})
	}
	if p.replaced == nil {
		p.replaced = map[string]*replacedRecord{}
	}
	p.replaced[manifest{items: t.items}.schemaKey(t.document, t.Name, t.Steps)] = r
	return nil
}

// between is the sum of the lines around an offset of p.file.
func (p *patcher) between(at int) string {
	src := p.file.Src
	start, end := bytes.LastIndexByte(src[:at], '\n')+1, len(src)
	if at == start && start > 0 {
		start = bytes.LastIndexByte(src[:start-1], '\n') + 1
	}
	if i := bytes.IndexByte(src[at:], '\n'); i >= 0 {
		end = at + i
	}
	return sumOf([]string{string(src[start:at]), string(src[at:end])})
}

// startOf is where the mapping of a schema starts in p.file.
func (p *patcher) startOf(document int, items []int, version string, path []string) (int, error) {
	d := p.file.Docs[document]
	for _, m := range p.crds(d) {
		if slices.Equal(m.items, items) {
			if _, n := findSchema(m.node, schemaRecord{Version: version, Path: path}); n != nil {
				start, _, err := p.file.Span(d, n)
				return start, err
			}
		}
	}
	return 0, fmt.Errorf("%s is gone", placeOf(version, path))
}

// anchored reports whether an alias refers to n, or to something below it.
func (w *writer) anchored(n *yaml.Node) bool {
	return w.aliased[n] || slices.ContainsFunc(n.Content, w.anchored)
}

// replaces reports whether a declaration at n or below replaces hand-written rules.
func replaces(n *yaml.Node) bool {
	seen := map[*yaml.Node]bool{}
	var visit func(n *yaml.Node) bool
	visit = func(n *yaml.Node) bool {
		if n = yamltext.Resolve(n); n == nil || seen[n] {
			return false
		}
		seen[n] = true
		for i, c := range n.Content {
			if n.Kind == yaml.MappingNode && i%2 == 0 && c.Value == "handWrittenRules" || visit(c) {
				return true
			}
		}
		return false
	}
	return visit(n)
}

// cut is an edit that takes something out, and where from, as a cutRecord says it.
type cut struct {
	yamltext.Edit
	key   string
	index int
}

// take plans to take constraints out of a schema, and takes them out of its value.
func (w *writer) take(r compile.Removal, value map[string]any) ([]cut, error) {
	if w.aliased[r.Node] {
		return nil, fmt.Errorf("the schema is shared through an anchor")
	}
	var cuts []cut
	var whole []int // entries of the schema
	items := map[string][]int{}
	for _, c := range r.Constraints {
		if slices.Contains(listKeys, c.Key) {
			items[c.Key] = append(items[c.Key], c.Index)
			continue
		}
		whole = append(whole, indexOf(r.Node, c.Key))
		delete(value, c.Key)
	}
	for _, key := range listKeys {
		taken := items[key]
		if len(taken) == 0 {
			continue
		}
		at := indexOf(r.Node, key)
		if at < 0 {
			return nil, fmt.Errorf("its %s is shared through an alias or merge key", key)
		}
		l := r.Node.Content[at*2+1]
		present, _ := value[key].([]any)
		if l.Kind != yaml.SequenceNode || w.aliased[l] || len(l.Content) != len(present) {
			return nil, fmt.Errorf("its %s is shared through an alias", key)
		}
		if len(taken) == len(present) {
			whole = append(whole, at)
			delete(value, key)
			continue
		}
		slices.Sort(taken)
		var kept []any
		for i, v := range present {
			if !slices.Contains(taken, i) {
				kept = append(kept, v)
			}
		}
		value[key] = kept
		more, err := w.cutAll(l, taken, key)
		if err != nil {
			return nil, err
		}
		cuts = append(cuts, more...)
	}
	slices.Sort(whole)
	if len(whole) > 0 && whole[0] < 0 {
		return nil, fmt.Errorf("they are shared through an alias or merge key")
	}
	more, err := w.cutAll(r.Node, whole, "")
	return append(cuts, more...), err
}

// cutAll plans to take entries of a collection out, given in ascending order.
func (w *writer) cutAll(n *yaml.Node, indices []int, key string) ([]cut, error) {
	x := &restorer{patcher: w.patcher, text: w.text}
	spans, err := x.cutRuns(n, indices)
	if err != nil {
		return nil, err
	}
	per := 1
	if n.Kind == yaml.MappingNode {
		per = 2
	}
	for _, i := range indices {
		if slices.ContainsFunc(n.Content[i*per:(i+1)*per], w.anchored) {
			return nil, errors.New("an anchor in them is used elsewhere")
		}
	}
	var cuts []cut
	for i, first := range indices {
		if i > 0 && indices[i-1] == first-1 {
			continue // of the run before
		}
		s := spans[len(cuts)]
		cuts = append(cuts, cut{yamltext.Edit{Start: s.start, End: s.end}, key, first - i})
	}
	return cuts, nil
}
