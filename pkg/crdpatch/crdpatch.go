package crdpatch

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/unioncel/unioncel/internal/crdtext"
	"github.com/unioncel/unioncel/internal/yaml/yamledit"
	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/diag"
)

// Compile returns a file with the unions of its CRDs compiled. The list is sorted; when it has
// errors, the result is nil. The result may be the bytes of the file when nothing changes.
func Compile(f *crdfile.File, opts crdfile.Options) ([]byte, diag.List) {
	j := begin(f, opts)
	return j.result(j.compile())
}

// Decompile returns a file with the unions of its CRDs as they were before Compile: byte for
// byte on untouched output, as the same data when tools have reformatted it. CRDs without the
// annotation stay as they are. Of the options only Forget counts. The list is sorted; when it has
// errors, the result is nil.
func Decompile(f *crdfile.File, opts crdfile.Options) ([]byte, diag.List) {
	j := &job{File: f}
	if t := j.decompile(opts.Forget); t != nil {
		return j.result(t.Src)
	}
	return j.result(nil)
}

// decompile is the text without compiled rules, or nil when there are errors.
func (j *job) decompile(forget bool) *crdtext.Text {
	j.crds, j.diags = j.Decompiled(forget)
	return j.base()
}

// job is an edit of a file.
type job struct {
	*crdfile.File
	crds []*crdfile.CRD
	// installing says that settled CRDs stay as they are.
	installing bool
	diags      diag.List
	// touched are the schemas that are edited, and the annotations taken out.
	touched []touch
	made    []*crdtext.Text // of the file
}

func begin(f *crdfile.File, opts crdfile.Options) *job {
	j := &job{File: f}
	j.crds, j.diags = f.CRDs(opts)
	return j
}

// text is the text of the file, its last line ended.
func (j *job) text() *crdtext.Text {
	t, _ := j.Text()
	return t
}

// base is the text without an earlier compilation, or nil when there are errors.
func (j *job) base() *crdtext.Text {
	var compiled []*crdfile.CRD
	for _, c := range j.crds {
		if j.installing && c.Settled() {
			continue
		}
		b := c.Base()
		j.diags = append(j.diags, b.Diags...)
		if b.Reverted != nil {
			compiled = append(compiled, c)
		}
	}
	if j.diags.HasErrors() {
		return nil
	}
	t := j.text()
	if len(compiled) > 0 {
		t = j.revert(t, compiled)
	}
	j.made = []*crdtext.Text{j.text(), t}
	return t
}

// compile returns the compiled text, its last line ended.
func (j *job) compile() []byte {
	if !j.diags.HasErrors() {
		if same, diags := j.unchanged(); same {
			j.diags = append(j.diags, diags...)
			return j.text().Src
		}
	}
	base := j.base()
	r := j.revision(base)
	if r == nil {
		return nil
	}
	t := r.Of
	if len(r.Edits) == 0 && t == j.text() {
		return t.Src
	}
	out, err := r.Text()
	if err != nil {
		j.unproved(err)
		return nil
	}
	j.made = append(j.made, out)
	if _, edited := r.Want[len(t.Docs)-1]; edited {
		if err := j.checkEnd(); err != nil {
			j.unproved(err)
		}
	}
	if base == j.text() {
		return out.Src
	}
	return j.kept(out)
}

// revision returns the edits that compile the base, or nil when there are errors.
func (j *job) revision(base *crdtext.Text) *crdtext.Revision {
	if base == nil {
		return nil
	}
	t := j.replace(base)
	if t == nil {
		return nil
	}
	r := crdtext.Revise(t)
	for _, c := range j.crds {
		if !j.installing || !c.Settled() {
			j.compileCRD(r, c)
		}
	}
	if j.diags.HasErrors() {
		// No rules are removed then, and the errors may be why a union is forgotten.
		j.diags = slices.DeleteFunc(j.diags, func(d diag.Diagnostic) bool { return d.Code == diag.Forgotten })
		return nil
	}
	return r
}

// kept returns the result, with the original bytes of documents whose rules did not change.
func (j *job) kept(out *crdtext.Text) []byte {
	var kept []byte
	for i, d := range j.text().Docs {
		if sameRules(d, out.Docs[i]) {
			kept = append(kept, d.Bytes()...)
		} else {
			kept = append(kept, out.Docs[i].Bytes()...)
		}
	}
	return kept
}

// result returns the edited file, unless something is wrong with it: it is the check of
// every file that is rewritten. The last line of out is ended; the
// result ends with a newline only if the file does.
func (j *job) result(out []byte) ([]byte, diag.List) {
	if !j.diags.HasErrors() {
		out = unended(out, j.Bytes())
		if err := j.checkResult(out); err != nil {
			j.unproved(err)
		}
	}
	if j.diags.HasErrors() {
		return nil, j.diags.Sort()
	}
	return out, j.diags.Sort()
}

// unended takes back the end of the last line that opening the file added.
func unended(out, src []byte) []byte {
	if bytes.HasSuffix(src, []byte("\n")) {
		return out
	}
	return bytes.TrimSuffix(out, []byte(yamledit.Newline(src)))
}

// checkEnd returns an error when the end of the last line that opening the file added changes
// the data of the last document, as it does to a block scalar.
func (j *job) checkEnd() error {
	source := j.text()
	if len(j.Bytes()) == len(source.Src) {
		return nil
	}
	given, err := j.textOf(j.Bytes())
	if err != nil {
		return err
	}
	last := len(source.Docs) - 1
	_, is, _ := given.Docs[last].Value()
	if _, want, _ := source.Docs[last].Value(); !reflect.DeepEqual(is, want) {
		return errors.New("the file ends in the middle of a block scalar: end its last line")
	}
	return nil
}

// textOf is the text that was made from bytes, or else they are parsed.
func (j *job) textOf(src []byte) (*crdtext.Text, error) {
	for _, t := range j.made {
		if bytes.Equal(t.Src, src) {
			return t, nil
		}
	}
	t, wrong := crdtext.Parse(j.Name(), src, j.text().Limits)
	if t == nil {
		return nil, errors.New(wrong[0].Message)
	}
	return t, nil
}

func (j *job) errorf(n *yaml.Node, code diag.Code, hint, format string, args ...any) {
	j.diags = append(j.diags, diag.Diagnostic{Code: code, Pos: j.text().Pos(n), Message: fmt.Sprintf(format, args...), Hint: hint})
}

func (j *job) unproved(err error) {
	j.diags = append(j.diags, unproved(j.Name(), err))
}

func unproved(name string, err error) diag.Diagnostic {
	return diag.Diagnostic{Code: diag.Unproved, Pos: diag.Pos{File: name},
		Message: "the edited file would not have the intended meaning: " + err.Error(),
		Hint:    "nothing was written; please report this file"}
}
