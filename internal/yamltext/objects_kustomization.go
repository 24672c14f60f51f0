package yamltext

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/pkg/diag"
)

// ParsePatches is [Parse] for the files of an overlay. In place of a kustomization, it returns the
// inline patches. Patches in a literal block scalar have their own positions in the file and can be
// edited there; other patches have the position of the string.
func ParsePatches(name string, src []byte, limits Limits) (*ObjectFile, diag.List) {
	f, l := ParseObjects(name, src, limits)
	if f == nil {
		return nil, l
	}
	for _, d := range f.Docs {
		texts := inlinePatches(name, d.Root)
		if len(texts) > 0 {
			f.Objects = slices.DeleteFunc(f.Objects, func(o *Object) bool { return o.Document == d })
		}
		for _, n := range texts {
			inner, more := f.inline(d, n, limits)
			if l = append(l, more...); inner != nil {
				f.Objects = append(f.Objects, inner.Objects...)
			}
		}
	}
	if l.HasErrors() {
		return nil, l
	}
	return f, l
}

// inlinePatches returns the strings of a kustomization that are patches, including JSON patches.
func inlinePatches(name string, root *yaml.Node) (l []*yaml.Node) {
	if root == nil || root.Kind != yaml.MappingNode {
		return nil
	}
	names := []string{"kustomization.yaml", "kustomization.yml", "Kustomization"}
	switch kind := Value(root, "kind"); {
	case kind == nil && !slices.Contains(names, path.Base(name)):
		return nil
	case kind != nil && kind.Value != "Kustomization" && kind.Value != "Component":
		return nil
	}
	for _, key := range []string{"patches", "patchesStrategicMerge"} {
		list := Value(root, key)
		if list == nil || list.Kind != yaml.SequenceNode {
			continue
		}
		for _, n := range list.Content {
			text := Resolve(n)
			if text.Kind == yaml.MappingNode {
				n = Value(text, "patch")
				text = n
			}
			// Other strings are file names.
			if text != nil && strings.ContainsAny(strings.TrimSpace(text.Value), "\n{") && !slices.Contains(l, n) {
				l = append(l, n)
			}
		}
	}
	return l
}

// inline parses the patches in a string of a document.
func (f *ObjectFile) inline(d *Document, n *yaml.Node, limits Limits) (*ObjectFile, diag.List) {
	if n.Kind == yaml.ScalarNode && n.Style&yaml.LiteralStyle != 0 && n.Anchor == "" {
		text := EditedText{File: f.File, Document: d}
		body, err := text.Literal(n)
		if err == nil {
			if f.Src[body.End-1] != '\n' {
				body.End = text.LineEnd(body.End)
			}
			return ParseObjects(f.Name, scalarOnly(f.Src, body), limits)
		}
	}
	inner, l := ParseObjects(f.Name, []byte(Resolve(n).Value), limits)
	for i := range l {
		l[i].Pos = diag.Pos{File: f.Name, Line: n.Line, Col: n.Column}
	}
	if inner != nil {
		for _, o := range inner.Objects {
			o.text = n
		}
	}
	return inner, l
}

// scalarOnly returns the source up to the end of a literal block scalar. It blanks everything
// outside of the scalar, which keeps the offsets.
func scalarOnly(src []byte, body Span) []byte {
	out := slices.Clone(src[:body.End])
	for i, c := range out[:body.Start] {
		if c != '\n' && c != '\r' {
			out[i] = ' '
		}
	}
	lines := out[body.Start:]
	first := bytes.TrimLeft(lines, " \r\n")
	indent := len(lines) - len(first)
	indent -= bytes.LastIndexByte(lines[:indent], '\n') + 1
	for line := range bytes.Lines(lines) {
		// A document marker must begin its line.
		for _, marker := range []string{"---", "..."} {
			if content := line[min(indent, len(line)):]; bytes.HasPrefix(content, []byte(marker)) {
				copy(content, "   ")
				copy(line, marker)
			}
		}
	}
	return out
}
