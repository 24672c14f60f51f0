package crdpatch

import (
	"bytes"
	"errors"
	"reflect"
	"slices"

	"github.com/unioncel/unioncel/internal/codes"
	"github.com/unioncel/unioncel/internal/yamltext"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Compile returns a file with the unions of its CRDs compiled. The list is sorted; with errors the
// result is nil. The result may share the bytes of the file if nothing changes.
func Compile(f *File, opts Options) ([]byte, diag.List) {
	j := begin(f, opts)
	return j.result(j.compile())
}

// Decompile reverts Compile: it returns the exact source for unedited output, and the same data if
// tools have reformatted the output. CRDs without the annotation stay unchanged. The only option
// that has an effect is Forget. The list is sorted; with errors the result is nil.
func Decompile(f *File, opts Options) ([]byte, diag.List) {
	j := &job{File: f}
	if t := j.decompile(opts.Forget); t != nil {
		return j.result(t.Src)
	}
	return j.result(nil)
}

// decompile returns the text without compiled rules, or nil on errors.
func (j *job) decompile(forget bool) *fileText {
	j.crds, j.diags = j.CRDs(Options{Forget: forget})
	t := j.base()
	j.diags = slices.DeleteFunc(j.diags, func(d diag.Diagnostic) bool { return d.Code == codes.Forgotten }) // their rules go, too
	for _, c := range j.crds {
		if b := c.base(); t != nil && len(b.claims) > 0 { // with errors, nothing is removed
			for _, d := range b.removed(b.compilation(b.declared, b.annotated.options()).Compilation) {
				j.diags = append(j.diags, d.Hinted("the declaration is outside the file: compile with it again (--go, --unions), unless a person wrote the rule"))
			}
		}
	}
	return t
}

// job is an edit of a file.
type job struct {
	*File
	crds  []*CRD // to edit
	diags diag.List
	// touched are the edited schemas and removed annotations.
	touched []touch
	made    []*fileText // texts made from the file
}

func begin(f *File, opts Options) *job {
	j := &job{File: f}
	j.crds, j.diags = f.CRDs(opts)
	return j
}

// text returns the text of the file, with a newline at its end.
func (j *job) text() *fileText {
	t, _ := j.parse()
	return t
}

// base returns the text without an earlier compilation, or nil on errors.
func (j *job) base() *fileText {
	for _, c := range j.crds {
		j.diags = append(j.diags, c.base().diags...)
	}
	if j.diags.HasErrors() {
		return nil
	}
	r := &remover{job: j, revision: revise(j.text())}
	for _, c := range j.crds {
		if b := c.base(); b.annotated != nil {
			r.remove(b)
		}
	}
	t := r.restore()
	j.made = []*fileText{j.text(), t}
	return t
}

// compile returns the compiled text, with a newline at its end.
func (j *job) compile() []byte {
	j.crds = slices.DeleteFunc(j.crds, j.compiled)
	r := j.revision(j.base())
	if r == nil {
		return nil
	}
	out := j.apply(r)
	if out == nil {
		return nil
	}
	j.made = append(j.made, out)
	if _, edited := r.want[len(out.docs)-1]; edited {
		if err := j.checkEnd(); err != nil {
			j.unproved(err)
		}
	}
	return out.Src
}

// revision returns the edits that compile the base, or nil on errors.
func (j *job) revision(base *fileText) *revision {
	if base == nil {
		return nil
	}
	t := j.replace(base)
	if t == nil {
		return nil
	}
	r := revise(t)
	for _, c := range j.crds {
		j.compileCRD(r, c)
	}
	if j.forgotten() {
		return nil
	}
	return r
}

// apply returns the text of a revision, or nil on errors.
func (j *job) apply(r *revision) *fileText {
	if j.diags.HasErrors() {
		return nil
	}
	if len(r.edits) == 0 {
		return r.of
	}
	t, err := r.text()
	if err != nil {
		j.unproved(err)
	}
	return t
}

// forgotten reports whether there are errors. Unions that are declared nowhere any more are errors,
// but not beside others, which may explain them.
func (j *job) forgotten() bool {
	is := func(d diag.Diagnostic) bool { return d.Code == codes.Forgotten }
	if j.diags.HasErrors() {
		j.diags = slices.DeleteFunc(j.diags, is)
	}
	for i := range j.diags {
		if is(j.diags[i]) {
			j.diags[i].Severity = diag.Error
		}
	}
	if j.diags.HasErrors() { // nothing is removed
		j.diags = slices.DeleteFunc(j.diags, func(d diag.Diagnostic) bool { return d.Code == codes.RuleRemoved })
	}
	return j.diags.HasErrors()
}

// result checks an edited file and returns it, or nil on errors. All rewritten files pass through
// result. out ends with a newline; the result does so only if the file does.
func (j *job) result(out []byte) ([]byte, diag.List) {
	if !j.diags.HasErrors() {
		out = unended(out, j.Bytes())
		if err := j.checkResult(out); err != nil {
			j.unproved(err)
		}
	}
	return finish(out, j.diags)
}

// finish returns a result with its sorted diagnostics, or the zero value if these have errors.
func finish[T any](result T, diags diag.List) (T, diag.List) {
	if diags.HasErrors() {
		var none T
		return none, diags.Sort()
	}
	return result, diags.Sort()
}

// unended removes the final newline that opening the file added.
func unended(out, src []byte) []byte {
	if bytes.HasSuffix(src, []byte("\n")) {
		return out
	}
	return bytes.TrimSuffix(out, []byte(yamltext.Newline(src)))
}

// checkEnd returns an error if the final newline that opening the file added changes the data of
// the last document, such as a block scalar.
func (j *job) checkEnd() error {
	source := j.text()
	if len(j.Bytes()) == len(source.Src) {
		return nil
	}
	given, err := j.textOf(j.Bytes())
	if err != nil {
		return err
	}
	last := len(source.docs) - 1
	_, is, _ := given.docs[last].read()
	if _, want, _ := source.docs[last].read(); !reflect.DeepEqual(is, want) {
		return errors.New("the file ends in the middle of a block scalar: end its last line")
	}
	return nil
}

// textOf returns the text with the given bytes, if one was made, or parses them.
func (j *job) textOf(src []byte) (*fileText, error) {
	for _, t := range j.made {
		if bytes.Equal(t.Src, src) {
			return t, nil
		}
	}
	t, wrong := parseText(j.Name(), src, j.text().limits)
	if t == nil {
		return nil, errors.New(wrong[0].Message)
	}
	return t, nil
}

func (j *job) unproved(err error) {
	j.diags = append(j.diags, unproved(j.Name(), err))
}

func unproved(name string, err error) diag.Diagnostic {
	return diag.New(codes.Unproved, diag.Pos{File: name}, "the edited file would not have the intended meaning: %v", err).
		Hinted("nothing was written; please report this file")
}
