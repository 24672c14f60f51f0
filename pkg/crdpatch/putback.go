package crdpatch

import (
	"bytes"
	"errors"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/yamltext"
)

// replacement is what had given way to an external declaration, to be put back.
type replacement struct {
	document int
	items    []int
	schemaRecord
}

// putBack puts into p.file what had given way to external declarations. It returns
// the resulting text and the edits that lead to it, one list after the other. What
// the documents are to mean then goes into expected.
func (p *patcher) putBack(l []replacement, expected map[int]intended) ([]byte, [][]yamltext.Edit, error) {
	// Deeper ones first: where two texts meet, the inner lines come first.
	slices.SortStableFunc(l, func(a, b replacement) int { return len(b.Path) - len(a.Path) })
	before := map[int]intended{}
	for i, e := range expected {
		before[i] = intended{runtime.DeepCopyJSONValue(e.value), e.json}
	}
	// All at once where it stood, when nothing has changed there: the usual case.
	var edits []yamltext.Edit
	var wrong error
	for _, r := range l {
		if err := p.intend(r, expected); err != nil {
			return nil, nil, err
		}
		more, err := p.exactly(r, expected)
		edits, wrong = append(edits, more...), errors.Join(wrong, err)
	}
	text, err := p.try(edits, expected)
	if err == nil && wrong == nil {
		return text, [][]yamltext.Edit{edits}, nil
	}
	// Otherwise one by one, so that no change gets in the way of others.
	text = p.file.Src
	var all [][]yamltext.Edit
	for _, r := range l {
		if err := p.intend(r, before); err != nil {
			return nil, nil, err
		}
		for _, way := range []func(replacement, map[int]intended) ([]yamltext.Edit, error){p.exactly, p.beside, p.rewritten} {
			if edits, err = way(r, before); err == nil {
				text, err = p.try(edits, before)
			}
			if err == nil {
				break
			}
		}
		if err != nil {
			return nil, nil, err
		}
		all = append(all, edits)
		if !p.parse(text) {
			return nil, nil, errors.New("the text cannot be read")
		}
	}
	for i, e := range before {
		expected[i] = e
	}
	return text, all, nil
}

// try makes edits of p.file, and holds the result to what is expected of it.
func (p *patcher) try(edits []yamltext.Edit, expected map[int]intended) ([]byte, error) {
	slices.SortStableFunc(edits, func(a, b yamltext.Edit) int { return a.Start - b.Start })
	text, err := yamltext.Apply(p.file.Src, edits)
	if err == nil {
		_, err = equals(text, expected)
	}
	return text, err
}

// schemaOf returns the schema of a replacement, and its value among what is expected.
func (p *patcher) schemaOf(r replacement, expected map[int]intended) (*yaml.Node, map[string]any, error) {
	for _, m := range p.crds(p.file.Docs[r.document]) {
		if !slices.Equal(m.items, r.items) {
			continue
		}
		if version, n := findSchema(m.node, r.schemaRecord); n != nil {
			return n, schemaIn(m.in(expected[r.document].value), version, r.Path), nil
		}
	}
	return nil, nil, errors.New(placeOf(r.Version, r.Path) + " is gone")
}

