// Package crdfile reads the CustomResourceDefinitions of a manifest file, and their unions.
//
// [Open] opens a file: YAML or JSON, with any number of documents, and lists of manifests. It is
// parsed once, when that is first needed, and each CRD is compiled once for the same options.
// CRDs that were compiled are read by their annotation: as their authors wrote them, and with the
// unions that they had.
package crdfile

import (
	"bytes"
	"slices"

	"github.com/unioncel/unioncel/internal/compiled"
	"github.com/unioncel/unioncel/internal/crdtext"
	"github.com/unioncel/unioncel/internal/limit"
	"github.com/unioncel/unioncel/internal/yaml/resource"
	"github.com/unioncel/unioncel/internal/yaml/source"
	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// Annotation is the key of the annotation in which a compiled CRD records its compilation.
const Annotation = compiled.Annotation

// File is a file that is open. It is not for use by several goroutines at a time.
type File struct {
	name   string
	given  []byte
	limits limit.Limits

	parsed bool
	text   *crdtext.Text // nil if the file cannot be read
	yaml   *yamltext.File
	wrong  diag.List
	crds   []*manifest
	views  []*view
}

// manifest is a CRD of the file.
type manifest struct {
	*crdtext.Manifest
	annotated *compiled.CRD // nil if it was not compiled
	marred    diag.List     // the error in its annotation
	asIs      *stage
}

// Open opens a file, which is called name in diagnostics. src is not modified, and must not be
// while the file is in use. Errors in the file are among the diagnostics of its uses.
func Open(name string, src []byte) *File { return &File{name: name, given: src} }

// Within sets bounds for the work on the file, before it is used. It returns f.
func (f *File) Within(l limit.Limits) *File {
	f.limits = l
	return f
}

// Name is the name of the file in diagnostics, and Bytes its content, which is not to be
// changed.
func (f *File) Name() string  { return f.name }
func (f *File) Bytes() []byte { return f.given }

// Text returns the text of the file, with its last line ended, and errors and warnings about it.
// It is nil if the file cannot be read.
func (f *File) Text() (*crdtext.Text, diag.List) {
	if f.parsed {
		return f.text, f.wrong
	}
	f.parsed = true
	src := ended(f.given)
	file, wrong := source.Parse(f.name, src, f.limits)
	if wrong != nil {
		f.wrong = diag.List{*wrong}
		return nil, f.wrong
	}
	if f.text, f.wrong = crdtext.Of(f.name, file, f.limits); len(src) == len(f.given) {
		f.yaml = file
	}
	if f.text == nil {
		return nil, f.wrong
	}
	for _, m := range f.text.Manifests() {
		c := &manifest{Manifest: m}
		c.asIs = newStage(c, m.Node, nil)
		var wrong *diag.Diagnostic
		if c.annotated, wrong = compiled.Read(m); wrong != nil {
			c.marred = diag.List{*wrong}
		}
		f.crds = append(f.crds, c)
	}
	return f.text, f.wrong
}

// ended returns a text with its last line ended, so that edits need not handle
// one without a newline.
func ended(src []byte) []byte {
	if len(src) == 0 || bytes.HasSuffix(src, []byte("\n")) {
		return src
	}
	return append(slices.Clip(src), yamledit.Newline(src)...)
}

// Objects returns the objects of the file, CRDs included. With errors in the list the result is
// nil.
func (f *File) Objects() (*resource.File, diag.List) {
	if _, _ = f.Text(); f.yaml == nil {
		return resource.Parse(f.name, f.given, f.limits)
	}
	return resource.In(f.name, f.yaml)
}

// Targets returns the name, group and kind of each CRD of the file. It is false when the file
// cannot be read.
func (f *File) Targets() ([]union.Target, bool) {
	text, _ := f.Text()
	if text == nil {
		return nil, false
	}
	var l []union.Target
	for _, m := range f.crds {
		l = append(l, m.Target())
	}
	return l, true
}

// CRDs returns the CRDs of the file, to be compiled with some options, in order of the text. The
// list has errors and warnings about the file.
func (f *File) CRDs(opts Options) ([]*CRD, diag.List) { return f.view(opts, false) }

// Decompiled returns the CRDs of the file without compiled rules, as [File.CRDs] does. Their
// unions are to be declared in schemas.
func (f *File) Decompiled(forget bool) ([]*CRD, diag.List) {
	return f.view(Options{Forget: forget}, true)
}

// view is a way to revert the CRDs of a file.
type view struct {
	opts      Options
	decompile bool
	proofs    int
	reverted  map[*manifest]*Base
}

func (f *File) view(opts Options, decompile bool) ([]*CRD, diag.List) {
	_, wrong := f.Text()
	wrong = slices.Clone(wrong)
	i := slices.IndexFunc(f.views, func(v *view) bool {
		return v.decompile == decompile && v.opts.Forget == opts.Forget && v.opts.InUse == opts.InUse && v.opts.External.Same(opts.External)
	})
	if i < 0 {
		i = len(f.views)
		f.views = append(f.views, &view{opts: opts, decompile: decompile, reverted: map[*manifest]*Base{}})
	}
	var l []*CRD
	for _, m := range f.crds {
		l, wrong = append(l, &CRD{m: m, view: f.views[i], opts: opts}), append(wrong, m.marred...)
	}
	return l, wrong
}

// With is a file of the same name and limits with other content.
func (f *File) With(src []byte) *File { return Open(f.name, src).Within(f.limits) }
