package crdpatch

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"
	sigs "sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Options are the choices of Compile; the zero value is the default.
type Options struct {
	// KubeVersion and Encoding are those of compile.Options.
	KubeVersion string
	Encoding    compile.Encoding
	// KeepUnions leaves the declarations in the output. The API server refuses
	// them under strict field validation, kubectl's default.
	KeepUnions bool
	// NoAnnotation leaves the annotation out. The output then cannot be
	// decompiled, and compiling it again leaves it as it is.
	NoAnnotation bool
}

// Compile returns src with the unions of its CRDs compiled. name is the file's
// name in diagnostics. The list is sorted; when it has errors, the result is
// nil. src is not modified, and may be returned when nothing changes.
func Compile(name string, src []byte, opts Options) ([]byte, diag.List) {
	p := &patcher{name: name, opts: opts}
	text := ended(src)
	base, ok := p.undo(text)
	if !ok || base.changed && !p.parse(base.text) {
		return nil, p.diags.Sort()
	}
	p.back = base.position
	var edits []yamltext.Edit
	for _, d := range p.file.Docs {
		edits = append(edits, p.compileDocument(d)...)
	}
	if p.diags.HasErrors() {
		return nil, p.diags.Sort()
	}
	if len(edits) == 0 && !base.changed {
		return src, p.diags.Sort()
	}
	out, err := yamltext.Apply(base.text, edits)
	if err == nil {
		out, err = p.prove(text, base, out, edits)
	}
	if err == nil && p.expected[p.file.Docs[len(p.file.Docs)-1]] != nil {
		err = checkEnd(src, text)
	}
	if err != nil {
		p.unproved(err)
		return nil, p.diags.Sort()
	}
	return unended(out, src), p.diags.Sort()
}

// Decompile returns src with the unions of its CRDs as they were before
// Compile: byte for byte on untouched output, as the same data when tools have
// reformatted it. CRDs without the annotation stay as they are. The list is
// sorted; when it has errors, the result is nil.
func Decompile(name string, src []byte) ([]byte, diag.List) {
	p := &patcher{name: name}
	base, ok := p.undo(ended(src))
	if !ok {
		return nil, p.diags.Sort()
	}
	return unended(base.text, src), p.diags.Sort()
}

// ended returns src with its last line ended, which spares every edit the case
// of a line that is not. unended takes that back.
func ended(src []byte) []byte {
	if len(src) == 0 || bytes.HasSuffix(src, []byte("\n")) {
		return src
	}
	return append(slices.Clip(src), textOf{File: &yamltext.File{Src: src}}.newline()...)
}

func unended(out, src []byte) []byte {
	if bytes.HasSuffix(src, []byte("\n")) {
		return out
	}
	return bytes.TrimSuffix(out, []byte(textOf{File: &yamltext.File{Src: src}}.newline()))
}

// checkEnd returns an error when the last line break that ended added changes
// what the last document means, as it does to a block scalar.
func checkEnd(src, text []byte) error {
	if len(src) == len(text) {
		return nil
	}
	f, err := yamltext.Parse(src)
	if err != nil {
		return err
	}
	start := f.Docs[len(f.Docs)-1].Start
	_, as, err := read(src[start:])
	if err != nil {
		return err
	}
	if _, want, err := read(text[start:]); err != nil || !reflect.DeepEqual(as, want) {
		return errors.New("the file ends in the middle of a block scalar: end its last line")
	}
	return nil
}

// patcher works on one file.
type patcher struct {
	name  string
	opts  Options
	file  *yamltext.File
	diags diag.List
	// back translates positions in file to positions in the user's file.
	back func(line, col int) (l, c int, restored bool)
	// expected is, by document, what it is to mean after the edits.
	expected map[*yamltext.Document]any
}

func (p *patcher) report(d diag.Diagnostic) {
	if d.Pos.Line > 0 && p.back != nil {
		var restored bool
		if d.Pos.Line, d.Pos.Col, restored = p.back(d.Pos.Line, d.Pos.Col); restored && d.Severity == diag.Error {
			d.Hint = strings.TrimPrefix(d.Hint+"; the declaration is in the annotation "+Annotation+": run unioncel decompile to edit it", "; ")
		}
	}
	p.diags = append(p.diags, d)
}