// intend puts the values of a replacement into what is expected.
func (p *patcher) intend(r replacement, expected map[int]intended) error {
	_, schema, err := p.schemaOf(r, expected)
	if err != nil {
		return err
	}
	for _, v := range r.Replaced.Values {
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

// exactly is the edits that put the texts back where they stood: between the same
// lines, if these have moved.
func (p *patcher) exactly(r replacement, expected map[int]intended) ([]yamltext.Edit, error) {
	n, _, err := p.schemaOf(r, expected)
	if err != nil {
		return nil, err
	}
	start, end, err := p.file.Span(p.file.Docs[r.document], n)
	if err != nil {
		return nil, err
	}
	var l []yamltext.Edit
	for _, c := range r.Replaced.Cuts {
		at := start + c.At
		if at < 0 || at > len(p.file.Src) || p.between(at) != c.Between {
			if at, err = p.lineBetween(start, end, c.Between); err != nil {
				return nil, err
			}
		}
		l = append(l, yamltext.Edit{Start: at, End: at, New: c.Source})
	}
	return l, nil
}

// lineBetween returns the start of the only line in a part of p.file that has these
// lines around it.
func (p *patcher) lineBetween(start, end int, sum string) (int, error) {
	var found []int
	t := textOf{File: p.file}
	// Comments behind the schema may have been within it.
	for end = t.lineEnd(end); end < len(t.Src); end = t.lineEnd(end) {
		line := bytes.TrimSpace(t.Src[end:t.lineEnd(end)])
		if len(line) > 0 && line[0] != '#' {
			break
		}
	}
	for at := start; ; {
		next := bytes.IndexByte(t.Src[at:end], '\n')
		if next < 0 {
			break
		}
		if at += next + 1; p.between(at) == sum {
			found = append(found, at)
		}
	}
	if len(found) != 1 {
		return 0, errors.New("the lines around it are not there any more")
	}
	return found[0], nil
}

// beside is the edits that put the texts back between the items, or entries, where
// they stood.
func (p *patcher) beside(r replacement, expected map[int]intended) ([]yamltext.Edit, error) {
	n, _, err := p.schemaOf(r, expected)
	if err != nil {
		return nil, err
	}
	t := textOf{p.file, p.file.Docs[r.document]}
	var l []yamltext.Edit
	for _, c := range r.Replaced.Cuts {
		for _, piece := range pieces(c, n) {
			in, head := n, n
			if piece.Key != "" {
				i := indexOf(n, piece.Key)
				if i < 0 {
					return nil, errors.New("the list is gone")
				}
				head, in = n.Content[i*2], n.Content[i*2+1]
			}
			entries, err := t.entries(in)
			if err != nil || len(entries) == 0 {
				return nil, errors.Join(err, errors.New("nothing is beside it"))
			}
			if isFlow(in) {
				// With the comma behind it, unless it was the last.
				at := entries[max(0, min(piece.Index, len(entries)-1))].start
				if strings.HasPrefix(strings.TrimSpace(piece.Source), ",") {
					at = entries[max(0, min(piece.Index, len(entries))-1)].end
				}
				l = append(l, yamltext.Edit{Start: at, End: at, New: piece.Source})
				continue
			}
			// Behind what stood before it, since comments belong to what follows them.
			at := t.lineStart(entries[0].start)
			if piece.Index > 0 {
				at = t.lineEnd(entries[min(piece.Index, len(entries))-1].end)
			} else if head != in {
				_, end, err := t.Span(t.doc, head)
				if err != nil {
					return nil, err
				}
				at = t.lineEnd(end)
			}
			l = append(l, yamltext.Edit{Start: at, End: at, New: indented(piece.Source, t.indentation(in, entries))})
		}
	}
	return l, nil
}

// pieces are what of a text is put back each at its place: items of a list that went
// as a whole and has been begun anew in schema n, and entries.
func pieces(c cutRecord, n *yaml.Node) []cutRecord {
	var doc yaml.Node
	err := yaml.Unmarshal([]byte(c.Source), &doc)
	if c.Key != "" || err != nil || len(doc.Content) == 0 || doc.Content[0].Kind != yaml.MappingNode || isFlow(doc.Content[0]) {
		return []cutRecord{c}
	}
	lines := strings.SplitAfter(c.Source, "\n")
	entries := doc.Content[0].Content
	var l []cutRecord
	for i := 0; i < len(entries); i += 2 {
		key, value, end := entries[i], entries[i+1], len(lines)
		if i+2 < len(entries) {
			end = entries[i+2].Line - 1
		}
		piece := cutRecord{Source: strings.Join(lines[key.Line-1:end], ""), Index: c.Index}
		comment, ok := strings.CutPrefix(strings.TrimSpace(lines[key.Line-1]), key.Value+":")
		comment = strings.TrimSpace(comment)
		begun := slices.Contains(listKeys, key.Value) && indexOf(n, key.Value) >= 0
		if begun && ok && value.Kind == yaml.SequenceNode && (comment == "" || comment[0] == '#') {
			head, tail, _ := strings.Cut(piece.Source, "\n")
			if comment != "" {
				// The line that it stood on is there, but the comment is not.
				tail = strings.Repeat(" ", value.Column-1) + head[strings.IndexByte(head, '#'):] + "\n" + tail
			}
			piece = cutRecord{Source: tail, Key: key.Value}
		}
		l = append(l, piece)
	}
	return l
}

// indented returns lines in block style with the first of them indented by n.
func indented(text string, n int) string {
	lines := strings.SplitAfter(text, "\n")
	by := 0
	for _, line := range lines {
		if content := strings.TrimLeft(line, " "); strings.TrimSpace(content) != "" && content[0] != '#' {
			by = n - (len(line) - len(content))
			break
		}
	}
	for i, line := range lines {
		content := strings.TrimLeft(line, " ")
		if strings.TrimSpace(content) != "" {
			lines[i] = strings.Repeat(" ", max(0, len(line)-len(content)+by)) + content
		}
	}
	return strings.Join(lines, "")
}

// rewritten is the edits that write the entries of a schema anew.
func (p *patcher) rewritten(r replacement, expected map[int]intended) ([]yamltext.Edit, error) {
	n, schema, err := p.schemaOf(r, expected)
	if err != nil {
		return nil, err
	}
	t := textOf{p.file, p.file.Docs[r.document]}
	var l []yamltext.Edit
	var done []string
	for _, v := range r.Replaced.Values {
		if slices.Contains(done, v.Key) {
			continue
		}
		done = append(done, v.Key)
		e := entry{key: v.Key, value: sorted(schema[v.Key])}
		var edit yamltext.Edit
		if i := indexOf(n, v.Key); i < 0 {
			edit, err = t.put(n, e)
		} else {
			var cut span
			if cut, err = t.cut(n, i, i); err == nil {
				edit, err = t.replaceEntry(n, i, cut, []entry{e})
			}
		}
		if err != nil {
			return nil, err
		}
		l = append(l, edit)
	}
	return l, nil
}
