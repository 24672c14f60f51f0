package crdpatch

import (
	"bytes"
	"slices"

	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// File is an open file. It is not safe for concurrent use.
type File struct {
	name   string
	given  []byte
	limits yamltext.Limits

	parsed bool
	text   *fileText // nil if the file cannot be read
	wrong  diag.List
}

// Open opens a file; name is its name in diagnostics. Open does not modify src, and callers must not
// do so while the file is in use. Parse errors are reported by the methods that need the content.
func Open(name string, src []byte) *File { return &File{name: name, given: src} }

// WithLimits sets the limits of the file and returns f. It must be called before other methods.
func (f *File) WithLimits(l yamltext.Limits) *File {
	f.limits = l
	return f
}

// Name returns the name of the file in diagnostics. Bytes returns its content, which is
// read-only.
func (f *File) Name() string  { return f.name }
func (f *File) Bytes() []byte { return f.given }

// parse returns the text of the file, with a newline at its end, and errors and warnings about it. It
// is nil if the file cannot be read.
func (f *File) parse() (*fileText, diag.List) {
	if f.parsed {
		return f.text, f.wrong
	}
	f.parsed = true
	if f.text, f.wrong = parseText(f.name, ended(f.given), f.limits); f.text == nil {
		return nil, f.wrong
	}
	for _, m := range f.text.manifests() {
		m.asIs = newStage(m, m.node, nil)
		var wrong *diag.Diagnostic
		if m.annotated, wrong = readAnnotation(m); wrong != nil {
			m.marred = diag.List{*wrong}
		}
	}
	return f.text, f.wrong
}

// ended returns a text with a newline at its end, so that edits need not handle a last line
// without one.
func ended(src []byte) []byte {
	if len(src) == 0 || bytes.HasSuffix(src, []byte("\n")) {
		return src
	}
	return append(slices.Clip(src), yamltext.Newline(src)...)
}

// Objects returns the objects of the file, including CRDs. With errors in the list the result is
// nil.
func (f *File) Objects() (*yamltext.ObjectFile, diag.List) {
	if text, _ := f.parse(); text != nil && len(text.Src) == len(f.given) {
		return yamltext.ObjectsFromText(f.name, text.File)
	}
	return yamltext.ParseObjects(f.name, f.given, f.limits)
}

// Targets returns the name, group and kind of each CRD of the file, or false if the file cannot be
// read.
func (f *File) Targets() ([]union.Target, bool) {
	text, _ := f.parse()
	if text == nil {
		return nil, false
	}
	var l []union.Target
	for _, m := range text.manifests() {
		l = append(l, m.target())
	}
	return l, true
}

// CRDs returns the CRDs of the file in document order, with the options to compile them. The list
// has errors and warnings about the file.
func (f *File) CRDs(opts Options) ([]*CRD, diag.List) {
	text, wrong := f.parse()
	wrong = slices.Clone(wrong)
	if text == nil {
		return nil, wrong
	}
	var l []*CRD
	for _, m := range text.manifests() {
		l, wrong = append(l, &CRD{m: m, opts: opts}), append(wrong, m.marred...)
	}
	return l, wrong
}

// WithBytes opens a file with the same name and limits, and other content.
func (f *File) WithBytes(src []byte) *File { return Open(f.name, src).WithLimits(f.limits) }
