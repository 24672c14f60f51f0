package crdpatch

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/unioncel/unioncel/internal/yaml/resource"
	"github.com/unioncel/unioncel/internal/yaml/source"
	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/internal/yaml/yamltext"
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
	// KeepUnions leaves the declarations in the output. The API server rejects
	// them under strict field validation, kubectl's default.
	KeepUnions bool
	// NoAnnotation leaves the annotation out. The output then cannot be
	// decompiled, and compiling it again leaves it as it is.
	NoAnnotation bool
	// Describe adds a sentence about each union to the description of its discriminator
	// or, without one, of the union object.
	Describe bool
	// External are declarations outside the CRDs. The annotation
	// remembers them, so that the output can be compiled again without them.
	External union.Externals
	// Limits bound what a file may ask for.
	Limits limit.Limits
	// AsRecorded takes KubeVersion, Encoding and Describe, where they are not given, from
	// what a compiled CRD was compiled with.
	AsRecorded bool
	// Forget leaves rules in place that the annotation claims and that cannot be
	// confirmed: they are treated as hand-written ones, and claimed no more. Without
	// it they are errors.
	Forget bool
	// InUse, unless nil, replaces KubeVersion, Encoding, Describe and External for the CRDs
	// that are in use: those that were compiled or printed by an API server, unless they
	// declare unions themselves. Options of a project are for its sources.
	InUse *Options
}

// or returns the options, with those of another list where they are not given.
func (o Options) or(other Options) Options {
	o.Encoding = cmp.Or(o.Encoding, other.Encoding)
	o.KubeVersion = cmp.Or(o.KubeVersion, other.KubeVersion)
	o.Describe = o.Describe || other.Describe
	return o
}

// compiler are the options as the compiler takes them.
func (o Options) compiler() compile.Options {
	return compile.Options{KubeVersion: o.KubeVersion, Encoding: o.Encoding}
}

// File is a file that is open. It is parsed at most once, and so is what it was before it
// was compiled, whatever is done with it. It is not for use by several goroutines at a
// time.
type File struct {
	*opened
	opts Options
	was  *reverted
	// decompiling says that unions are to be declared in schemas or not at all.
	decompiling bool
	// installing says that settled CRDs stay as they are.
	installing bool
}

// opened is what all uses of a file share.
type opened struct {
	name  string
	given []byte // the file
	// source is the file, its last line ended, and wrong what is wrong with it, when it
	// is parsed. It is nil if it cannot be read.
	source    *text
	wrong     diag.List
	parsed    bool
	yaml      *yamltext.File // of source, if that is the given text
	limits    limit.Limits
	annotated *annotated
	origins   map[string]Origin // by key of the manifest
}

// reverted is what all uses share that revert a file in the same way.
type reverted struct{ base *base }

// Open opens a file, which is called name in diagnostics; it is parsed when that is needed. What is wrong with it is among
// the diagnostics of what is done with it. src is not modified, and must not be while the
// file is in use.
func Open(name string, src []byte, opts Options) *File {
	f := &opened{name: name, given: src, limits: opts.Limits}
	return &File{opened: f, opts: opts, was: &reverted{}}
}

// With is the same file, to be used with other options. Its limits stay.
func (f *File) With(opts Options) *File {
	opts.Limits = f.limits
	was := f.was
	if opts.Forget != f.opts.Forget || opts.InUse != f.opts.InUse || !opts.External.Same(f.opts.External) {
		was = &reverted{}
	}
	return &File{opened: f.opened, opts: opts, was: was}
}

// Options are those that the file is used with.
func (f *File) Options() Options { return f.opts }

// Name is what diagnostics call the file, and Bytes what it holds, which is not to be
// changed.
func (f *File) Name() string  { return f.name }
func (f *File) Bytes() []byte { return f.given }

// Compile returns src with the unions of its CRDs compiled. name is the file's
// name in diagnostics. The list is sorted; when it has errors, the result is
// nil. src is not modified, and may be returned when nothing changes.
func Compile(name string, src []byte, opts Options) ([]byte, diag.List) {
	return Open(name, src, opts).Compile()
}

// Decompile returns src with the unions of its CRDs as they were before
// Compile: byte for byte on untouched output, as the same data when tools have
// reformatted it. CRDs without the annotation stay as they are. Of the options only
// Forget and Limits count. The list is sorted; when it has errors, the result is nil.
func Decompile(name string, src []byte, opts Options) ([]byte, diag.List) {
	return Open(name, src, opts).Decompile()
}

