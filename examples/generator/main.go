// Command generator is controller-gen with unions: it writes the CRDs of Go packages to a directory,
// with their unions compiled, in one pass.
//
//	go run ./examples/generator config/crd/bases ./api/...
package main

import (
	"bytes"
	"errors"
	"io"
	"log"
	"os"

	crdgen "sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/loader"

	"github.com/unioncel/unioncel/pkg/crd"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/markers"
)

func main() {
	if len(os.Args) < 3 {
		log.Fatal("usage: generator DIR PACKAGE...")
	}
	if err := run(os.Args[1], os.Args[2:]...); err != nil {
		log.Fatal(err)
	}
}

func run(dir string, patterns ...string) error {
	unions, found := markers.Load(markers.Options{CRDs: true, Kubebuilder: true}, patterns...)
	if err := report(found); err != nil {
		return err
	}
	var generator genall.Generator = crdgen.Generator{}
	controllerGen, err := genall.Generators{&generator}.ForRoots(patterns...)
	if err != nil {
		return err
	}
	compiled := &compiling{OutputRule: genall.OutputToDirectory(dir), options: crd.Options{External: *unions}}
	controllerGen.OutputRules.Default = compiled
	if controllerGen.Run() {
		return errors.New("controller-gen failed")
	}
	return compiled.err
}

// compiling compiles the files that controller-gen writes. A file with errors is not written.
type compiling struct {
	genall.OutputRule
	options crd.Options
	err     error // controller-gen ignores errors of Close
}

func (c *compiling) Open(pkg *loader.Package, path string) (io.WriteCloser, error) {
	return &file{compiling: c, pkg: pkg, path: path}, nil
}

type file struct {
	bytes.Buffer
	*compiling
	pkg  *loader.Package
	path string
}

func (f *file) Close() error {
	err := f.write()
	f.err = errors.Join(f.err, err)
	return err
}

func (f *file) write() error {
	result, found := crd.Open(f.path, f.Bytes(), f.options).Compile()
	if err := report(found); err != nil {
		return err
	}
	out, err := f.OutputRule.Open(f.pkg, f.path)
	if err != nil {
		return err
	}
	_, err = out.Write(result)
	return errors.Join(err, out.Close())
}

// report prints diagnostics to standard error, and returns an error if one of them is an error.
func report(l diag.List) error {
	if err := diag.Text(os.Stderr, l, nil); err != nil || !l.HasErrors() {
		return err
	}
	return errors.New("the unions have errors")
}
