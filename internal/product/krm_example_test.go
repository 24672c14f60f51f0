package product_test

import (
	"fmt"
	"os"
	"strings"
	"testing/fstest"

	"github.com/unioncel/unioncel/internal/product"
	"github.com/unioncel/unioncel/pkg/diag"
)

func ExampleRunFunction() {
	in := `apiVersion: config.kubernetes.io/v1
kind: ResourceList
items: []
functionConfig:
  apiVersion: unioncel.dev/v1alpha1
  kind: UnionCompiler
  metadata: {name: unions}
  files: [crds/backup.yaml]
`
	report, err := product.RunFunction([]byte(in), product.Host{Files: fstest.MapFS{"crds/backups.yaml": {}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	_ = diag.Text(os.Stdout, report.Diagnostics, nil)
	_, results, _ := strings.Cut(string(report.Output), "\nresults:\n")
	fmt.Print(results)
	// Output:
	// UnionCompiler/unions: error: UC705: crds/backup.yaml: file does not exist
	//  hint: names are relative to the directory of the kustomization
	//  path: files[0]
	// - message: |-
	//     crds/backup.yaml: file does not exist
	//     hint: names are relative to the directory of the kustomization
	//   severity: error
	//   resourceRef:
	//     apiVersion: unioncel.dev/v1alpha1
	//     kind: UnionCompiler
	//     name: unions
	//   field:
	//     path: files[0]
	//   tags:
	//     code: UC705
}