// Compile is the function of that name for an open file.
func (f *File) Compile() ([]byte, diag.List) {
	j := f.begin()
	return j.result(j.compile())
}

// Decompile is the function of that name for an open file.
func (f *File) Decompile() ([]byte, diag.List) {
	j := (&File{opened: f.opened, opts: Options{Forget: f.opts.Forget}, was: &reverted{}, decompiling: true}).begin()
	if base := j.base(); base != nil {
		return j.result(base.Src)
	}
	return j.result(nil)
}

// CRDs returns the CustomResourceDefinitions of the file, each with its name, group and
// kind. It is false when the file cannot be read.
func (f *File) CRDs() ([]union.Target, bool) {
	if f.parse(); f.source == nil {
		return nil, false
	}
	var l []union.Target
	for _, m := range f.source.manifests() {
		l = append(l, m.names())
	}
	return l, true
}

// job is something that is done with a file.
type job struct {
	*File
	diags diag.List
	// touched are the schemas that are edited, and the annotations taken out.
	touched []touch
	// hints are those for errors in declarations that an annotation keeps, by position.
	hints map[diag.Pos]string
	made  []*text // of the file
}

func (f *File) begin() *job {
	f.parse()
	return &job{File: f, diags: slices.Clone(f.wrong)}
}

func (f *opened) parse() {
	if f.parsed {
		return
	}
	f.parsed = true
	src := ended(f.given)
	file, wrong := source.Parse(f.name, src, f.limits)
	if wrong != nil {
		f.wrong = diag.List{*wrong}
		return
	}
	if f.source, f.wrong = textOf(f.name, file, f.limits); len(src) == len(f.given) {
		f.yaml = file
	}
}

// Objects returns the objects of the file, CRDs included. With errors in the list the result is
// nil.
func (f *File) Objects() (*resource.File, diag.List) {
	if f.parse(); f.yaml == nil {
		return resource.Parse(f.name, f.given, f.limits)
	}
	return resource.In(f.name, f.yaml)
}

// base is the file without what compiling did to it, or nil when there are errors.
func (j *job) base() *base {
	if j.source == nil {
		return nil
	}
	b := j.revert()
	j.made = []*text{j.source, b.text}
	j.diags = append(j.diags, b.diags...)
	j.touched, j.hints = slices.Clip(b.touched), b.hints // others use the base, too
	if j.diags.HasErrors() {
		return nil
	}
	return b
}

// compile returns what the file, its last line ended, compiles to.
func (j *job) compile() []byte {
	r := j.revision()
	if r == nil {
		return nil
	}
	t := r.of
	if len(r.edits) == 0 && t == j.source {
		return t.Src
	}
	out, err := r.text(j.limits)
	if err != nil {
		j.unproved(err)
		return nil
	}
	j.made = append(j.made, out)
	if _, edited := r.want[len(t.docs)-1]; edited {
		if err := j.checkEnd(); err != nil {
			j.unproved(err)
		}
	}
	if j.was.base.text == j.source {
		return out.Src
	}
	return j.kept(out)
}

// revision returns the edits that compile the file, or nil when there are errors.
func (j *job) revision() *revision {
	base := j.base()
	if base == nil {
		return nil
	}
	t := j.replace(base)
	if t == nil {
		return nil
	}
	r := revise(t)
	for _, d := range t.docs {
		j.compileDocument(r, base, d)
	}
	if j.diags.HasErrors() {
		// No rules are removed then, and what is wrong may be why a union is forgotten.
		j.diags = slices.DeleteFunc(j.diags, func(d diag.Diagnostic) bool { return d.Code == diag.Forgotten })
		return nil
	}
	return r
}

// kept is a result in which documents whose rules come out as they are keep their bytes.
func (j *job) kept(out *text) []byte {
	var kept []byte
	for i, d := range j.source.docs {
		if d.same(out.docs[i]) {
			kept = append(kept, d.bytes()...)
		} else {
			kept = append(kept, out.docs[i].bytes()...)
		}
	}
	return kept
}

