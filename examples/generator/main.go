// Command generator prints the CRDs of Go packages with their unions compiled, in one pass: it is a
// wrapper of controller-gen that calls unioncel in process.
//
//	go run ./examples/generator ./examples/kubebuilder/api/...
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"

	"golang.org/x/tools/go/packages"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/loader"
	ctmarkers "sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/yaml"

	"github.com/unioncel/unioncel/pkg/crdfile"
	"github.com/unioncel/unioncel/pkg/crdpatch"
	"github.com/unioncel/unioncel/pkg/diag"
	"github.com/unioncel/unioncel/pkg/markers"
)

func main() {
	if err := run(os.Stdout, os.Args[1:]...); err != nil {
		log.Fatal(err)
	}
}

func run(out io.Writer, patterns ...string) error {
	unions, found := markers.Load(markers.Options{CRDs: true, Kubebuilder: true}, patterns...)
	if err := report(found); err != nil {
		return err
	}
	crds, err := generate(patterns)
	if err != nil {
		return err
	}
	for _, generated := range crds {
		compiled, found := crdpatch.CompileCRD(&generated, crdfile.Options{External: *unions})
		if err := report(found); err != nil {
			return err
		}
		text, err := yaml.Marshal(compiled)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "---\n%s", text)
	}
	return nil
}

// report prints diagnostics to standard error, and returns an error if one of them is an error.
func report(l diag.List) error {
	if err := diag.Text(os.Stderr, l, nil); err != nil || !l.HasErrors() {
		return err
	}
	return errors.New("nothing is generated")
}

// generate returns the CRDs of packages, as controller-gen makes them.
func generate(patterns []string) (l []apiextensionsv1.CustomResourceDefinition, err error) {
	registry := &ctmarkers.Registry{}
	if err := (crd.Generator{}).RegisterMarkers(registry); err != nil {
		return nil, err
	}
	roots, err := loader.LoadRoots(patterns...)
	if err != nil {
		return nil, err
	}
	parser := &crd.Parser{Collector: &ctmarkers.Collector{Registry: registry}, Checker: &loader.TypeChecker{}}
	crd.AddKnownTypes(parser)
	for _, root := range roots {
		parser.NeedPackage(root)
	}
	if loader.PrintErrors(roots, packages.TypeError) {
		return nil, errors.New("the packages have errors")
	}
	for _, kind := range crd.FindKubeKinds(parser, crd.FindMetav1(roots)) {
		parser.NeedCRDFor(kind, nil)
		made := parser.CustomResourceDefinitions[kind]
		crd.FixTopLevelMetadata(made)
		l = append(l, made)
	}
	return l, nil
}
