package crdpatch

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/source"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/limit"
	"github.com/unioncel/unioncel/pkg/union"
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
	// Elsewhere are declarations that do not stand in the CRDs. The annotation
	// remembers them, so that the output can be compiled again without them.
	Elsewhere union.Elsewhere
	// Limits bound what a file may ask for.
	Limits limit.Limits
	// AsRecorded takes KubeVersion and Encoding, where they are not given, from what a
	// compiled CRD was compiled with.
	AsRecorded bool
	// Forget leaves rules in place that the annotation claims and that cannot be
	// confirmed: they are taken for hand-written ones, and claimed no more. Without
	// it they are errors.
	Forget bool
}

// Compile returns src with the unions of its CRDs compiled. name is the file's
// name in diagnostics. The list is sorted; when it has errors, the result is
// nil. src is not modified, and may be returned when nothing changes.
func Compile(name string, src []byte, opts Options) ([]byte, diag.List) {
	p := &patcher{name: name, opts: opts}
	return p.result(src, p.compile(src))
}

// compile returns what src, its last line ended, compiles to.
func (p *patcher) compile(src []byte) []byte {
	text := ended(src)
	base, ok := p.source(text)
	if !ok {
		return nil
	}
	var edits []yamltext.Edit
	for i, d := range p.file.Docs {
		edits = append(edits, p.compileDocument(i, d)...)
	}
	if p.diags.HasErrors() {
		// No rules are removed then, and what is wrong may be why a union is forgotten.
		p.diags = slices.DeleteFunc(p.diags, func(d diag.Diagnostic) bool { return d.Code == diag.Forgotten })
		return text
	}
	if len(edits) == 0 && !base.changed {
		return text
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
	}
	return out
}

// result returns what became of src, out, if nothing is wrong with it: it is what
// every file that is rewritten passes. The last line of out is ended; that of the
// result is if that of src was.
func (p *patcher) result(src, out []byte) ([]byte, diag.List) {
	if !p.diags.HasErrors() {
		out = unended(out, src)
		if err := p.held(src, out); err != nil {
			p.unproved(err)
		}
	}
	if p.diags.HasErrors() {
		return nil, p.diags.Sort()
	}
	return out, p.diags.Sort()
}

// source parses what is to be compiled: the text without what an earlier
// compilation did, and without hand-written rules that are to be replaced.
func (p *patcher) source(text []byte) (undone, bool) {
	if p.opts.AsRecorded {
		p.asRecorded = p.recordedOptions(text)
	}
	base, ok := p.undo(text)
	if !ok || base.changed && !p.parse(base.text) {
		return undone{}, false
	}
	p.back = base.position
	if base, ok = p.replace(base); !ok {
		return undone{}, false
	}
	p.back = base.position
	return base, true
}

// Decompile returns src with the unions of its CRDs as they were before
// Compile: byte for byte on untouched output, as the same data when tools have
// reformatted it. CRDs without the annotation stay as they are. Of the options only
// Forget and Limits count. The list is sorted; when it has errors, the result is nil.
func Decompile(name string, src []byte, opts Options) ([]byte, diag.List) {
	p := &patcher{name: name, opts: Options{Forget: opts.Forget, Limits: opts.Limits}, decompiling: true}
	base, _ := p.undo(ended(src))
	return p.result(src, base.text)
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
	_, as, err := source.Read(src[start:])
	if err != nil {
		return err
	}
	if _, want, err := source.Read(text[start:]); err != nil || !reflect.DeepEqual(as, want) {
		return errors.New("the file ends in the middle of a block scalar: end its last line")
	}
	return nil
}

// patcher works on one file.
type patcher struct {
	name string
	opts Options
	// decompiling says that unions are to be declared in schemas or not at all.
	decompiling bool
	file        *yamltext.File
	diags       diag.List
	// asRecorded are options that CRDs were compiled with, by document and place in it.
	asRecorded map[string]Options
	// back translates positions in file to positions in the user's file.
	back func(line, col int) (l, c int, restored bool)
	// expected is, by document, what it is to mean after the edits.
	expected map[*yamltext.Document]any
	// external are the declarations from elsewhere that annotations remember, by
	// document and place in it.
	external map[string][]union.External
	// proofs counts the rules that are tried to be proved ours.
	proofs int
	// touched are the schemas that are edited, and the annotations taken out.
	touched []touch
}