// result returns what became of the file, out, if nothing is wrong with it: it is what
// every file that is rewritten passes. The last line of out is ended; that of the
// result is if that of the file was.
func (j *job) result(out []byte) ([]byte, diag.List) {
	if !j.diags.HasErrors() {
		out = unended(out, j.given)
		if err := j.checkResult(out); err != nil {
			j.unproved(err)
		}
	}
	if j.diags.HasErrors() {
		return nil, j.diags.Sort()
	}
	return out, j.diags.Sort()
}

// ended returns src with its last line ended, which spares every edit the case
// of a line that is not. unended takes that back.
func ended(src []byte) []byte {
	if len(src) == 0 || bytes.HasSuffix(src, []byte("\n")) {
		return src
	}
	return append(slices.Clip(src), yamledit.Newline(src)...)
}

func unended(out, src []byte) []byte {
	if bytes.HasSuffix(src, []byte("\n")) {
		return out
	}
	return bytes.TrimSuffix(out, []byte(yamledit.Newline(src)))
}

// checkEnd returns an error when the last line break that ended added changes
// what the last document means, as it does to a block scalar.
func (j *job) checkEnd() error {
	if len(j.given) == len(j.source.Src) {
		return nil
	}
	given, err := j.textOf(j.given)
	if err != nil {
		return err
	}
	last := len(j.source.docs) - 1
	_, is, _ := given.docs[last].value()
	if _, want, _ := j.source.docs[last].value(); !reflect.DeepEqual(is, want) {
		return errors.New("the file ends in the middle of a block scalar: end its last line")
	}
	return nil
}

// textOf is the text that was made from bytes, or else they are parsed.
func (j *job) textOf(src []byte) (*text, error) {
	for _, t := range j.made {
		if bytes.Equal(t.Src, src) {
			return t, nil
		}
	}
	t, wrong := parse(j.name, src, j.limits)
	if t == nil {
		return nil, errors.New(wrong[0].Message)
	}
	return t, nil
}

func (j *job) report(d diag.Diagnostic) {
	if hint := j.hints[d.Pos]; hint != "" {
		if d.Edits = nil; d.Severity == diag.Error {
			d.Hint = strings.TrimPrefix(d.Hint+"; "+hint, "; ")
		}
	}
	j.diags = append(j.diags, d)
}

func (j *job) errorf(n *yaml.Node, code diag.Code, hint, format string, args ...any) {
	j.report(diag.Diagnostic{Code: code, Pos: diag.Pos{File: j.name, Line: n.Line, Col: n.Column}, Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (j *job) unproved(err error) {
	j.diags = append(j.diags, unproved(j.name, err))
}

func unproved(name string, err error) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.Unproved, Pos: diag.Pos{File: name},
		Message: "the edited file would not have the intended meaning: " + err.Error(),
		Hint:    "nothing was written; please report this file"}
}

// input is a CRD as the compiler takes it. What is wrong is reported.
func (j *job) input(m *manifest, external []union.External) (compile.Manifest, bool) {
	data, value, wrong := m.value()
	if wrong != nil {
		j.report(*wrong)
		return compile.Manifest{}, false
	}
	if len(m.items) > 0 {
		var err error
		if data, err = json.Marshal(m.in(value)); err != nil {
			j.unproved(err)
			return compile.Manifest{}, false
		}
	}
	return compile.Manifest{File: j.name, Node: m.node, JSON: data, External: external, Limits: j.limits}, true
}

// compilation is a compilation of a CRD with external declarations.
type compilation struct {
	*compile.Compilation
	in   compile.Manifest
	opts compile.Options
}

// compilation returns the compilation of a CRD, which is the same for the same declarations and
// options. It is nil if kubectl cannot read the CRD, which is reported.
func (j *job) compilation(m *manifest, external []union.External, opts compile.Options) *compilation {
	for _, c := range m.compilations {
		if c.opts == opts && slices.EqualFunc(c.in.External, external, union.External.Same) {
			return c
		}
	}
	in, ok := j.input(m, external)
	if !ok {
		return nil
	}
	c := &compilation{compile.New(in, opts), in, opts}
	m.compilations = append(m.compilations, c)
	return c
}

// externals returns the external declarations for a CRD: those given, and for versions of
// which nothing is given those its annotation keeps.
func (f *File) externals(b *base, m *manifest) []union.External {
	l, all := f.declaredFor(m)
	for _, e := range b.external[m.key()] {
		if !all(e.Version) {
			l = append(l, e)
		}
	}
	return l
}