func (p *patcher) errorf(n *yaml.Node, code diag.Code, hint, format string, args ...any) {
	p.report(diag.Diagnostic{Code: code, Pos: p.pos(n), Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (p *patcher) pos(n *yaml.Node) diag.Pos {
	return diag.Pos{File: p.name, Line: n.Line, Col: n.Column}
}

func (p *patcher) unproved(err error) {
	p.report(diag.Diagnostic{Code: diag.Unproved, Pos: diag.Pos{File: p.name},
		Message: "the edited file would not mean what it should: " + err.Error(),
		Hint:    "nothing was written; please report this file"})
}

const helm = "this looks like a Helm template: render it first (helm template), and compile the result"

// parse reads text into p.file. What is wrong with it is reported.
func (p *patcher) parse(text []byte) bool {
	p.expected = map[*yamltext.Document]any{}
	hint := ""
	if bytes.Contains(text, []byte("{{")) {
		hint = helm
	}
	trimmed := bytes.TrimPrefix(text, []byte("\ufeff"))
	switch {
	case len(bytes.TrimSpace(trimmed)) == 0:
		p.report(diag.Diagnostic{Code: diag.EmptyInput, Pos: diag.Pos{File: p.name}, Message: "the file is empty"})
		return false
	case !utf8.Valid(text):
		at := invalidUTF8(text)
		line := bytes.Count(text[:at], []byte("\n")) + 1
		col := utf8.RuneCount(bytes.TrimPrefix(text[bytes.LastIndexByte(text[:at], '\n')+1:at], []byte("\ufeff"))) + 1
		p.report(diag.Diagnostic{Code: diag.InvalidUTF8, Pos: diag.Pos{File: p.name, Line: line, Col: col},
			Message: fmt.Sprintf("byte 0x%02x is not UTF-8", text[at]), Hint: "save the file as UTF-8"})
		return false
	}
	file, err := yamltext.Parse(text)
	if err != nil {
		d := diag.Diagnostic{Code: diag.Syntax, Pos: diag.Pos{File: p.name}, Message: err.Error(), Hint: hint}
		var syntax *yamltext.SyntaxError
		if errors.As(err, &syntax) {
			d.Pos.Line, d.Pos.Col, d.Message = syntax.Line, syntax.Column, syntax.Msg
			lines := bytes.Split(text, []byte("\n"))
			if at := syntax.Line - 1; hint == "" && at < len(lines) && bytes.HasPrefix(bytes.TrimLeft(lines[at], " "), []byte("\t")) {
				d.Hint = "YAML does not allow tabs in indentation: use spaces"
			}
		}
		p.report(d)
		return false
	}
	p.file = file
	ok := true
	for _, d := range file.Docs {
		for _, crd := range p.crds(d) {
			for _, k := range yamltext.DuplicateKeys(crd.node) {
				p.errorf(k, diag.DuplicateKey, "delete one of them", "key %q occurs twice in this mapping", k.Value)
				ok = false
			}
		}
	}
	return ok
}

func invalidUTF8(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			return i
		}
		i += n
	}
	return len(text)
}

// manifest is a CustomResourceDefinition in a document, at the root or in the
// items of a list.
type manifest struct {
	node *yaml.Node
	// items are the indices that lead to it through lists.
	items []int
}

const group = "apiextensions.k8s.io/"

// crds returns the CRDs of a document. A CRD in a version that no API server
// serves any more is reported.
func (p *patcher) crds(d *yamltext.Document) []manifest {
	var l []manifest
	var find func(n *yaml.Node, items []int)
	find = func(n *yaml.Node, items []int) {
		if n != nil && n.Kind == yaml.AliasNode && compile.Declares(n.Alias) {
			p.errorf(n, diag.SharedContent, "write the CRD out at each of its places", "the alias *%s stands for a CRD that declares unions: editing it would change other places", n.Value)
		}
		if n == nil || n.Kind != yaml.MappingNode {
			return
		}
		kind, apiVersion := text(n, "kind"), text(n, "apiVersion")
		switch {
		case kind == "List" || kind == "CustomResourceDefinitionList":
			_, v, _, ok := yamltext.Lookup(n, "items")
			switch {
			case ok && v.Kind == yaml.SequenceNode:
				for i, item := range v.Content {
					find(item, append(slices.Clone(items), i))
				}
			case ok && v.Kind == yaml.AliasNode:
				find(v, nil)
			}
		case kind == "CustomResourceDefinition" && apiVersion == group+"v1":
			l = append(l, manifest{n, items})
		case kind == "CustomResourceDefinition" && strings.HasPrefix(apiVersion, group):
			p.errorf(n, diag.OldCRDVersion, "convert it to "+group+"v1", "%s has not been served since Kubernetes 1.22", apiVersion)
		}
	}
	find(d.Root, nil)
	return l
}

// text returns the scalar at a key of mapping n, or "".
func text(n *yaml.Node, key string) string {
	_, v, _, ok := yamltext.Lookup(n, key)
	if !ok || yamltext.Resolve(v).Kind != yaml.ScalarNode {
		return ""
	}
	return yamltext.Resolve(v).Value
}

// read reads a document as kubectl does, as JSON and as data. It is not strict:
// that would refuse keys that override merged ones; duplicates are found before.
func read(document []byte) (data []byte, v any, err error) {
	defer func() {
		if r := recover(); r != nil { // the library panics on some malformed documents
			err = fmt.Errorf("invalid YAML: %v", r)
		}
	}()
	if data, err = sigs.YAMLToJSON(document); err == nil {
		err = json.Unmarshal(data, &v)
	}
	return data, v, err
}

// value reads a document of the file; errors are reported.
func (p *patcher) value(d *yamltext.Document) (data []byte, v any, ok bool) {
	data, v, err := read(p.file.Src[d.Start:d.End])
	if err == nil {
		return data, v, true
	}
	at, hint := p.pos(d.Root), ""
	if i := bytes.Index(p.file.Src[d.Start:d.End], []byte("{{")); i >= 0 && strings.Contains(err.Error(), "invalid map key") {
		at.Line, at.Col = p.file.Position(d.Start + i)
		hint = helm
	}
	p.report(diag.Diagnostic{Code: diag.Syntax, Pos: at, Hint: hint,
		Message: "kubectl cannot read this document: " + strings.TrimPrefix(err.Error(), "error converting YAML to JSON: ")})
	return nil, nil, false
}

// in returns the manifest's part of its document's value.
func (m manifest) in(v any) map[string]any {
	for _, i := range m.items {
		list, _ := v.(map[string]any)
		items, _ := list["items"].([]any)
		if i >= len(items) {
			return nil
		}
		v = items[i]
	}
	crd, _ := v.(map[string]any)
	return crd
}
