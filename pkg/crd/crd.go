package crd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/unioncel/unioncel/internal/crdpatch"
	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/internal/report"
	"github.com/unioncel/unioncel/internal/server"
	"github.com/unioncel/unioncel/pkg/compile"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/union"
)

// File is an open file. It is not safe for concurrent use.
type File struct {
	file  *crdpatch.File
	opts  crdpatch.Options
	kinds []*server.Kind // of the CRDs; nil until they are needed
	known []union.Kind   // the unions of the CRDs; nil until they are needed
}

// Options are the options for the unions of a file. The zero value is the default.
type Options struct {
	// KubeVersion is the oldest version of Kubernetes that must accept the rules, such as "1.30". The
	// default is the version of the linked API server.
	KubeVersion string
	// Encoding is the form of the rules.
	Encoding compile.Encoding
	// External are declarations outside the CRDs, such as markers in Go (pkg/markers).
	External union.Externals
	// NoAnnotation leaves out the annotation that Decompile reads.
	NoAnnotation bool
	// Forget keeps the rules that the annotation claims and its unions do not write, as hand-written
	// ones. Without it, such rules are errors.
	Forget bool
}

// Open opens a file; name is its name in diagnostics. The bytes must not change while the file is in use.
func Open(name string, src []byte, opts Options) *File {
	return &File{file: crdpatch.Open(name, src), opts: crdpatch.Options{
		KubeVersion: opts.KubeVersion, Encoding: opts.Encoding, External: opts.External, NoAnnotation: opts.NoAnnotation, Forget: opts.Forget,
	}}
}

// Of opens a CRD in memory. The Go type has no field for declarations: they are external, or in the
// annotation of a compiled CRD. It returns an error if the CRD has a value, such as a default, that is not
// JSON.
func Of(crd *apiextensionsv1.CustomResourceDefinition, opts Options) (*File, error) {
	crd = crd.DeepCopy()
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	src, err := json.MarshalIndent(crd, "", "  ")
	if err != nil {
		return nil, err
	}
	return Open(crd.Name, src, opts), nil
}

// Targets returns the name, group and kind of each CRD of the file. It is nil if the file cannot be read.
func (f *File) Targets() []union.Target {
	l, _ := f.file.Targets()
	return l
}

// Compile returns the file with rules in place of the declarations of its CRDs.
func (f *File) Compile() ([]byte, diag.List) { return crdpatch.Compile(f.file, f.opts) }

// Decompile reverts Compile: it returns the exact source of unedited output, and the same data if tools
// have reformatted it.
func (f *File) Decompile() ([]byte, diag.List) { return crdpatch.Decompile(f.file, f.opts) }

// CRDs returns the CRDs as they are sent to an API server: with compiled unions. Compiled and live CRDs
// keep their rules, unless external declarations are for them.
func (f *File) CRDs() ([]*apiextensionsv1.CustomResourceDefinition, diag.List) {
	var l []*apiextensionsv1.CustomResourceDefinition
	installed, wrong := crdpatch.Install(f.file, f.opts)
	for _, in := range installed {
		l = append(l, in.CustomResourceDefinition)
	}
	return l, wrong
}

// Plans returns the rules and costs of each CRD that has unions.
func (f *File) Plans() ([]*compile.Plan, diag.List) {
	return crdpatch.Ask(f.file, f.opts, (*crdpatch.CRD).Plan)
}

// Lint returns all diagnostics of Compile, and advice about the unions.
func (f *File) Lint() diag.List { return report.Lint(f.file, f.opts) }

// Validate returns the API server's answer to the creation of an object or, if old is not nil, to its
// update: nil, or a *StatusError of k8s.io/apimachinery/pkg/api/errors. It returns another error if the
// file has no valid CRD for the object. Integers in objects are int64, as in all unstructured objects.
func (f *File) Validate(ctx context.Context, object, old *unstructured.Unstructured) error {
	if f.kinds == nil {
		crds, wrong := f.CRDs()
		if wrong.HasErrors() {
			return errorOf(wrong)
		}
		for _, crd := range crds {
			f.kinds = append(f.kinds, server.NewKind(crd))
		}
	}
	for _, k := range f.kinds {
		if k.GroupKind() != object.GroupVersionKind().GroupKind() {
			continue
		}
		answer, err := k.Answer(ctx, object.Object, contentOf(old))
		if err == nil && answer.Refused != nil {
			err = answer.Refused
		}
		return err
	}
	return fmt.Errorf("no CRD is for %s", object.GroupVersionKind())
}

// Normalize clears, in an object that replaces old, the members that its unions exclude, as KEP-1027
// intended for the API server; without old, the object is created. It describes each change. The error
// lists the unions that stay as they are, or says that no CRD is for the object.
func (f *File) Normalize(object, old *unstructured.Unstructured) ([]string, error) {
	if f.known == nil {
		declared, wrong := crdpatch.Ask(f.file, f.opts, (*crdpatch.CRD).Declared)
		if wrong.HasErrors() {
			return nil, errorOf(wrong)
		}
		for _, d := range declared {
			f.known = append(f.known, d.Kinds(f.file.Name())...)
		}
	}
	var said []string
	var errs []error
	is := object.GroupVersionKind()
	if !slices.ContainsFunc(f.Targets(), func(t union.Target) bool { return t.Group == is.Group && t.Kind == is.Kind }) {
		return nil, fmt.Errorf("no CRD is for %s", is)
	}
	for _, k := range f.known {
		if k.GroupVersionKind != is {
			continue
		}
		changes, problems := product.NormalizeObject(k, contentOf(old), object.Object, product.NormalizeOptions{})
		for _, c := range changes {
			said = append(said, fmt.Sprintf("%s: %s", c.At, c))
		}
		for _, p := range problems {
			errs = append(errs, fmt.Errorf("%s: %s", p.At, p))
		}
	}
	return said, errors.Join(errs...)
}

// contentOf returns the content of an object, which may be nil.
func contentOf(o *unstructured.Unstructured) map[string]any {
	if o == nil {
		return nil
	}
	return o.Object
}

// errorOf returns the errors of a list as one.
func errorOf(l diag.List) error {
	var errs []error
	for _, d := range l {
		if d.Severity == diag.Error {
			errs = append(errs, errors.New(d.String()))
		}
	}
	return errors.Join(errs...)
}