func (p *patcher) report(d diag.Diagnostic) {
	d.Edits = slices.Clone(d.Edits)
	if d.Pos.Line > annotated {
		d.Edits = nil
		if d.Pos.Line -= annotated; d.Severity == diag.Error {
			d.Hint = strings.TrimPrefix(d.Hint+"; the declaration stands elsewhere, and the annotation "+Annotation+" keeps it: correct it there, and give it again (--go, --unions)", "; ")
		}
	} else if d.Pos.Line > 0 && d.Pos.File == p.name && p.back != nil {
		var restored bool
		if d.Pos.Line, d.Pos.Col, restored = p.back(d.Pos.Line, d.Pos.Col); restored && d.Severity == diag.Error {
			d.Hint = strings.TrimPrefix(d.Hint+"; the declaration is in the annotation "+Annotation+": run unioncel decompile to edit it", "; ")
		}
		for i, e := range d.Edits {
			d.Edits[i].Line, d.Edits[i].Col, _ = p.back(e.Line, e.Col)
		}
		if restored {
			d.Edits = nil
		}
	}
	for i, r := range d.Related {
		if r.Pos.File == p.name {
			d.Related[i].Pos.Line, d.Related[i].Pos.Col, _ = p.position(r.Pos)
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

// parse reads text into p.file. What is wrong with it is reported.
func (p *patcher) parse(text []byte) bool {
	p.expected = map[*yamltext.Document]any{}
	file, wrong := source.Parse(p.name, text, p.opts.Limits)
	if wrong != nil {
		p.report(*wrong)
		return false
	}
	p.file = file
	ok := true
	for _, d := range file.Docs {
		if len(p.crds(d)) == 0 {
			continue
		}
		for _, d := range source.Duplicates(p.name, d.Root) {
			p.report(d)
			ok = false
		}
	}
	return ok
}

// manifest is a CustomResourceDefinition in a document, at the root or in the
// items of a list.
type manifest struct {
	node *yaml.Node
	// items are the indices that lead to it through lists.
	items []int
}

const group = "apiextensions.k8s.io/"

// crds returns the CRDs of a document. A CRD with unions in a version that no API
// server serves any more is reported.
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
		case source.IsList(kind):
			_, v, _, ok := yamltext.Lookup(n, "items")
			switch {
			case ok && v.Kind == yaml.SequenceNode:
				for i, item := range v.Content {
					find(item, append(slices.Clone(items), i))
				}
			case ok && v.Kind == yaml.AliasNode:
				find(v, nil)
			}
		case kind == source.CRDKind && apiVersion == group+"v1":
			l = append(l, manifest{n, items})
		case kind == source.CRDKind && strings.HasPrefix(apiVersion, group) && compile.Declares(n):
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

// value reads a document of the file; errors are reported.
func (p *patcher) value(d *yamltext.Document) (data []byte, v any, ok bool) {
	data, v, wrong := source.Value(p.name, p.file, d)
	if wrong != nil {
		p.report(*wrong)
	}
	return data, v, wrong == nil
}

// input is a CRD as the compiler takes it. value is that of the document, read
// when it is needed. What is wrong is reported.
func (p *patcher) input(d *yamltext.Document, m manifest, external []union.External, value *any) (compile.Manifest, bool) {
	var data []byte
	if *value == nil {
		var ok bool
		if data, *value, ok = p.value(d); !ok {
			return compile.Manifest{}, false
		}
	}
	if data == nil || len(m.items) > 0 {
		var err error
		if data, err = json.Marshal(m.in(*value)); err != nil {
			p.unproved(err)
			return compile.Manifest{}, false
		}
	}
	return compile.Manifest{File: p.name, Node: m.node, JSON: data, External: external, Limits: p.opts.Limits}, true
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
